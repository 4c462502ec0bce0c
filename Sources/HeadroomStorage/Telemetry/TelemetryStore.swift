import HeadroomModel
import Synchronization

/// Takes telemetry and answers after the commit.
///
/// Batches that wait while one transaction is being committed go into the next one together: a commit costs the disk
/// 0.1 to 4 ms however much is in it, and nobody waits for a timer. When it fails, nothing of any of them is stored and
/// every sender hears of it.
package actor TelemetryStore: TelemetrySink {
    /// Lines after which a transaction takes no further batch, some 100 ms of work.
    static let maxLinesPerCommit = 20_000

    private final class Submission {
        let batch: TelemetryBatch
        var result: Result<TelemetryReceipt, TelemetryError>?
        var waiter: CheckedContinuation<Void, Never>?

        init(_ batch: TelemetryBatch) {
            self.batch = batch
        }
    }

    private let connection: SQLConnection
    private let writer: TelemetryWriter
    private var waiting: [Submission] = []
    private let heldBytes = Atomic(0)

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    /// About what is held of gateways, tenants and pools that report, as of the newest commit.
    package nonisolated var memoryBytes: Int { heldBytes.load(ordering: .relaxed) }

    /// Reads what rows tell of the last minutes, on the connection's executor: call it when starting.
    package init(connection: SQLConnection, settings: TelemetrySettings, now: Timestamp) throws(StorageError) {
        self.connection = connection
        writer = try connection.executor.performAndWait {
            let writer = try TelemetryWriter(connection: connection, settings: settings)
            writer.restoreKinds(try recentPairs(connection, now: now))
            return writer
        }
    }

    package func append(_ batch: TelemetryBatch) async throws(TelemetryError) -> TelemetryReceipt {
        let submission = Submission(batch)
        waiting.append(submission)
        if waiting.count == 1 {
            // The first one commits for all. Those that wait for this actor get in before it goes on.
            await Task.yield()
            commitWaiting()
        } else {
            await withCheckedContinuation { submission.waiter = $0 }
        }
        guard let result = submission.result else { preconditionFailure("resumed without a result") }
        return try result.get()
    }

    /// Deletes at most `limit` rows of each table that arrived before `instant`, and returns how many it deleted: call
    /// again until that is none.
    package func prune(before instant: Timestamp, limit: Int = 5_000) throws(StorageError) -> Int {
        try connection.transaction {
            let arrivals = ArrivalMarks(connection: connection)
            guard let mark = try arrivals.past(instant) else { return 0 }
            var deleted = 0
            for (sql, last) in TelemetryStore.deletes(upTo: mark.cursor) {
                try connection.statement(sql).bind(":last", last).bind(":limit", Int64(limit)).run()
                deleted += connection.changedRows
            }
            if deleted == 0 { try arrivals.delete(before: mark.id) }
            return deleted
        }
    }

    private func commitWaiting() {
        var rest = waiting[...]
        waiting = []
        while !rest.isEmpty {
            var lines = 0
            let group = rest.prefix { submission in
                defer { lines += submission.batch.lines.count }
                return lines < TelemetryStore.maxLinesPerCommit
            }
            rest = rest.dropFirst(group.count)
            commit(group)
        }
    }

    private func commit(_ group: ArraySlice<Submission>) {
        do throws(StorageError) {
            let results = try connection.transaction {
                let received = group.reduce(group[group.startIndex].batch.received) { min($0, $1.batch.received) }
                try writer.begin(at: received)
                var results: [Result<TelemetryReceipt, TelemetryError>] = []
                for submission in group { results.append(try writer.write(submission.batch)) }
                try writer.finish(at: received)
                return results
            }
            writer.committed()
            heldBytes.store(writer.kindsBytes, ordering: .relaxed)
            for (submission, result) in zip(group, results) { submission.result = result }
        } catch {
            writer.rolledBack()
            let refusal = TelemetryError(.unavailable, error.message)
            for submission in group { submission.result = .failure(refusal) }
        }
        for submission in group { submission.waiter?.resume() }
    }

    /// By the order in which a table may be emptied: what refers to a row goes before the row.
    private static func deletes(upTo cursor: TelemetryCursor) -> [(sql: StaticString, last: Int64)] {
        [
            (
                """
                DELETE FROM call WHERE id <= (
                    SELECT CASE WHEN id + :limit > :last THEN :last ELSE id + :limit - 1 END FROM call ORDER BY id LIMIT 1)
                """, cursor.call
            ),
            (
                """
                DELETE FROM call_window WHERE id <= (
                    SELECT CASE WHEN id + :limit > :last THEN :last ELSE id + :limit - 1 END FROM call_window ORDER BY id LIMIT 1)
                """, cursor.window
            ),
            (
                """
                DELETE FROM queue_state WHERE id <= (
                    SELECT CASE WHEN id + :limit > :last THEN :last ELSE id + :limit - 1 END FROM queue_state ORDER BY id LIMIT 1)
                """, cursor.queue
            ),
            (
                """
                DELETE FROM quota_window WHERE provider_response_id <= (
                    SELECT CASE WHEN id + :limit > :last THEN :last ELSE id + :limit - 1 END FROM provider_response ORDER BY id LIMIT 1)
                """, cursor.response
            ),
            (
                """
                DELETE FROM provider_response WHERE id <= (
                    SELECT CASE WHEN id + :limit > :last THEN :last ELSE id + :limit - 1 END FROM provider_response ORDER BY id LIMIT 1)
                """, cursor.response
            ),
            (
                """
                DELETE FROM task_event WHERE id <= (
                    SELECT CASE WHEN id + :limit > :last THEN :last ELSE id + :limit - 1 END FROM task_event ORDER BY id LIMIT 1)
                """, cursor.task
            ),
            (
                """
                DELETE FROM model_event WHERE id <= (
                    SELECT CASE WHEN id + :limit > :last THEN :last ELSE id + :limit - 1 END FROM model_event ORDER BY id LIMIT 1)
                """, cursor.model
            ),
        ]
    }
}

/// The kind by which each gateway reported in the last minutes. Only the newest rows are looked at, so that a start stays short.
private func recentPairs(
    _ connection: SQLConnection, now: Timestamp
) throws(StorageError) -> [(pair: ReportingKinds.Pair, kind: ReportingKinds.Kind, at: Timestamp)] {
    let since = now.adding(seconds: -ReportingKinds.silenceSeconds)
    let cursor = try ArrivalMarks(connection: connection).last(at: since)?.cursor ?? .start
    let sources: [(sql: StaticString, kind: ReportingKinds.Kind, after: Int64)] = [
        (
            """
            SELECT gateway_id, tenant_id, pool_id, max(start_ms) FROM call_window
            WHERE id > (
                SELECT CASE WHEN id - 500000 > :after THEN id - 500000 ELSE :after END FROM call_window
                ORDER BY id DESC LIMIT 1)
            GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            """, .windows, cursor.window
        ),
        (
            """
            SELECT gateway_id, tenant_id, pool_id, max(at_ms) FROM call
            WHERE id > (
                SELECT CASE WHEN id - 500000 > :after THEN id - 500000 ELSE :after END FROM call
                ORDER BY id DESC LIMIT 1)
            GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
            """, .calls, cursor.call
        ),
    ]
    var pairs: [(pair: ReportingKinds.Pair, kind: ReportingKinds.Kind, at: Timestamp)] = []
    for (sql, kind, after) in sources {
        try connection.statement(sql).bind(":after", after).forEachRow { row in
            let pair = ReportingKinds.Pair(gateway: row.integer(0), tenant: row.integer(1), pool: row.integer(2))
            pairs.append((pair, kind, min(now, Timestamp(milliseconds: row.integer(3)))))
        }
    }
    return pairs
}
