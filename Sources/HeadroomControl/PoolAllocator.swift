import HeadroomModel

/// One pool's allocation, and what each tenant is entitled to.
package struct PoolDecision: Sendable {
    package var allocation: PoolAllocation
    /// max(assured, floor, what the fill would give at nominal capacity): the measure of starvation.
    package var entitlements: [TenantID: Rates]
}

/// Decides one pool: who gets what of the capacity there is.
///
/// A pure function of its arguments; the state is the fill's warm start, which changes speed and not results.
package struct PoolAllocator: Sendable {
    /// How far `plain` exceeds the assured rate. Gateways that take one number waste what idle tenants leave;
    /// over-booking by 2 behind a cap for the whole pool wins most of it back (control-law, rule 13).
    private static let plainOverbooking = 2.0

    private var fill = FillEngine()

    package init() {}

    package mutating func decide(
        _ pool: PoolPolicy, capacity: PoolCapacity, demand: PoolDemand, serviceClocks: [TenantID: Double],
        under rules: Rules
    ) -> PoolDecision {
        let loop = rules.policy.loop
        let budget = capacity.capacity.map { $1.rounded(.down) }
        let unlisted = budget.map { ($1 * loop.unlistedShare).rounded(.down) }
        let shared = budget.map { resource, rate in rate - (unlisted[resource] ?? 0) }
        let tenants = Self.tenants(of: pool, demand: demand, sharing: shared, under: rules)
        let bands = rules.policy.bands.map(FillBand.init)

        let result = fill.solve(FillProblem(capacity: shared, bands: bands, tenants: tenants))
        let shares = Array(result.tenants)
        let assured = Self.integers(shares.map(\.limit), within: shared)
        var allocation = PoolAllocation(
            pool: pool.pool, state: capacity.state, mode: pool.mode, enforce: pool.mode != .observe,
            level: result.bands.last?.level ?? 0, capacity: budget, nominal: capacity.nominal,
            capacityReason: capacity.reason, budget: budget, float: budget.map { _, _ in 0 },
            fallback: budget.map { ($1 * loop.fallbackShare).rounded(.down) }, burstSeconds: pool.burstSeconds,
            failover: pool.failover, unlisted: unlisted)
        allocation.tenants = tenants.indices.map { index in
            let tenant = tenants[index]
            return TenantAllocation(
                tenant: tenant.id, assured: assured[index], ceiling: tenant.ceiling,
                plain: Rates.least(assured[index] * Self.plainOverbooking, tenant.ceiling)
                    .limited(to: shared.resources).map { $1.rounded(.down) },
                safe: assured[index].map { ($1 * loop.fallbackShare).rounded(.down) }, weight: tenant.weight,
                serviceClock: serviceClocks[tenant.id] ?? 0, tier: tenant.tier,
                constraint: shares[index].constraint,
                criticality: Self.inOrderOfService(assured[index], demand: tenant.demand))
        }
        return PoolDecision(
            allocation: allocation,
            entitlements: entitlements(tenants, assured: assured, capacity: capacity, bands: bands))
    }

    // MARK: Parts

    /// Those with a contract for this pool and those seen in it, ascending by id.
    private static func tenants(
        of pool: PoolPolicy, demand: PoolDemand, sharing capacity: Rates, under rules: Rules
    ) -> [FillTenant] {
        var ids = Set(demand.tenants.map(\.tenant))
        for contract in rules.contracts.values where contract.terms.contains(where: { $0.pool == pool.pool }) {
            ids.insert(contract.tenant)
        }
        let profiles = Dictionary(uniqueKeysWithValues: demand.tenants.map { ($0.tenant, $0) })
        var tenants = ids.sorted().map { id in
            let terms = rules.terms(of: id, in: pool.pool)
            let tier = rules.tier(of: id, in: pool.pool)
            let demand = profiles[id]?.demand ?? PerCriticality(repeating: .none)
            // Work comes in the direction of what is wanted now; the mean request stands in while nothing is.
            let isIdle = Criticality.allCases.allSatisfy { demand[$0].perMinute == .zero }
            let shape = isIdle ? profiles[id]?.shape?.rates(overSeconds: 60, of: pool.nominal.resources) : nil
            let tierCeiling = tier.ceilingShare.map { share in pool.nominal * share } ?? .none
            return FillTenant(
                id: id, tier: tier.name, weight: rules.weight(of: id, in: pool.pool),
                demand: demand, floor: terms?.floor ?? .none,
                // Whole, so that no rounding of what is below it ends above it.
                ceiling: Rates.least(terms?.ceiling ?? .none, tierCeiling).map { $1.rounded(.down) },
                shape: shape ?? .none)
        }
        giveIdleTenantsAStart(&tenants, sharing: capacity, policy: rules.policy.start)
        return tenants
    }

    /// Idle tenants without a floor get enough to begin at once.
    private static func giveIdleTenantsAStart(
        _ tenants: inout [FillTenant], sharing capacity: Rates, policy: StartPolicy
    ) {
        let idle = tenants.indices.filter { index in
            tenants[index].floor.isEmpty
                && Criticality.allCases.allSatisfy { tenants[index].demand[$0].perMinute == .zero }
        }
        guard !idle.isEmpty else { return }
        let share = min(policy.shareEach, policy.shareTotal / Double(idle.count))
        for index in idle {
            let cost = FillDirection(of: tenants[index], in: capacity).dominantCost
            if cost > 0, cost.isFinite { tenants[index].start = share / cost }
        }
    }

    /// Whole rates per tenant whose sum stays within `capacity` in every resource.
    private static func integers(_ rates: [Rates], within capacity: Rates) -> [Rates] {
        var whole = [Rates](repeating: .none, count: rates.count)
        for resource in capacity.resources.members {
            let parts = rates.map { $0[resource] ?? 0 }
            // A sum of shares of 100 may end as 99.999…: that is rounding and no reason to lose a unit.
            let total = min(capacity[resource] ?? 0, parts.reduce(0, +) * (1 + 1e-12))
            let integers = LargestRemainder.integers(of: parts, total: Int(total.rounded(.down)))
            for index in rates.indices { whole[index][resource] = Double(integers[index]) }
        }
        return whole
    }

    /// Divides an assured rate over a tenant's flows: each gets its demand in order, what is left goes to
    /// `interactive`. The parts sum to the rate.
    private static func inOrderOfService(
        _ assured: Rates, demand: PerCriticality<Rates>
    ) -> PerCriticality<Rates> {
        var parts = PerCriticality<Rates>(repeating: assured.map { _, _ in 0 })
        for resource in assured.resources.members {
            var left = assured[resource] ?? 0
            for criticality in Criticality.allCases {
                let part = min(left, (demand[criticality][resource] ?? 0).rounded(.up))
                parts[criticality][resource] = part
                left -= part
            }
            parts[.interactive][resource] = (parts[.interactive][resource] ?? 0) + left
        }
        return parts
    }

    private mutating func entitlements(
        _ tenants: [FillTenant], assured: [Rates], capacity: PoolCapacity, bands: [FillBand]
    ) -> [TenantID: Rates] {
        let atNominal = fill.solve(FillProblem(capacity: capacity.nominal, bands: bands, tenants: tenants))
        var entitlements: [TenantID: Rates] = [:]
        entitlements.reserveCapacity(tenants.count)
        for index in tenants.indices {
            entitlements[tenants[index].id] = assured[index].map { resource, rate in
                max(rate, tenants[index].floor[resource] ?? 0, atNominal.tenants[index].fill[resource] ?? 0)
            }
        }
        return entitlements
    }
}

extension FillBand {
    fileprivate init(_ band: Band) {
        let bound: Bound =
            switch band.bound {
            case .floor: .floor
            case .floorInDemand: .floorInDemand
            case .start: .start
            case .demand: .demand
            case .burst: .burst
            case .ceiling: .ceiling
            }
        self.init(bound, criticality: band.criticality, tiers: band.tiers)
    }
}
