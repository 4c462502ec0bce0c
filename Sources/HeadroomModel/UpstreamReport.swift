/// How a pool's upstream has fared in the last minute: what stands beside the capacity estimate in `/v1/pools`.
///
/// Each number has a use besides being shown: outcome shares move the pool's state and its breaker, p95 over its
/// baseline holds the estimate, other consumers and long windows bound it.
package struct UpstreamReport: Equatable, Sendable {
    /// All calls of the pool.
    package var whole: Signals
    /// By model and endpoint, ascending; at most 16, then one without names for the rest.
    package var channels: [Channel]
    /// What others than Headroom's tenants take of the same account, per minute; absent where headers do not tell.
    package var otherConsumers: Rates
    /// Provider windows other than a minute that bound the estimate or soon will, by resource and length.
    package var longWindows: [LongWindow]
    /// Estimates are held down because the provider counts refused attempts and refuses many just now.
    package var isBraked: Bool
    /// Part of the usual slew with which rates may rise; below 1 while the provider says that we grow too fast.
    package var growth: Double

    package init(
        whole: Signals = Signals(), channels: [Channel] = [], otherConsumers: Rates = .none,
        longWindows: [LongWindow] = [], isBraked: Bool = false, growth: Double = 1
    ) {
        self.whole = whole
        self.channels = channels
        self.otherConsumers = otherConsumers
        self.longWindows = longWindows
        self.isBraked = isBraked
        self.growth = growth
    }

    /// Sums over the last minute, by the second in which calls ended.
    package struct Signals: Equatable, Sendable {
        /// Indexed by `Outcome.rawValue`.
        package var outcomes: [Int]
        package var servedTokens: Double
        /// `nil` without calls that tell their latency.
        package var latency: Latency?

        package init(
            outcomes: [Int] = Array(repeating: 0, count: Outcome.allCases.count), servedTokens: Double = 0,
            latency: Latency? = nil
        ) {
            self.outcomes = outcomes
            self.servedTokens = servedTokens
            self.latency = latency
        }

        package subscript(outcome: Outcome) -> Int { outcomes[outcome.rawValue] }

        /// Those that reached the upstream.
        package var attempts: Int { outcomes.reduce(0, +) - self[.denied] - self[.cached] }

        /// Of the attempts; `nil` without any.
        package func share(of outcome: Outcome) -> Double? {
            attempts > 0 ? Double(self[outcome]) / Double(attempts) : nil
        }
    }

    /// Within 3.2 % of the true quantiles.
    package struct Latency: Equatable, Sendable {
        package var p50Milliseconds: Double
        package var p95Milliseconds: Double
        package var p99Milliseconds: Double
        /// The slow-moving p95 that a rise is measured by.
        package var baselineP95Milliseconds: Double

        package init(
            p50Milliseconds: Double, p95Milliseconds: Double, p99Milliseconds: Double,
            baselineP95Milliseconds: Double
        ) {
            self.p50Milliseconds = p50Milliseconds
            self.p95Milliseconds = p95Milliseconds
            self.p99Milliseconds = p99Milliseconds
            self.baselineP95Milliseconds = baselineP95Milliseconds
        }
    }

    package struct Channel: Equatable, Sendable {
        /// `nil` where calls do not say, and for the rest.
        package var model: String?
        package var endpoint: String?
        /// Of the model's breaker.
        package var state: PoolState
        /// As a `model` line told; `nil` before one.
        package var version: String?
        /// When a new version of the model was told, or noticed by its name; `nil` before.
        package var changedAt: Timestamp?
        package var signals: Signals

        package init(
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

    package struct LongWindow: Equatable, Sendable {
        package var resource: Resource
        package var windowSeconds: Double
        package var remaining: Double
        package var resetsAt: Timestamp

        package init(resource: Resource, windowSeconds: Double, remaining: Double, resetsAt: Timestamp) {
            self.resource = resource
            self.windowSeconds = windowSeconds
            self.remaining = remaining
            self.resetsAt = resetsAt
        }
    }
}
