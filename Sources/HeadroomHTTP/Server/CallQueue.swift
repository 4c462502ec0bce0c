import Synchronization

/// The way from the server's threads, where nothing can be awaited, to a task: bounded, and every call that enters is
/// answered exactly once.
final class CallQueue: Sendable {
    private struct State {
        var waiting: [Int: Call] = [:]
        var nextNumber = 0
        var isClosed = false
    }

    private final class Call: Sendable {
        let parked: ParkedExchange
        let work: @Sendable () async -> HTTPResponse

        init(parked: ParkedExchange, work: @escaping @Sendable () async -> HTTPResponse) {
            self.parked = parked
            self.work = work
        }
    }

    private let limit: Int
    private let state = Mutex(State())
    private let numbers: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init(limit: Int) {
        self.limit = limit
        (numbers, continuation) = AsyncStream.makeStream()
    }

    /// Parks the exchange until `work` has its answer.
    func enter(_ exchange: HTTPExchange, _ work: @escaping @Sendable () async -> HTTPResponse) throws(HTTPError) {
        let fault: HTTPError? = state.withLock { state in
            if state.isClosed {
                return HTTPError(.stopping, "the service is stopping", retryAfterSeconds: 1)
            }
            if state.waiting.count >= limit {
                return HTTPError(
                    .overloaded, "\(limit) calls are being worked on already; nothing of this one was taken",
                    retryAfterSeconds: 1)
            }
            // Parked under the lock, so that the task that answers the call finds it parked.
            let call = Call(parked: exchange.park(), work: work)
            state.waiting[state.nextNumber] = call
            continuation.yield(state.nextNumber)
            state.nextNumber += 1
            return nil
        }
        if let fault { throw fault }
    }

    /// Works on the calls until the queue is closed and empty. One task runs this.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await number in numbers {
                guard let call = state.withLock({ $0.waiting[number] }) else { continue }
                group.addTask {
                    let response = await call.work()
                    self.answer(number, response)
                }
            }
        }
    }

    /// No call enters any more; those inside are worked on.
    func close() {
        state.withLock { $0.isClosed = true }
        continuation.finish()
    }

    /// Answers what is still inside with `response`, whatever becomes of the work.
    func abandon(with response: HTTPResponse) {
        for number in state.withLock({ Array($0.waiting.keys) }) { answer(number, response) }
    }

    private func answer(_ number: Int, _ response: HTTPResponse) {
        // The one that removes the call resumes it; the other one finds nothing.
        guard let call = state.withLock({ $0.waiting.removeValue(forKey: number) }) else { return }
        call.parked.resume(with: response)
    }
}
