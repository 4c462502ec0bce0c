import HeadroomModel

/// The time of a pool's observation windows: a dozen buckets of equal length. One for all tenants of a pool, since they
/// are observed at the same instants.
struct ObservationClock: Sendable {
    static let buckets = 12

    private(set) var now: Timestamp
    /// Since the observation before; 0 when there is none.
    private(set) var elapsed = 0.0
    /// Observed in each bucket, in seconds.
    @Quartered fileprivate private(set) var seconds = SIMD16<Double>.zero
    /// 1 for a bucket that still counts, 0 for one that begins anew.
    @Quartered fileprivate private(set) var kept = SIMD16<Double>.zero
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
        let length = max(1, Int64(window * 1000 / Double(Self.buckets)))
        let current = next.milliseconds / length
        elapsed = number == nil ? first : max(0, next.seconds(since: now))
        kept = SIMD16(repeating: 1)
        // Another length makes other buckets: then all begin anew, as after a gap.
        let begun = number.map { current - $0 } ?? .max
        for offset in 0..<min(begun < 0 ? .max : begun, Int64(Self.buckets)) {
            kept[Int((current - offset) % Int64(Self.buckets))] = 0
        }
        lastBucket = bucket
        bucket = Int(current % Int64(Self.buckets))
        hasTurned = begun != 0
        seconds *= kept
        seconds[bucket] += elapsed
        number = current
        now = next
    }

    fileprivate var observed: Double { seconds.total }
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
    private var since: Timestamp
    /// By bucket; the present one's as of when it was turned to.
    @Quartered private var sums = SIMD16<Double>.zero

    init(at clock: ObservationClock) {
        since = clock.now.adding(seconds: -clock.elapsed)
    }

    /// What is in it speaks of something that is no more.
    mutating func restart(at clock: ObservationClock) { self = ObservationWindow(at: clock) }

    /// Takes in what held since the observation before, and returns the mean.
    mutating func observe(_ value: Double, at clock: ObservationClock) -> Double {
        if clock.hasTurned { turn(clock) }
        present += value * clock.elapsed
        let seconds = min(clock.observed, clock.now.seconds(since: since))
        guard seconds > 0 else { return value }
        let mean = (others + present) / seconds
        // What has not moved is its own mean, to the bit: the rounding of sums is no movement.
        return abs(mean - value) <= value * 1e-9 ? value : mean
    }

    private mutating func turn(_ clock: ObservationClock) {
        sums[clock.lastBucket] = present
        sums *= clock.kept
        present = sums[clock.bucket]
        sums[clock.bucket] = 0
        others = sums.total
    }
}

extension SIMD16<Double> {
    fileprivate var total: Double {
        let eight = lowHalf + highHalf
        let four = eight.lowHalf + eight.highHalf
        return (four[0] + four[1]) + (four[2] + four[3])
    }
}

/// Sixteen lanes that are stored as narrower ones: see ``Halved``.
@propertyWrapper
private struct Quartered: Sendable {
    @Halved private var first: SIMD4<Double>
    @Halved private var second: SIMD4<Double>
    @Halved private var third: SIMD4<Double>
    @Halved private var fourth: SIMD4<Double>

    init(wrappedValue: SIMD16<Double>) {
        (first, second) = (wrappedValue.lowHalf.lowHalf, wrappedValue.lowHalf.highHalf)
        (third, fourth) = (wrappedValue.highHalf.lowHalf, wrappedValue.highHalf.highHalf)
    }

    var wrappedValue: SIMD16<Double> {
        get {
            SIMD16(
                lowHalf: SIMD8(lowHalf: first, highHalf: second), highHalf: SIMD8(lowHalf: third, highHalf: fourth))
        }
        set { self = Quartered(wrappedValue: newValue) }
    }
}
