import HeadroomModel
import Synchronization

/// The lasting records of decisions, in memory; it can be made to refuse.
package final class MemoryRecords: DecisionRecords {
    private struct Key: Hashable {
        let pool: PoolID
        let tenant: TenantID
    }

    private struct State {
        var balances: [Key: CreditBalance] = [:]
        var outcomes: [DecisionOutcome] = []
        var isFull = false
    }

    private let state = Mutex(State())
    private let keepsHistory: Bool

    /// - Parameter keepsHistory: false keeps balances only, as a long run must.
    package init(keepsHistory: Bool = true) {
        self.keepsHistory = keepsHistory
    }

    package var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// In the order in which they came; none unless it keeps its history.
    package var outcomes: [DecisionOutcome] { state.withLock { $0.outcomes } }

    package func credits() async throws(StorageError) -> [CreditBalance] {
        if isFull { throw .madeToFail }
        return state.withLock { state in
            state.balances.values.sorted { ($0.pool, $0.tenant) < ($1.pool, $1.tenant) }
        }
    }

    package func record(_ outcome: DecisionOutcome, at now: Timestamp) async throws(StorageError) {
        if isFull { throw .madeToFail }
        state.withLock { state in
            for credit in outcome.credits {
                state.balances[Key(pool: credit.pool, tenant: credit.tenant)] = credit
            }
            if keepsHistory { state.outcomes.append(outcome) }
        }
    }
}
