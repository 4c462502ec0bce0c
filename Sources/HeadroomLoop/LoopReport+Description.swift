import HeadroomControl
import HeadroomModel

extension LoopReport {
    /// Takes in what one tick saw, decided and published. All lists ascend by pool.
    mutating func describe(
        _ capacities: [PoolCapacity], _ classified: [TenantConsumptionClassifier.Classified],
        _ decision: PriorityPolicyEngine.Decision, _ published: AllocationPublisher.State,
        _ steering: Steering
    ) {
        version = published.version
        publishedAt = published.publishedAt
        isLedgerWritable = published.isLedgerWritable
        let places = Dictionary(uniqueKeysWithValues: zip(capacities.map(\.pool), classified.indices))
        pools = decision.pools.compactMap { allocation in
            places[allocation.pool].map { place in
                var report = PoolReport(allocation, capacities[place], classified[place])
                report.overcommittedTokens = published.overcommittedTokens[allocation.pool] ?? 0
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

extension PoolReport {
    fileprivate init(
        _ allocation: PoolAllocation, _ capacity: PoolCapacity, _ needs: TenantConsumptionClassifier.Classified
    ) {
        // Both lists ascend by tenant.
        let known = needs.demand.tenants
        var next = 0
        func profile(of tenant: TenantID) -> TenantDemand? {
            while next < known.count, known[next].tenant < tenant { next += 1 }
            return next < known.count && known[next].tenant == tenant ? known[next] : nil
        }
        let assured = allocation.budget.map { resource, _ in
            allocation.tenants.reduce(allocation.unlisted[resource] ?? 0) { $0 + ($1.assured[resource] ?? 0) }
        }
        self.init(
            pool: allocation.pool, state: capacity.state, nominal: capacity.nominal, estimated: capacity.capacity,
            capacityReason: capacity.reason, confidence: capacity.confidence, budget: allocation.budget,
            assured: assured, consumed: needs.demand.consumed,
            calls: Dictionary(
                uniqueKeysWithValues: Outcome.allCases.map { ($0, capacity.calls[$0.rawValue]) }),
            waits: needs.waits, upstream: capacity.upstream,
            tenants: allocation.tenants.map { tenant in
                TenantReport(tenant, profile(of: tenant.tenant), needs.starvation[tenant.tenant])
            })
    }
}

extension TenantReport {
    fileprivate init(
        _ allocation: TenantAllocation, _ profile: TenantDemand?, _ verdict: StarvationWatch.Verdict?
    ) {
        let zero = allocation.assured.map { _, _ in 0 }
        self.init(
            tenant: allocation.tenant, tier: allocation.tier, demand: profile?.total ?? zero,
            assured: allocation.assured, consumed: profile?.consumed ?? zero,
            queue: profile?.queue ?? PerCriticality(repeating: Queue()),
            retries: profile?.retries ?? PerCriticality(repeating: 0),
            tokens: profile?.tokens ?? PerCriticality(repeating: 0),
            underservedSeconds: verdict?.underservedSeconds ?? 0, starvation: verdict?.starvation,
            profile: profile?.profile)
    }
}
