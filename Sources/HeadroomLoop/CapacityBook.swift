import HeadroomModel

/// The pools' capacities by minute, since they were last stored.
struct CapacityBook: Sendable {
    /// Minutes × pools that are held while they cannot be stored: two weeks of a pool.
    private static let most = 20_000
    /// After a pause nobody knows how long things were as they are now: a minute at most counts.
    private static let longestSeconds = 60.0

    /// In the order in which they began; ascending by pool within a minute.
    private(set) var rollups: [PoolRollup] = []
    private var notedAt: Timestamp?

    /// Takes in the pools as a tick saw them, which stand for the time since the tick before.
    mutating func note(_ pools: [PoolReport], at now: Timestamp) {
        let seconds = notedAt.map { min(Self.longestSeconds, max(0, now.seconds(since: $0))) } ?? 0
        notedAt = now
        let minute = Timestamp(milliseconds: now.minute * 60_000)
        for pool in pools {
            var sums = CapacitySums()
            sums.observedSeconds = seconds
            sums.nominal = pool.nominal * (seconds / 60)
            sums.estimated = pool.estimated * (seconds / 60)
            sums.budget = pool.budget * (seconds / 60)
            sums.queueDepth = pool.queue.depth
            // The open minute's are the last ones.
            if let place = rollups.lastIndex(where: { $0.pool == pool.pool || $0.start < minute }),
                rollups[place].pool == pool.pool, rollups[place].start == minute
            {
                rollups[place].capacity.add(sums)
            } else if rollups.count < Self.most {
                rollups.append(PoolRollup(start: minute, pool: pool.pool, capacity: sums))
            }
        }
    }

    /// They are stored.
    mutating func removeAll() { rollups.removeAll() }
}
