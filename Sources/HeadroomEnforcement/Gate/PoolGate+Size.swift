import HeadroomModel

/// Calls that no waiting helps, because of their size.
extension PoolGate {
    /// What a call wants of a resource, and the most that it could have.
    public struct Excess: Equatable, Sendable {
        public var resource: Resource
        /// A minute of the pool, or of its tenant's ceiling.
        public var perMinute: Double
        /// It is the tenant's ceiling, and not the pool.
        public var isOfTenant: Bool
    }

    /// Where a call is larger than anything that its pool or its tenant will have; `nil` when it may go in its turn.
    ///
    /// A provider's own bucket holds a minute, so it takes no call that is larger. Of what is lent, a call larger than the
    /// burst takes the time of others, and its tenant owes it for as long as its ceiling needs: more than
    /// ``longestDebtSeconds`` is too long. The ceiling is one gateway's part of the tenant's, and is taken for the whole by
    /// this gateway's part of the pool.
    public func excess(of estimate: Work, tenant: TenantID) -> Excess? {
        guard isEnforcing, let allocation else { return nil }
        let index = index(of: tenant)
        let ceiling = index > 0 ? allocation.tenants[index - 1].ceiling : .none
        for resource in allocation.capacity.resources.members {
            let wanted = estimate[resource]
            let capacity = allocation.capacity[resource] ?? 0
            let most = max(capacity, allocation.nominal[resource] ?? 0)
            if most > 0, wanted > max(most, 1) { return Excess(resource: resource, perMinute: most, isOfTenant: false) }
            guard let part = ceiling[resource], wanted > capacity * allocation.burstSeconds / 60 else { continue }
            let budget = allocation.budget[resource] ?? capacity
            let whole = budget > 0 ? part * max(1, capacity / budget) : part
            if wanted > whole * PoolGate.longestDebtSeconds / 60, wanted > 1 {
                return Excess(resource: resource, perMinute: whole, isOfTenant: true)
            }
        }
        return nil
    }

    private static let longestDebtSeconds = 120.0
}
