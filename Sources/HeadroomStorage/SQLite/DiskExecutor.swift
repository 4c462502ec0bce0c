import Dispatch
import HeadroomModel

/// One thread at a time, for everything that may wait for a disk, so that no wait holds a thread of the cooperative
/// pool. Actors that share a connection share its executor.
package final class DiskExecutor: SerialExecutor {
    private let queue: DispatchQueue

    package init(label: String) {
        queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { unsafe job.runSynchronously(on: self.unowned) }
    }

    /// For the `unownedExecutor` of actors that hold this one for as long as they live.
    @safe package var unowned: UnownedSerialExecutor { unsafe asUnownedSerialExecutor() }

    package func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }

    /// Runs `work` after what has been enqueued, without waiting for it.
    func perform(_ work: @escaping @Sendable () -> Void) {
        queue.async(execute: work)
    }

    /// Runs `work` after what has been enqueued and waits: for starting and stopping, never on the executor itself.
    package func performAndWait<Result>(_ work: () throws -> Result) throws(StorageError) -> Result {
        let outcome: Swift.Result<Result, StorageError> = queue.sync {
            do { return .success(try work()) } catch { return .failure(StorageError(error)) }
        }
        return try outcome.get()
    }
}
