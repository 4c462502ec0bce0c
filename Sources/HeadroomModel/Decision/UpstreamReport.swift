/// How a pool's upstream has fared in the last minute: what stands beside the capacity estimate in `/v1/pools`.
///
/// Each number has a use besides being shown: outcome shares move the pool's state and its breaker, p95 over its
/// baseline holds the estimate, other consumers and long windows bound it.
public struct UpstreamReport: Equatable, Sendable {
    /// All calls of the pool.
    public var whole: Signals
    /// By model and endpoint, ascending; at most 16, then one without names for the rest.
    public var channels: [Channel]
    /// Use of the same account by others than Headroom's tenants, per minute; absent where headers do not say.
    public var otherConsumers: Rates
    /// Provider windows other than a minute that bound the estimate or soon will, by resource and length.
    public var longWindows: [LongWindow]
    /// Estimates are held down because the provider counts refused attempts and refuses many just now.
    public var isBraked: Bool
    /// Part of the usual slew with which rates may rise; below 1 while the provider says that we grow too fast.
    public var growth: Double
    /// Since when the provider has refused the account for want of money; `nil` when it does not.
    public var billingFailureSince: Timestamp?

    public init(
        whole: Signals = Signals(), channels: [Channel] = [], otherConsumers: Rates = .none,
        longWindows: [LongWindow] = [], isBraked: Bool = false, growth: Double = 1,
        billingFailureSince: Timestamp? = nil
    ) {
        self.whole = whole
        self.channels = channels
        self.otherConsumers = otherConsumers
        self.longWindows = longWindows
        self.isBraked = isBraked
        self.growth = growth
        self.billingFailureSince = billingFailureSince
    }

    /// Sums over the last minute, by the second in which calls ended.
    public struct Signals: Equatable, Sendable {
        /// Indexed by `Outcome.rawValue`.
        public var outcomes: [Int]
        public var servedTokens: Double
        /// `nil` without calls that tell their latency.
        public var latency: Latency?

        public init(
            outcomes: [Int] = Array(repeating: 0, count: Outcome.allCases.count), servedTokens: Double = 0,
            latency: Latency? = nil
        ) {
            self.outcomes = outcomes
            self.servedTokens = servedTokens
            self.latency = latency
        }

        public subscript(outcome: Outcome) -> Int { outcomes[outcome.rawValue] }

        /// Those that reached the upstream.
        public var attempts: Int { outcomes.reduce(0, +) - self[.denied] - self[.cached] }

        /// Of the attempts; `nil` without any.
        public func share(of outcome: Outcome) -> Double? {
            attempts > 0 ? Double(self[outcome]) / Double(attempts) : nil
        }
    }

    /// Within 3.2 % of the true quantiles.
    public struct Latency: Equatable, Sendable {
        public var p50Milliseconds: Double
        public var p95Milliseconds: Double
        public var p99Milliseconds: Double
        /// The slow-moving p95 that a rise is measured by.
        public var baselineP95Milliseconds: Double

        public init(
            p50Milliseconds: Double, p95Milliseconds: Double, p99Milliseconds: Double,
            baselineP95Milliseconds: Double
        ) {
            self.p50Milliseconds = p50Milliseconds
            self.p95Milliseconds = p95Milliseconds
            self.p99Milliseconds = p99Milliseconds
            self.baselineP95Milliseconds = baselineP95Milliseconds
        }
    }

    public struct Channel: Equatable, Sendable {
        /// `nil` where calls do not say, and for the rest.
        public var model: String?
        public var endpoint: String?
        /// Of the model's breaker.
        public var state: PoolState
        /// As a `model` line reported it; `nil` before one.
        public var version: String?
        /// When a new version of the model was reported, or noticed by its name; `nil` before.
        public var changedAt: Timestamp?
        public var signals: Signals

        public init(
            model: String?, endpoint: String?, state: PoolState = .healthy, version: String? = nil,
            changedAt: Timestamp? = nil, signals: Signals
        ) {
            self.model = model
            self.endpoint = endpoint
            self.state = state
            self.version = version
            self.changedAt = changedAt
            self.signals = signals
        }
    }

    public struct LongWindow: Equatable, Sendable {
        public var resource: Resource
        public var windowSeconds: Double
        public var remaining: Double
        public var resetsAt: Timestamp

        public init(resource: Resource, windowSeconds: Double, remaining: Double, resetsAt: Timestamp) {
            self.resource = resource
            self.windowSeconds = windowSeconds
            self.remaining = remaining
            self.resetsAt = resetsAt
        }
    }
}
