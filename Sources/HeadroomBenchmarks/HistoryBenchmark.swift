import Foundation
import HeadroomModel
import HeadroomStorage
import HeadroomWire

/// Plots of the past: how long an answer of `/v1/history` takes on a database of thirty days with 5,000 tenants in
/// twenty pools, each tenant in two of them, in every hour and in one minute of 33.
enum HistoryBenchmark {
    private static let now = Timestamp(milliseconds: 1_793_059_200_000)
    private static let tenants = 5_000
    private static let pools = 20
    private static let runs = 15
    private static let coding = SnapshotStore.Coding(encode: { _ in [] }, decode: { _ in throw CancellationError() })

    static func run(smoke: Bool) throws {
        try waitFor { try await measure(days: smoke ? 2 : 30) }
    }

    private static func measure(days: Int) async throws {
        let directory = try BenchmarkDirectory()
        let path = directory.path + "/headroom.db"
        let database = try Database(path: path, use: .service, coding: coding, time: TimeSource { now })
        let clock = ContinuousClock()
        let began = clock.now
        try fill(path, days: days)
        let rows = try count(path)
        print(
            "history: \(tenants) tenants, \(pools) pools, \(days) days, \(rows) rows of tenants, made in "
                + "\(Int(began.duration(to: clock.now) / .seconds(1))) s")
        let spans: [(name: String, hours: Double)] = [("an hour", 1), ("a day", 24), ("a week", 168), ("30 days", 720)]
        for span in spans {
            let from = now.adding(seconds: -span.hours * 3600)
            let step = HistoryQuery.step(atLeast: Int64(span.hours * 3600) / 300)
            let pool = HistoryQuery(pool: "pool-3", from: from, to: now, stepSeconds: step)
            var leaders = pool
            leaders.leaders = 10
            var tenant = pool
            tenant.tenant = "tenant-800"
            for (what, query) in [("pool", pool), ("pool and ten leaders", leaders), ("tenant", tenant)] {
                try await time("\(span.name) of a \(what)", query, path)
            }
        }
        try database.finish()
    }

    /// Each time on a new connection, which has nothing in its own cache.
    private static func time(_ what: String, _ query: HistoryQuery, _ path: String) async throws {
        let clock = ContinuousClock()
        var durations: [Double] = []
        var bytes = 0
        var steps = 0
        for _ in 0..<runs {
            let connection = try SQLiteConnection(
                path: path, access: .readOnly, executor: DiskExecutor(label: "benchmark"))
            let reader = try RecordReader(connection: connection.portable, coding: coding)
            let began = clock.now
            let records = try await reader.history(query)
            let series = HistorySeries(records, query)
            bytes = series.encoded().count
            durations.append(began.duration(to: clock.now) / .milliseconds(1))
            steps = series.steps.count
        }
        durations.sort()
        print(
            "  \(what): median \(Int(durations[runs / 2])) ms, longest \(Int(durations[runs - 1])) ms "
                + "(\(steps) steps of \(query.stepSeconds) s, \(bytes / 1024) KB)")
    }

    // MARK: The database

    private static func count(_ path: String) throws -> Int64 {
        let executor = DiskExecutor(label: "benchmark.count")
        let reader = try SQLiteConnection(path: path, access: .readOnly, executor: executor)
        return try executor.performAndWait {
            try reader.statement("SELECT count(*) FROM rollup").first { $0.integer(0) } ?? 0
        }
    }

    /// SQLite makes the rows: as many as a service writes in a month.
    private static func fill(_ path: String, days: Int) throws {
        let executor = DiskExecutor(label: "benchmark.fill")
        let writer = try SQLiteConnection(path: path, access: .readWrite, executor: executor)
        let end = now.milliseconds
        try executor.performAndWait {
            try writer.transaction {
                try writer.statement(insertTenants).bind(":count", Int64(tenants)).run()
                try writer.statement(insertPools).bind(":count", Int64(pools)).run()
            }
            for (span, stride, statement) in [
                (86_400_000, 1, insertEvery), (3_600_000, 1, insertEvery), (60_000, 33, insertSome),
            ] as [(Int64, Int64, StaticString)] {
                let count = Int64(days) * 86_400_000 / span
                try writer.transaction {
                    try writer.statement(statement)
                        .bind(":span_ms", span).bind(":count", count).bind(":end_ms", end).bind(":stride", stride).run()
                    try writer.statement(insertPoolSums)
                        .bind(":span_ms", span).bind(":count", count).bind(":end_ms", end).run()
                }
            }
        }
    }

    private static let insertTenants: StaticString = """
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count)
        INSERT INTO name (id, kind, text) SELECT 1 + i, 0, 'tenant-' || i FROM n
        """
    private static let insertPools: StaticString = """
        WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count)
        INSERT INTO name (id, kind, text) SELECT 100001 + i, 1, 'pool-' || i FROM n
        """
    private static let insertEvery: StaticString = """
        WITH RECURSIVE pool (p) AS (SELECT 0 UNION ALL SELECT p + 1 FROM pool WHERE p < 19),
            step (s) AS (SELECT :end_ms - :count * :span_ms UNION ALL SELECT s + :span_ms FROM step
                WHERE s + :span_ms < :end_ms),
            tenant (k) AS (SELECT 0 UNION ALL SELECT k + :stride FROM tenant WHERE k + :stride < 500)
        INSERT INTO rollup (span_s, pool_id, start_ms, tenant_id, criticality, ok, quota, overload, error, retries,
            denied, denied_tokens, input_tokens, output_tokens, counted_tokens, asked_tokens, assured_tokens,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s)
        SELECT :span_ms / 1000, 100001 + p, s, 1 + (p * 250 + k) % 5000, 0, 40 + k % 7, 1, 0, 0, 1, 2, 3000,
            40000 + k * 100, 9000, 49000 + k * 100, 52000, 60000.25, 0, 0, k % 11
        FROM pool CROSS JOIN step CROSS JOIN tenant
        """
    /// One tenant of 33, others in each minute.
    private static let insertSome: StaticString = """
        WITH RECURSIVE pool (p) AS (SELECT 0 UNION ALL SELECT p + 1 FROM pool WHERE p < 19),
            step (s) AS (SELECT :end_ms - :count * :span_ms UNION ALL SELECT s + :span_ms FROM step
                WHERE s + :span_ms < :end_ms),
            tenant (k) AS (SELECT 0 UNION ALL SELECT k + :stride FROM tenant WHERE k + :stride < 500 - :stride)
        INSERT INTO rollup (span_s, pool_id, start_ms, tenant_id, criticality, ok, quota, overload, error, retries,
            denied, denied_tokens, input_tokens, output_tokens, counted_tokens, asked_tokens, assured_tokens,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s)
        SELECT 60, 100001 + p, s, 1 + (p * 250 + k + (s / 60000) % :stride) % 5000, 0, 4, 0, 0, 0, 0, 0, 0, 4000, 900,
            4900, 5200, 6000.25, 0, 0, k % 11
        FROM pool CROSS JOIN step CROSS JOIN tenant
        """
    private static let insertPoolSums: StaticString = """
        WITH RECURSIVE pool (p) AS (SELECT 0 UNION ALL SELECT p + 1 FROM pool WHERE p < 19),
            step (s) AS (SELECT :end_ms - :count * :span_ms UNION ALL SELECT s + :span_ms FROM step
                WHERE s + :span_ms < :end_ms)
        INSERT INTO pool_rollup (span_s, pool_id, start_ms, ok, quota, overload, error, ramp, billing, retries, denied,
            denied_tokens, input_tokens, cached_input_tokens, output_tokens, counted_tokens, waits, waited_s, active_s,
            asked_tokens, asked_requests, assured_tokens, assured_requests, ceiling_tokens, ceiling_requests,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s, observed_s, queue_depth, nominal_requests,
            nominal_tokens, estimated_requests, estimated_tokens, budget_requests, budget_tokens)
        SELECT :span_ms / 1000, 100001 + p, s, 2000, 9, 1, 2, 0, 0, 12, 90, 90000, 2000000, 100000, 450000, 2450000,
            2000, 900.5, 60000, 2600000, 2100, 3000000.5, 2500.5, 0, 0, 60, 0, 11, :span_ms / 1000, 31,
            6000.0, 3000000.0, 5900.0, 2900000.0, 5900.0, 2900000.0
        FROM pool CROSS JOIN step
        """
}
