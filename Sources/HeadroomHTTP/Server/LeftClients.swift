import Glibc
import Synchronization

/// Notices clients that close their connections while their requests wait for a task, so that nothing is done for them and
/// nobody waits behind them.
///
/// The library takes a parked connection out of its loop. So one call of `poll` asks the kernel about all of them, ten times
/// a second: some milliseconds for 20,000.
final class LeftClients: Sendable {
    private let connections: ConnectionTable
    private let nextLook = Atomic(Int64(0))

    private static let periodMilliseconds: Int64 = 100

    init(_ connections: ConnectionTable) {
        self.connections = connections
    }

    /// One thread calls this.
    func look(at now: Int64) {
        guard nextLook.load(ordering: .relaxed) <= now else { return }
        nextLook.store(now + Self.periodMilliseconds, ordering: .relaxed)
        let waiting = connections.watched
        guard !waiting.isEmpty else { return }
        var watched = waiting.map { pollfd(fd: $0.socket, events: HTTPExchange.peerClosed, revents: 0) }
        guard unsafe poll(&watched, nfds_t(watched.count), 0) > 0 else { return }
        for (exchange, found) in zip(waiting, watched) where found.revents != 0 {
            // A connection that was answered meanwhile, and whose number another one has, watches nobody any more.
            exchange.leave()
        }
    }
}
