import Synchronization

/// Answers that are ready and wait for their time.
final class DelayedAnswers: Sendable {
    private struct Waiting {
        let parked: ParkedExchange
        let response: HTTPResponse
        let deadline: Int64
    }

    private struct State {
        var waiting: [Waiting] = []
        var isClosed = false
    }

    private static let maxWaiting = 1024

    private let state = Mutex(State())

    /// False when there is no room; the exchange is not parked then.
    func add(_ exchange: HTTPExchange, _ response: HTTPResponse, until deadline: Int64) -> Bool {
        state.withLock { state in
            guard !state.isClosed, state.waiting.count < Self.maxWaiting else { return false }
            state.waiting.append(Waiting(parked: exchange.park(), response: response, deadline: deadline))
            return true
        }
    }

    /// Sends those whose time has come. `now` is on the monotonic clock.
    func tick(_ now: Int64) {
        let due = state.withLock { state in
            let due = state.waiting.filter { $0.deadline <= now }
            if !due.isEmpty { state.waiting.removeAll { $0.deadline <= now } }
            return due
        }
        for answer in due { answer.parked.resume(with: answer.response) }
    }

    /// Sends all; nothing is delayed any more.
    func close() {
        let all = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for answer in all { answer.parked.resume(with: answer.response) }
    }
}
