import HeadroomModel

extension LoopReport {
    /// Takes in what one tick saw, decided and published. All lists ascend by pool.
    mutating func describe(
        _ capacities: [PoolCapacity], _ classified: [TenantConsumptionClassifier.Classified],
        _ decision: PriorityPolicyEngine.Decision, _ published: AllocationPublisher.State,
        _ steering: Steering
    ) {
        note(published)
        let places = Dictionary(uniqueKeysWithValues: zip(capacities.map(\.pool), classified.indices))
        pools = decision.pools.compactMap { allocation in
            places[allocation.pool].map { place in
                var report = PoolReport(
                    allocation, capacities[place], classified[place], decision.balances[allocation.pool] ?? [])
                report.overcommittedTokens = published.overcommittedTokens[allocation.pool] ?? 0
                report.gateways = published.gateways[allocation.pool] ?? GatewayCounts()
                report.retryStorm = classified[place].demand.retryStorm
                report.reversals = decision.reversals[allocation.pool] ?? 0
                report.openQuestions = steering.proposals.count {
                    $0.pool == allocation.pool && $0.state == .pending
                }
                return report
            }
        }
    }
}

extension LoopReport {
    /// Notes the publication in force.
    mutating func note(_ published: AllocationPublisher.State) {
        version = published.version
        publishedAt = published.publishedAt
        isLedgerWritable = published.isLedgerWritable
        withheld = published.withheld
        grantUses = published.grantUses
    }
}

extension PoolReport {
    fileprivate init(
        _ allocation: PoolAllocation, _ capacity: PoolCapacity, _ needs: TenantConsumptionClassifier.Classified,
        _ balances: [CreditBalance]
    ) {
        let known = needs.demand.tenants
        var walk = TenantWalk(known)
        var credited = TenantWalk(balances)
        let tenants = allocation.tenants.indices.map { place in
            let tenant = allocation.tenants[place].tenant
            var report = TenantReport(allocation.tenants.span, place)
            if let row = walk.place(of: tenant) { report.describe(known.span, row) }
            if let row = credited.place(of: tenant) { report.credit = balances[row].balance }
            if !needs.starvation.isEmpty, let verdict = needs.starvation[tenant] {
                report.underservedSeconds = verdict.underservedSeconds
                report.starvation = verdict.starvation
            }
            return report
        }
        let assured = allocation.budget.map { resource, _ in
            allocation.tenants.reduce(allocation.unlisted[resource] ?? 0) { $0 + ($1.assured[resource] ?? 0) }
        }
        self.init(
            pool: allocation.pool, state: capacity.state, nominal: capacity.nominal, estimated: capacity.estimated,
            capacityReason: capacity.reason, confidence: capacity.confidence, budget: allocation.budget,
            assured: assured, consumed: needs.demand.consumed,
            calls: Dictionary(
                uniqueKeysWithValues: Outcome.allCases.map { ($0, capacity.calls[$0.rawValue]) }),
            waits: needs.waits, untracked: needs.demand.untracked, upstream: capacity.upstream, tenants: tenants)
    }
}

/// Of rows that are too long to be copied to read a few numbers.
extension TenantReport {
    fileprivate init(_ allocations: Span<TenantAllocation>, _ place: Int) {
        let assured = allocations[place].assured
        let zero = Rates(perMinute: .zero, resources: assured.resources)
        self.init(
            tenant: allocations[place].tenant, tier: allocations[place].tier, demand: zero, assured: assured,
            consumed: zero)
        isQuiet = allocations[place].isQuiet
    }

    fileprivate mutating func describe(_ demands: Span<TenantDemand>, _ place: Int) {
        demand = demands[place].total
        asked = demands[place].asked
        consumed = demands[place].consumed
        arrivals = demands[place].arrivals
        queue = demands[place].queue
        retries = demands[place].retries
        tokens = demands[place].tokens
        profile = demands[place].profile
    }
}
