import CSQLite
import HeadroomModel
import Synchronization

/// Copies the write-ahead log into the database file on a thread of its own, beside the writer.
///
/// A checkpoint that runs while commits go on never reaches the log's end, so that the log could grow for as long as
/// telemetry keeps coming. At `maxPages` the writer therefore waits for one, between two commits.
package final class SQLiteCheckpointer: Sendable {
    private let connection: SQLiteConnection
    private let pagesPerCheckpoint: Int32
    private let maxPages: Int32
    private let isScheduled = Atomic(false)

    /// Watches `writer` for as long as that lives.
    ///
    /// 4 MiB a checkpoint: rare enough to write each hot page once, little enough for readers, who search the log.
    /// 64 MiB at most: what ``SQLiteConnection`` lets the file keep.
    @discardableResult package init(
        writer: SQLiteConnection, pagesPerCheckpoint: Int32 = 1_000, maxPages: Int32 = 16_000
    ) throws(StorageError) {
        self.pagesPerCheckpoint = pagesPerCheckpoint
        self.maxPages = maxPages
        connection = try SQLiteConnection(
            path: writer.path, access: .readWrite, executor: DiskExecutor(label: "headroom.checkpoint"),
            busyMilliseconds: 1_000)
        unsafe writer.setWriteAheadLogHook(afterCommit, owner: self)
    }

    /// Empties the log, so that the database file alone is whole; waits a second at most for others. On this thread, since
    /// SQLite refuses the second of two checkpoints at a time.
    func truncateLog() throws(StorageError) {
        try connection.executor.performAndWait { try connection.truncateLog() }
    }

    /// On the writer's executor, after each commit.
    fileprivate func logHas(pages: Int32) {
        if pages >= maxPages {
            // On the other thread: two checkpoints at a time are one too many, and SQLite would refuse the second. Should
            // it fail, the commit that has just succeeded stays, and the next one tries again.
            try? connection.executor.performAndWait { try connection.checkpoint() }
            return
        }
        guard pages >= pagesPerCheckpoint,
            !isScheduled.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        connection.executor.perform { [self] in
            isScheduled.store(false, ordering: .releasing)
            try? connection.checkpoint()
        }
    }
}

/// At file scope: a closure made in an actor would inherit its isolation, and trap when C calls it.
private func afterCommit(
    context: UnsafeMutableRawPointer?, database: OpaquePointer?, name: UnsafePointer<CChar>?, pages: Int32
) -> Int32 {
    guard let context = unsafe context else { return SQLITE_OK }
    unsafe Unmanaged<SQLiteCheckpointer>.fromOpaque(context).takeUnretainedValue().logHas(pages: pages)
    return SQLITE_OK
}
