import HeadroomLoop
import HeadroomMemoryStores
import HeadroomModel
import HeadroomStorage
import HeadroomWire
import Testing

/// What ten tenants asked for, added up in plain code beside the gateways that they ask, and what the loop and the store make
/// of those gateways' telemetry: with work that waits, is sent again, given up, fails in an outage, and a restart in the middle.
@Suite struct AskedWorkTests {
    private static let plain: PoolID = "openai:gpt-4o"
    private static let split: PoolID = "anthropic:claude-sonnet"

    @Test func `what is told as asked for is what arrived, each piece once, through an outage and a restart`()
        async throws
    {
        let play = try AskedWorkPlay(
            tenants: (0..<10).map { n in
                AskedWorkPlay.Tenant(
                    name: TenantID(unchecked: "t-\(n)"), pool: n < 7 ? Self.plain : Self.split,
                    criticality: Criticality.allCases[n % 3], callsPerMinute: 20 + 13 * n,
                    servedPerMinute: n % 3 == 0 ? 25 : 200, reportsWindows: n == 6)
            })
        var asked = 0
        for second in 1...720 {
            try await play.run(second)
            if second == 400 { try await play.restart(killed: true) }
            if second == 520 { try await play.restart(killed: false) }
            guard second % 60 == 0, second >= 120, second <= 600 else { continue }
            // While work waits and is under way, within 1 %, and the piece or so that is on its way at the moment.
            for tenant in play.tenants {
                let truth = play.truth[tenant.name]!
                let told = try await play.told(tenant)
                let slack = 0.01 * Double(truth.arrived) + Double(truth.underWay + truth.waitingAgain) + 1
                #expect(
                    abs(Double(told.asked.requests - Int64(truth.arrived))) <= slack,
                    "\(tenant.name) at \(second) s: told \(told.asked.requests), arrived \(truth.arrived)")
            }
            asked += 1
        }
        #expect(asked == 9)

        // All has ended: exact.
        for tenant in play.tenants {
            let truth = play.truth[tenant.name]!
            let told = try await play.told(tenant)
            #expect(truth.underWay == 0 && truth.waiting == 0, "\(tenant.name)")
            #expect(told.asked.requests == Int64(truth.arrived), "\(tenant.name)")
            #expect(told.ok == Int64(truth.served) && told.countedTokens == truth.servedTokens, "\(tenant.name)")
            #expect(truth.arrived == truth.served + truth.givenUp, "\(tenant.name)")
            let tokens = Double(told.asked.tokens) / Double(truth.arrivedTokens)
            #expect(abs(tokens - 1) < 0.01, "\(tenant.name): \(told.asked.tokens) of \(truth.arrivedTokens)")
            let share = Double(truth.servedTokens) / Double(truth.arrivedTokens)
            #expect(abs(try #require(told.servedShare) - share) < 0.01, "\(tenant.name)")
            if !tenant.reportsWindows {
                #expect(
                    abs(Double(told.deniedTokens) - truth.deniedTokens) <= 0.02 * truth.deniedTokens, "\(tenant.name)")
            }
            try await play.checkPlaces(tenant, told)
        }
        // Of some nearly half was given up, of others next to nothing.
        let givenUp = play.truth.values.map { Double($0.givenUp) / Double($0.arrived) }
        #expect(givenUp.contains { $0 > 0.3 } && givenUp.contains { $0 < 0.05 }, "\(givenUp)")
    }

    @Test func `a queue whose gateway falls silent was asked for and not served, and counts once when it returns`()
        async throws
    {
        let play = try AskedWorkPlay(tenants: [
            AskedWorkPlay.Tenant(
                name: "acme", pool: Self.plain, criticality: .interactive, callsPerMinute: 0, servedPerMinute: 0,
                reportsWindows: false)
        ])
        func queue(_ depth: Int64) -> TelemetryRecord {
            .queue(
                QueueRecord(
                    at: play.now, gateway: "gw-1", tenant: "acme", pool: Self.plain, depth: depth, tokens: depth * 100))
        }
        for second in 1...300 {
            let records = second == 2 ? [queue(10)] : second == 200 ? [queue(12)] : second == 202 ? [queue(0)] : []
            try await play.run(second, more: records)
            let told = try await play.told(play.tenants[0])
            #expect(told.asked.requests == (second < 2 ? 0 : second < 200 ? 10 : second < 202 ? 12 : 0), "\(second)")
        }
    }
}

/// Ten tenants, their gateway and provider, each second; and the loop with its store.
private final class AskedWorkPlay {
    struct Tenant {
        var name: TenantID
        var pool: PoolID
        var criticality: Criticality
        var callsPerMinute: Int
        /// What its gateway lets through.
        var servedPerMinute: Int
        var reportsWindows: Bool
    }

    /// In plain numbers.
    struct Truth {
        var arrived = 0
        var arrivedTokens: Int64 = 0
        var served = 0
        var servedTokens: Int64 = 0
        var deniedTokens = 0.0
        var givenUp = 0
        var waiting = 0
        /// Of those that wait, the ones that were tried or denied before.
        var waitingAgain = 0
        var underWay = 0
    }

    private struct Piece {
        var number: Int
        var arrivedAt: Int
        var queuedAt: Int
        var input: Int64
        var output: Int64
        var attempt = 1
        var resends = 0
        var tokens: Int64 { input + output }
    }

    private struct Tally {
        var ok: Int64 = 0
        var failed: Int64 = 0
        var retries: Int64 = 0
        var denied: Int64 = 0
        var deniedTokens: Int64 = 0
        var input: Int64 = 0
        var output: Int64 = 0
    }

    let tenants: [Tenant]
    private(set) var truth: [TenantID: Truth]
    private(set) var now = start
    private let database: TemporaryDatabase
    private let telemetry: TelemetryStore
    private let checkpoints: RollupStore
    private let rules: MemoryRules
    private var loop: ControlLoop
    private var waiting: [TenantID: [Piece]] = [:]
    private var later: [Int: [(Tenant, Piece)]] = [:]
    private var ends: [Int: [(Tenant, Piece, isOk: Bool)]] = [:]
    private var tallies: [TenantID: Tally] = [:]
    private var number = 0
    private let outage = 240..<300
    private let lastArrival = 600

    init(tenants: [Tenant]) throws {
        self.tenants = tenants
        truth = Dictionary(uniqueKeysWithValues: tenants.map { ($0.name, Truth()) })
        database = try TemporaryDatabase()
        telemetry = try database.telemetry()
        checkpoints = try RollupStore(connection: database.writer)
        var policy = Policy(pools: [
            PoolPolicy(pool: "anthropic:claude-sonnet", nominal: Rates(rpm: 600, itpm: 400_000, otpm: 100_000)),
            PoolPolicy(pool: "openai:gpt-4o", nominal: Rates(rpm: 900, tpm: 900_000)),
        ])
        policy.telemetry.checkpointSeconds = 30
        rules = MemoryRules(Rules(policy: policy))
        loop = try Self.loop(database, checkpoints, rules, at: start)
    }

    private static func loop(
        _ database: TemporaryDatabase, _ checkpoints: RollupStore, _ rules: MemoryRules, at now: Timestamp
    ) throws -> ControlLoop {
        ControlLoop(
            telemetry: try TelemetryReader(path: database.path), rules: rules, ledger: MemoryLedger(),
            board: MemoryBoard(), records: MemoryRecords(), checkpoints: checkpoints, at: now)
    }

    /// Another process: what a killed one had not stored is read again.
    func restart(killed: Bool) async throws {
        if !killed { try await loop.stop(at: now) }
        loop = try Self.loop(database, checkpoints, rules, at: now)
    }

    func run(_ second: Int, more: [TelemetryRecord] = []) async throws {
        now = start.adding(seconds: Double(second))
        var lines = more
        for tenant in tenants {
            arrive(tenant, second)
            for (_, piece) in (later[second] ?? []).filter({ $0.0.name == tenant.name }) { wait(piece, tenant, second) }
            dispatch(tenant, second)
            lines += giveUp(tenant, second)
            for (_, piece, isOk) in (ends[second] ?? []).filter({ $0.0.name == tenant.name }) {
                lines += end(piece, isOk, tenant, second)
            }
            if second % 10 == 0 { lines += window(tenant) }
            if second % 2 == 0 { lines += queue(tenant, second) }
        }
        if !lines.isEmpty {
            let numbered = lines.map { TelemetryBatch.Line(number: 1, record: $0) }
            let receipt = try await telemetry.append(batch(numbered, received: now))
            #expect(receipt.rejected.isEmpty, "\(receipt.rejected)")
        }
        if second % 2 == 0 { _ = await loop.tick(at: now) }
    }

    /// As a report of the whole time would.
    func told(_ tenant: Tenant) async throws -> RollupSums {
        try await loop.stop(at: now)
        loop = try Self.loop(database, checkpoints, rules, at: now)
        var sums = RollupSums()
        for rollup in try await history(tenant.pool, tenant.name).tenant { sums.add(rollup.sums) }
        return sums
    }

    /// The other places that tell it.
    func checkPlaces(_ tenant: Tenant, _ sums: RollupSums) async throws {
        let query = query(tenant.pool, tenant.name)
        let records = try await history(tenant.pool, tenant.name)
        let series = HistorySeries(records, query)
        #expect(series.steps.reduce(0) { $0 + $1.sums.asked.requests } == sums.asked.requests)
        let whole = try await history(tenant.pool, nil)
        let pool = whole.pools.reduce(into: RollupSums()) { $0.add($1.sums) }
        let parts = tenants.filter { $0.pool == tenant.pool }.map { Int64(truth[$0.name]!.arrived) }
        #expect(pool.asked.requests == parts.reduce(0, +))
        let facts = PeriodFacts(query, whole, own: records.tenant, tenant: tenant.name)
        let letter = PeriodTextForTenant(facts).sentences[0]
        let story = PeriodText(facts).sentences[0]
        let asked = "\(Self.grouped(sums.asked.requests)) requests with \(Self.grouped(sums.asked.tokens)) tokens"
        #expect(letter.contains("for \(asked), and ") && !letter.contains(" 0 tokens"), "\(letter)")
        #expect(story.contains("asked for \(asked) and got "), "\(story)")
    }

    private static func grouped(_ number: Int64) -> String {
        let digits = String(number)
        var text = ""
        for (place, digit) in digits.enumerated() {
            if place > 0, (digits.count - place) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    private func query(_ pool: PoolID, _ tenant: TenantID?) -> HistoryQuery {
        HistoryQuery(
            pool: pool, tenant: tenant, from: Timestamp(milliseconds: start.milliseconds / 60_000 * 60_000),
            to: start.adding(seconds: 1_200), stepSeconds: 60)
    }

    private func history(_ pool: PoolID, _ tenant: TenantID?) async throws -> HistoryRecords {
        try await database.records().history(query(pool, tenant))
    }

    // MARK: Gateways

    private func arrive(_ tenant: Tenant, _ second: Int) {
        guard second <= lastArrival else { return }
        let count = tenant.callsPerMinute * second / 60 - tenant.callsPerMinute * (second - 1) / 60
        for _ in 0..<count {
            number += 1
            // Answers use a quarter of what they may.
            let output = Int64(100 + number * 37 % 400)
            let piece = Piece(
                number: number, arrivedAt: second, queuedAt: second, input: Int64(200 + number * 61 % 900),
                output: output)
            truth[tenant.name]!.arrived += 1
            truth[tenant.name]!.arrivedTokens += piece.tokens
            wait(piece, tenant, second)
        }
    }

    private func wait(_ piece: Piece, _ tenant: Tenant, _ second: Int) {
        var piece = piece
        piece.queuedAt = second
        truth[tenant.name]!.waiting += 1
        if piece.attempt > 1 || piece.resends > 0 { truth[tenant.name]!.waitingAgain += 1 }
        waiting[tenant.name, default: []].append(piece)
    }

    private func take(_ piece: Piece, _ tenant: Tenant) {
        truth[tenant.name]!.waiting -= 1
        if piece.attempt > 1 || piece.resends > 0 { truth[tenant.name]!.waitingAgain -= 1 }
    }

    private func dispatch(_ tenant: Tenant, _ second: Int) {
        let room = tenant.servedPerMinute * second / 60 - tenant.servedPerMinute * (second - 1) / 60
        for _ in 0..<min(room, waiting[tenant.name]?.count ?? 0) {
            let piece = waiting[tenant.name]!.removeFirst()
            take(piece, tenant)
            truth[tenant.name]!.underWay += 1
            ends[second + 1 + piece.number % 5, default: []].append((tenant, piece, !outage.contains(second)))
        }
    }

    /// Nobody waits for longer than 20 s; half of those come again, with the same request.
    private func giveUp(_ tenant: Tenant, _ second: Int) -> [TelemetryRecord] {
        let late = waiting[tenant.name, default: []].filter { second - $0.queuedAt >= 20 }
        waiting[tenant.name]?.removeAll { second - $0.queuedAt >= 20 }
        return late.compactMap { piece in
            take(piece, tenant)
            truth[tenant.name]!.deniedTokens += Double(piece.tokens)
            if piece.resends == 0, piece.number % 2 == 0 {
                var again = piece
                again.resends += 1
                later[second + 5 + piece.number % 90, default: []].append((tenant, again))
            } else {
                truth[tenant.name]!.givenUp += 1
            }
            // Windows tell unique work only: no piece that was among the requests, or was denied before.
            if piece.resends == 0, piece.attempt == 1, tenant.reportsWindows {
                tallies[tenant.name, default: Tally()].denied += 1
                tallies[tenant.name]!.deniedTokens += piece.tokens
            }
            return tenant.reportsWindows ? nil : line(piece, .denied, tenant, second)
        }
    }

    private func end(_ piece: Piece, _ isOk: Bool, _ tenant: Tenant, _ second: Int) -> [TelemetryRecord] {
        truth[tenant.name]!.underWay -= 1
        if isOk {
            truth[tenant.name]!.served += 1
            truth[tenant.name]!.servedTokens += piece.tokens
        } else if piece.attempt < 3 {
            var again = piece
            again.attempt += 1
            later[second + 3 + piece.number % 40, default: []].append((tenant, again))
        } else {
            truth[tenant.name]!.givenUp += 1
        }
        guard tenant.reportsWindows else { return [line(piece, isOk ? .ok : .overload, tenant, second)] }
        var tally = tallies[tenant.name, default: Tally()]
        if isOk { tally.ok += 1 } else { tally.failed += 1 }
        if piece.attempt > 1 || piece.resends > 0 { tally.retries += 1 }
        if isOk {
            tally.input += piece.input
            tally.output += piece.output
        }
        tallies[tenant.name] = tally
        return []
    }

    private func line(_ piece: Piece, _ outcome: Outcome, _ tenant: Tenant, _ second: Int) -> TelemetryRecord {
        .call(
            CallRecord(
                request: "r-\(piece.number)", at: now, gateway: "gw-1", tenant: tenant.name, pool: tenant.pool,
                criticality: tenant.criticality, attempt: piece.attempt, outcome: outcome,
                latencyMilliseconds: outcome == .denied ? nil : Double(1 + piece.number % 5) * 1000,
                queuedMilliseconds: 0, inputTokens: piece.input,
                outputTokens: outcome == .ok ? piece.output : nil, maxTokens: 4 * piece.output))
    }

    private func window(_ tenant: Tenant) -> [TelemetryRecord] {
        guard tenant.reportsWindows, let tally = tallies.removeValue(forKey: tenant.name) else { return [] }
        return [
            .window(
                WindowRecord(
                    start: now.adding(seconds: -10), seconds: 10, gateway: "gw-1", tenant: tenant.name,
                    pool: tenant.pool, criticality: tenant.criticality, requests: tally.ok + tally.failed,
                    ok: tally.ok, overload: tally.failed, retries: tally.retries, denied: tally.denied,
                    deniedTokens: tally.deniedTokens, inputTokens: tally.input, outputTokens: tally.output))
        ]
    }

    private func queue(_ tenant: Tenant, _ second: Int) -> [TelemetryRecord] {
        let pieces = waiting[tenant.name] ?? []
        guard tenant.callsPerMinute > 0 else { return [] }
        return [
            .queue(
                QueueRecord(
                    at: now, gateway: "gw-1", tenant: tenant.name, pool: tenant.pool,
                    criticality: tenant.criticality, depth: Int64(pieces.count),
                    tokens: pieces.reduce(0) { $0 + $1.tokens },
                    oldestAgeMilliseconds: Double(second - (pieces.map(\.queuedAt).min() ?? second)) * 1000))
        ]
    }
}
