import HeadroomEnforcement
import HeadroomModel
import Testing

/// Model §5.3 by example: two gateways that share 1,000 requests a minute, one of which was silent.
@Suite struct RoomTests {
    private let policy = LoopPolicy()
    private var room = Room()
    private var generation: Int64 = 0
    private var presences: [GatewayPresence] = []
    private var newest: SnapshotVersion { version(generation) }

    private func version(_ generation: Int64) -> SnapshotVersion { SnapshotVersion(epoch: 1, generation: generation) }

    private func whole(_ budget: Double) -> PoolAllocation {
        let fallback = (0.95 * budget).rounded(.down)
        return allocation(
            rpm: budget, tpm: 1000 * budget, fallback: Rates(rpm: fallback, tpm: 1000 * fallback))
    }

    /// An even part for each of `living`, as far as there is room; requests a minute.
    private mutating func publish(_ budget: Double, over living: [GatewayID], at seconds: Double) -> [Double?] {
        let whole = whole(budget)
        room.observe(presences, under: policy, at: after(seconds))
        let even = PoolTraffic(
            gateways: living, budgetWeights: living.map { _ in 1 }, fallbackWeights: living.map { _ in 1 }, tenants: [],
            demand: [])
        let parts = room.fit(Parts().budgets(of: whole, over: even), of: whole, expectedGateways: 1)
        generation += 1
        room.publish(newest, parts, of: whole, leaseSeconds: policy.leaseSeconds, at: after(seconds))
        return parts.map { $0.budget[.requests] }
    }

    private mutating func note(
        _ gateway: GatewayID, applied: Int64?, sent: Int64?, at seconds: Double
    ) {
        presences.removeAll { $0.gateway == gateway }
        presences.append(
            GatewayPresence(
                gateway: gateway, lastSeen: after(seconds), applied: applied.map(version), sent: sent.map(version)))
        presences.sort { $0.gateway < $1.gateway }
    }

    /// Both have half, and then nothing is heard of the second, which lives on its fallback of 475 from second 15 on.
    private mutating func losesTheSecond() {
        #expect(publish(1000, over: ["gw-1", "gw-2"], at: 0) == [500, 500])
        for gateway in ["gw-1", "gw-2"] as [GatewayID] { note(gateway, applied: 1, sent: 1, at: 0) }
        for second in stride(from: 2.0, through: 20, by: 2) {
            note("gw-1", applied: generation, sent: generation, at: second)
            _ = publish(1000, over: ["gw-1", "gw-2"], at: second)
        }
        note("gw-1", applied: generation, sent: generation, at: 22)
        #expect(publish(1000, over: ["gw-1"], at: 22) == [500])
        note("gw-1", applied: generation, sent: generation, at: 24)
        // What was last published for the second cannot be handed out any more.
        #expect(publish(1000, over: ["gw-1"], at: 24) == [525])
        note("gw-1", applied: generation, sent: generation, at: 25)
    }

    @Test mutating func `after a start nobody is given the budget that it may have lost, where it is not known`() {
        func sent(_ gateway: GatewayID, _ budget: Double, _ fallback: Double) -> SentBudget {
            SentBudget(
                version: version(1), gateway: gateway, pool: "demo:pool", budget: Rates(rpm: budget),
                fallback: Rates(rpm: fallback), publishedAt: after(0))
        }
        // For all that is known they may be on their budgets, or, after a long outage, on their fallbacks.
        room = Room(
            remembering: [sent("gw-1", 100, 475), sent("gw-2", 900, 475)], leaseSeconds: policy.leaseSeconds,
            graceSeconds: policy.graceSeconds, at: after(300))
        generation = 1
        note("gw-2", applied: 1, sent: nil, at: 300)
        let first = publish(1000, over: ["gw-2"], at: 300)
        #expect(first == [475])
    }

    @Test(arguments: [false, true])
    mutating func `one that comes back has its fallback and not the budget it had before`(isAnswered: Bool) {
        losesTheSecond()
        note("gw-2", applied: 1, sent: isAnswered ? newest.generation : 1, at: 26)
        // The first goes on using its 525 until it has acknowledged the 500.
        #expect(publish(1000, over: ["gw-1", "gw-2"], at: 26) == [500, 475])
        #expect(room.inEffect(at: "gw-2")[Resource.requests.rawValue] == 475)
        note("gw-1", applied: generation, sent: generation, at: 27)
        note("gw-2", applied: generation, sent: generation, at: 27)
        #expect(publish(1000, over: ["gw-1", "gw-2"], at: 28) == [500, 500])
    }

    @Test mutating func `a look that comes late does not bring back what lapsed before it`() {
        #expect(publish(1000, over: ["gw-1", "gw-2"], at: 0) == [500, 500])
        for gateway in ["gw-1", "gw-2"] as [GatewayID] { note(gateway, applied: 1, sent: 1, at: 0) }
        _ = publish(1000, over: ["gw-1"], at: 2)
        // Nothing was published for a while, and the second was not heard of.
        note("gw-1", applied: generation, sent: generation, at: 29)
        _ = publish(1000, over: ["gw-1"], at: 30)
        note("gw-2", applied: 1, sent: 1, at: 31)
        room.observe(presences, under: policy, at: after(31))
        #expect(room.inEffect(at: "gw-2")[Resource.requests.rawValue] == 475)
    }

    @Test mutating func `one that comes back gets what those that are still silent leave`() {
        let all: [GatewayID] = ["gw-1", "gw-2", "gw-3"]
        #expect(publish(900, over: all, at: 0) == [300, 300, 300])
        for gateway in all { note(gateway, applied: 1, sent: 1, at: 0) }
        _ = publish(900, over: all, at: 2)
        _ = publish(900, over: [], at: 22)
        note("gw-1", applied: 1, sent: 1, at: 30)
        // Their fallbacks of 285 each are in use.
        #expect(publish(900, over: ["gw-1"], at: 30) == [330])
    }

    @Test mutating func `one that is silent withholds its part of what there is, however capacity falls`() {
        losesTheSecond()
        // Of its 475 nobody knows whether they are in use: it counts as if it had heard of the fall.
        #expect(publish(400, over: ["gw-1"], at: 26) == [210])
        #expect(room.inEffect(at: "gw-2")[Resource.requests.rawValue] == 475)
        #expect(room.overcommittedTokens == 0)
        note("gw-1", applied: generation, sent: generation, at: 27)
        #expect(publish(400, over: ["gw-1"], at: 28) == [210])
        // What both may be using beyond that is measured: 525 + 475, and then 210 + 475, above 400.
        #expect(abs(room.overcommittedTokens - 1000 * (600 + 285) / 2 * 2 / 60) < 1)
        note("gw-1", applied: generation, sent: generation, at: 29)
        #expect(publish(1000, over: ["gw-1"], at: 30) == [525])
    }

    /// A new term whose ledger shows what each had of budget and fallback in generation 1; requests a minute.
    private mutating func startsAgain(_ parts: [(gateway: GatewayID, budget: Double, fallback: Double)]) {
        func rates(_ rpm: Double) -> Rates { Rates(rpm: rpm, tpm: 1000 * rpm) }
        let sent = parts.map { part in
            SentBudget(
                version: version(1), gateway: part.gateway, pool: "pool", budget: rates(part.budget),
                fallback: rates(part.fallback), publishedAt: after(0))
        }
        room = Room(
            remembering: sent, leaseSeconds: policy.leaseSeconds, graceSeconds: policy.graceSeconds, at: after(60))
        generation = 2
    }

    @Test mutating func `one that a new term hears of first counts with its fallback until it has something newer`() {
        startsAgain([("gw-1", 100, 475), ("gw-2", 100, 475)])
        note("gw-1", applied: 1, sent: nil, at: 61)
        room.observe(presences, under: policy, at: after(62))
        #expect(room.inEffect(at: "gw-1")[Resource.requests.rawValue] == 475)
    }

    @Test mutating func `one that has what the ledger never took counts with what was written before it`() {
        startsAgain([("gw-1", 500, 475)])
        note("gw-1", applied: 2, sent: nil, at: 61)
        room.observe(presences, under: policy, at: after(61))
        #expect(room.inEffect(at: "gw-1")[Resource.requests.rawValue] == 500)
    }

    @Test mutating func `in times of excess none is given more than it may have fallen back to`() {
        startsAgain([("gw-1", 100, 900), ("gw-2", 900, 50)])
        for gateway in ["gw-1", "gw-2"] as [GatewayID] { note(gateway, applied: 1, sent: nil, at: 61) }
        // One may be on its 900 while the other is on its 50, or the other way round: both would be too much.
        #expect(publish(1000, over: ["gw-1", "gw-2"], at: 62) == [100, 50])
        for gateway in ["gw-1", "gw-2"] as [GatewayID] { note(gateway, applied: 3, sent: 3, at: 63) }
        #expect(publish(1000, over: ["gw-1", "gw-2"], at: 64) == [500, 500])
    }

    @Test mutating func `those that come back share what one that does not leaves, to the last unit`() {
        startsAgain([("gw-1", 100, 95), ("gw-2", 100, 95), ("gw-3", 100, 95)])
        note("gw-2", applied: 1, sent: nil, at: 61)
        note("gw-3", applied: 1, sent: nil, at: 61)
        #expect(publish(1000, over: ["gw-2", "gw-3"], at: 62) == [450, 450])
        // 950 less the 95 that the first goes on having.
        #expect(room.fallbacks[Resource.requests.rawValue] == 95 + 427 + 427)
    }
}
