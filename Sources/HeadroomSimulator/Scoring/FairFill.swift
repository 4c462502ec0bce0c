import HeadroomDecision
import HeadroomModel

/// The fair shares of a roster's tenants: a capacity divided by weight, floors first, criticality left aside. Who gets all
/// that it asks for is quiet, by the product's own rule (``LeastShare``).
struct FairFill: Sendable {
    /// In the order of the roster, without demand.
    let tenants: [FillTenant]
    private var engine = FillEngine()

    /// - Parameter ceilings: those of the tiers, of this contract; `nil`: they are left aside.
    init(_ roster: Roster, _ rules: Rules, ceilings nominal: Rates?) {
        tenants = roster.entries.map { entry in
            FillTenant(
                id: entry.tenant, tier: entry.tier, weight: rules.weight(of: entry.tenant, in: Simulation.pool),
                demand: PerCriticality(repeating: .none), floor: entry.floor,
                ceiling: rules.tier(of: entry.tenant, in: Simulation.pool).ceilingShare.flatMap { share in
                    nominal.map { $0 * share }
                } ?? .none)
        }
    }

    /// Rates per minute, one for each of `asked`.
    mutating func shares(of capacity: Rates, asking asked: [Rates]) -> [Rates] {
        var tenants = tenants
        for (index, rates) in asked.enumerated() where rates.perMinute != .zero {
            (tenants[index].demand.batch, tenants[index].shape) = (rates, rates)
        }
        return engine.solve(
            FillProblem(capacity: capacity, bands: [FillBand(.floorInDemand), FillBand(.demand)], tenants: tenants)
        ).tenants.map(\.fill)
    }

    /// - Parameter ceiling: what is asked for beyond it does not count.
    static func isQuiet(asking asked: Rates, upTo ceiling: Rates = .none, of fair: Rates) -> Bool {
        asked.resources.members.allSatisfy {
            LeastShare.isQuiet(asking: min(asked[$0] ?? 0, ceiling[$0] ?? .infinity), of: fair[$0] ?? 0)
        }
    }
}
