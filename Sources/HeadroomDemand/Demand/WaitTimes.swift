import HeadroomModel

/// How long calls waited at gateways before they went, by tier and criticality: what `headroom_wait_seconds` says.
public struct WaitTimes: Sendable {
    /// Upper ends of the histogram's buckets, in seconds: up to the longest deadline that batch calls usually have.
    private static let bounds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600]

    /// Since the start; ascending by tier, of which a policy has a few.
    public private(set) var tiers: [(tier: String, seconds: PerCriticality<Histogram>)] = []

    public init() {}

    public mutating func note(_ seconds: Double, tier: String, _ criticality: Criticality) {
        let place = tiers.firstIndex { $0.tier >= tier } ?? tiers.count
        if place == tiers.count || tiers[place].tier != tier {
            tiers.insert((tier, PerCriticality(repeating: Histogram(bounds: Self.bounds))), at: place)
        }
        tiers[place].seconds[criticality].add(max(0, seconds))
    }
}
