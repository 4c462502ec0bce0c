import HeadroomModel
import HeadroomWire
import Synchronization

/// How many lines came and what became of them, since the start.
package final class TelemetryCounters: Sendable {
    package enum Result: String, CaseIterable { case accepted, duplicate, late, rejected }

    package struct Key: Hashable {
        /// The line's type; `unknown` where the line does not say it.
        package let type: String
        package let result: Result
    }

    private let counts = Mutex<[Key: Int]>([:])
    private let refused = Mutex<[TelemetryRefusal: Int]>([:])
    private let unknown = Mutex<[PoolID: UnknownPool]>([:])
    private let failure = Mutex<String?>(nil)

    /// A pool that lines named lately, and that no policy has.
    package struct UnknownPool: Sendable {
        package var pool: PoolID
        /// For people; asks whether a known one was meant.
        package var detail: String
        package var first: Timestamp
        package var last: Timestamp
    }

    private static let maxUnknownPools = 32
    /// As long as a gateway that reports every minute takes to do so again a few times.
    private static let unknownSeconds = 300.0

    package init() {}

    /// Why the last request was not stored; `nil` once one is.
    package var storageFailure: String? { failure.withLock { $0 } }

    /// Lines refused before storage saw them; in the order of ``TelemetryRefusal``, zeros included.
    package var refusals: [(reason: TelemetryRefusal, count: Int)] {
        let refused = refused.withLock { $0 }
        return TelemetryRefusal.allCases.map { ($0, refused[$0] ?? 0) }
    }

    func add(_ refusals: [TelemetryRefusal: Int]) {
        guard !refusals.isEmpty else { return }
        refused.withLock { $0.merge(refusals) { $0 + $1 } }
    }

    func noteUnknown(_ pools: [PoolID: String], at now: Timestamp) {
        guard !pools.isEmpty else { return }
        unknown.withLock { known in
            known = known.filter { now.seconds(since: $0.value.last) < Self.unknownSeconds }
            for (pool, detail) in pools where known[pool] != nil || known.count < Self.maxUnknownPools {
                known[pool, default: UnknownPool(pool: pool, detail: detail, first: now, last: now)].last = now
            }
        }
    }

    /// Those that were named within the last minutes, ascending.
    package func unknownPools(at now: Timestamp) -> [UnknownPool] {
        unknown.withLock { $0.values.filter { now.seconds(since: $0.last) < Self.unknownSeconds } }
            .sorted { $0.pool < $1.pool }
    }

    package func noteFailure(_ reason: String) { failure.withLock { $0 = reason } }

    /// Counts the lines of `batch` once; the four results part them.
    ///
    /// The receipt says how many lines were seen before, not which: all of a batch that comes again, else some of those
    /// with an id. Only calls and windows have one, and a gateway sends one kind of the two, so duplicates are counted
    /// in the order of the kinds.
    package func add(_ batch: TelemetryBatch, _ receipt: TelemetryReceipt) {
        let rejected = Set(receipt.rejected.map(\.line))
        let taken = batch.lines.filter { !rejected.contains($0.number) }
        let isRepeated = receipt.duplicate >= taken.count
        var added: [Key: Int] = [:]
        var duplicates = receipt.duplicate
        for kind in TelemetryKind.allCases {
            let refused = batch.lines.count { $0.record.kind == kind } - taken.count { $0.record.kind == kind }
            let lines = taken.filter { $0.record.kind == kind }
            let candidates = lines.filter { isRepeated || $0.id != nil }
            let duplicate = min(duplicates, candidates.count)
            duplicates -= duplicate
            let late = min(lines.count { $0.isLate }, lines.count - duplicate)
            added[Key(type: kind.rawValue, result: .rejected)] = refused
            added[Key(type: kind.rawValue, result: .duplicate)] = duplicate
            added[Key(type: kind.rawValue, result: .late)] = late
            added[Key(type: kind.rawValue, result: .accepted)] = lines.count - duplicate - late
        }
        added[Key(type: "unknown", result: .rejected)] = rejected.count - (batch.lines.count - taken.count)
        counts.withLock { $0.merge(added) { $0 + $1 } }
        failure.withLock { $0 = nil }
    }

    /// Ascending by type, then in the order of ``Result``; without zeros.
    package var all: [(key: Key, count: Int)] {
        let counts = counts.withLock { $0 }
        return Set(counts.keys.map(\.type)).sorted().flatMap { type in
            Result.allCases.compactMap { result in
                let key = Key(type: type, result: result)
                return counts[key].flatMap { $0 > 0 ? (key: key, count: $0) : nil }
            }
        }
    }
}
