/// An instant in milliseconds since 1970, on Headroom's own timeline.
///
/// That timeline is the wall clock as it was when the process started plus monotonic time since (``TimeSource``), so
/// a clock that jumps moves no window and no lease.
public struct Timestamp: Hashable, Comparable, Sendable {
    public var milliseconds: Int64

    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool { left.milliseconds < right.milliseconds }

    /// Negative when `earlier` is later. Exact between instants of 285,000 years around 1970.
    public func seconds(since earlier: Timestamp) -> Double {
        // As whole numbers the difference could overflow: instants come from outside too.
        (Double(milliseconds) - Double(earlier.milliseconds)) / 1000
    }

    /// Rounded to whole milliseconds. A time of more than 285,000 years, which only outside data can name, counts as that
    /// long, and an instant that no number has as the last or the first one.
    public func adding(seconds: Double) -> Timestamp {
        let added = Int64(max(-Self.mostAdded, min(Self.mostAdded, (seconds * 1000).rounded())))
        let (sum, isOverflow) = milliseconds.addingReportingOverflow(added)
        return Timestamp(milliseconds: isOverflow ? (added > 0 ? .max : .min) : sum)
    }

    /// In milliseconds: about the largest whole number that a `Double` has exactly.
    private static let mostAdded = 9e15
}

/// Where the composition root gives the rest of Headroom its time: one for the whole process.
public struct TimeSource: Sendable {
    private let read: @Sendable () -> Timestamp
    private let readWall: @Sendable () -> Timestamp

    /// - Parameter wall: the wall clock as it is set now; without it, the same as `read`.
    public init(_ read: @escaping @Sendable () -> Timestamp, wall: (@Sendable () -> Timestamp)? = nil) {
        self.read = read
        readWall = wall ?? read
    }

    /// On Headroom's timeline.
    public func now() -> Timestamp { read() }

    /// On the wall clock as it is set now, which can jump. Times that others name, by clocks of their own, are measured
    /// against this one.
    public func wall() -> Timestamp { readWall() }

    /// `wall` now, advanced by the machine's monotonic clock from here on.
    public static func anchored(atMillisecondsSince1970 wall: Int64) -> TimeSource {
        let clock = ContinuousClock()
        let start = clock.now
        return TimeSource {
            let elapsed = start.duration(to: clock.now).components
            return Timestamp(
                milliseconds: wall + elapsed.seconds * 1000 + elapsed.attoseconds / 1_000_000_000_000_000)
        }
    }
}

/// ln 2.
public let naturalLogarithmOf2 = 0.693147180559945309417

/// The rest of 1 after `elapsedSeconds`: 0.5 after one half-life. 1 for a time that is not positive.
///
/// Smoothing by half-life and real elapsed time does not change its meaning with the loop's period.
public func decay(_ elapsedSeconds: Double, halfLife: Double) -> Double {
    guard elapsedSeconds > 0 else { return 1 }
    guard halfLife > 0 else { return 0 }
    return exponential(-elapsedSeconds / halfLife * naturalLogarithmOf2)
}

/// e to the power of `x`, the same bits on every machine and in every build.
///
/// The C library's `exp` may differ from machine to machine, and a decision must replay to the byte. Reduces to
/// 2^k · e^r with |r| ≤ ln 2 / 2 and sums the Taylor series to the 13th power: relative error below 1e-15.
public func exponential(_ x: Double) -> Double {
    if x.isNaN { return x }
    if x == 0 { return 1 }
    if x < -700 { return 0 }
    if x > 700 { return .infinity }
    let k = (x * 1.44269504088896340736).rounded()
    // ln 2 in two parts, so that x - k·ln 2 loses no digits.
    let r = (x - k * 0x1.62E42FEE00000p-1) - k * 0x1.A39EF35793C76p-33
    // 1 + r/1 · (1 + r/2 · (1 + r/3 · (…))), by constants in place of divisions.
    var sum = 1.0
    sum = 1 + sum * (r * (1 / 13))
    sum = 1 + sum * (r * (1 / 12))
    sum = 1 + sum * (r * (1 / 11))
    sum = 1 + sum * (r * (1 / 10))
    sum = 1 + sum * (r * (1 / 9))
    sum = 1 + sum * (r * (1 / 8))
    sum = 1 + sum * (r * (1 / 7))
    sum = 1 + sum * (r * (1 / 6))
    sum = 1 + sum * (r * (1 / 5))
    sum = 1 + sum * (r * (1 / 4))
    sum = 1 + sum * (r * (1 / 3))
    sum = 1 + sum * (r * (1 / 2))
    sum = 1 + sum * r
    return Double(sign: .plus, exponent: Int(k), significand: sum)
}

extension Timestamp {
    /// The second that this instant lies in, since 1970.
    public var second: Int64 {
        milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
    }

    /// The minute that this instant lies in, since 1970.
    public var minute: Int64 {
        milliseconds >= 0 ? milliseconds / 60_000 : (milliseconds - 59_999) / 60_000
    }
}
