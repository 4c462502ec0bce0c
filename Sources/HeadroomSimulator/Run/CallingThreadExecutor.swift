import Synchronization

/// Runs asynchronous work to its end on the thread that asks for it.
///
/// A tick crosses a dozen actors. On the global pool every crossing may change threads, which on a busy machine takes
/// ten times as long as the tick itself; here it is a list and a loop. Work that waits for something outside itself has
/// nobody to wake it, and is a programmer's mistake.
package final class CallingThreadExecutor: TaskExecutor {
    private final class Outcome<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    private let jobs = Mutex<[UnownedJob]>([])

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Owns the one task that it starts: it has ended when this returns.
    package func run<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) -> Value {
        let outcome = Outcome<Value>()
        Task(executorPreference: self) {
            let value = await operation()
            outcome.value.withLock { $0 = value }
        }
        var ready: [UnownedJob] = []
        while true {
            // Two lists in turns: a new one each time would be an allocation for every hop.
            ready.removeAll(keepingCapacity: true)
            jobs.withLock { swap(&$0, &ready) }
            // Each job runs once, right after it was taken out of the list; the executor outlives this loop.
            for job in ready { unsafe job.runSynchronously(on: asUnownedTaskExecutor()) }
            if let value = outcome.value.withLock({ $0 }) { return value }
            precondition(!ready.isEmpty, "the work waits for something that this thread does not run")
        }
    }
}
