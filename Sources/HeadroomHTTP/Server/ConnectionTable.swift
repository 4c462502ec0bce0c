import Glibc
import Synchronization

/// The open connections.
///
/// Sockets are shut down under the lock: a connection leaves the table before its socket is closed, so a number that
/// the kernel has given to another connection since is never meant.
final class ConnectionTable: Sendable {
    private struct State {
        var exchanges: [HTTPExchange?] = []
        var free: [Int] = []
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.exchanges.count - $0.free.count } }

    func add(_ exchange: HTTPExchange) {
        state.withLock { state in
            if let slot = state.free.popLast() {
                exchange.slot = slot
                state.exchanges[slot] = exchange
            } else {
                exchange.slot = state.exchanges.count
                state.exchanges.append(exchange)
            }
        }
    }

    func remove(_ exchange: HTTPExchange) {
        state.withLock { state in
            state.exchanges[exchange.slot] = nil
            state.free.append(exchange.slot)
        }
    }

    /// Cuts those whose client has taken longer than it may.
    func cutOverdue(at now: Int64) {
        forEach { exchange in
            if exchange.isOverdue(at: now) { shutdown(exchange.socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Those whose clients are to be watched while they wait.
    var watched: [HTTPExchange] {
        state.withLock { $0.exchanges.compactMap { $0.flatMap { $0.isWatched ? $0 : nil } } }
    }

    /// Tells those between two requests that no more will be read.
    func closeIdle() {
        forEach { exchange in
            if exchange.isIdle { shutdown(exchange.socket, Int32(SHUT_RD)) }
        }
    }

    private func forEach(_ body: (HTTPExchange) -> Void) {
        state.withLock { state in
            for case let exchange? in state.exchanges { body(exchange) }
        }
    }
}
