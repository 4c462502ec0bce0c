import HeadroomDecision
import HeadroomModel
import Testing

/// Spending against ceilings of an hour: 60 USD for acme and for the kind of task "research"; a call costs 0.10 USD.
@Suite struct CostBreakerTests {
    /// Calls and ticks on a clock that only the test moves; two seconds a tick.
    private struct Story {
        static let pool: PoolID = "p"
        /// A whole hour.
        static let start = Timestamp(milliseconds: 1_793_001_600_000)

        var rules: Rules
        var breaker = CostBreaker()
        private(set) var now = Self.start
        private(set) var last: [CostBreak] = []
        /// Calls that were made, of all that were wanted.
        private(set) var calls = 0
        private var owed = 0.0

        init(_ ceilings: [CostSubject: Int64] = [.tenant("acme"): 60_000_000]) {
            var pool = PoolPolicy(pool: Self.pool, nominal: Rates(rpm: 6000, tpm: 6_000_000))
            pool.prices = [PoolPrice(currency: "USD", perRequest: 100_000)]
            var policy = Policy(pools: [pool])
            policy.costBreaker.ceilings = ceilings
            rules = Rules(policy: policy)
        }

        var acme: CostBreak? { last.first { $0.subject == .tenant("acme") } }
        var research: CostBreak? { last.first { $0.subject == .taskKind("research") } }

        /// - Parameters:
        ///   - obeys: only as many as the limit in force allows.
        ///   - task: the n-th call's task and parent.
        mutating func run(
            minutes: Double, perMinute: Double, obeys: Bool = true, kind: String? = nil,
            task: (Int) -> (String, String?) = { ("t-\($0)", nil) }
        ) {
            for _ in 0..<Int(minutes * 30) {
                now = now.adding(seconds: 2)
                let limit = last.first?.limit(in: Self.pool) ?? .infinity
                owed += min(perMinute, obeys ? limit : .infinity) / 30
                while owed >= 1 {
                    owed -= 1
                    calls += 1
                    let (name, parent) = task(calls)
                    breaker.fold(
                        .call(
                            CallRecord(
                                at: now.adding(seconds: -0.5), gateway: "gw-1", tenant: "acme", pool: Self.pool,
                                task: name, parent: parent, outcome: .ok, inputTokens: 900, taskKind: kind)),
                        under: rules)
                }
                last = breaker.step(under: rules.holding(at: now), at: now)
            }
        }

        mutating func lift(_ subject: CostSubject, minutes: Double) {
            rules.steering.costLifts = [
                CostLift(
                    id: 7, subject: subject,
                    authorship: Authorship(
                        author: "sam", reason: "launch", at: now, until: now.adding(seconds: 60 * minutes)))
            ]
        }
    }

    @Test func `who stays under its ceiling is left alone, and nearly there it is named`() throws {
        var story = Story()
        story.run(minutes: 30, perMinute: 4)
        #expect(story.last.isEmpty)
        story.run(minutes: 10, perMinute: 9)
        let acme = try #require(story.acme)
        #expect(acme.state == .free && acme.limits.isEmpty)
        #expect(acme.ceiling == 60_000_000 && abs(acme.spent - 21_000_000) < 300_000)
        #expect(acme.projected > 30_000_000 && acme.projected < 60_000_000)
        #expect(acme.projectedLeast <= acme.projected && acme.projected <= acme.projectedMost)
    }

    @Test func `it is announced for a minute, then slowed to what is left, and that suffices`() throws {
        var story = Story()
        story.run(minutes: 1, perMinute: 30)
        #expect(story.acme?.state == .slowing)
        let due = try #require(story.acme?.due)
        #expect(due.seconds(since: try #require(story.acme?.since)) == 60)
        while story.now < due { story.run(minutes: 1 / 30.0, perMinute: 30) }
        let slowed = try #require(story.acme)
        #expect(slowed.state == .slowed && slowed.due == nil)
        // Nine tenths of what is left, over the minutes that are left, in requests at 0.10 each.
        let left = (60_000_000 - slowed.spent) / (slowed.until.seconds(since: story.now) / 60)
        #expect(abs(try #require(slowed.limit(in: "p")) - 0.9 * left / 100_000) < 0.3)
        story.run(minutes: 40, perMinute: 30)
        #expect(story.acme?.state == .slowed)
        story.run(minutes: 16, perMinute: 30)
        let end = try #require(story.acme)
        #expect(end.state == .slowed && end.spent > 50_000_000 && end.spent < 60_000_000)
        // In the next hour it still wants more than it may, and goes on slowed.
        story.run(minutes: 5, perMinute: 30)
        let next = try #require(story.acme)
        #expect(next.state == .slowed && next.spent < 6_000_000)
        // It wants less: it is let go, and stays free.
        story.run(minutes: 10, perMinute: 3)
        #expect(story.last.allSatisfy { $0.state == .free })
    }

    @Test func `one that slowing does not hold is announced again, and paused until the window ends`() throws {
        var story = Story()
        var states: [CostBreak.State] = []
        while story.now < Story.start.adding(seconds: 3590) {
            story.run(minutes: 1 / 30.0, perMinute: 60, obeys: story.acme?.state == .paused)
            let state = story.acme?.state ?? .free
            if states.last != state { states.append(state) }
        }
        #expect(states == [.free, .slowing, .slowed, .pausing, .paused])
        let paused = try #require(story.acme)
        #expect(paused.limits == [CostBreak.Limit(pool: "p", requestsPerMinute: 0)])
        // Two notices, and the evidence before each.
        #expect(paused.spent < 60_000_000)
        #expect(paused.until == Story.start.adding(seconds: 3600))
        story.run(minutes: 1, perMinute: 1)
        #expect(story.acme?.state == .slowed)
        #expect(try #require(story.acme?.limit(in: "p")) > 8)
    }

    @Test func `one call that costs more than the ceiling is announced before it is paused as well`() {
        var story = Story([.tenant("acme"): 50_000])
        var seen: [CostBreak.State: Double] = [:]
        story.run(minutes: 1 / 30.0, perMinute: 30)
        for _ in 0..<120 {
            seen[story.acme?.state ?? .free, default: 0] += 2
            story.run(minutes: 1 / 30.0, perMinute: 0)
        }
        #expect(seen[.slowing] == 60)
        #expect((seen[.pausing] ?? 0) >= 60)
        #expect(story.acme?.state == .paused)
    }

    @Test func `a person lifts it for a while`() throws {
        var story = Story()
        story.run(minutes: 20, perMinute: 100, obeys: false)
        #expect(story.acme?.state == .paused)
        story.lift(.tenant("acme"), minutes: 10)
        story.run(minutes: 9, perMinute: 100)
        #expect(story.acme?.state == .free && story.acme?.lift == 7)
        #expect(try #require(story.acme).spent > 250_000_000)
        story.run(minutes: 1.5, perMinute: 100)
        #expect(story.acme?.state == .slowing && story.acme?.lift == nil)
    }

    @Test func `a higher ceiling ends a pause`() {
        var story = Story()
        story.run(minutes: 20, perMinute: 60, obeys: false)
        #expect(story.acme?.state == .paused)
        story.rules.policy.costBreaker.ceilings[.tenant("acme")] = 600_000_000
        story.run(minutes: 3, perMinute: 5)
        #expect(story.last.allSatisfy { $0.state == .free })
    }

    @Test func `a kind of task has a ceiling of its own, and its present tasks are counted on`() throws {
        var story = Story([.taskKind("research"): 60_000_000])
        // Two tasks a minute of five calls each: one starts four.
        func task(_ call: Int) -> (String, String?) {
            let root = (call - 1) / 5
            return call % 5 == 1 ? ("root-\(root)", nil) : ("t-\(call)", "root-\(root)")
        }
        story.run(minutes: 20, perMinute: 10, kind: "research", task: task)
        let steady = try #require(story.research)
        #expect(steady.state == .free && story.acme == nil)
        let fanOut = try #require(steady.fanOut)
        #expect(abs(fanOut.tasksPerMinute - 2) < 0.4 && abs(fanOut.callsPerTask - 5) < 0.3)
        // Ten times as many begin, and each has made one call only: what they will spend counts at once.
        story.run(minutes: 1, perMinute: 20, kind: "research") { ("new-\($0)", nil) }
        let rising = try #require(story.research)
        #expect(try #require(rising.fanOut).tasksPerMinute > 7)
        #expect(rising.state == .slowing && rising.perMinute > 3_000_000)
        // Without the kind nothing of it is spent.
        story.run(minutes: 4, perMinute: 100)
        #expect(abs(try #require(story.research).spent - rising.spent) < 1)
    }

    @Test func `the same telemetry gives the same states after a start from a checkpoint`() throws {
        func end(restartingAt restart: Double?) -> (CostBreaker, [CostBreak]) {
            var story = Story([.tenant("acme"): 60_000_000, .taskKind("research"): 40_000_000])
            for minute in 0..<50 {
                if Double(minute) == restart {
                    let bytes = story.breaker.checkpoint()
                    story.breaker = CostBreaker()
                    story.breaker.restore(bytes)
                    #expect(story.breaker.checkpoint() == bytes)
                }
                story.run(minutes: 1, perMinute: Double(minute % 7) * 8, obeys: false, kind: "research")
            }
            return (story.breaker, story.last)
        }
        let (whole, stands) = end(restartingAt: nil)
        #expect(stands.contains { $0.state == .paused })
        for minute in [1.0, 7, 12, 31] {
            let (restarted, after) = end(restartingAt: minute)
            #expect(after == stands && restarted.checkpoint() == whole.checkpoint(), "restarted at \(minute)")
        }
        var other = whole
        for count in 0..<whole.checkpoint().count { other.restore(Array(whole.checkpoint().prefix(count))) }
        #expect(other.checkpoint() == whole.checkpoint())
    }

    @Test func `what has no price, or one in another currency, counts for nothing; the erased are forgotten`() {
        var story = Story()
        story.rules.policy.pools[0].prices[0].currency = "EUR"
        story.run(minutes: 5, perMinute: 600)
        #expect(story.last.isEmpty)
        story.rules.policy.pools[0].prices[0].currency = "USD"
        story.run(minutes: 1, perMinute: 600)
        #expect(!story.last.isEmpty)
        story.breaker.forget(["acme".fingerprint])
        story.run(minutes: 1 / 30.0, perMinute: 0)
        #expect(story.last.isEmpty && story.breaker.checkpoint().isEmpty)
    }

    // MARK: In a pool

    private func held(_ state: CostBreak.State, requests: Double, at now: Timestamp) -> CostBreak {
        CostBreak(
            subject: .tenant("acme"), state: state, since: now, ceiling: 60_000_000, spent: 40_000_000,
            until: now.adding(seconds: 600), limits: [CostBreak.Limit(pool: "demo:pool", requestsPerMinute: requests)])
    }

    @Test(arguments: [(CostBreak.State.slowed, 10.0, 10.0), (.slowed, 0.4, 1), (.paused, 0, 0)])
    func `its limit is a ceiling that goes before the floor and is explained`(
        state: CostBreak.State, limit: Double, requests: Double
    ) throws {
        var story = DecisionStory()
        story.needs = ["acme": DecisionStory.Needs(interactive: 1e6), "beta": DecisionStory.Needs(interactive: 1e6)]
        story.promise("acme", floor: 5e5)
        story.run(seconds: 120)
        #expect(story.assured("acme") >= 1e6)
        story.rules.costBreaks = [held(state, requests: limit, at: story.now)]
        story.tick()
        let acme = try #require(story.last?.allocation.tenants.first { $0.tenant == "acme" })
        #expect(acme.ceiling[.requests] == requests && acme.assured[.requests] == requests)
        #expect(acme.constraint == .costBreaker)
        let facts = try #require(story.last?.changes.first { $0.tenant == "acme" })
        #expect(facts.breaker?.state == state)
        #expect(Recomputation(pool: story.last!.facts, tenant: facts).fault == nil)
        #expect(story.last?.entitlements.first { $0.tenant == "acme" }?.rates[.requests] == requests)
        story.rules.costBreaks = []
        story.run(seconds: 120)
        #expect(story.assured("acme") >= 1e6)
    }

    @Test func `a held kind of task is in the pool's allocation, and others are not`() throws {
        var story = DecisionStory()
        story.needs = ["acme": DecisionStory.Needs(interactive: 1e6)]
        func held(_ kind: String, in pool: PoolID) -> CostBreak {
            CostBreak(
                subject: .taskKind(kind), state: .slowed, since: story.now, ceiling: 1, until: story.now,
                limits: [CostBreak.Limit(pool: pool, requestsPerMinute: 12.5)])
        }
        story.rules.costBreaks = [held("elsewhere", in: "other"), held("research", in: "demo:pool")]
        story.tick()
        #expect(
            story.last?.allocation.taskKinds == [PoolAllocation.TaskKind(kind: "research", requestsPerMinute: 12.5)])
    }
}
