import HeadroomModel

/// When the last generations were published, to tell how long a gateway has been behind.
package struct PublicationHistory {
    private var entries: [(version: SnapshotVersion, at: Timestamp)] = []

    /// More than two hours at a generation every two seconds; who is behind by more has worse troubles.
    private static let most = 4096

    package init() {}

    package mutating func add(_ version: SnapshotVersion, at instant: Timestamp) {
        // Half of it goes at once, so that an addition seldom moves anything.
        if entries.count >= Self.most { entries.removeFirst(Self.most / 2) }
        entries.append((version: version, at: instant))
    }

    /// Seconds since something newer than `version` was published; 0 when there is nothing newer.
    package func drift(of version: SnapshotVersion, at now: Timestamp) -> Double {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].version > version { high = middle } else { low = middle + 1 }
        }
        return low < entries.count ? max(0, now.seconds(since: entries[low].at)) : 0
    }
}
