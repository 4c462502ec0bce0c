import Foundation
import Synchronization

/// Runs `work` on a task. Stores are actors, and the program's main thread has nothing else to do than to wait for them.
func waitFor(_ work: @escaping @Sendable () async throws -> Void) throws {
    let finished = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task {
        do { try await work() } catch { failure.withLock { $0 = error } }
        finished.signal()
    }
    finished.wait()
    if let error = failure.withLock({ $0 }) { throw error }
}
