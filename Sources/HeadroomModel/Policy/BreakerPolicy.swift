/// When a circuit breaker opens, and how it closes again. It acts where there is a pool to fail over to.
public struct BreakerPolicy: Equatable, Sendable {
    /// Failures (overload and other 5xx) over this part of the attempts in ``windowSeconds`` open it …
    public var openShare: Double
    public var windowSeconds: Double
    /// … once there are this many attempts.
    public var leastAttempts: Int
    /// From open to half-open.
    public var openSeconds: Double
    /// Attempts a second that a half-open breaker lets pass.
    public var probesPerSecond: Double
    /// Successes in a row that close it.
    public var closeSuccesses: Int

    public init(
        openShare: Double = 0.5, windowSeconds: Double = 10, leastAttempts: Int = 20, openSeconds: Double = 15,
        probesPerSecond: Double = 1, closeSuccesses: Int = 5
    ) {
        self.openShare = openShare
        self.windowSeconds = windowSeconds
        self.leastAttempts = leastAttempts
        self.openSeconds = openSeconds
        self.probesPerSecond = probesPerSecond
        self.closeSuccesses = closeSuccesses
    }

    // MARK: Bounds

    public static let openShares = 0.01...1.0
    public static let windows = 1.0...60
    public static let attempts = 1.0...10_000
    public static let openTimes = 1.0...3600
    public static let probes = 0.01...100.0
    public static let successes = 1.0...1000

    /// Each number moved into its bounds: no gateway waits for ever, or counts without end, because of what it was sent.
    public var bounded: BreakerPolicy {
        func bounded(_ value: Double, _ range: ClosedRange<Double>) -> Double {
            min(max(value, range.lowerBound), range.upperBound)
        }
        return BreakerPolicy(
            openShare: bounded(openShare, Self.openShares), windowSeconds: bounded(windowSeconds, Self.windows),
            leastAttempts: Int(bounded(Double(leastAttempts), Self.attempts)),
            openSeconds: bounded(openSeconds, Self.openTimes),
            probesPerSecond: bounded(probesPerSecond, Self.probes),
            closeSuccesses: Int(bounded(Double(closeSuccesses), Self.successes)))
    }
}
