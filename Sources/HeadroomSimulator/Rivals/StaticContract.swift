import HeadroomModel

/// The contracts as permanent limits: floors, and the rest by weight up to the ceilings, of the nominal capacity.
///
/// A careful team does this: quotas written when the contract was signed, the pool sold out and not over-sold. A tenant
/// that stays within its floor is never touched by the others. Here it looks worse than with real contracts in one
/// way: floors and tiers are invented (``Roster``), and nobody negotiated them to fit the tenant.
package struct StaticContract: RateAllocator {
    /// Any would do: nothing changes.
    package let periodSeconds = 60.0

    package init() {}

    package func allocate(_ observation: PoolObservation) -> [Rates] {
        observation.ratesByResource { resource, capacity in
            StaticContract.divide(capacity, among: observation.tenants, in: resource)
        }
    }

    /// Each tenant's part: its weight times one common factor, but no less than its floor and no more than its ceiling.
    /// Floors that do not fit are all cut by one factor.
    static func divide(
        _ capacity: Double, among tenants: [PoolObservation.Tenant], in resource: Resource
    ) -> [Double] {
        let floors = tenants.reduce(0) { $0 + ($1.floor[resource] ?? 0) }
        let factor = floors > capacity ? capacity / floors : 1
        return ClampedProportion.divide(
            capacity,
            over: tenants.map { tenant in
                let floor = (tenant.floor[resource] ?? 0) * factor
                return ClampedProportion.Part(
                    target: tenant.weight, lower: floor, upper: max(floor, tenant.ceiling[resource] ?? .infinity))
            })
    }
}
