import HeadroomModel
import HeadroomStorage
import Testing

/// Six weeks of a service's housekeeping on a clock of its own.
@Suite struct RetentionTests {
    private static let days = 42
    private let directory = TemporaryDirectory()
    private let database: Database
    private let policy = TelemetryPolicy()
    private let pool: PoolID = "openai:gpt-4o"

    init() throws {
        database = try Database(
            path: TestEngine.path(in: directory), use: .service, coding: .unused, time: TimeSource { hourStart })
    }

    private func instant(day: Int, hour: Double = 0) -> Timestamp {
        hourStart.adding(seconds: Double(day) * 86_400 + hour * 3_600)
    }

    /// What one day leaves behind: 200 calls, and the sums of a tenant that is starved for six hours of it and of one that
    /// never is.
    private func live(day: Int) async throws {
        for part in 0..<4 {
            let now = instant(day: day, hour: Double(part) * 6)
            let calls = (0..<50).map { _ in call(at: now) }
            _ = try await database.telemetry.append(batch(calls, received: now))
        }
        var rollups: [Rollup] = []
        for minute in day * 1_440..<(day + 1) * 1_440 {
            let isStarved = minute % 1_440 >= 1_080
            rollups.append(rollup(minute: minute, "weeks", shortage: isStarved ? 60 : 0, asked: 10))
            rollups.append(rollup(minute: minute, "fine"))
        }
        try await database.checkpoints.save(
            Checkpoint(at: instant(day: day + 1), cursor: .start, observer: [], classifier: []), rollups: rollups)
    }

    /// The most rows that one batch deleted, and how many batches there were.
    private func keepHouse(at now: Timestamp) async throws -> (most: Int, batches: Int) {
        var (most, batches) = (0, 0)
        while true {
            let deleted = try await database.prune(policy, at: now)
            if deleted == 0 { return (most, batches) }
            (most, batches) = (max(most, deleted), batches + 1)
        }
    }

    private func counts() throws -> (calls: Int64, minutes: Int64, hours: Int64, oldest: [Int64]) {
        let reader = try SQLConnection(
            path: database.path, access: .readOnly, executor: DiskExecutor(label: "test.counts"))
        func number(_ sql: StaticString) throws -> Int64 {
            try reader.executor.performAndWait {
                try reader.statement(sql).first { $0.integer(0) } ?? 0
            }
        }
        return (
            try number("SELECT count(*) FROM call"), try number("SELECT count(*) FROM rollup WHERE span_s = 60"),
            try number("SELECT count(*) FROM rollup WHERE span_s = 3600"),
            [
                try number("SELECT min(at_ms) FROM call"),
                try number("SELECT min(start_ms) FROM rollup WHERE span_s = 60"),
                try number("SELECT min(start_ms) FROM rollup WHERE span_s = 3600"),
            ]
        )
    }

    @Test
    func `six weeks on, calls of hours are there, minutes of thirty days and all hours, deleted in small batches`()
        async throws
    {
        #expect(policy.rawHours == 48 && policy.minuteDays == 35 && policy.hourDays > 42)
        for day in 0..<Self.days {
            try await live(day: day)
            // A service does this each second; what comes due in a day is more than one batch's worth at most once.
            _ = try await keepHouse(at: instant(day: day + 1))
        }
        let now = instant(day: Self.days)
        let counts = try counts()
        #expect(counts.calls == 2 * 200)
        #expect(counts.oldest[0] == now.adding(seconds: -48 * 3_600).milliseconds)
        #expect(counts.minutes == 35 * 1_440 * 2)
        #expect(counts.oldest[1] == now.adding(seconds: -35 * 86_400).milliseconds)
        #expect(counts.hours == Int64(Self.days) * 24 * 2)
        #expect(counts.oldest[2] == hourStart.milliseconds)

        // Thirty days back all is read from minutes, six weeks back by hours where minutes are gone: the same spells.
        for (back, spells) in [(30, 30), (42, 42)] {
            let starved = try await database.records.starvation(
                from: now.adding(seconds: -Double(back) * 86_400), to: now, ongoing: [])
            #expect(starved.map(\.tenant) == ["weeks"])
            #expect(starved.first?.spells.count == spells)
            #expect(starved.first?.spells.allSatisfy { $0.starvedSeconds == 6 * 3_600 } == true)
            #expect(starved.first?.reason == .shortage)
        }
    }

    @Test func `a service that was away for weeks deletes what came due in batches, each of them bounded`() async throws
    {
        for day in 0..<12 { try await live(day: day) }
        let before = try counts()
        let now = instant(day: 60)
        _ = try await database.telemetry.append(batch([call(at: now)], received: now))
        let away = try await keepHouse(at: now)
        let after = try counts()
        #expect(after.calls == 1 && after.minutes == 0 && after.hours == before.hours, "\(after)")
        // 5,000 rows a table and transaction, and the rest of a minute: calls, and the sums of tenants and of the pool.
        #expect(away.most <= 5_000 + 5_002 + 5_000, "\(away.most) rows at once")
        #expect(away.batches >= Int(before.minutes) / 5_002, "\(away.batches) batches")
    }
}
