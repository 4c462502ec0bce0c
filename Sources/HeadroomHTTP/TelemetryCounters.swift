import HeadroomModel
import Synchronization

/// How many lines came and what became of them, since the start.
package final class TelemetryCounters: Sendable {
    package enum Result: String, CaseIterable { case accepted, duplicate, late, rejected }

    package struct Key: Hashable {
        /// The line's type; `unknown` where it could not be told.
        package let type: String
        package let result: Result
    }

    private let counts = Mutex<[Key: Int]>([:])

    package init() {}

    /// Counts the lines of `batch` once; the four results part them.
    ///
    /// The receipt says how many lines were seen before, not which. Only calls and windows bear ids, and a gateway sends
    /// one kind of the two, so duplicates are counted against those that have an id, in the order of the kinds.
    package func add(_ batch: TelemetryBatch, _ receipt: TelemetryReceipt) {
        let rejected = Set(receipt.rejected.map(\.line))
        var kinds: [TelemetryKind: (accepted: Int, late: Int, named: Int)] = [:]
        var added: [Key: Int] = [:]
        var unread = rejected.count
        for line in batch.lines {
            let kind = line.record.kind
            if rejected.contains(line.number) {
                added[Key(type: kind.rawValue, result: .rejected), default: 0] += 1
                unread -= 1
            } else if line.isLate {
                kinds[kind, default: (0, 0, 0)].late += 1
            } else {
                kinds[kind, default: (0, 0, 0)].accepted += 1
                if line.id != nil { kinds[kind, default: (0, 0, 0)].named += 1 }
            }
        }
        if unread > 0 { added[Key(type: "unknown", result: .rejected), default: 0] += unread }
        var duplicates = receipt.duplicate
        for kind in TelemetryKind.allCases {
            guard let count = kinds[kind] else { continue }
            let duplicate = min(duplicates, count.named)
            duplicates -= duplicate
            added[Key(type: kind.rawValue, result: .duplicate)] = duplicate
            added[Key(type: kind.rawValue, result: .late)] = count.late
            added[Key(type: kind.rawValue, result: .accepted)] = count.accepted - duplicate
        }
        counts.withLock { $0.merge(added) { $0 + $1 } }
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
