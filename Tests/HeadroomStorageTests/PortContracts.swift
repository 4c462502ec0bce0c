import HeadroomMemoryStores
import HeadroomModel
import HeadroomStorage
import Testing

/// What stands behind a storage port. The simulator's verdicts rest on the stores in memory: they must keep to what the
/// port promises as SQLite does.
enum StoreKind: CaseIterable {
    case sqlite, memory
}

// MARK: TelemetrySource

@Suite struct TelemetrySourceContract {
    private struct Port {
        let source: any TelemetrySource
        /// Stores calls that arrive at an instant.
        let arrive: (_ calls: [CallRecord], _ now: Timestamp) async throws -> Void
    }

    private func port(_ kind: StoreKind) throws -> Port {
        switch kind {
        case .memory:
            let store = MemoryTelemetry()
            return Port(source: store) { calls, now in store.append(calls.map(TelemetryRecord.call), at: now) }
        case .sqlite:
            let database = try TemporaryDatabase()
            let store = try database.telemetry()
            return Port(source: try TelemetryReader(path: database.path)) { calls, now in
                let lines = calls.map { TelemetryBatch.Line(number: 1, record: .call($0)) }
                _ = try await store.append(batch(lines, received: now))
            }
        }
    }

    private func calls(_ tokens: Range<Int64>, at now: Timestamp) -> [CallRecord] {
        tokens.map {
            CallRecord(at: now, gateway: "gw-1", tenant: "acme", pool: "p", outcome: .ok, inputTokens: $0)
        }
    }

    /// What is read behind `cursor`, in pages of at most `limit`.
    private func read(_ port: Port, after cursor: TelemetryCursor, limit: Int) async throws -> [Int64] {
        var tokens: [Int64] = []
        var cursor = cursor
        for _ in 0..<1_000 {
            let page = try await port.source.page(after: cursor, limit: limit)
            #expect(page.records.count <= limit)
            #expect(page.isLast || page.next != cursor, "a reader gets on")
            tokens += page.records.compactMap { if case .call(let call) = $0 { call.inputTokens } else { nil } }
            cursor = page.next
            if page.isLast { return tokens }
        }
        Issue.record("no page is the last one")
        return tokens
    }

    @Test(arguments: StoreKind.allCases)
    func `each record is read once and in order, in pages of any size, and later ones behind the last page`(
        kind: StoreKind
    ) async throws {
        let port = try port(kind)
        #expect(try await read(port, after: .start, limit: 5) == [])
        for first in [0, 3, 10] as [Int64] {
            let now = start.adding(seconds: Double(first))
            try await port.arrive(calls(first..<(first == 0 ? 3 : first == 3 ? 10 : 12), at: now), now)
        }
        for limit in [1, 2, 3, 5, 11, 12, 13, 100] {
            #expect(try await read(port, after: .start, limit: limit) == Array(0..<12), "limit \(limit)")
        }
        let end = try await port.source.page(after: .start, limit: 100).next
        #expect(try await read(port, after: end, limit: 5) == [])
        let now = start.adding(seconds: 12)
        try await port.arrive(calls(12..<14, at: now), now)
        #expect(try await read(port, after: end, limit: 5) == [12, 13])
    }

    @Test(arguments: StoreKind.allCases)
    func `behind the cursor at an instant lies all that arrived from then on, and nothing of two arrivals before`(
        kind: StoreKind
    ) async throws {
        let port = try port(kind)
        #expect(try await read(port, after: port.source.cursor(at: start), limit: 10) == [])
        for number in 0..<6 as Range<Int64> {
            let now = start.adding(seconds: Double(number) * 10)
            // Late ones: the arrival counts, and not the call's end.
            try await port.arrive(calls(number..<number + 1, at: now.adding(seconds: -100)), now)
        }
        for number in 0..<7 as Range<Int64> {
            for offset in [-1.5, 0, 1.5] {
                let instant = start.adding(seconds: Double(number) * 10 + offset)
                let found = try await read(port, after: port.source.cursor(at: instant), limit: 10)
                let since = (0..<6 as Range<Int64>).filter { start.adding(seconds: Double($0) * 10) >= instant }
                #expect(found.suffix(since.count) == since[...], "\(number) \(offset): \(found)")
                #expect(found.count <= since.count + 1, "\(number) \(offset): \(found)")
            }
        }
    }
}

// MARK: SnapshotLedger

@Suite struct SnapshotLedgerContract {
    private static let rememberingSeconds = 20.0

    /// Opens the same ledger again and again, as starts do.
    private func opener(_ kind: StoreKind) throws -> () -> any SnapshotLedger {
        switch kind {
        case .memory:
            let ledger = MemoryLedger()
            return { ledger }
        case .sqlite:
            let database = try TemporaryDatabase()
            return { SnapshotStore(connection: database.writer, coding: Self.coding) }
        }
    }

    private static let coding = SnapshotStore.Coding(
        encode: { Array("\($0.version) \($0.issuedAt.milliseconds)".utf8) },
        decode: { bytes in
            let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
            guard parts.count == 2, let version = SnapshotVersion(parts[0]), let issued = Int64(parts[1]) else {
                throw StorageError(code: .misuse, message: "not a snapshot")
            }
            return snapshot(version, at: Timestamp(milliseconds: issued))
        })

    private static func snapshot(_ version: SnapshotVersion, at issued: Timestamp) -> Snapshot {
        Snapshot(version: version, issuedAt: issued, leaseSeconds: 15, policy: "p", pools: [])
    }

    private func publication(
        _ version: SnapshotVersion, at issued: Timestamp, _ budgets: [(gateway: GatewayID, rpm: Double)]
    ) -> Publication {
        let whole = Self.snapshot(version, at: issued)
        let parts = budgets.map { gateway, rpm in
            var part = whole
            part.pools = ["p", "q"].map { pool in
                PoolAllocation(
                    pool: pool, capacity: .none, nominal: .none, budget: Rates(rpm: rpm, tpm: 100 * rpm),
                    fallback: Rates(rpm: rpm - 1))
            }
            return (gateway: gateway, snapshot: part)
        }
        return Publication(whole: whole, parts: parts)
    }

    @Test(arguments: StoreKind.allCases)
    func `epochs ascend with every start and are not below the seconds since 1970`(kind: StoreKind) async throws {
        let open = try opener(kind)
        let seconds = start.milliseconds / 1000
        var epochs: [Int64] = []
        for offset in [0, 0, -5_000, 5_000] as [Double] {
            epochs.append(
                try await open().begin(at: start.adding(seconds: offset), rememberingSeconds: 20).epoch)
        }
        #expect(epochs == [seconds, seconds + 1, seconds + 2, seconds + 5_000])
    }

    @Test(arguments: StoreKind.allCases)
    func `no number is reserved twice, and a graceful end leaves no gap`(kind: StoreKind) async throws {
        let open = try opener(kind)
        var last: Int64 = 0
        for round in 0..<6 {
            let ledger = open()
            _ = try await ledger.begin(at: start, rememberingSeconds: 20)
            for index in 0..<5 {
                let number = try await ledger.reserveGeneration()
                // After a kill some are skipped.
                if round.isMultiple(of: 2) || index > 0 { #expect(number == last + 1, "round \(round)") }
                #expect(number > last)
                last = number
            }
            if !round.isMultiple(of: 2) { try await ledger.end() }
        }
    }

    @Test(arguments: StoreKind.allCases, 0..<8 as Range<UInt64>)
    func `a start knows the last snapshot and what gateways may still be using`(
        kind: StoreKind, seed: UInt64
    ) async throws {
        let open = try opener(kind)
        var random = SplitMix64(seed: seed)
        let names: [GatewayID] = ["a", "b", "c"]
        var sent: [SentBudget] = []
        var now = start
        var ledger = open()
        var epoch = try await ledger.begin(at: now, rememberingSeconds: Self.rememberingSeconds).epoch
        #expect(try await open().begin(at: now, rememberingSeconds: Self.rememberingSeconds).last == nil)
        for step in 0..<60 {
            now = now.adding(seconds: Double(Int.random(in: 1...30, using: &random)))
            let version = SnapshotVersion(epoch: epoch, generation: try await ledger.reserveGeneration())
            let live = names.filter { _ in Bool.random(using: &random) }
            let budgets = live.map { (gateway: $0, rpm: Double(Int.random(in: 1...99, using: &random))) }
            let next = publication(version, at: now, budgets)
            try await ledger.append(next)
            for index in sent.indices where sent[index].supersededAt == nil { sent[index].supersededAt = now }
            sent += next.parts.flatMap { part in
                part.snapshot.pools.map {
                    SentBudget(
                        version: version, gateway: part.gateway, pool: $0.pool, budget: $0.budget,
                        fallback: $0.fallback, publishedAt: now)
                }
            }
            guard step.isMultiple(of: 7) else { continue }
            ledger = open()
            let begun = try await ledger.begin(at: now, rememberingSeconds: Self.rememberingSeconds)
            #expect(begun.last == next.whole)
            epoch = begun.epoch
            check(begun.budgets, of: sent, "seed \(seed), step \(step)")
        }
    }

    /// By the port's definition; more may be remembered, for twice the time.
    private func check(_ found: [SentBudget], of sent: [SentBudget], _ comment: Comment) {
        func kept(_ seconds: Double) -> [SentBudget] {
            sent.filter { budget in
                let last = sent.last { $0.gateway == budget.gateway }
                guard let last, last.version != budget.version, let end = budget.supersededAt else { return true }
                return end >= last.publishedAt.adding(seconds: -seconds)
            }
        }
        #expect(kept(Self.rememberingSeconds).allSatisfy(found.contains), comment)
        #expect(found.allSatisfy(kept(2 * Self.rememberingSeconds).contains), comment)
        let order = found.map { ($0.version, $0.gateway, $0.pool) }
        #expect(zip(order, order.dropFirst()).allSatisfy { $0 < $1 }, comment)
    }
}

// MARK: CheckpointStore

@Suite struct CheckpointStoreContract {
    private struct Port {
        let store: any CheckpointStore
        /// Those of the pool `p` by minute.
        let rollups: () async throws -> [Rollup]
        let erase: (TenantID) async throws -> Void
    }

    private func port(_ kind: StoreKind) throws -> Port {
        switch kind {
        case .memory:
            let store = MemoryCheckpoints()
            return Port(store: store, rollups: { store.rollups }, erase: { store.erase($0) })
        case .sqlite:
            let database = try TemporaryDatabase()
            let records = try database.records()
            return Port(
                store: try RollupStore(connection: database.writer),
                rollups: {
                    try await records.rollups(
                        pool: "p", tenant: nil, from: hourStart, to: hourStart.adding(seconds: 86_400), limit: 1_000)
                },
                erase: { try await ContractStore(connection: database.writer).erase($0, by: "ops", at: start) })
        }
    }

    private func checkpoint(_ call: Int64) -> Checkpoint {
        Checkpoint(
            at: start.adding(seconds: Double(call)),
            cursor: TelemetryCursor(call: call, window: 2, queue: 3, response: 4, task: 5, model: 6),
            observer: [1, 2, UInt8(call)], classifier: [], floats: [UInt8(call)])
    }

    private func sum(
        minute: Double, _ tenant: TenantID, ok: Int64, wait: Double = 0, criticality: Criticality = .interactive
    ) -> Rollup {
        Rollup(
            start: hourStart.adding(seconds: minute * 60), tenant: tenant, pool: "p", criticality: criticality,
            sums: RollupSums {
                $0.ok = ok
                $0.denied = 2
                $0.inputTokens = 10 * ok
                $0.outputTokens = ok
                $0.asked.tokens = 5
                $0.oldestQueuedSeconds = wait
            })
    }

    @Test(arguments: StoreKind.allCases)
    func `the latest checkpoint is the one that was saved last`(kind: StoreKind) async throws {
        let store = try port(kind).store
        #expect(try await store.latest() == nil)
        for call in [7, 9] as [Int64] {
            try await store.save(
                checkpoint(call), rollups: [], capacities: [], uses: [], taskTimes: [], priced: [], erasedThrough: 0)
            let latest = try #require(try await store.latest())
            #expect(latest.at == checkpoint(call).at && latest.cursor == checkpoint(call).cursor)
            #expect(latest.observer == checkpoint(call).observer && latest.classifier == [])
            #expect(latest.floats == [UInt8(call)])
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `roll-ups of one minute add up, whatever second of it they begin at, and the longest wait stays`(
        kind: StoreKind
    ) async throws {
        let port = try port(kind)
        try await port.store.save(
            checkpoint(1), rollups: [sum(minute: 0, "acme", ok: 1, wait: 3), sum(minute: 0, "beta", ok: 5)],
            capacities: [], uses: [], taskTimes: [], priced: [], erasedThrough: 0)
        try await port.store.save(
            checkpoint(2),
            rollups: [
                sum(minute: 0.5, "acme", ok: 2, wait: 1), sum(minute: 0, "acme", ok: 9, criticality: .batch),
                sum(minute: 1, "acme", ok: 4),
            ], capacities: [], uses: [], taskTimes: [], priced: [], erasedThrough: 0)
        var whole = sum(minute: 0, "acme", ok: 3, wait: 3)
        whole.denied = 4
        whole.asked.tokens = 10
        #expect(
            try await port.rollups() == [
                whole, sum(minute: 0, "acme", ok: 9, criticality: .batch), sum(minute: 0, "beta", ok: 5),
                sum(minute: 1, "acme", ok: 4),
            ])
    }

    @Test(arguments: StoreKind.allCases)
    func `use is kept by day of those whose use is priced, ascending by day, tenant and pool`(
        kind: StoreKind
    ) async throws {
        let store = try port(kind).store
        let nextDay = 24.0 * 60
        try await store.save(
            checkpoint(1), rollups: [sum(minute: nextDay, "acme", ok: 8), sum(minute: 0, "beta", ok: 1)],
            capacities: [], uses: [], taskTimes: [], priced: ["acme", "beta"], erasedThrough: 0)
        try await store.save(
            checkpoint(2),
            rollups: [
                sum(minute: 1, "beta", ok: 2), sum(minute: 1, "acme", ok: 4), sum(minute: 1, "free", ok: 7),
                sum(minute: 1, "acme", ok: 1, criticality: .batch),
            ], capacities: [], uses: [], taskTimes: [], priced: ["acme", "beta"], erasedThrough: 0)
        func use(_ tenant: TenantID, _ day: Int64, _ requests: Int64) -> TenantUse {
            TenantUse(
                tenant: tenant, pool: "p", day: hourStart.day + day, requests: requests, inputTokens: 10 * requests,
                outputTokens: requests)
        }
        let uses = [use("acme", 0, 5), use("beta", 0, 3), use("acme", 1, 8)]
        #expect(try await store.uses(since: hourStart.day) == uses)
        #expect(try await store.uses(since: hourStart.day + 1) == [uses[2]])
    }

    @Test(arguments: StoreKind.allCases)
    func `an erasure is there until a checkpoint was made without the tenant`(kind: StoreKind) async throws {
        let port = try port(kind)
        try await port.store.save(
            checkpoint(1), rollups: [sum(minute: 0, "acme", ok: 1), sum(minute: 0, "beta", ok: 1)], capacities: [],
            uses: [], taskTimes: [],
            priced: [],
            erasedThrough: 0)
        #expect(try await port.store.erasures(after: 0) == [])
        try await port.erase("acme")
        try await port.erase("beta")
        let erased = try await port.store.erasures(after: 0)
        #expect(erased.map(\.fingerprint) == ["acme", "beta"].map(\.fingerprint))
        #expect(erased.first.map { $0.id } == 1)
        #expect(try await port.store.erasures(after: erased[0].id) == [erased[1]])
        try await port.store.save(
            checkpoint(2), rollups: [], capacities: [], uses: [], taskTimes: [], priced: [], erasedThrough: erased[0].id
        )
        #expect(try await port.store.erasures(after: 0) == [erased[1]])
    }
}

// MARK: DecisionRecords

@Suite struct DecisionRecordsContract {
    private func store(_ kind: StoreKind) throws -> any DecisionRecords {
        switch kind {
        case .memory: MemoryRecords()
        case .sqlite: try DecisionStore(connection: try TemporaryDatabase().writer)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `balances come back as they were last, ascending by pool and tenant`(kind: StoreKind) async throws {
        let store = try store(kind)
        #expect(try await store.credits() == [])
        func balance(_ pool: PoolID, _ tenant: TenantID, _ accrued: Int64) -> CreditBalance {
            CreditBalance(tenant: tenant, pool: pool, accrued: accrued, spent: 1, expired: 2, aboveCap: 3)
        }
        try await store.record(
            DecisionOutcome(credits: [balance("q", "acme", 9), balance("p", "beta", 8), balance("p", "acme", 7)]),
            at: start)
        try await store.record(DecisionOutcome(credits: [balance("p", "beta", 80)]), at: start)
        try await store.record(DecisionOutcome(), at: start)
        #expect(
            try await store.credits() == [
                balance("p", "acme", 7), balance("p", "beta", 80), balance("q", "acme", 9),
            ])
    }
}
