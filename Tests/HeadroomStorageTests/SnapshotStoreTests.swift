import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct SnapshotStoreTests {
    /// Keeps the version, the time, and as many bytes as `policy` has.
    private static let coding = SnapshotStore.Coding(
        encode: { snapshot in
            let head = "\(snapshot.version) \(snapshot.issuedAt.milliseconds) \(snapshot.policy)"
            return Array(head.utf8)
        },
        decode: { bytes in
            let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 3, let version = SnapshotVersion(parts[0]), let issued = Int64(parts[1]) else {
                throw StorageError(code: .misuse, message: "not a snapshot")
            }
            return Snapshot(
                version: version, issuedAt: Timestamp(milliseconds: issued), leaseSeconds: 15, policy: String(parts[2]),
                pools: [])
        })

    private func ledger(_ database: TemporaryDatabase) -> SnapshotStore {
        SnapshotStore(connection: database.writer, coding: Self.coding)
    }

    private func snapshot(
        _ generation: Int64, epoch: Int64 = 1, at issued: Timestamp = start, policy: String = "p"
    ) -> Snapshot {
        Snapshot(
            version: SnapshotVersion(epoch: epoch, generation: generation), issuedAt: issued, leaseSeconds: 15,
            policy: policy, pools: [])
    }

    @Test func `the epoch is the seconds since 1970, and above the last one also when the clock has gone back`()
        async throws
    {
        let database = try TemporaryDatabase()
        let seconds = start.milliseconds / 1000
        #expect(try await ledger(database).begin(at: start, rememberingSeconds: 20).epoch == seconds)
        #expect(try await ledger(database).begin(at: start, rememberingSeconds: 20).epoch == seconds + 1)
        #expect(
            try await ledger(database).begin(at: start.adding(seconds: -5_000), rememberingSeconds: 20).epoch == seconds
                + 2)
        #expect(
            try await ledger(database).begin(at: start.adding(seconds: 5_000), rememberingSeconds: 20).epoch == seconds
                + 5_000)
    }

    @Test func `no generation comes twice over kills, and a graceful stop leaves no gap`() async throws {
        let database = try TemporaryDatabase()
        var random = SplitMix64(seed: 7)
        var last: Int64 = 0
        var wasKilled = false
        for _ in 0..<20 {
            let store = ledger(database)
            _ = try await store.begin(at: start, rememberingSeconds: 20)
            for index in 0..<Int.random(in: 1...2_000, using: &random) {
                let generation = try await store.reserveGeneration()
                let skipped = generation - last - 1
                #expect(skipped >= 0 && skipped < (wasKilled && index == 0 ? SnapshotStore.blockSize : 1))
                last = generation
            }
            wasKilled = Bool.random(using: &random)
            if !wasKilled { try await store.end() }
        }
    }

    @Test func `the last snapshot is there after a restart, and so are the recent ones`() async throws {
        let database = try TemporaryDatabase()
        #expect(try await ledger(database).begin(at: start, rememberingSeconds: 20).last == nil)
        let store = ledger(database)
        for generation in 1...9 as ClosedRange<Int64> {
            try await store.append(
                Publication(whole: snapshot(generation, at: start.adding(seconds: Double(generation))), parts: []))
        }
        let restarted = ledger(database)
        #expect(try await restarted.begin(at: start, rememberingSeconds: 20).last?.version.generation == 9)
        let since = start.adding(seconds: 6)
        let recent = try await restarted.recent(since: since, limit: 100)
        #expect(recent.map(\.version.generation) == [6, 7, 8, 9])
        #expect(try await restarted.recent(since: since, limit: 2).map(\.version.generation) == [8, 9])
    }

    @Test func `old snapshots go by age and by size, in steps, and the newest stays`() async throws {
        let database = try TemporaryDatabase()
        let store = ledger(database)
        for generation in 1...20 as ClosedRange<Int64> {
            let issued = start.adding(seconds: Double(generation))
            try await store.append(
                Publication(
                    whole: snapshot(generation, at: issued, policy: String(repeating: "x", count: 1_000)), parts: []))
        }
        #expect(try await store.prune(before: start.adding(seconds: 9), maxBytes: .max, limit: 5) == 5)
        #expect(try await store.prune(before: start.adding(seconds: 9), maxBytes: .max, limit: 5) == 3)
        #expect(try await store.prune(before: start.adding(seconds: 9), maxBytes: .max, limit: 5) == 0)
        #expect(try await store.recent(since: start, limit: 100).first?.version.generation == 9)
        // 12 are left, of somewhat more than 1,000 bytes each.
        #expect(try await store.prune(before: start, maxBytes: 5_500) == 7)
        #expect(try await store.recent(since: start, limit: 100).map(\.version.generation) == [16, 17, 18, 19, 20])
        #expect(try await store.prune(before: start.adding(seconds: 100), maxBytes: 0) == 4)
        #expect(try await store.last()?.version.generation == 20)
    }

    @Test(.enabled(if: TestEngine.isSQLite))
    func `on a full disk the numbers that were reserved still come, and nothing is half-written`() async throws {
        let database = try TemporaryDatabase()
        let store = ledger(database)
        #expect(try await store.reserveGeneration() == 1)
        try database.execute("PRAGMA max_page_count = 1")
        let large = snapshot(1, policy: String(repeating: "x", count: 1_000_000))
        let error = await #expect(throws: StorageError.self) {
            try await store.append(Publication(whole: large, parts: []))
        }
        #expect(error?.code == .full)
        #expect(try await store.last() == nil)
        #expect(try await store.reserveGeneration() == 2)
    }

    @Test(.enabled(if: TestEngine.isSQLite))
    func `a full disk leaves half a block of numbers, and more are reserved while there is room`() async throws {
        let database = try TemporaryDatabase()
        let store = ledger(database)
        for _ in 0..<SnapshotStore.blockSize / 2 { _ = try await store.reserveGeneration() }
        try database.execute("PRAGMA query_only = 1")
        for _ in 0..<SnapshotStore.blockSize / 2 { _ = try await store.reserveGeneration() }
        await #expect(throws: StorageError.self) { try await store.reserveGeneration() }
        try database.execute("PRAGMA query_only = 0")
        #expect(try await store.reserveGeneration() == SnapshotStore.blockSize + 1)
    }

    private func publication(
        _ generation: Int64, at second: Double, _ budgets: KeyValuePairs<GatewayID, Double>
    ) -> Publication {
        var whole = snapshot(generation, at: start.adding(seconds: second))
        let parts = budgets.map { gateway, rpm in
            whole.pools = [
                PoolAllocation(
                    pool: "p", capacity: .none, nominal: .none, budget: Rates(rpm: rpm),
                    fallback: Rates(rpm: rpm - 1))
            ]
            return (gateway: gateway, snapshot: whole)
        }
        whole.pools = []
        return Publication(whole: whole, parts: parts)
    }

    @Test func `what gateways may still be using is there after a restart, and what is over is gone`() async throws {
        let database = try TemporaryDatabase()
        let store = ledger(database)
        #expect(try await store.begin(at: start, rememberingSeconds: 20).budgets == [])
        try await store.append(publication(1, at: 0, ["a": 100, "b": 50]))
        // b is gone, and so is what a had at first: two leases and graces have passed since.
        try await store.append(publication(2, at: 10, ["a": 80]))
        try await store.append(publication(3, at: 51, ["a": 70, "c": 30]))

        let budgets = try await ledger(database).begin(at: start, rememberingSeconds: 20).budgets
        func sent(_ generation: Int64, _ gateway: GatewayID, _ rpm: Double, at: Double, until: Double?) -> SentBudget {
            SentBudget(
                version: SnapshotVersion(epoch: 1, generation: generation), gateway: gateway, pool: "p",
                budget: Rates(rpm: rpm), fallback: Rates(rpm: rpm - 1), publishedAt: start.adding(seconds: at),
                supersededAt: until.map { start.adding(seconds: $0) })
        }
        #expect(
            budgets == [
                sent(1, "b", 50, at: 0, until: 10), sent(2, "a", 80, at: 10, until: 51),
                sent(3, "a", 70, at: 51, until: nil), sent(3, "c", 30, at: 51, until: nil),
            ])
        try await store.append(publication(4, at: 8 * 86_400, ["a": 70]))
        #expect(try await store.begin(at: start, rememberingSeconds: 20).budgets.map(\.gateway) == ["a", "c", "a"])
    }

    @Test func `a stored snapshot that cannot be read says so`() async throws {
        let database = try TemporaryDatabase()
        try database.writer.executor.performAndWait {
            try database.writer.statement("INSERT INTO snapshot VALUES (1, 1, 1, 4, :body)")
                .bind(":body", [0, 0x11, 0x22, 0x33] as [UInt8]).run()
        }
        let error = await #expect(throws: StorageError.self) {
            try await ledger(database).begin(at: start, rememberingSeconds: 20)
        }
        #expect(error?.code == .corrupt)
    }
}
