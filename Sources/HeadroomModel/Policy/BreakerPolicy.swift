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
}
