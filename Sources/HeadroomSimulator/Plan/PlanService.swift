import HeadroomDecision
import HeadroomModel

/// The use that gateways would have made of an allocation, as a fluid: everyone's assured rate as far as it is wanted, then
/// the rest by weight, up to the ceilings, and beyond soft ones what nobody else wants. (Real requests are lumps; both sides
/// of a plan are judged alike.)
struct PlanService {
    private var fill = FillEngine()

    /// One rate for each tenant of `demands`, in their order.
    mutating func rates(
        _ allocation: PoolAllocation?, demands: [(tenant: TenantID, demand: Rates)], capacity: Rates
    ) -> [Rates] {
        guard let allocation, !capacity.isEmpty else { return demands.map { _ in .none } }
        let known = Dictionary(uniqueKeysWithValues: allocation.tenants.map { ($0.tenant, $0) })
        let tenants = demands.map { tenant, demand in
            let entry = known[tenant]
            return FillTenant(
                id: tenant, weight: entry?.weight ?? 1, demand: demand, floor: entry?.assured ?? .none,
                ceiling: entry?.ceiling ?? .none)
        }
        let problem = FillProblem(
            capacity: capacity, bands: [FillBand(.floorInDemand), FillBand(.demand)], tenants: tenants)
        return fill.fills(problem) { known[demands[$0].tenant]?.hasSoftCeiling ?? false }
    }
}
