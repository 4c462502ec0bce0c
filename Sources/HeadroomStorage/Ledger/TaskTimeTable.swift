import HeadroomModel

/// The table `task_time`: how long agent tasks took, by tenant and kind.
struct TaskTimeTable {
    let connection: SQLConnection

    /// Inside a transaction.
    func add(_ rollup: TaskTimeRollup, names: NameTable) throws(StorageError) {
        let statement = try connection.statement(Self.upsert)
            .bind(":tenant_id", try names.id(of: rollup.tenant.text, .tenant))
            .bind(":task_kind_id", try names.optionalID(of: rollup.kind, .taskKind) ?? 0)
        for (step, sums) in rollup.times.steps.sorted(by: { $0.key < $1.key }) {
            statement.bind(":step", Int64(step))
                .bind(":tasks", sums.tasks).bind(":completed", sums.completed).bind(":failed", sums.failed)
                .bind(":duration_s", sums.seconds).bind(":waited_s", sums.waitedSeconds)
                .bind(":calls", sums.calls).bind(":retries", sums.retries).bind(":refused", sums.refused)
            for span in RollupSpan.allCases {
                try statement.bind(":span_s", span.rawValue)
                    .bind(":start_ms", span.start(of: rollup.start).milliseconds).run()
            }
        }
    }

    /// Inside a transaction. Deletes the oldest `limit`, and the rest of their minute, hour or day; returns how many.
    func prune(_ span: RollupSpan, before: Timestamp, limit: Int64) throws(StorageError) -> Int {
        try connection.statement(Self.deleteOldest)
            .bind(":span_s", span.rawValue).bind(":before_ms", before.milliseconds).bind(":limit", limit).run()
        return connection.changedRows
    }

    /// Inside a transaction.
    func erase(_ tenant: Int64, _ span: RollupSpan, from: Timestamp, upTo: Int64) throws(StorageError) {
        try connection.statement(Self.deleteOfTenant)
            .bind(":span_s", span.rawValue).bind(":tenant_id", tenant)
            .bind(":from_ms", from.milliseconds).bind(":up_to_ms", upTo).run()
    }

    private static let upsert: StaticString = """
        INSERT INTO task_time (span_s, start_ms, tenant_id, task_kind_id, step, tasks, completed, failed, duration_s, waited_s,
            calls, retries, refused)
        VALUES (:span_s, :start_ms, :tenant_id, :task_kind_id, :step, :tasks, :completed, :failed, :duration_s, :waited_s,
            :calls, :retries, :refused)
        ON CONFLICT (span_s, start_ms, tenant_id, task_kind_id, step) DO UPDATE SET
            tasks = task_time.tasks + excluded.tasks, completed = task_time.completed + excluded.completed,
            failed = task_time.failed + excluded.failed, duration_s = task_time.duration_s + excluded.duration_s,
            waited_s = task_time.waited_s + excluded.waited_s, calls = task_time.calls + excluded.calls,
            retries = task_time.retries + excluded.retries, refused = task_time.refused + excluded.refused
        """
    private static let deleteOldest: StaticString = """
        DELETE FROM task_time WHERE span_s = :span_s AND start_ms < :before_ms AND start_ms IN (
            SELECT start_ms FROM task_time WHERE span_s = :span_s AND start_ms < :before_ms ORDER BY start_ms LIMIT :limit)
        """
    private static let deleteOfTenant: StaticString = """
        DELETE FROM task_time
        WHERE span_s = :span_s AND start_ms >= :from_ms AND start_ms <= :up_to_ms AND tenant_id = :tenant_id
        """
}
