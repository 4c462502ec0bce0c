import HeadroomControl
import HeadroomEnforcement
import HeadroomModel

/// What does each tenant really need? Owns, per pool of the policy, the ``DemandEstimator``, the
/// ``ServiceClocks`` of its tenants, and the watch for starvation.
package actor TenantConsumptionClassifier {
    /// A pool's demand, and how its tenants fare.
    package struct Classified: Sendable {
        package var demand: PoolDemand
        /// Seconds of the pool's capacity served to each tenant, divided by its weight.
        package var serviceClocks: [TenantID: Double]
        package var starvation: [TenantID: StarvationWatch.Verdict]
    }

    fileprivate struct Watched {
        var policy: PoolPolicy
        var settings: DemandPolicy
        var demand: DemandEstimator
        var clocks = ServiceClocks()
        /// Since the last tick.
        var served: [TenantID: Work] = [:]
        var starvation: StarvationWatch
    }

    private var pools: [PoolID: Watched] = [:]
    private var rules: Rules
    private var entitlements: [PoolID: [TenantID: Rates]] = [:]

    package init() {
        rules = Rules(policy: Policy())
    }

    /// Watches the pools of the policy; one whose terms changed starts over.
    package func follow(_ rules: Rules, at now: Timestamp) {
        let policy = rules.policy
        var followed: [PoolID: Watched] = [:]
        for pool in policy.pools {
            if let known = pools[pool.pool], known.policy == pool, known.settings == policy.demand {
                followed[pool.pool] = known
            } else {
                followed[pool.pool] = Watched(
                    policy: pool, settings: policy.demand,
                    demand: DemandEstimator(
                        pool: pool, settings: policy.demand, maxTenants: policy.loop.maxTenants, at: now),
                    starvation: StarvationWatch(settings: policy.starvation))
            }
        }
        pools = followed
        self.rules = rules
    }

    package func fold(_ records: [TelemetryRecord]) {
        for record in records {
            pools[record.pool]?.demand.fold(record)
            pools[record.pool]?.countService(record)
        }
    }

    /// What the last decision entitles each tenant to: the measure of starvation.
    package func note(entitlements: [PoolID: [TenantID: Rates]]) {
        self.entitlements = entitlements
    }

    /// In the order of `capacities`, which ascends by pool.
    package func estimate(capacities: [PoolCapacity], at now: Timestamp) -> [Classified] {
        capacities.compactMap { capacity in
            pools[capacity.pool]?.estimate(
                capacity: capacity, entitlements: entitlements[capacity.pool] ?? [:], rules: rules, at: now)
        }
    }
}

extension TenantConsumptionClassifier.Watched {
    fileprivate mutating func countService(_ record: TelemetryRecord) {
        switch record {
        case .call(let call) where call.outcome == .ok:
            served[call.tenant, default: .zero] += call.work
        case .window(let window):
            served[window.tenant, default: .zero] += window.served
        case .call, .queue, .response, .task, .model: break
        }
    }

    fileprivate mutating func estimate(
        capacity: PoolCapacity, entitlements: [TenantID: Rates], rules: Rules, at now: Timestamp
    ) -> TenantConsumptionClassifier.Classified {
        let demand = demand.estimate(at: now)
        advanceClocks(demand, capacity: capacity.capacity, rules: rules)
        let hasLostCapacity = capacity.nominal.resources.members.contains {
            (capacity.capacity[$0] ?? 0) < 0.95 * (capacity.nominal[$0] ?? 0)
        }
        var verdicts: [TenantID: StarvationWatch.Verdict] = [:]
        for tenant in demand.tenants {
            guard let entitlement = entitlements[tenant.tenant] else { continue }
            verdicts[tenant.tenant] = starvation.judge(
                tenant, entitlement: entitlement, nominal: policy.nominal, hasLostCapacity: hasLostCapacity, at: now)
        }
        starvation.forgetOthers(at: now)
        return TenantConsumptionClassifier.Classified(
            demand: demand, serviceClocks: clocks.clocks, starvation: verdicts)
    }

    /// Service since the last tick moves the clocks; tenants that left the table leave the clocks.
    private mutating func advanceClocks(_ demand: PoolDemand, capacity: Rates, rules: Rules) {
        clocks.advance(
            demand.tenants.map { tenant in
                ServiceClocks.Activity(
                    tenant: tenant.tenant, served: served[tenant.tenant] ?? .zero,
                    weight: rules.weight(of: tenant.tenant, in: policy.pool),
                    isBacklogged: Criticality.allCases.contains { tenant.queue[$0].depth > 0 })
            }, capacity: capacity)
        served.removeAll(keepingCapacity: true)
        let present = Set(demand.tenants.map(\.tenant))
        clocks.remove(clocks.clocks.keys.filter { !present.contains($0) })
    }
}
