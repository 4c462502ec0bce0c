import HeadroomDecision
import HeadroomModel

/// The best division if one knew everything: the policy's own bands up to demand, on true capacity and true demand.
///
/// Floors count up to the demand (an idle tenant's floor serves nobody), and the bands `start`, `burst` and `ceiling`,
/// which give room beyond demand and no service, are left out.
struct OracleFill: Sendable {
    private var engine = FillEngine()
    private let bands: [FillBand]
    private let tenants: [FillTenant]
    private let criticalities: [Criticality]

    init(roster: Roster, rules: Rules, nominal: Rates) {
        bands = rules.policy.bands.compactMap { band in
            switch band.bound {
            case .floor, .floorInDemand: FillBand(.floorInDemand, criticality: band.criticality, tiers: band.tiers)
            case .demand: FillBand(.demand, criticality: band.criticality, tiers: band.tiers)
            case .start, .burst, .ceiling: nil
            }
        }
        tenants = roster.entries.map { entry in
            FillTenant(
                id: entry.tenant, tier: entry.tier, weight: rules.weight(of: entry.tenant, in: Simulation.pool),
                demand: PerCriticality(repeating: .none), floor: entry.floor,
                ceiling: rules.tier(of: entry.tenant, in: Simulation.pool).ceilingShare.map { nominal * $0 } ?? .none)
        }
        criticalities = roster.entries.map(\.criticality)
    }

    /// Rates for each tenant of the roster. `demand` is per minute.
    mutating func solve(capacity: Rates, demand: [Rates]) -> [Rates] {
        var tenants = tenants
        for index in tenants.indices {
            guard demand[index].perMinute != .zero else { continue }
            tenants[index].demand[criticalities[index]] = demand[index]
            tenants[index].shape = demand[index]
        }
        let result = engine.solve(FillProblem(capacity: capacity, bands: bands, tenants: tenants))
        return result.tenants.map { $0.fill }
    }
}
