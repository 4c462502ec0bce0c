import HeadroomModel

/// The business role of a trace's tenants. Traces do not say: tiers, urgency and floors are invented, by seed.
///
/// Tiers are dealt by rank of demand, ten tenants at a time (one critical, two premium, four standard, three free), so
/// that each tier has large and small tenants. A tenant's floor is 80, 60, 30 or 0 % of its own mean demand by its tier;
/// all floors together are at most 60 % of the pool. Seven in ten tenants are interactive, the others batch.
package struct Roster: Sendable {
    /// Which seven in ten are interactive.
    package enum Urgency: Sendable {
        /// Drawn apart from the tiers.
        case drawn
        /// All but the free ones, as where people wait for what is paid for and the rest runs behind.
        case byTier
    }

    package struct Entry: Sendable {
        package let tenant: TenantID
        package let tier: String
        package let criticality: Criticality
        /// Mean over the trace.
        package let demand: Rates
        package let floor: Rates
    }

    /// In the order of ``Trace/tenants``.
    package let entries: [Entry]

    private static let tierShares: [(tier: String, ofTen: Int, floorShare: Double)] = [
        ("critical", 1, 0.8), ("premium", 2, 0.6), ("standard", 4, 0.3), ("free", 3, 0),
    ]
    /// Highest weight first.
    package static let tiers = tierShares.map(\.tier)
    private static let interactiveOfTen = 7
    private static let maxFloors = 0.6

    /// `capacity` names the resources that the pool limits; `seconds` is what `trace` lasts.
    package init(trace: Trace, seconds: Double, capacity: Rates, seed: UInt64, urgency: Urgency = .drawn) {
        var generator = SeededGenerator(seed: seed, stream: "roster")
        let demands = trace.totals.map { $0.rates(overSeconds: seconds, of: capacity.resources) }
        let costs = trace.totals.map { $0.seconds(of: capacity) }
        let ranked = trace.tenants.indices.sorted { (-costs[$0], trace.tenants[$0]) < (-costs[$1], trace.tenants[$1]) }

        var tiers = Array(repeating: Roster.tierShares[0], count: ranked.count)
        var criticalities = Array(repeating: Criticality.interactive, count: ranked.count)
        for first in stride(from: 0, to: ranked.count, by: 10) {
            var dealtTiers = Roster.tierShares.flatMap { Array(repeating: $0, count: $0.ofTen) }
            var dealtUrgency = (0..<10).map { $0 < Roster.interactiveOfTen ? Criticality.interactive : .batch }
            generator.shuffle(&dealtTiers)
            generator.shuffle(&dealtUrgency)
            for (place, tenant) in ranked[first..<min(first + 10, ranked.count)].enumerated() {
                tiers[tenant] = dealtTiers[place]
                switch urgency {
                case .drawn: criticalities[tenant] = dealtUrgency[place]
                case .byTier: criticalities[tenant] = dealtTiers[place].tier == "free" ? .batch : .interactive
                }
            }
        }

        let wanted = zip(demands, tiers).map { demand, tier in demand * tier.floorShare }
        let scale = capacity.map { resource, limit in
            let sum = wanted.reduce(0) { $0 + ($1[resource] ?? 0) }
            return sum > 0 ? min(1, Roster.maxFloors * limit / sum) : 1
        }
        entries = trace.tenants.indices.map { index in
            Entry(
                tenant: trace.tenants[index], tier: tiers[index].tier, criticality: criticalities[index],
                demand: demands[index],
                floor: wanted[index].map { resource, rate in (rate * (scale[resource] ?? 1)).rounded(.down) })
        }
    }

    private init(entries: [Entry]) { self.entries = entries }

    /// The same roles under other names, in the order of ``entries``.
    package func named(_ names: [TenantID]) -> Roster {
        precondition(names.count == entries.count, "\(entries.count) tenants cannot have \(names.count) names")
        return Roster(
            entries: zip(entries, names).map { entry, name in
                Entry(
                    tenant: name, tier: entry.tier, criticality: entry.criticality, demand: entry.demand,
                    floor: entry.floor)
            })
    }

    /// Ceilings are the tiers' own. Ascending by tenant.
    package func contracts(pool: PoolID) -> [Contract] { contracts(pools: entries.map { _ in pool }) }

    /// One pool for each of ``entries``.
    func contracts(pools: [PoolID]) -> [Contract] {
        zip(entries, pools)
            .map { Contract(tenant: $0.tenant, tier: $0.tier, terms: [Contract.Terms(pool: $1, floor: $0.floor)]) }
            .sorted { $0.tenant < $1.tenant }
    }
}
