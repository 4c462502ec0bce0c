import HeadroomMemoryStores
import HeadroomModel
import Synchronization

/// A ledger whose appends wait for as long as a test wants.
final class SlowLedger: SnapshotLedger {
    private struct State {
        var isPaused = false
        var appends = 0
        var paused: [CheckedContinuation<Void, Never>] = []
        var observers: [(appends: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let ledger: MemoryLedger
    private let state = Mutex(State())

    init(_ ledger: MemoryLedger) {
        self.ledger = ledger
    }

    /// Appends wait until ``resume()``.
    func pause() { state.withLock { $0.isPaused = true } }

    func resume() {
        let paused = state.withLock { state in
            state.isPaused = false
            defer { state.paused = [] }
            return state.paused
        }
        for continuation in paused { continuation.resume() }
    }

    var appendsInProgress: Int { state.withLock { $0.appends } }

    /// Until so many appends are in progress.
    func waitForAppends(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.appends >= count { return true }
                state.observers.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    func begin(at now: Timestamp, rememberingSeconds: Double) async throws(StorageError) -> LedgerStart {
        try await ledger.begin(at: now, rememberingSeconds: rememberingSeconds)
    }

    func reserveGeneration() async throws(StorageError) -> Int64 { try await ledger.reserveGeneration() }

    func append(_ publication: Publication) async throws(StorageError) {
        await enter()
        defer { state.withLock { $0.appends -= 1 } }
        try await ledger.append(publication)
    }

    func end() async throws(StorageError) { try await ledger.end() }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let (goesOn, observers) = state.withLock { state in
                state.appends += 1
                if state.isPaused { state.paused.append(continuation) }
                let due = state.observers.filter { state.appends >= $0.appends }
                state.observers.removeAll { state.appends >= $0.appends }
                return (!state.isPaused, due)
            }
            for observer in observers { observer.continuation.resume() }
            if goesOn { continuation.resume() }
        }
    }
}
