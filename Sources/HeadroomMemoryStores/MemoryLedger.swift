import HeadroomModel
import Synchronization

/// A ledger of snapshots in memory, which can be made to refuse.
package final class MemoryLedger: SnapshotLedger {
    private struct State {
        var epoch: Int64 = 0
        var generation: Int64 = 0
        var last: Snapshot?
        var history: [Snapshot] = []
        /// Budgets that gateways may still be using, ascending by version.
        var sent: [SentBudget] = []
        var rememberingSeconds = 0.0
        var isFull = false
    }

    private let state = Mutex(State())
    private let keepsHistory: Bool
    private let onBegin: @Sendable () -> Void
    private let onAppend: @Sendable (Snapshot) -> Void

    /// - Parameters:
    ///   - keepsHistory: false keeps the newest snapshot only, as a long run must.
    ///   - onBegin: called in each ``begin(at:rememberingSeconds:)`` that succeeds.
    ///   - onAppend: called with each snapshot, before anyone can see it.
    package init(
        keepsHistory: Bool = true, onBegin: @escaping @Sendable () -> Void = {},
        onAppend: @escaping @Sendable (Snapshot) -> Void = { _ in }
    ) {
        self.keepsHistory = keepsHistory
        self.onBegin = onBegin
        self.onAppend = onAppend
    }

    /// Nothing can be written while it is full; numbers that were reserved before are left.
    package var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// Ascending by generation; none unless it keeps its history.
    package var snapshots: [Snapshot] { state.withLock { $0.history } }

    package func begin(at now: Timestamp, rememberingSeconds: Double) async throws(StorageError) -> LedgerStart {
        if isFull { throw .madeToFail }
        return state.withLock { state in
            state.epoch = max(state.epoch + 1, now.milliseconds / 1000)
            state.rememberingSeconds = rememberingSeconds
            onBegin()
            return LedgerStart(epoch: state.epoch, last: state.last, budgets: state.sent)
        }
    }

    package func reserveGeneration() async throws(StorageError) -> Int64 {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    package func append(_ publication: Publication) async throws(StorageError) {
        let snapshot = publication.whole
        if isFull { throw .madeToFail }
        state.withLock { state in
            state.last = snapshot
            if keepsHistory { state.history.append(snapshot) }
            for index in state.sent.indices where state.sent[index].supersededAt == nil {
                state.sent[index].supersededAt = snapshot.issuedAt
            }
            let oldest = snapshot.issuedAt.adding(seconds: -state.rememberingSeconds)
            let current = Set(publication.parts.map(\.gateway))
            // The last of a gateway that is gone stays: it may live on its fallback.
            state.sent.removeAll { sent in
                sent.supersededAt.map { $0 < oldest } ?? false && current.contains(sent.gateway)
            }
            state.sent += publication.budgets
        }
        onAppend(snapshot)
    }

    package func end() async throws(StorageError) {}
}

extension Publication {
    /// Each gateway's budget of each pool.
    fileprivate var budgets: [SentBudget] {
        parts.flatMap { part in
            part.snapshot.pools.map { pool in
                SentBudget(
                    version: whole.version, gateway: part.gateway, pool: pool.pool, budget: pool.budget,
                    fallback: pool.fallback, publishedAt: whole.issuedAt)
            }
        }
    }
}
