import HeadroomModel

/// The time of a pool's observation windows: a dozen buckets of equal length. One for all tenants of a pool, since they
/// are observed at the same instants.
struct ObservationClock: Sendable {
    typealias Buckets = InlineArray<12, Double>

    private(set) var now: Timestamp
    /// Since the observation before; 0 when there is none.
    private(set) var elapsed = 0.0
    /// Observed in all buckets, in seconds.
    private(set) var observed = 0.0
    /// Observed in each.
    private var seconds = Buckets(repeating: 0)
    /// 1 for a bucket that still counts, 0 for one that begins anew.
    fileprivate private(set) var kept = Buckets(repeating: 0)
    /// What `elapsed` is booked to, and what the observation before was booked to.
    fileprivate private(set) var bucket = 0
    fileprivate private(set) var lastBucket = 0
    /// Another bucket than at the observation before, or one that begins anew.
    fileprivate private(set) var hasTurned = false
    private var number: Int64?

    init(at now: Timestamp) {
        self.now = now
    }

    /// - Parameter first: stands for the time since the observation before, when there is none.
    mutating func advance(to next: Timestamp, window: Double, first: Double) {
        let count = Int64(Buckets.count)
        let length = max(1, Int64(window * 1000 / Double(count)))
        let current = next.milliseconds / length
        elapsed = number == nil ? first : max(0, next.seconds(since: now))
        kept = Buckets(repeating: 1)
        // Another length makes other buckets: then all begin anew, as after a gap.
        let begun = number.map { current - $0 } ?? .max
        for offset in 0..<min(begun < 0 ? .max : begun, count) { kept[Int((current - offset) % count)] = 0 }
        lastBucket = bucket
        bucket = Int(current % count)
        hasTurned = begun != 0
        seconds.keep(kept)
        seconds[bucket] += elapsed
        observed = seconds.total
        number = current
        now = next
    }
}

/// The mean of one number over the last ``DampeningPolicy/observationSeconds``, by real elapsed time; or over the time
/// since it is known, when that is less.
///
/// A bucket that has begun before the window counts no more, so the mean follows a step to the exact new value once the
/// window has passed, and a tenant costs the same memory at any period of the loop.
struct ObservationWindow: Sendable {
    /// Of the present bucket, and of all others: while the bucket stays the same, nothing else is touched.
    private var present = 0.0
    private var others = 0.0
    /// By bucket; the present one's as of when it was turned to.
    private var sums = ObservationClock.Buckets(repeating: 0)

    /// Takes in what held since the observation before, and returns the mean over `seconds`.
    mutating func observe(_ value: Double, over seconds: Double, at clock: borrowing ObservationClock) -> Double {
        if clock.hasTurned { turn(clock) }
        present += value * clock.elapsed
        guard seconds > 0 else { return value }
        let mean = (others + present) / seconds
        // What has not moved is its own mean, to the bit: the rounding of sums is no movement.
        return abs(mean - value) <= value * 1e-9 ? value : mean
    }

    private mutating func turn(_ clock: borrowing ObservationClock) {
        sums[clock.lastBucket] = present
        sums.keep(clock.kept)
        present = sums[clock.bucket]
        sums[clock.bucket] = 0
        others = sums.total
    }
}

extension ObservationClock.Buckets {
    fileprivate mutating func keep(_ kept: Self) {
        for bucket in indices { self[bucket] *= kept[bucket] }
    }

    /// Four sums side by side.
    fileprivate var total: Double {
        let four =
            SIMD4(self[0], self[1], self[2], self[3]) + SIMD4(self[8], self[9], self[10], self[11])
            + SIMD4(self[4], self[5], self[6], self[7])
        return (four[0] + four[1]) + (four[2] + four[3])
    }
}
