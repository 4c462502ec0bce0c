import HeadroomModel
import Testing

@Suite struct TenantProfileTests {
    private static let day = 86_400.0

    private func profile(_ pool: ClassifiedPool, at second: Double) throws -> TenantProfileReport {
        try #require(pool.tenant(at: second)?.profile)
    }

    @Test func `a tenant that idles for a day keeps its shape`() throws {
        let pool = ClassifiedPool()
        for n in 0..<100 { pool.call(Double(n), input: 6_900) }
        pool.demand(at: 100 + Self.day)
        pool.call(101 + Self.day, .denied, input: nil)
        let found = try #require(pool.tenant(at: 102 + Self.day))
        #expect(abs(try #require(found.shape)[.tokens] - 7_000) < 1)
        // And what it is denied counts as what its calls used to cost: one call within the 20 s window.
        #expect(abs(try #require(found.wanted[.tokens]) - 3 * 7_000) < 10)
        #expect(found.confidence > 0.6)
    }

    @Test func `max_tokens ten times too high are corrected within 50 calls`() throws {
        for factor in [5, 7, 10] as [Int64] {
            let pool = ClassifiedPool()
            // 200 tokens of 200 · factor that are asked for; half is denied, and all of it asks the same.
            for n in 0..<100 {
                let isServed = n % 2 == 0
                pool.call(
                    Double(n) / 4, isServed ? .ok : .denied, input: 300, output: isServed ? 200 : nil,
                    maxTokens: 200 * factor)
            }
            let wanted = try #require(pool.tenant(at: 25)?.wanted[.tokens])
            #expect(abs(wanted / (4 * 60 * 500) - 1) < 0.1, "\(factor): \(wanted)")
            #expect(abs(try profile(pool, at: 25).tokenCorrection - 1 / Double(factor)) < 0.01, "\(factor)")
        }
    }

    @Test func `a queue that claims seven times its worth counts at its worth, an honest one as it says`() throws {
        for (claimed, expected) in [(3_500, 500), (700, 700)] as [(Int64, Double)] {
            let pool = ClassifiedPool()
            for n in 0..<50 { pool.call(Double(n) / 10, input: 100, output: 400) }
            for second in 5..<60 { pool.queue(Double(second), depth: 20, tokens: 20 * claimed) }
            let wanted = try #require(pool.tenant(at: 60)?.wanted[.tokens])
            #expect(abs(wanted / (20 * 3 * expected) - 1) < 0.05, "\(claimed): \(wanted)")
        }
    }

    @Test func `shape classes follow their thresholds`() throws {
        let table: [(input: Int64, output: Int64, perSecond: Int, ShapeClass)] = [
            (12_000, 300, 1, .longContext), (300, 900, 1, .generationHeavy), (200, 20, 2, .shortFrequent),
            (200, 20, 0, .balanced), (1_200, 250, 2, .balanced), (8_000, 100, 1, .longContext),
            (7_999, 100, 1, .balanced),
        ]
        for (input, output, perSecond, expected) in table {
            let pool = ClassifiedPool()
            for second in 0..<120 {
                if perSecond == 0, second % 10 > 0 { continue }
                for n in 0..<max(1, perSecond) {
                    pool.call(Double(second) + Double(n) / 4, input: input, output: output)
                }
            }
            #expect(try profile(pool, at: 120).shapeClass == expected, "\(input) \(output) \(perSecond)")
        }
    }

    @Test func `confidence grows with calls, half of it at the policy's number`() throws {
        for (calls, expected) in [(1, 1.0 / 21), (20, 0.5), (180, 0.9)] {
            let pool = ClassifiedPool()
            for n in 0..<calls { pool.call(Double(n) / 10) }
            let confidence = try #require(pool.tenant(at: 20)?.confidence)
            #expect(abs(confidence - expected) < 0.01, "\(calls)")
        }
    }

    @Test func `an even tenant is even and a bursty one is bursty`() throws {
        let even = ClassifiedPool()
        let bursty = ClassifiedPool()
        for minute in 0..<60 {
            for n in 0..<60 {
                even.call(Double(60 * minute + n))
                // The same work, all in every tenth minute.
                if minute % 10 == 0 { for k in 0..<10 { bursty.call(Double(60 * minute + n) + Double(k) / 20) } }
            }
        }
        let calm = try profile(even, at: 3600).burstiness
        let wild = try profile(bursty, at: 3600).burstiness
        #expect(calm.peakToMean < 1.1 && calm.variation < 0.1, "\(calm)")
        #expect(abs(wild.peakToMean / 10 - 1) < 0.25, "\(wild)")
        #expect(abs(wild.variation / 3 - 1) < 0.25, "\(wild)")
        #expect(wild.peakWork[.requests] == 600)
        let peak = try #require(wild.peakMinute)
        #expect(peak.minute >= ClassifiedPool.start.minute)
    }

    @Test func `burn rates and trend tell a tenant that speeds up`() throws {
        let pool = ClassifiedPool()
        for second in 0..<3600 where second < 3000 ? second % 4 == 0 : true { pool.call(Double(second)) }
        let flow = try #require(try profile(pool, at: 3600).flows.first)
        #expect(abs(try #require(flow.burnFast[.requests]) / 60 - 1) < 0.1, "\(flow.burnFast)")
        let slow = try #require(flow.burnSlow[.requests])
        #expect(slow > 14 && slow < 25, "\(slow)")
        #expect(flow.trend > 1.5, "\(flow.trend)")
    }

    @Test func `who returns to its base after bursts repays, who stays above it does not`() throws {
        let repays = ClassifiedPool()
        let stays = ClassifiedPool()
        for minute in 0..<120 {
            for n in 0..<12 {
                let second = Double(60 * minute + 5 * n)
                let isBurst = minute >= 30 && minute % 15 < 3
                for k in 0..<(isBurst ? 6 : 1) { repays.call(second + Double(k) / 10) }
                // Three times as much every half hour, for good.
                let level = minute < 30 ? 1 : minute < 60 ? 3 : minute < 90 ? 9 : 27
                for k in 0..<level { stays.call(second + Double(k) / 10) }
            }
        }
        let good = try #require(repays.tenant(at: 7200)?.repayment)
        let bad = try #require(stays.tenant(at: 7200)?.repayment)
        #expect(good > 0.8, "\(good)")
        #expect(bad < 0.3, "\(bad)")
    }

    @Test func `who bursts every minute and returns within it repays, who is steady has never had to`() throws {
        let bursts = ClassifiedPool()
        let steady = ClassifiedPool()
        let silent = ClassifiedPool()
        var random = SplitMix64(seed: 7)
        for second in 0..<1440 {
            // A call every five seconds, and thirty at once every minute.
            if second % 5 == 0 { bursts.call(Double(second)) }
            if second % 60 == 0 { for k in 0..<30 { bursts.call(Double(second) + Double(k) / 100) } }
            // As many, one by one at any moment.
            for _ in 0..<42 where Int.random(in: 0..<60, using: &random) == 0 { steady.call(Double(second)) }
            if second % 60 == 0 { for k in 0..<12 { silent.call(Double(second) + Double(k) / 100) } }
        }
        let good = try #require(bursts.tenant(at: 1440)?.repayment)
        #expect(good > 0.8, "\(good)")
        let even = try #require(steady.tenant(at: 1440)?.repayment)
        #expect(even >= 0.5 && even < 0.7, "\(even)")
        let rare = try #require(silent.tenant(at: 1440)?.repayment)
        #expect(rare > 0.8, "\(rare)")
    }

    @Test func `what a gateway's cache answered is kept as saved, and is neither use nor demand`() throws {
        let pool = ClassifiedPool()
        for second in 0..<3 { pool.call(Double(second), .cached, output: 50) }
        pool.call(3)
        let uses = pool.estimator.unstoredUses()
        #expect(uses.map(\.saved) == [UseSums(requests: 3, inputTokens: 2700, outputTokens: 150)])
        #expect(uses.map(\.sums) == [UseSums()])
        let rollup = try #require(pool.estimator.unstoredRollups().first)
        #expect(rollup.ok == 1 && rollup.inputTokens == 900)
    }

    @Test func `tasks tell what one costs, how it fans out, and what is still needed`() throws {
        let pool = ClassifiedPool()
        for n in 0..<20 {
            let start = Double(n) * 10
            pool.task(start, "t\(n)", .started)
            for call in 0..<6 { pool.call(start + Double(call), task: "t\(n)") }
            for child in 0..<2 {
                pool.task(start + 6, "t\(n).\(child)", .started, parent: "t\(n)")
                pool.call(start + 7, task: "t\(n).\(child)", parent: "t\(n)")
                pool.task(start + 8, "t\(n).\(child)", .completed, parent: "t\(n)")
            }
            pool.task(start + 9, "t\(n)", n % 4 == 0 ? .failed : .completed)
        }
        pool.task(200, "open", .progress, requests: 20, tokens: 30_000)
        let found = try #require(pool.tenant(at: 201))
        let cost = try #require(found.profile?.tasks)
        #expect(abs(cost.requests - 8) < 0.01, "\(cost)")
        #expect(abs(cost.tokens - 8000) < 10, "\(cost)")
        #expect(abs(cost.fanOut - 2) < 0.01, "\(cost)")
        #expect(abs(try #require(cost.completion) - 55.0 / 60) < 0.01, "\(cost)")
        #expect(cost.open == 1)
        let needed = try #require(found.midTask)
        // Believed as far as its tasks complete: 56 of 61.
        #expect(abs(needed[.requests] - 20 * 56 / 61) < 0.1, "\(needed)")
    }

    @Test func `a task costs what its whole tree costs, also when only its children make calls`() throws {
        // One task starts five, which make two calls each; half of the roots are reported, and end before or after these.
        for isReported in [false, true] {
            let pool = ClassifiedPool()
            for n in 0..<10 {
                let start = Double(n) * 20
                if isReported { pool.task(start, "t\(n)", .started) }
                for call in 0..<10 { pool.call(start + Double(call), task: "t\(n).\(call % 5)", parent: "t\(n)") }
                if isReported, n % 2 == 0 { pool.task(start + 10, "t\(n)", .completed) }
                for child in 0..<5 { pool.task(start + 11, "t\(n).\(child)", .completed, parent: "t\(n)") }
                if isReported, n % 2 == 1 { pool.task(start + 12, "t\(n)", .completed) }
            }
            pool.call(700)
            let cost = try #require(pool.tenant(at: 701)?.profile?.tasks)
            #expect(abs(cost.requests - 10) < 0.01 && abs(cost.fanOut - 5) < 0.01 && cost.open == 0, "\(cost)")
        }
    }

    @Test func `tasks that nobody mentions any more end`() throws {
        let pool = ClassifiedPool()
        for n in 0..<5 { pool.task(Double(n), "t\(n)", .progress, requests: 10) }
        #expect(try #require(pool.tenant(at: 10)).midTask != nil)
        let later = try #require(pool.tenant(at: 400))
        #expect(later.midTask == nil)
        #expect(later.profile?.tasks?.completion == 0)
    }

    @Test func `late lines enter the windows where they belong, older ones only the roll-ups`() throws {
        let pool = ClassifiedPool()
        pool.call(0)
        pool.demand(at: 400)
        let line = CallRecord(
            request: "late", at: ClassifiedPool.at(390), gateway: "gw-1", tenant: "acme", pool: ClassifiedPool.pool,
            outcome: .ok, inputTokens: 900, outputTokens: 100)
        pool.estimator.fold(.call(line), at: ClassifiedPool.at(400))
        var ancient = line
        ancient.request = "ancient"
        ancient.at = ClassifiedPool.at(60)
        pool.estimator.fold(.call(ancient), at: ClassifiedPool.at(400))
        let found = try #require(pool.tenant(at: 400))
        #expect(found.wanted[.requests] == 3)
        let minutes = pool.estimator.unstoredRollups().filter { $0.ok > 0 }
        #expect(minutes.map(\.ok).reduce(0, +) == 3)
        #expect(minutes.contains { $0.start.minute == ClassifiedPool.at(60).minute && $0.ok == 1 })
    }

    @Test func `a line from the future counts as of now`() throws {
        let pool = ClassifiedPool()
        for n in 0..<10 { pool.call(Double(n)) }
        pool.demand(at: 20)
        pool.estimator.fold(
            .call(
                CallRecord(
                    request: "future", at: ClassifiedPool.at(90_000), gateway: "gw-1", tenant: "acme",
                    pool: ClassifiedPool.pool, outcome: .ok, inputTokens: 900, outputTokens: 100)),
            at: ClassifiedPool.at(20))
        #expect(try #require(pool.tenant(at: 20)?.consumed[.requests]) == 30)
    }

    @Test func `the longest idle make room in a full table, and what they did is stored`() {
        let pool = ClassifiedPool(
            Policy(loop: LoopPolicy(maxTenants: 20), demand: DemandPolicy(margin: 1, idleSeconds: 60)))
        for n in 0..<20 { pool.call(Double(n), by: TenantID(unchecked: "old-\(n + 10)")) }
        for n in 0..<2 { pool.call(200, by: TenantID(unchecked: "new-\(n)")) }
        let found = pool.demand(at: 201)
        #expect(found.tenants.map(\.tenant) == ["new-0", "new-1"])
        #expect(found.untracked.lines == 0)
        let stored = Set(pool.estimator.unstoredRollups().map(\.tenant))
        #expect(stored.count == 22)
    }
}
