import HeadroomLoop
import HeadroomMemoryStores
import HeadroomModel
import Testing

@Suite struct CheckpointTests {
    private static let pool: PoolID = "demo:pool"
    private static let start = Timestamp(milliseconds: 1_793_000_040_000)
    private static let seconds = 240

    private func at(_ second: Int) -> Timestamp { Self.start.adding(seconds: Double(second)) }

    /// One tenant's life: rows as they are stored, and a loop that may end at any turn.
    private final class Story {
        let telemetry = MemoryTelemetry()
        let checkpoints = MemoryCheckpoints()
        let board = MemoryBoard()
        let rules = MemoryRules(
            Rules(policy: Policy(pools: [PoolPolicy(pool: pool, nominal: Rates(rpm: 600, tpm: 600_000))])))
        private var loop: ControlLoop

        init() {
            loop = Self.loop(telemetry, checkpoints, board, rules, at: start)
        }

        func restart(at now: Timestamp) { loop = Self.loop(telemetry, checkpoints, board, rules, at: now) }

        func tick(at now: Timestamp) async -> LoopReport { await loop.tick(at: now) }

        func stop(at now: Timestamp) async throws { try await loop.stop(at: now) }

        /// The clock of acme after a draw of a gateway that has spent so much for it.
        func clock(spent requests: Double, sequence: Int64, at now: Timestamp) throws -> Double {
            let epoch = try #require(board.publications.last?.whole.version.epoch)
            let work = Work(requests: requests, tokens: requests * 1000)
            let answer = try loop.draw(
                DrawRequest(
                    gateway: "gw-1", boot: "one", sequence: sequence, pool: CheckpointTests.pool, epoch: epoch,
                    totals: DrawRequest.Totals(spent: [.init(tenant: "acme", work: work)])), at: now)
            return try #require(answer.serviceClocks.first).serviceClock
        }

        private static func loop(
            _ telemetry: MemoryTelemetry, _ checkpoints: MemoryCheckpoints, _ board: MemoryBoard, _ rules: MemoryRules,
            at now: Timestamp
        ) -> ControlLoop {
            ControlLoop(
                telemetry: telemetry, rules: rules, ledger: MemoryLedger(), board: board,
                records: MemoryRecords(), checkpoints: checkpoints, at: now)
        }
    }

    /// Calls of the second before `second`, the same for every story of a seed; one in thirty comes four minutes late, and
    /// one ten.
    private func calls(_ second: Int, seed: Int) -> [TelemetryRecord] {
        (0..<6).map { n in
            let draw = (second * 31 + n * 17 + seed * 101) % 97
            let late = draw == 0 ? 240.0 : draw == 1 ? 600 : 0
            return .call(
                CallRecord(
                    request: "r-\(second)-\(n)", at: at(second).adding(seconds: -0.1 * Double(n + 1) - late),
                    gateway: n % 2 == 0 ? "gw-1" : "gw-2", tenant: n % 3 == 0 ? "acme" : "beta", pool: Self.pool,
                    criticality: n % 2 == 0 ? .interactive : .batch, task: "t-\(second / 10)",
                    outcome: draw % 7 == 0 ? .denied : .ok, inputTokens: Int64(100 + 13 * draw),
                    outputTokens: draw % 7 == 0 ? nil : 50, maxTokens: 500))
        }
    }

    /// Plays a seed's rows with turns every two seconds; `end`, when not `nil`, is a turn after which the process is gone.
    private func play(seed: Int, end: Int?) async -> (story: Story, report: LoopReport) {
        let story = Story()
        var report = LoopReport(at: Self.start)
        for second in 1...Self.seconds {
            story.telemetry.append(calls(second, seed: seed), at: at(second))
            guard second % 2 == 0 else { continue }
            report = await story.tick(at: at(second))
            if second == end { story.restart(at: at(second)) }
        }
        return (story, report)
    }

    @Test func `whom the cost breaker holds is held after a restart, and forgotten when it is erased`() async throws {
        let story = Story()
        var pool = PoolPolicy(pool: Self.pool, nominal: Rates(rpm: 600, tpm: 600_000))
        pool.prices = [PoolPrice(currency: "USD", perRequest: 1_000_000)]
        var policy = Policy(pools: [pool])
        policy.costBreaker.noticeSeconds = 10
        policy.costBreaker.windowSeconds = 86_400
        policy.costBreaker.ceilings = [.tenant("acme"): 50_000_000]
        story.rules.change { $0 = Rules(policy: policy) }
        for second in 1...60 {
            story.telemetry.append(calls(second, seed: 1), at: at(second))
            if second % 2 == 0 { _ = await story.tick(at: at(second)) }
        }
        let before = await story.tick(at: at(62))
        #expect(before.costBreaks.map(\.state) == [.paused])
        func ceiling() -> Double? {
            story.board.publications.last?.whole.pools[0].tenants.first { $0.tenant == "acme" }?.ceiling[.requests]
        }
        #expect(ceiling() == 0)
        try await story.stop(at: at(62))
        story.restart(at: at(70))
        let after = await story.tick(at: at(70))
        #expect(after.costBreaks.map(\.state) == [.paused])
        #expect(after.costBreaks.first?.spent == before.costBreaks.first?.spent)
        for second in stride(from: 72, through: 90, by: 2) { _ = await story.tick(at: at(second)) }
        #expect(ceiling() == 0)

        story.checkpoints.erase("acme")
        let erased = await story.tick(at: at(92))
        #expect(erased.costBreaks.isEmpty)
        let checkpoint = try #require(try await story.checkpoints.latest())
        #expect(!String(decoding: checkpoint.breaker, as: UTF8.self).contains("acme"))
    }

    @Test func `the clocks of the float outlive a stop in order`() async throws {
        let (story, _) = await play(seed: 1, end: nil)
        let first = try story.clock(spent: 0, sequence: 1, at: at(Self.seconds))
        let spent = try story.clock(spent: 20, sequence: 2, at: at(Self.seconds + 1))
        #expect(spent > first)
        try await story.stop(at: at(Self.seconds + 1))
        let checkpoint = try #require(try await story.checkpoints.latest())
        #expect(checkpoint.at == at(Self.seconds + 1))
        story.restart(at: at(Self.seconds + 1))
        _ = await story.tick(at: at(Self.seconds + 2))
        // The first draw of a term only says what later ones are measured against.
        #expect(try story.clock(spent: 20, sequence: 3, at: at(Self.seconds + 2)) == spent)
    }

    @Test(arguments: [false, true])
    func `an erased tenant is unknown from the next turn on, also after a restart, and comes back as a newcomer`(
        restarts: Bool
    ) async throws {
        let (story, before) = await play(seed: 1, end: nil)
        #expect(before.pools[0].tenants.map(\.tenant) == ["acme", "beta"])
        if restarts { story.restart(at: at(Self.seconds)) }
        story.checkpoints.erase("acme")
        let after = await story.tick(at: at(Self.seconds + 2))
        #expect(after.pools[0].tenants.map(\.tenant) == ["beta"])
        let checkpoint = try #require(try await story.checkpoints.latest())
        #expect(checkpoint.at == at(Self.seconds + 2))
        #expect(!String(decoding: checkpoint.classifier, as: UTF8.self).contains("acme"))
        #expect(String(decoding: checkpoint.classifier, as: UTF8.self).contains("beta"))
        #expect(!String(decoding: checkpoint.floats, as: UTF8.self).contains("acme"))
        #expect(try await story.checkpoints.erasures(after: 0).isEmpty)

        story.telemetry.append(calls(Self.seconds + 3, seed: 1), at: at(Self.seconds + 3))
        let returned = await story.tick(at: at(Self.seconds + 4))
        let (old, new) = (before.pools[0].tenants[0], returned.pools[0].tenants[0])
        #expect(new.tenant == "acme")
        #expect(try #require(new.profile).confidence < 0.1 * (try #require(old.profile).confidence))
    }

    @Test func `after an end at any turn profiles are what they would have been`() async throws {
        for seed in 1...3 {
            let whole = await play(seed: seed, end: nil).report
            for end in [2, 58, 60, 62, 118 + 2 * seed, 200, 236] {
                let restarted = await play(seed: seed, end: end).report
                for (left, right) in zip(whole.pools[0].tenants, restarted.pools[0].tenants) {
                    let was = try #require(left.profile)
                    let found = try #require(right.profile)
                    let note = "seed \(seed), end \(end), \(left.tenant)"
                    #expect(left.consumed == right.consumed, "\(note)")
                    #expect(found.confidence == was.confidence, "\(note)")
                    #expect(found.tokenCorrection == was.tokenCorrection, "\(note)")
                    #expect(found.flows.map(\.shape) == was.flows.map(\.shape), "\(note)")
                    #expect(found.flows.map(\.burnFast) == was.flows.map(\.burnFast), "\(note)")
                    #expect(found.burstiness == was.burstiness, "\(note)")
                    // What fades from turn to turn has the checkpoint's error: turns that were not made raised nothing.
                    let (demand, before) = (right.demand[.tokens] ?? 0, left.demand[.tokens] ?? 0)
                    #expect(abs(demand / before - 1) < 0.5, "\(note): \(demand) \(before)")
                }
            }
        }
    }

    @Test func `every row counts once in the roll-ups, however the process ends, in the minute where it belongs`()
        async throws
    {
        for end in [nil, 30, 60, 62, 90, 180, 182] as [Int?] {
            let story = await play(seed: 1, end: end).story
            // The last checkpoint is of the last turn.
            let cursor = try #require(try await story.checkpoints.latest()?.cursor)
            let rows = (1...Self.seconds).flatMap { calls($0, seed: 1) }.prefix(Int(cursor.call))
            var expected: [Timestamp: Int64] = [:]
            for row in rows {
                expected[Timestamp(milliseconds: row.at.milliseconds / 60_000 * 60_000), default: 0] += 1
            }
            var found: [Timestamp: Int64] = [:]
            for rollup in story.checkpoints.rollups { found[rollup.start, default: 0] += rollup.ok + rollup.denied }
            found = found.filter { $0.value > 0 }
            #expect(found == expected, "end \(end ?? 0)")
            #expect(cursor.call > 6 * 150)
        }
    }

    @Test func `a checkpoint that cannot be stored is said, and its sums come with the next`() async throws {
        let story = Story()
        story.checkpoints.isFull = true
        var failures: [LoopReport.Stage] = []
        for second in 1...200 {
            story.telemetry.append(calls(second, seed: 2), at: at(second))
            if second == 100 { story.checkpoints.isFull = false }
            guard second % 2 == 0 else { continue }
            failures += await story.tick(at: at(second)).failures.map(\.stage)
        }
        #expect(!failures.isEmpty && failures.allSatisfy { $0 == .record })
        let cursor = try #require(try await story.checkpoints.latest()?.cursor)
        let counted = story.checkpoints.rollups.reduce(0) { $0 + $1.ok + $1.denied }
        #expect(counted == cursor.call)
    }

    @Test(arguments: [nil, 100, 121, 150] as [Int?])
    func `money that is spent bounds the ceiling, a minute later and also after a restart`(end: Int?) async throws {
        let story = Story()
        // A thousandth of a unit a request; 400 of them a day.
        let cost = CostTerms(
            currency: "EUR", period: .day, most: 400_000, prices: [CostTerms.Price(perRequest: 1_000)])
        story.rules.change { $0.contracts["acme"] = Contract(tenant: "acme", cost: cost) }
        func ceiling() -> Double? {
            story.board.publications.last?.whole.pools[0].tenants.first { $0.tenant == "acme" }?.ceiling[.requests]
        }
        for second in 1...200 {
            // Two a second; every tenth of them comes later than live windows reach.
            for n in 0..<2 {
                let isLate = (2 * second + n) % 10 == 0
                let record = TelemetryRecord.call(
                    CallRecord(
                        request: "c-\(second)-\(n)", at: at(second - (isLate ? 400 : 0)), gateway: "gw-1",
                        tenant: "acme", pool: Self.pool, outcome: .ok, inputTokens: 900, outputTokens: 100))
                story.telemetry.append([record])
            }
            guard second % 2 == 0 else { continue }
            _ = await story.tick(at: at(second))
            if second == 10 { #expect(try #require(ceiling()) >= 1) }
            if second == end { story.restart(at: at(second)) }
        }
        // 360 at the last checkpoint: less than one a minute for the rest of the day.
        #expect(ceiling() == 1)
        let spent = try await story.checkpoints.uses(since: 0).reduce(0) { $0 + $1.requests }
        #expect(spent >= 240 && spent <= 400, "\(spent)")
        for second in 201...310 where second % 2 == 0 { _ = await story.tick(at: at(second)) }
        #expect(ceiling() == 0)
    }

    @Test(arguments: [10.0, 60])
    func `starvation is summed in the roll-ups from its first second, however long it takes to be certain`(
        certainAfter seconds: Double
    ) async throws {
        let story = Story()
        story.rules.change { $0.policy.starvation = StarvationPolicy(seconds: seconds, share: 0.7) }
        for second in 1...130 {
            story.telemetry.append(
                (0..<4).map { n in
                    .call(
                        CallRecord(
                            request: "s-\(second)-\(n)", at: at(second).adding(seconds: -0.2 * Double(n + 1)),
                            gateway: "gw-1", tenant: "acme", pool: Self.pool, outcome: n == 0 ? .ok : .denied,
                            inputTokens: 900, outputTokens: n == 0 ? 100 : nil))
                })
            if second % 2 == 0 { _ = await story.tick(at: at(second)) }
        }
        let starved = story.checkpoints.rollups.reduce(0) { $0 + $1.starvedForDeliverySeconds }
        #expect(starved > 95 && starved < 125, "\(starved)")
        let asked = story.checkpoints.rollups.reduce(0) { $0 + $1.asked.tokens }
        // 4,000 tokens a second: what was denied would have cost what was served did.
        let stored = story.checkpoints.rollups.reduce(0) { $0 + $1.ok + $1.denied } * 1000
        #expect(asked == stored && asked >= 480_000, "\(asked) of \(stored)")
    }
}
