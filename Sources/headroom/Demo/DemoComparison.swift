import HeadroomDecision
import HeadroomJSON
import HeadroomModel
import Synchronization

/// The same minutes with Headroom and without, side by side: for the dashboard while they pass, and for the summary.
final class DemoComparison: Sendable {
    /// One side, up to some second.
    struct Side: Sendable {
        /// Highest weight first: tier, and the part of its tenants' tokens that was served.
        let tiers: [(tier: String, servedShare: Double)]
        let refusals: Int
        /// Tenants that were starved at some time.
        let starved: Int
        /// Calls whose caller's patience ended.
        let gaveUp: Int
    }

    private struct State {
        var marks: [DemoMark] = []
        /// When the run began; `nil` before.
        var start: Timestamp?
    }

    /// The tier whose work the plot follows.
    private static let followedTier = "critical"
    /// The share that a plot shows, and by which starvation is judged, is of so many seconds.
    private static let windowMarks = Int(10 / DemoTimeline.periodSeconds)

    private let plan: DemoPlan
    private let without: [DemoMark]
    /// Of each tenant: its fair part of the contract's capacity, by floors and weights.
    private let entitlements: [Rates]
    private let state = Mutex(State())

    init(plan: DemoPlan) {
        self.plan = plan
        without = DemoTwin.marks(of: plan)
        entitlements = Self.entitlements(plan)
    }

    func begin(at start: Timestamp) { state.withLock { $0.start = start } }

    func add(_ mark: DemoMark) { state.withLock { $0.marks.append(mark) } }

    /// Both sides, as far as the run has come.
    var sides: (with: Side, without: Side) {
        let marks = state.withLock { $0.marks }
        let end = marks.last?.seconds ?? 0
        return (side(marks), side(without.filter { $0.seconds <= end }))
    }

    // MARK: Figures

    private func side(_ marks: [DemoMark]) -> Side {
        let last = marks.last ?? DemoMark(seconds: 0, tenants: plan.roster.entries.count)
        let tiers = plan.policy.tiers.sorted { ($1.weight, $0.name) < ($0.weight, $1.name) }.map(\.name)
            .filter { tier in plan.roster.entries.contains { $0.tier == tier } }
        return Side(
            tiers: tiers.map { tier in (tier, Self.share(last, since: nil, members(of: tier))) },
            refusals: last.refusals, starved: plan.roster.entries.indices.count { isStarved($0, in: marks) },
            gaveUp: last.tenants.reduce(0) { $0 + $1.denied })
    }

    private func members(of tier: String) -> [Int] {
        plan.roster.entries.indices.filter { plan.roster.entries[$0].tier == tier }
    }

    /// The part of the tokens that came between two marks and was served; 1 when none came.
    private static func share(_ mark: DemoMark, since earlier: DemoMark?, _ members: [Int]) -> Double {
        var (offered, served) = (0.0, 0.0)
        for index in members {
            offered += mark.tenants[index].offered[.tokens] - (earlier?.tenants[index].offered[.tokens] ?? 0)
            served += mark.tenants[index].served[.tokens] - (earlier?.tenants[index].served[.tokens] ?? 0)
        }
        // What came before the window may be served within it.
        return offered > 0 ? min(1, served / offered) : 1
    }

    /// True when for longer than the demo's starvation rule says the tenant got less than its share of what it asked for,
    /// up to its entitlement. The same rule for both sides, on what came and what was served.
    private func isStarved(_ index: Int, in marks: [DemoMark]) -> Bool {
        let policy = plan.policy.starvation
        var since: Double?
        for (place, mark) in marks.enumerated() where place >= Self.windowMarks {
            let earlier = marks[place - Self.windowMarks]
            let seconds = mark.seconds - earlier.seconds
            let (now, then) = (mark.tenants[index], earlier.tenants[index])
            let due = min(
                (now.offered - then.offered).seconds(of: plan.capacity),
                entitlements[index].work(overSeconds: seconds).seconds(of: plan.capacity))
            guard due > 0, (now.served - then.served).seconds(of: plan.capacity) < policy.share * due else {
                since = nil
                continue
            }
            since = since ?? mark.seconds
            if mark.seconds - (since ?? 0) > policy.seconds { return true }
        }
        return false
    }

    private static func entitlements(_ plan: DemoPlan) -> [Rates] {
        let policy = plan.policy
        let tenants = plan.roster.entries.map { entry in
            var demand = PerCriticality(repeating: Rates.none)
            demand[entry.criticality] = entry.demand
            return FillTenant(
                id: entry.tenant, tier: entry.tier, weight: policy.tier(named: entry.tier)?.weight ?? 1,
                demand: demand, floor: entry.floor, shape: entry.demand)
        }
        let bands = [FillBand(.floor)] + Criticality.allCases.map { FillBand(.demand, criticality: $0) }
        var engine = FillEngine()
        return engine.solve(FillProblem(capacity: plan.capacity, bands: bands, tenants: tenants)).tenants.map(\.fill)
    }

    // MARK: For the dashboard

    /// `with`, `without`: figures so far, and the followed tier's share as percent over time.
    func encoded() -> [UInt8] {
        let (marks, start) = state.withLock { ($0.marks, $0.start) }
        let end = marks.last?.seconds ?? 0
        let twin = without.filter { $0.seconds <= end }
        let sides = sides
        var writer = JSONWriter(capacity: 8192)
        writer.beginObject()
        writer.field("pool", DemoPlan.pool.text)
        writer.field("seconds", finite: end)
        writer.field("planned_seconds", finite: plan.seconds)
        writer.key("at")
        writer.beginArray()
        // One a second is enough for a plot.
        for mark in marks.indices where mark.isMultiple(of: 2) {
            writer.integer(start?.adding(seconds: marks[mark].seconds).milliseconds ?? 0)
        }
        writer.endArray()
        for (name, side, course) in [("with", sides.with, marks), ("without", sides.without, twin)] {
            writer.key(name)
            writer.beginObject()
            writer.key(Self.followedTier)
            writer.beginArray()
            for index in marks.indices where index.isMultiple(of: 2) {
                writer.amount(followed(course, atSecond: marks[index].seconds))
            }
            writer.endArray()
            writer.members(of: side)
            writer.endObject()
        }
        writer.key("events")
        writer.beginArray()
        for (second, text) in [
            (plan.dropSeconds, "the provider silently grants half"), (plan.recoverySeconds, "full capacity again"),
        ] where second <= end {
            writer.beginObject()
            writer.field("at_ms", start?.adding(seconds: second).milliseconds ?? 0)
            writer.field("kind", "capacity")
            writer.field("text", text)
            writer.endObject()
        }
        writer.endArray()
        writer.field("price", price)
        writer.field("note", note)
        writer.endObject()
        return writer.bytes
    }

    /// Who pays for what the others gain, where somebody does: the last tier, as far as the run has come.
    var price: String? {
        let (with, without) = sides
        guard let own = with.tiers.last, let other = without.tiers.last, own.servedShare < other.servedShare - 0.05
        else {
            return nil
        }
        let members = members(of: own.tier)
        let gaveUp = state.withLock { $0.marks.last }.map { mark in
            members.reduce(0) { $0 + mark.tenants[$1].denied }
        }
        let patient =
            members.allSatisfy { plan.roster.entries[$0].criticality == .batch }
            ? ". Its callers can wait (\(gaveUp ?? 0) of its calls were given up so far). Without Headroom such patience "
                + "wins: its retries outlast callers that must have their answer soon."
            : "."
        return
            "The \(own.tier) tier comes last by policy, and pays for this: \(DemoText.percent(own.servedShare)) of its tokens were served so "
            + "far, in place of \(DemoText.percent(other.servedShare))\(patient)"
    }

    /// Percent of the followed tier's tokens of the last seconds.
    private func followed(_ marks: [DemoMark], atSecond second: Double) -> Double? {
        guard let place = marks.lastIndex(where: { $0.seconds <= second + 0.01 }) else { return nil }
        let earlier = place >= Self.windowMarks ? marks[place - Self.windowMarks] : nil
        return 100 * Self.share(marks[place], since: earlier, members(of: Self.followedTier))
    }

    var note: String {
        "Without: each call goes out as it comes; a refused one is tried again after what the provider says, with backoff. "
            + "A tenant counts as starved after \(Int(DemoPlan.starvationSeconds)) s under 70 % of what it asks for, up to its "
            + "fair part of the contract's capacity; the same rule on both sides."
    }
}

extension JSONWriter {
    mutating func members(of side: DemoComparison.Side) {
        key("tiers")
        array(side.tiers) { writer, tier in
            writer.beginObject()
            writer.field("tier", tier.tier)
            writer.field("served_share", finite: tier.servedShare)
            writer.endObject()
        }
        field("refusals", side.refusals)
        field("starved", side.starved)
        field("gave_up", side.gaveUp)
    }
}
