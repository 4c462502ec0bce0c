import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct TelemetryStoreTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `every kind of record comes back as it was, once, by pages of any size`(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        var sent: [TelemetryRecord] = []
        for _ in 0..<10 {
            let records = (0..<Int.random(in: 0...40, using: &random)).map { _ in TelemetryRecord.random(using: &random)
            }
            let receipt = try await store.append(batch(records.map { TelemetryBatch.Line(number: 1, record: $0) }))
            #expect(receipt == TelemetryReceipt(accepted: records.count, duplicate: 0, late: 0, rejected: []))
            sent += records
        }
        let reader = try TelemetryReader(path: database.path)
        var cursor = TelemetryCursor.start
        var read: [TelemetryRecord] = []
        while true {
            let page = try await reader.page(after: cursor, limit: Int.random(in: 1...30, using: &random))
            read += page.records
            cursor = page.next
            if page.isLast { break }
        }
        for kind in TelemetryKind.allCases {
            #expect(read.filter { $0.kind == kind } == sent.filter { $0.kind == kind }, "seed \(seed), \(kind)")
            let counted = try await reader.rowCounts().first { $0.kind == kind }?.rows
            #expect(counted == Int64(sent.filter { $0.kind == kind }.count))
        }
        #expect(try await reader.page(after: cursor, limit: 10).records.isEmpty)
    }

    @Test func `an id counts once per gateway within the horizon, also after a restart`() async throws {
        let directory = TemporaryDirectory()
        do {
            let store = try TemporaryDatabase(in: directory).telemetry()
            let first = try await store.append(batch([call("a"), call("b"), call("a"), call(nil), call(nil)]))
            #expect(first == TelemetryReceipt(accepted: 4, duplicate: 1, late: 0, rejected: []))
        }
        let database = try TemporaryDatabase(in: directory)
        let store = try database.telemetry()
        let later = start.adding(seconds: 800)
        let again = try await store.append(
            batch([call("b", at: later), call("c", at: later), call("b", gateway: "gw-2", at: later)], received: later))
        #expect(again == TelemetryReceipt(accepted: 2, duplicate: 1, late: 0, rejected: []))
    }

    @Test func `ids past the horizon are forgotten in steps, so that their table stays bounded`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry(TelemetrySettings(dedupeSeconds: 60))
        var most: Int64 = 0
        for second in 0..<400 {
            let now = start.adding(seconds: Double(second))
            let lines = (0..<20).map { call("\(1_000_000 + second * 20 + $0)", at: now) }
            _ = try await store.append(batch(lines, received: now))
            most = max(most, try database.number("SELECT count(*) FROM seen_line"))
        }
        // A minute holds 1,200.
        #expect(most >= 1_200 && most < 3_000, "\(most)")
        #expect(try database.number("SELECT count(*) FROM call") == 8_000)
        #expect(try database.number("SELECT count(*) FROM seen_line WHERE received_ms > 1793000340000") == 1_180)
    }

    @Test func `late lines are stored and counted, and the faults of reading are in the answer`() async throws {
        let store = try TemporaryDatabase().telemetry()
        var late = call("a", at: start.adding(seconds: -400))
        late.isLate = true
        var lines = batch([late, call("b")])
        lines.faults = [TelemetryReceipt.Fault(line: 3, detail: "no JSON")]
        let receipt = try await store.append(lines)
        #expect(receipt.accepted == 2)
        #expect(receipt.late == 1)
        #expect(receipt.rejected == lines.faults)
    }

    @Test func `lines beyond the horizon need a batch number, and beyond the retention none helps`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry(TelemetrySettings(dedupeSeconds: 900, retentionHours: 2))
        let lines = [call(at: start), call(at: start.adding(seconds: -901)), call(at: start.adding(seconds: -7_201))]
        let plain = try await store.append(batch(lines))
        #expect(plain.accepted == 1)
        #expect(plain.rejected.map(\.line) == [2, 3])
        #expect(plain.rejected[0].detail.contains("Headroom-Batch"))
        #expect(plain.rejected[1].detail.contains("kept for 2 h"))
        let numbered = try await store.append(batch(lines, number: 1))
        #expect(numbered.accepted == 2)
        #expect(numbered.rejected.map(\.line) == [3])
    }

    @Test func `a batch that is sent again is answered as the first time and stored once, also after a restart`()
        async throws
    {
        let directory = TemporaryDirectory()
        let lines = [call("a"), call("a"), window(), call("b")]
        let first: TelemetryReceipt
        do {
            first = try await TemporaryDatabase(in: directory).telemetry().append(batch(lines, number: 7))
            #expect(first.accepted == 2)
            #expect(first.duplicate == 1)
            #expect(first.rejected.map(\.line) == [3])
        }
        let database = try TemporaryDatabase(in: directory)
        let later = start.adding(seconds: 100_000)
        let store = try database.telemetry(now: later)
        #expect(try await store.append(batch(lines, number: 7, received: later)) == first)
        // Another gateway's seventh batch is another batch, and a number left out may still come.
        #expect(try await store.append(batch([call("a", gateway: "gw-2")], gateway: "gw-2", number: 7)).accepted == 1)
        #expect(try await store.append(batch([call("c")], number: 5)).accepted == 1)
        #expect(try await store.append(batch([call("c")], number: 5)).accepted == 1)
        #expect(try await database.telemetryRecords().count == 4)
    }

    @Test func `a tenant in a pool is reported by calls or by windows: the first kind wins until it is silent`()
        async throws
    {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        let first = try await store.append(batch([call(), window(), window(tenant: "other"), call(tenant: "other")]))
        #expect(first.accepted == 2)
        #expect(first.rejected.map(\.line) == [2, 4])
        #expect(first.rejected[0].detail.contains("by calls"))
        #expect(first.rejected[1].detail.contains("by windows"))
        #expect(try await store.append(batch([window(gateway: "gw-2")])).accepted == 1)
        let soon = start.adding(seconds: 599)
        #expect(try await store.append(batch([window(at: soon)], received: soon)).accepted == 0)
        let later = start.adding(seconds: 600)
        #expect(try await store.append(batch([window(at: later)], received: later)).accepted == 1)
        #expect(try await store.append(batch([call(at: later)], received: later)).accepted == 0)
    }

    @Test func `gateways that come under new names each minute and never come back take no more and no more memory`()
        async throws
    {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        var held: [Int] = []
        for minute in 0..<60 {
            let now = start.adding(seconds: Double(minute) * 61)
            let gateway = GatewayID(unchecked: "gw-\(minute)")
            let lines = (0..<100).map {
                call("\($0)", tenant: TenantID(unchecked: "t\($0)"), gateway: gateway, at: now)
            }
            #expect(try await store.append(batch(lines, received: now)).accepted == 100)
            held.append(store.memoryBytes)
        }
        #expect(held[59] == held[20] && held[59] > 0)
    }

    @Test func `who reports by what is known again after a restart`() async throws {
        let directory = TemporaryDirectory()
        _ = try await TemporaryDatabase(in: directory).telemetry().append(batch([call(), window(tenant: "other")]))
        let now = start.adding(seconds: 300)
        let store = try TemporaryDatabase(in: directory).telemetry(now: now)
        let receipt = try await store.append(
            batch([window(at: now), call(tenant: "other", at: now), call(at: now)], received: now))
        #expect(receipt.rejected.map(\.line) == [1, 2])
        #expect(receipt.accepted == 1)
    }

    @Test func `senders that come together are all answered, and every line is stored`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        let accepted = try await withThrowingTaskGroup(of: Int.self) { group in
            for sender in 0..<200 {
                group.addTask {
                    let lines = (0..<10).map { call("\(sender)-\($0)") }
                    return try await store.append(batch(lines, number: Int64(sender))).accepted
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(accepted == 2_000)
        #expect(try await database.telemetryRecords().count == 2_000)
    }

    @Test(.enabled(if: TestEngine.isSQLite))
    func `a full disk refuses the batch whole, and the next one is taken when there is room`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        _ = try await store.append(batch([call("before", tenant: "first")]))
        try database.execute("PRAGMA max_page_count = 60")
        let lines = (0..<5_000).map { call(String(10_000 + $0), tenant: "second") }
        let refused = await #expect(throws: TelemetryError.self) { try await store.append(batch(lines, number: 1)) }
        #expect(refused?.code == .unavailable)
        #expect(refused?.message.contains("free some space") == true)
        #expect(try await database.telemetryRecords().count == 1)
        #expect(try database.number("SELECT count(*) FROM seen_line") == 1)
        #expect(try database.number("SELECT count(*) FROM batch_progress") == 0)

        try database.execute("PRAGMA max_page_count = 1000000")
        // The refused lines claimed nothing: neither their ids, nor their batch, nor the kind of report.
        #expect(try await store.append(batch([window(tenant: "second")])).accepted == 1)
        let third = lines.map { call($0.id, tenant: "third") }
        #expect(try await store.append(batch(third, number: 1)).accepted == 5_000)
        let tenants = Set(try await database.telemetryRecords().compactMap(\.tenant))
        #expect(tenants == ["first", "second", "third"])
    }

    @Test func `pruning deletes what arrived before an instant, in steps, and ids never come again`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        let response = ResponseRecord(
            at: start, gateway: "gw-1", pool: "openai:gpt-4o", status: 200,
            signal: ProviderSignal(kind: .ok, windows: [QuotaWindow(resource: .tokens, limit: 5)]))
        for minute in 0..<10 {
            let now = start.adding(seconds: Double(minute) * 60)
            let lines =
                (0..<25).map { _ in call(at: now) } + [TelemetryBatch.Line(number: 1, record: .response(response))]
            _ = try await store.append(batch(lines, received: now))
        }
        var steps = 0
        let horizon = start.adding(seconds: 300)
        while try await store.prune(before: horizon, limit: 10) > 0 { steps += 1 }
        #expect(steps == 13)
        let left = try await database.telemetryRecords()
        #expect(left.filter { $0.kind == .call }.count == 125)
        #expect(left.allSatisfy { $0.kind == .response || $0.at >= horizon })
        #expect(try database.number("SELECT count(*) FROM quota_window") == 5)
        #expect(try database.number("SELECT count(*) FROM arrival") == 5)

        let reader = try TelemetryReader(path: database.path)
        let cursor = try await reader.page(after: .start, limit: 1_000).next
        let end = start.adding(seconds: 10_000)
        _ = try await store.append(batch([call(at: end)], received: end))
        while try await store.prune(before: end, limit: 1_000) > 0 {}
        let page = try await reader.page(after: cursor, limit: 10)
        #expect(page.records.count == 1)
        #expect(page.next.call == 251)
    }

    @Test func `a start reads from the first row that arrived at an instant, or up to a second before`() async throws {
        let database = try TemporaryDatabase()
        let store = try database.telemetry()
        for tick in 0..<100 {
            let now = start.adding(seconds: Double(tick) * 0.3)
            _ = try await store.append(batch([call(at: now)], received: now))
        }
        let reader = try TelemetryReader(path: database.path)
        for seconds in [0.0, 0.1, 0.3, 4.2, 10, 29.7] {
            let instant = start.adding(seconds: seconds)
            let page = try await reader.page(after: try await reader.cursor(at: instant), limit: 1_000)
            let expected = (0..<100).filter { start.adding(seconds: Double($0) * 0.3) >= instant }.count
            #expect(page.records.count >= expected && page.records.count <= expected + 5, "\(seconds)")
        }
        #expect(try await reader.cursor(at: start.adding(seconds: -1)) == .start)
    }
}

extension TelemetryRecord {
    /// Any record with any fields; tenants that report by calls and those that report by windows differ.
    static func random(using random: inout SplitMix64) -> TelemetryRecord {
        func maybe<Value>(_ value: Value) -> Value? { Bool.random(using: &random) ? value : nil }
        func text() -> String {
            ["", "r-1", "a-longer-request-id-\(random.next())", "ü"].randomElement(using: &random)!
        }
        func count() -> Int64 { [0, 1, 300, 70_000, 1 << 40].randomElement(using: &random)! }
        func amount() -> Double { [0, 1, 812.5, 1e-9, 1e12].randomElement(using: &random)! }
        let at = start.adding(seconds: Double.random(in: -100...0, using: &random))
        let gateway = GatewayID(["gw-1", "gw-2"].randomElement(using: &random)!)!
        let pool = PoolID(["openai:gpt-4o", "azure:gpt-4o"].randomElement(using: &random)!)!
        let tenant = TenantID("t-\(Int.random(in: 0..<5, using: &random))")!
        let criticality = Criticality.allCases.randomElement(using: &random)!
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            return .call(
                CallRecord(
                    request: maybe(text()), at: at, gateway: gateway, tenant: tenant, pool: pool, model: maybe(text()),
                    endpoint: maybe(text()), criticality: criticality, task: maybe(text()), parent: maybe(text()),
                    attempt: Int.random(in: 1...9, using: &random),
                    outcome: Outcome.allCases.randomElement(using: &random)!, status: maybe(429),
                    latencyMilliseconds: maybe(amount()), queuedMilliseconds: maybe(amount()),
                    inputTokens: maybe(count()), outputTokens: maybe(count()), cachedInputTokens: maybe(count()),
                    maxTokens: maybe(count()), countedTokens: maybe(count())))
        case 1:
            return .window(
                WindowRecord(
                    start: at, seconds: 10, gateway: gateway, tenant: TenantID("w-\(tenant)")!, pool: pool,
                    criticality: criticality, requests: count(), ok: count(), quota: count(), overload: count(),
                    error: count(), retries: count(), denied: count(), deniedTokens: count(), inputTokens: count(),
                    outputTokens: count(),
                    latency: maybe(
                        WindowRecord.Latency(
                            count: count(), p50Milliseconds: amount(), p95Milliseconds: amount(),
                            p99Milliseconds: amount()))))
        case 2:
            return .queue(
                QueueRecord(
                    at: at, gateway: gateway, tenant: tenant, pool: pool, criticality: criticality, depth: count(),
                    tokens: count(), oldestAgeMilliseconds: amount()))
        case 3:
            let windows = (0..<Int.random(in: 0...4, using: &random)).map { _ in
                QuotaWindow(
                    resource: Resource.allCases.randomElement(using: &random)!, limit: maybe(amount()),
                    remaining: maybe(amount()), resetMilliseconds: maybe(amount()), windowSeconds: maybe(60))
            }
            return .response(
                ResponseRecord(
                    at: at, request: maybe(text()), gateway: gateway, pool: pool, model: maybe(text()),
                    endpoint: maybe(text()), provider: maybe(text()), status: 200,
                    signal: ProviderSignal(
                        kind: ResponseKind.allCases.randomElement(using: &random)!, windows: windows,
                        retryAfterMilliseconds: maybe(amount()))))
        case 4:
            return .task(
                TaskRecord(
                    at: at, gateway: gateway, tenant: tenant, pool: pool, criticality: criticality, task: text(),
                    parent: maybe(text()), state: TaskRecord.State.allCases.randomElement(using: &random)!,
                    progress: maybe(0.8), remainingRequests: maybe(count()), remainingTokens: maybe(count())))
        default:
            return .model(ModelRecord(at: at, gateway: maybe(gateway), pool: pool, model: text(), version: text()))
        }
    }
}
