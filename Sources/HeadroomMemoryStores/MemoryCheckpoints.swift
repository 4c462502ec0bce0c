import HeadroomModel
import Synchronization

/// The last checkpoint and the sums that go with it, in memory; it can be made to refuse.
package final class MemoryCheckpoints: CheckpointStore {
    fileprivate struct MinuteKey: Hashable {
        let start: Timestamp
        let pool: PoolID
        let tenant: TenantID
        let criticality: Criticality
    }

    fileprivate struct DayKey: Hashable {
        let day: Int64
        let tenant: TenantID
        let pool: PoolID
    }

    fileprivate struct State {
        var checkpoint: Checkpoint?
        var rollups: [MinuteKey: Rollup] = [:]
        var capacities: [PoolRollup] = []
        var modelUses: [ModelUse] = []
        var taskTimes: [TaskTimeRollup] = []
        var uses: [DayKey: TenantUse] = [:]
        var erased: [ErasedTenant] = []
        var erasures: Int64 = 0
        var isFull = false
    }

    private let state = Mutex(State())
    private let keepsHistory: Bool
    private let onSave: @Sendable (TelemetryCursor) -> Void

    /// - Parameters:
    ///   - keepsHistory: false keeps no roll-ups, as a long run must.
    ///   - onSave: called with how far each checkpoint reaches.
    package init(
        keepsHistory: Bool = true, onSave: @escaping @Sendable (TelemetryCursor) -> Void = { _ in }
    ) {
        self.keepsHistory = keepsHistory
        self.onSave = onSave
    }

    package var isFull: Bool {
        get { state.withLock { $0.isFull } }
        set { state.withLock { $0.isFull = newValue } }
    }

    /// By minute; ascending by start, pool, tenant and criticality.
    package var rollups: [Rollup] {
        state.withLock { state in
            state.rollups.values.sorted {
                ($0.start, $0.pool, $0.tenant, $0.criticality.rawValue)
                    < ($1.start, $1.pool, $1.tenant, $1.criticality.rawValue)
            }
        }
    }

    /// In the order in which they were saved; several of one minute where a minute was saved in parts.
    package var capacities: [PoolRollup] { state.withLock { $0.capacities } }

    /// In the order in which they were saved; several of one hour where an hour was saved in parts.
    package var modelUses: [ModelUse] { state.withLock { $0.modelUses } }

    /// In the order in which they were saved; several of one minute where a minute was saved in parts.
    package var taskTimes: [TaskTimeRollup] { state.withLock { $0.taskTimes } }

    /// As if the tenant had been erased from storage; the loop has yet to learn of it.
    package func erase(_ tenant: TenantID) {
        state.withLock { state in
            state.erasures += 1
            state.erased.append(ErasedTenant(id: state.erasures, fingerprint: tenant.text.fingerprint))
        }
    }

    package func latest() async throws(StorageError) -> Checkpoint? { state.withLock { $0.checkpoint } }

    package func erasures(after id: Int64) async throws(StorageError) -> [ErasedTenant] {
        state.withLock { $0.erased.filter { $0.id > id } }
    }

    package func uses(since day: Int64) async throws(StorageError) -> [TenantUse] {
        state.withLock { state in
            state.uses.values.filter { $0.day >= day }
                .sorted { ($0.day, $0.tenant, $0.pool) < ($1.day, $1.tenant, $1.pool) }
        }
    }

    package func save(
        _ checkpoint: Checkpoint, rollups: [Rollup], capacities: [PoolRollup], uses: [ModelUse],
        taskTimes: [TaskTimeRollup], priced: Set<TenantID>, erasedThrough: Int64
    ) async throws(StorageError) {
        if isFull { throw .madeToFail }
        state.withLock { state in
            state.checkpoint = checkpoint
            state.erased.removeAll { $0.id <= erasedThrough }
            for rollup in rollups where keepsHistory { state.add(rollup) }
            if keepsHistory {
                state.capacities += capacities
                state.modelUses += uses
                state.taskTimes += taskTimes
            }
            for rollup in rollups where priced.contains(rollup.tenant) { state.add(TenantUse(rollup)) }
        }
        onSave(checkpoint.cursor)
    }
}

extension MemoryCheckpoints.State {
    fileprivate mutating func add(_ rollup: Rollup) {
        var minute = rollup
        let within = rollup.start.milliseconds % 60_000
        minute.start.milliseconds -= within < 0 ? within + 60_000 : within
        let key = MemoryCheckpoints.MinuteKey(
            start: minute.start, pool: rollup.pool, tenant: rollup.tenant, criticality: rollup.criticality)
        if let known = rollups[key] { minute.sums.add(known.sums) }
        rollups[key] = minute
    }

    fileprivate mutating func add(_ use: TenantUse) {
        let key = MemoryCheckpoints.DayKey(day: use.day, tenant: use.tenant, pool: use.pool)
        var sum = use
        if let known = uses[key] {
            sum.requests += known.requests
            sum.inputTokens += known.inputTokens
            sum.cachedInputTokens += known.cachedInputTokens
            sum.outputTokens += known.outputTokens
        }
        uses[key] = sum
    }
}
