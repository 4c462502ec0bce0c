import HeadroomModel

/// Headroom's own service levels by minute, since they were last stored.
///
/// Each look stands for the time since the look before. A loop that hangs is seen as well: it is looked at from outside.
package struct OwnLevelBook: Sendable {
    /// After a pause nobody knows how long things were as they are now: a minute at most counts.
    private static let longestSeconds = 60.0
    /// Minutes × levels that are held while they cannot be stored: a day.
    private static let most = 3 * 1440

    private struct Key: Hashable {
        var minute: Int64
        var level: OwnLevel
    }

    private var sums: [Key: LevelSums] = [:]
    private var notedAt: Timestamp?

    package init() {}

    /// Takes in the loop's last report as it stands at `now`.
    package mutating func note(_ report: LoopReport?, under policy: Policy, at now: Timestamp) {
        let seconds = notedAt.map { min(Self.longestSeconds, max(0, now.seconds(since: $0))) } ?? 0
        notedAt = now
        // A loop that has never come so far is still starting.
        guard let report, seconds > 0 else { return }
        for level in OwnLevel.allCases {
            guard let age = level.ageSeconds(of: report, at: now) else { continue }
            let key = Key(minute: now.minute, level: level)
            guard sums[key] != nil || sums.count < Self.most else { continue }
            let missed = age > level.limitSeconds(under: policy) ? seconds : 0
            sums[key, default: LevelSums()].add(LevelSums(observedSeconds: seconds, missedSeconds: missed))
        }
    }

    /// Ascending by minute, then level.
    package var minutes: [OwnLevelMinute] {
        sums.map { key, sums in
            OwnLevelMinute(
                start: Timestamp(milliseconds: key.minute * 60_000), level: key.level,
                observedSeconds: sums.observedSeconds, missedSeconds: sums.missedSeconds)
        }.sorted { ($0.start, $0.level.rawValue) < ($1.start, $1.level.rawValue) }
    }

    /// They are stored.
    package mutating func removeAll() { sums.removeAll() }
}
