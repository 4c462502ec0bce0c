import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct LevelTests {
    private let database: TemporaryDatabase
    private let store: RollupStore
    private let own: OwnLevelStore
    private let records: RecordReader
    private let pool: PoolID = "openai:gpt-4o"

    init() throws {
        database = try TemporaryDatabase()
        store = try RollupStore(connection: database.writer)
        own = OwnLevelStore(connection: database.writer)
        records = try database.records()
    }

    /// A minute in which the tenant wanted something all the time.
    private func minute(_ minute: Int, _ tenant: TenantID, missed: Double, wait: Double = 0) -> Rollup {
        var rollup = rollup(minute: minute, tenant, wait: wait)
        rollup.activeSeconds = 60
        rollup.missedSeconds = missed
        return rollup
    }

    private func save(_ rollups: [Rollup]) async throws {
        try await store.save(
            Checkpoint(at: start, cursor: .start, observer: [], classifier: []), rollups: rollups)
    }

    @Test func `each window has its own minutes, hours and days, with the one that runs`() async throws {
        // Now is the middle of minute 30 of an hour.
        let now = hourStart.adding(seconds: 30 * 60 + 30)
        try await save([
            minute(30, "acme", missed: 10, wait: 7), minute(27, "acme", missed: 5), minute(-10, "acme", missed: 20),
            minute(-40, "acme", missed: 30, wait: 90), minute(-25 * 60, "acme", missed: 60),
            minute(-40 * 1440, "acme", missed: 60), minute(20, "beta", missed: 0),
        ])
        let levels = try await records.levels(at: now).tenants
        #expect(levels.map(\.tenant) == ["acme", "beta"] && levels.allSatisfy { $0.pool == pool })
        let expected: [(LevelWindow, Double, Double, Double)] = [
            (.recent, 120, 15, 7), (.hour, 180, 35, 7), (.day, 240, 65, 90), (.month, 300, 125, 90),
        ]
        for (window, observed, missed, wait) in expected {
            #expect(
                levels[0].windows[window]
                    == LevelSums(observedSeconds: observed, missedSeconds: missed, longestWaitSeconds: wait),
                "\(window)")
        }
        let hour = levels[0].windows[.hour]
        #expect(abs((hour.attainment ?? 0) - 145.0 / 180) < 1e-12)
        #expect(abs((hour.burn(objective: 0.9) ?? 0) - 35.0 / 18) < 1e-12)
        #expect(levels[1].windows[.recent].attainment == nil && levels[1].windows[.hour].attainment == 1)
    }

    @Test func `Headroom's own minutes add up, and go when they are old`() async throws {
        func minute(_ minute: Double, _ level: OwnLevel, missed: Double) -> OwnLevelMinute {
            OwnLevelMinute(
                start: hourStart.adding(seconds: minute * 60), level: level, observedSeconds: 30, missedSeconds: missed)
        }
        try await own.add([minute(0, .published, missed: 5), minute(0, .ingest, missed: 0)])
        try await own.add([minute(0, .published, missed: 10), minute(-2000, .published, missed: 30)])
        let now = hourStart.adding(seconds: 30)
        func published() async throws -> [LevelWindow: Double] {
            let windows = try await records.levels(at: now).own[.published] ?? LevelWindows()
            return Dictionary(uniqueKeysWithValues: LevelWindow.allCases.map { ($0, windows[$0].missedSeconds) })
        }
        #expect(try await published() == [.recent: 15, .hour: 15, .day: 15, .month: 45])
        #expect(try await records.levels(at: now).own[.ingest]?[.hour].observedSeconds == 30)
        #expect(try await own.prune(before: hourStart) == 1)
        #expect(try await published() == [.recent: 15, .hour: 15, .day: 15, .month: 15])
    }

    @Test(.enabled(if: TestEngine.isSQLite)) func `time that was starved before levels were kept counts as missed`()
        async throws
    {
        let directory = TemporaryDirectory()
        let old = try SQLiteConnection(
            path: directory.file("headroom.db"), access: .readWrite, executor: DiskExecutor(label: "old"))
        try old.executor.performAndWait {
            _ = try Migrator(connection: old, migrations: Migration.all.filter { $0.number <= 20 }).migrate(at: start)
            try old.execute(
                """
                INSERT INTO rollup (span_s, pool_id, start_ms, tenant_id, criticality, ok, quota, overload, error, retries,
                    denied, denied_tokens, input_tokens, output_tokens, counted_tokens, demand_tokens, assured_tokens,
                    starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s, active_s)
                VALUES (60, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 12, 3, 0, 60)
                """)
        }
        let database = try TemporaryDatabase(in: directory)
        #expect(try database.number("SELECT missed_s FROM rollup") == 15)
    }
}
