import Glibc

/// A thread that belongs to nobody else: for work that waits, which would hold up a pool that others count on.
final class OwnThread: Sendable {
    private let identifier: pthread_t

    init(_ body: @escaping @Sendable () -> Void) {
        var identifier = pthread_t()
        // The thread owns one reference, which it gives back when it starts.
        let context = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
        let code = unsafe pthread_create(&identifier, nil, runThreadBody, context)
        precondition(code == 0, "the machine has no thread left")
        self.identifier = identifier
    }

    /// Returns when the body has. Exactly once, and not from the thread itself.
    func join() {
        pthread_join(identifier, nil)
    }

    /// Waits for `body` without holding a cooperative thread.
    static func run(_ body: @escaping @Sendable () -> Void) async {
        let (done, finish) = AsyncStream<Void>.makeStream()
        let thread = OwnThread {
            body()
            finish.finish()
        }
        for await _ in done {}
        thread.join()
    }
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) {
        self.run = run
    }
}

/// At file scope: a closure would inherit the isolation of where it is written.
private func runThreadBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context = unsafe context { unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().run() }
    return nil
}
