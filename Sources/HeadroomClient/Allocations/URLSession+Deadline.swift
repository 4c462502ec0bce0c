import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

extension URLSession {
    /// The answer to a request that ends at its deadline, whatever its peer does, and at once when its caller is cancelled.
    ///
    /// Not by the session's own means, which have three faults on Linux. `URLRequest/timeoutInterval` does nothing: a request
    /// ends with the session's. The session's asynchronous `data(for:)` can hang for good when its task is cancelled while
    /// the answer comes in: the cancellation holds the task's lock and waits for the session's queue, which waits for
    /// that lock to resume the task. And `URLSessionTask/cancel()` ends the process when the request ends at the same time. So
    /// a request is left alone, and only its caller goes: it ends with its answer, or with the session's
    /// `timeoutIntervalForRequest`.
    package func data(for request: URLRequest, withinSeconds seconds: Double) async throws -> (Data, URLResponse) {
        let exchange = Exchange()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { caller in
                let task = dataTask(with: request) { data, response, error in
                    if let data, let response, error == nil {
                        exchange.end(with: .success((data, response)))
                    } else {
                        exchange.end(with: .failure(error ?? URLError(.unknown)))
                    }
                }
                let deadline = Task {
                    try await Task.sleep(for: .seconds(seconds))
                    exchange.end(
                        with: .failure(
                            URLError(
                                .timedOut,
                                userInfo: [NSLocalizedDescriptionKey: "no answer within \(Self.text(seconds)) s"])))
                }
                exchange.begin(Exchange.Call(caller: caller, task: task, deadline: deadline))
            }
        } onCancel: {
            // It runs under the task's lock, so it must not wait for anybody.
            DispatchQueue.global().async { exchange.end(with: .failure(CancellationError())) }
        }
    }

    /// With one decimal at most.
    private static func text(_ seconds: Double) -> String {
        let tenths = (seconds * 10).rounded() / 10
        return Int(exactly: tenths).map(String.init) ?? String(tenths)
    }
}

/// One request. It ends once: with its answer, at its deadline, or when its caller is cancelled.
private final class Exchange: Sendable {
    struct Call: Sendable {
        let caller: CheckedContinuation<(Data, URLResponse), any Error>
        let task: URLSessionDataTask
        let deadline: Task<Void, any Error>
    }

    private enum State {
        case new
        case running(Call)
        /// Before it began.
        case failed(any Error)
        case over
    }

    private let state = Mutex(State.new)

    func begin(_ call: Call) {
        let failure = state.withLock { state -> (any Error)? in
            guard case .failed(let error) = state else {
                state = .running(call)
                return nil
            }
            state = .over
            return error
        }
        guard let failure else { return call.task.resume() }
        finish(call, .failure(failure))
    }

    func end(with result: Result<(Data, URLResponse), any Error>) {
        let ending = state.withLock { state -> Call? in
            if case .running(let call) = state {
                state = .over
                return call
            }
            if case .new = state, case .failure(let error) = result { state = .failed(error) }
            return nil
        }
        if let ending { finish(ending, result) }
    }

    private func finish(_ call: Call, _ result: Result<(Data, URLResponse), any Error>) {
        call.deadline.cancel()
        call.caller.resume(with: result)
    }
}
