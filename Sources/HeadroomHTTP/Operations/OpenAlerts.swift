import HeadroomModel
import Synchronization

/// How many alerts of each kind are open, for `/metrics`.
package final class OpenAlerts: Sendable {
    private let open = Mutex<[AlertKind: Int]>([:])

    package init() {}

    package func set(_ kinds: some Sequence<AlertKind>) {
        let counts = kinds.reduce(into: [AlertKind: Int]()) { $0[$1, default: 0] += 1 }
        open.withLock { $0 = counts }
    }

    /// In the order of ``AlertKind``, zeros included.
    package var counts: [(kind: AlertKind, count: Int)] {
        let counts = open.withLock { $0 }
        return AlertKind.allCases.map { ($0, counts[$0] ?? 0) }
    }
}
