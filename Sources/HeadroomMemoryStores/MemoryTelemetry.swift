import HeadroomModel
import Synchronization

extension StorageError {
    /// The error of a store in memory while it is made to fail: as a disk that is full or locked.
    package static let madeToFail = StorageError(code: .inputOutput, message: "the store in memory was made to fail")
}

/// Stored telemetry in memory, in the order of arrival. All kinds share one numbering, that of
/// ``HeadroomModel/TelemetryCursor/call``.
package final class MemoryTelemetry: TelemetrySource {
    /// The lines that arrived at once.
    private struct Batch {
        let at: Timestamp
        /// Records in all batches before it.
        let first: Int
        let records: [TelemetryRecord]

        var end: Int { first + records.count }
    }

    private struct State {
        var batches: [Batch] = []
        /// Records that ever arrived.
        var count = 0
        var isLocked = false

        /// The batch that holds `record`, or the oldest that is left; readers stand near the end.
        func batch(holding record: Int) -> Int { (batches.lastIndex { $0.first <= record }) ?? 0 }
    }

    private let state = Mutex(State())
    private let onRead: @Sendable (_ records: [TelemetryRecord], _ first: Int) -> Void

    /// - Parameter onRead: called with every page that is read, and the number of its first record.
    package init(onRead: @escaping @Sendable (_ records: [TelemetryRecord], _ first: Int) -> Void = { _, _ in }) {
        self.onRead = onRead
    }

    /// Nothing can be read while it is locked.
    package var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// - Parameter now: when they arrive; `nil` is when the latest of them ended.
    package func append(_ records: [TelemetryRecord], at now: Timestamp? = nil) {
        guard let latest = records.lazy.map(\.at).max() else { return }
        state.withLock { state in
            state.batches.append(Batch(at: now ?? latest, first: state.count, records: records))
            state.count += records.count
        }
    }

    /// Deletes whole batches in front of `cursor`.
    package func forget(before cursor: TelemetryCursor) {
        state.withLock { state in
            let kept = state.batches.firstIndex { $0.end > Int(cursor.call) } ?? state.batches.count
            state.batches.removeFirst(kept)
        }
    }

    package func page(after cursor: TelemetryCursor, limit: Int) async throws(StorageError) -> TelemetryPage {
        if isLocked { throw .madeToFail }
        return state.withLock { state in
            let oldest = state.batches.first?.first ?? state.count
            let first = max(Int(cursor.call), oldest)
            let end = min(state.count, first + limit)
            var next = cursor
            next.call = Int64(end)
            var records: [TelemetryRecord] = []
            records.reserveCapacity(max(0, end - first))
            for batch in state.batches[state.batch(holding: first)...] where batch.first < end && batch.end > first {
                records += batch.records[max(0, first - batch.first)..<(min(batch.end, end) - batch.first)]
            }
            onRead(records, first)
            return TelemetryPage(records: records, next: next, isLast: end == state.count)
        }
    }

    package func cursor(at instant: Timestamp) async throws(StorageError) -> TelemetryCursor {
        if isLocked { throw .madeToFail }
        return state.withLock { state in
            var cursor = TelemetryCursor.start
            cursor.call = Int64(state.batches.first { $0.at >= instant }?.first ?? state.count)
            return cursor
        }
    }
}
