import HeadroomModel

/// Headroom's own service levels by minute, in SQLite.
package actor OwnLevelStore {
    private let connection: SQLConnection

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection) {
        self.connection = connection
    }

    /// Adds each to its minute, in one transaction.
    package func add(_ minutes: [OwnLevelMinute]) throws(StorageError) {
        guard !minutes.isEmpty else { return }
        try connection.transaction {
            for minute in minutes {
                try connection.statement(Self.upsert)
                    .bind(":start_ms", RollupSpan.minute.start(of: minute.start).milliseconds)
                    .bind(":level", minute.level.rawValue)
                    .bind(":observed_s", minute.observedSeconds).bind(":missed_s", minute.missedSeconds).run()
            }
        }
    }

    /// Deletes at most `limit` rows that began before `instant`; returns how many.
    package func prune(before instant: Timestamp, limit: Int = 5_000) throws(StorageError) -> Int {
        try connection.statement(Self.deleteOldest)
            .bind(":before_ms", instant.milliseconds).bind(":limit", Int64(limit)).run()
        return connection.changedRows
    }

    private static let upsert: StaticString = """
        INSERT INTO own_level (start_ms, level, observed_s, missed_s)
        VALUES (:start_ms, :level, :observed_s, :missed_s)
        ON CONFLICT (start_ms, level) DO UPDATE SET observed_s = own_level.observed_s + excluded.observed_s,
            missed_s = own_level.missed_s + excluded.missed_s
        """
    private static let deleteOldest: StaticString = """
        DELETE FROM own_level WHERE (start_ms, level) IN (
            SELECT start_ms, level FROM own_level WHERE start_ms < :before_ms ORDER BY start_ms LIMIT :limit)
        """
}
