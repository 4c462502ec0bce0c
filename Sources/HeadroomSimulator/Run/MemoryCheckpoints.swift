import HeadroomModel
import Synchronization

/// The last checkpoint and the sum of all roll-ups, as a database keeps them.
package final class MemoryCheckpoints: CheckpointStore {
    package struct Key: Hashable, Sendable {
        package var start: Timestamp
        package var tenant: TenantID
        package var pool: PoolID
        package var criticality: Criticality
    }

    private struct State {
        var checkpoint: Checkpoint?
        var attempts: [Key: Int64] = [:]
    }

    private let state = Mutex(State())
    private let onSave: @Sendable (TelemetryCursor) -> Void

    /// - Parameter onSave: is told of every checkpoint, and how far it reaches.
    package init(onSave: @escaping @Sendable (TelemetryCursor) -> Void = { _ in }) {
        self.onSave = onSave
    }

    /// Calls that ended in any way, denied ones among them, by minute, tenant, pool and criticality.
    package var attempts: [Key: Int64] { state.withLock { $0.attempts } }

    package func latest() async throws -> Checkpoint? { state.withLock { $0.checkpoint } }

    package func erasures(after id: Int64) async throws -> [ErasedTenant] { [] }

    package func uses(since day: Int64) async throws -> [TenantUse] { [] }

    package func save(
        _ checkpoint: Checkpoint, rollups: [Rollup], priced: Set<TenantID>, erasedThrough: Int64
    ) async throws {
        onSave(checkpoint.cursor)
        state.withLock { state in
            state.checkpoint = checkpoint
            for rollup in rollups {
                let key = Key(
                    start: rollup.start, tenant: rollup.tenant, pool: rollup.pool, criticality: rollup.criticality)
                state.attempts[key, default: 0] +=
                    rollup.ok + rollup.quota + rollup.overload + rollup.error + rollup.denied
            }
        }
    }
}
