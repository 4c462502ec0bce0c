import HeadroomModel

/// A pool's means over the observation window: of each tenant's target, and of the part of it that the tenant
/// needs.
struct Observation: Sendable {
    private(set) var clock: ObservationClock
    private var windows: [MemberWindows] = []

    init(at now: Timestamp) {
        clock = ObservationClock(at: now)
    }

    mutating func admit(_ origins: [Int?]) {
        let clock = clock
        windows = windows.moved(origins) { _ in MemberWindows(at: clock) }
    }

    mutating func advance(to now: Timestamp, _ dampening: DampeningPolicy) {
        clock.advance(to: now, window: dampening.observationSeconds, first: dampening.slewSeconds)
    }

    /// Forgets what was observed: it speaks of other circumstances.
    mutating func restart() {
        for index in windows.indices { windows[index] = MemberWindows(at: clock) }
    }

    /// Means over the window, one a member.
    struct Means: Sendable {
        /// Of the target, as activity.
        var targets: [Double]
        /// Of the part of the target that the tenant needs, without room to grow; a share of nominal capacity.
        var needs: [Double]
    }

    /// A pool whose breaker is open says nothing of what its tenants need, since they work elsewhere: there the numbers
    /// in force count as wanted.
    mutating func observe(_ target: PoolTarget, _ input: DecisionInput, inForce: PublishedNumbers) -> Means {
        let (rows, members) = (input.members.rows, input.members.members)
        let isOpen = input.conditions.isOpen
        var means = Means(targets: target.activities, needs: Array(repeating: 0, count: rows.count))
        for index in rows.indices {
            let (cost, activity) = (members[index].nominalCost, means.targets[index])
            let share = isOpen ? inForce.rows[index].share : activity * cost
            let needed = max(input.demand.rows[index].credible, rows[index].promised * cost)
            let seconds = windows[index].seconds(at: clock)
            means.needs[index] = windows[index].needs.observe(min(share, needed), over: seconds, at: clock)
            let mean = windows[index].target.observe(share, over: seconds, at: clock) / cost
            if !isOpen, abs(mean - activity) > mean * 1e-9 { means.targets[index] = mean }
        }
        return means
    }
}

/// One tenant's windows.
private struct MemberWindows: Sendable {
    var target = ObservationWindow()
    var needs = ObservationWindow()
    private let since: Timestamp

    init(at clock: ObservationClock) {
        since = clock.now.adding(seconds: -clock.elapsed)
    }

    /// How much of the observation window it has been here.
    func seconds(at clock: borrowing ObservationClock) -> Double {
        min(clock.observed, clock.now.seconds(since: since))
    }
}

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
    /// The bucket to which `elapsed` is booked, and the one of the observation before.
    fileprivate private(set) var bucket = 0
    fileprivate private(set) var lastBucket = 0
    /// Another bucket than at the observation before, or one that begins anew.
    fileprivate private(set) var isOtherBucket = false
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
        isOtherBucket = begun != 0
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
    /// By bucket; the present one's as of when it became the present one.
    private var sums = ObservationClock.Buckets(repeating: 0)

    /// Takes in what held since the observation before, and returns the mean over `seconds`.
    mutating func observe(_ value: Double, over seconds: Double, at clock: borrowing ObservationClock) -> Double {
        if clock.isOtherBucket { changeBucket(clock) }
        present += value * clock.elapsed
        guard seconds > 0 else { return value }
        let mean = (others + present) / seconds
        // A number that has not moved is its own mean, to the bit: the rounding of sums is no movement.
        return abs(mean - value) <= value * 1e-9 ? value : mean
    }

    private mutating func changeBucket(_ clock: borrowing ObservationClock) {
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
