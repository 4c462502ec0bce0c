import HeadroomDecision
import HeadroomModel

/// The best division if one knew everything: the policy's own bands up to demand, on true capacity and true demand.
///
/// Floors count up to the demand (an idle tenant's floor serves nobody), and the bands `start`, `burst` and `ceiling`,
/// which give room beyond demand and no service, are left out. Ceilings are those of tiers, and soft.
struct OracleFill: Sendable {
    private var engine = FillEngine()
    private var fair: FairFill
    private var arrivals: RecentArrivals
    private let bands: [FillBand]
    private let criticalities: [Criticality]

    init(roster: Roster, rules: Rules, nominal: Rates) {
        bands = rules.policy.bands.compactMap { band in
            switch band.bound {
            case .floor, .floorInDemand: FillBand(.floorInDemand, criticality: band.criticality, tiers: band.tiers)
            case .demand: FillBand(.demand, criticality: band.criticality, tiers: band.tiers)
            case .leastShare: FillBand(.leastShare)
            case .start, .burst, .ceiling: nil
            }
        }
        fair = FairFill(roster, rules, ceilings: nominal)
        criticalities = roster.entries.map(\.criticality)
        arrivals = RecentArrivals(tenants: roster.entries.count)
    }

    /// Counts what came in the last `seconds`, one a tenant.
    mutating func note(arrived work: [Work], over seconds: Double) { arrivals.note(work, over: seconds) }

    /// What each has whatever its criticality, as a dominant share of the capacity; without bound for who is quiet.
    private mutating func leastShares(_ capacity: Rates) -> [Double] {
        let asked = arrivals.means.map { $0.rates(overSeconds: 60, of: capacity.resources) }
        let shares = fair.shares(of: capacity, asking: asked)
        return fair.tenants.indices.map { index in
            FairFill.isQuiet(asking: asked[index], upTo: fair.tenants[index].ceiling, of: shares[index])
                ? .infinity
                : LeastShare.share(asking: share(asked[index], capacity), of: share(shares[index], capacity))
        }
    }

    private func share(_ rates: Rates, _ capacity: Rates) -> Double {
        rates.work(overSeconds: 60).seconds(of: capacity) / 60
    }

    /// Rates for each tenant of the roster. `demand` is per minute.
    mutating func solve(capacity: Rates, demand: [Rates]) -> [Rates] {
        var tenants = fair.tenants
        let least = bands.contains { $0.bound == .leastShare } ? leastShares(capacity) : []
        for index in tenants.indices {
            guard demand[index].perMinute != .zero else { continue }
            tenants[index].demand[criticalities[index]] = demand[index]
            tenants[index].shape = demand[index]
            guard !least.isEmpty else { continue }
            let direction = FillDirection(of: tenants[index], in: capacity)
            tenants[index].leastShare = min(
                least[index] / direction.dominantCost, direction.activity(within: demand[index]))
        }
        let problem = FillProblem(capacity: capacity, bands: bands, tenants: tenants)
        return engine.fills(problem) { _ in true }
    }
}

/// Mean arrivals of the last five minutes, by tenant.
struct RecentArrivals: Sendable {
    private var slots: [(seconds: Double, work: [Work])] = []
    private var sums: [Work]
    private var seconds = 0.0
    private static let window = 300.0

    init(tenants: Int) { sums = Array(repeating: .zero, count: tenants) }

    mutating func note(_ work: [Work], over seconds: Double) {
        slots.append((seconds, work))
        self.seconds += seconds
        for index in work.indices { sums[index] += work[index] }
        while self.seconds > Self.window, let first = slots.first {
            self.seconds -= first.seconds
            for index in first.work.indices { sums[index] -= first.work[index] }
            slots.removeFirst()
        }
    }

    /// Per minute.
    var means: [Work] { sums.map { $0 * (60 / max(seconds, 20)) } }
}
