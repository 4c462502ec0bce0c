import Glibc
import Synchronization

/// Does something again and again on a thread of its own: deadlines hang on it.
final class Ticker: Sendable {
    private let isStopped: Flag
    private let thread: OwnThread

    private final class Flag: Sendable {
        let value = Atomic(false)
    }

    init(periodMilliseconds: Int, action: @escaping @Sendable () -> Void) {
        let isStopped = Flag()
        self.isStopped = isStopped
        thread = OwnThread {
            while !isStopped.value.load(ordering: .relaxed) {
                usleep(UInt32(periodMilliseconds * 1000))
                action()
            }
        }
    }

    /// Returns when the action runs no more. Once.
    func stop() {
        isStopped.value.store(true, ordering: .relaxed)
        thread.join()
    }
}
