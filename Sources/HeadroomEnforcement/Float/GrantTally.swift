import HeadroomModel

/// Counts a gateway's grants over the last five to ten minutes.
struct GrantTally: Sendable {
    private var beganAt: Timestamp
    private var before = (granted: 0.0, unused: 0.0)
    private var since = (granted: 0.0, unused: 0.0)

    private static let halfSeconds = 300.0

    init(at now: Timestamp) {
        beganAt = now
    }

    mutating func add(granted: Double, unused: Double, at now: Timestamp) {
        advance(to: now)
        since.granted += granted
        since.unused += unused
    }

    /// Nothing was granted for as long as it remembers.
    func isOver(at now: Timestamp) -> Bool { now.seconds(since: beganAt) >= 2 * GrantTally.halfSeconds }

    func sum(at now: Timestamp) -> (granted: Double, unused: Double) {
        var tally = self
        tally.advance(to: now)
        return (tally.before.granted + tally.since.granted, tally.before.unused + tally.since.unused)
    }

    private mutating func advance(to now: Timestamp) {
        guard now.seconds(since: beganAt) >= GrantTally.halfSeconds else { return }
        before = isOver(at: now) ? (0, 0) : since
        since = (0, 0)
        beganAt = now
    }
}
