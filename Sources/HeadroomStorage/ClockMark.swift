import HeadroomModel

/// The latest time at which the clock was believed, so that a start whose clock has jumped deletes nothing.
///
/// It follows the clock of a service that runs, and stays where it is while the clock is in doubt, also over starts: rows
/// that a wrong clock stamps do not make it right.
package actor ClockMark {
    private let connection: SQLConnection

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection) {
        self.connection = connection
    }

    /// By how many seconds `now` lies behind the mark; `nil` when there is none to compare with. Negative when the clock
    /// has gone back, which makes nothing too old.
    package func seconds(until now: Timestamp) throws(StorageError) -> Double? {
        let trusted = try connection.statement("SELECT trusted_ms FROM clock_mark").first { $0.integer(0) } ?? 0
        return trusted == 0 ? nil : now.seconds(since: Timestamp(milliseconds: trusted))
    }

    /// The clock is right, or was said to be.
    package func trust(_ now: Timestamp) throws(StorageError) {
        try connection.transaction {
            try connection.statement("UPDATE clock_mark SET trusted_ms = :now_ms WHERE trusted_ms < :now_ms")
                .bind(":now_ms", now.milliseconds).run()
        }
    }
}
