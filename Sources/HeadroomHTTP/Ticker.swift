import Glibc
import Synchronization

/// A thread of its own that does something again and again.
///
/// Deadlines hang on it, so it shares no pool with work that may block.
final class Ticker: Sendable {
    private let periodMilliseconds: Int
    private let isStopped = Atomic(false)
    private let action: @Sendable () -> Void
    private let thread = Mutex<pthread_t?>(nil)

    init(periodMilliseconds: Int, action: @escaping @Sendable () -> Void) {
        self.periodMilliseconds = periodMilliseconds
        self.action = action
    }

    func start() {
        var thread = pthread_t()
        // The thread owns one reference, which it gives back when it ends.
        let context = unsafe Unmanaged.passRetained(self).toOpaque()
        let code = unsafe pthread_create(&thread, nil, runTicker, context)
        precondition(code == 0, "the machine has no thread left for the server's deadlines")
        self.thread.withLock { $0 = thread }
    }

    /// Returns when the action runs no more.
    func stop() {
        isStopped.store(true, ordering: .relaxed)
        guard let thread = thread.withLock({ $0.take() }) else { return }
        pthread_join(thread, nil)
    }

    fileprivate func run() {
        while !isStopped.load(ordering: .relaxed) {
            usleep(UInt32(periodMilliseconds * 1000))
            action()
        }
    }
}

/// At file scope: a closure would inherit the isolation of where it is written.
private func runTicker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context = unsafe context { unsafe Unmanaged<Ticker>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}
