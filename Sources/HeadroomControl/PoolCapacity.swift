import HeadroomModel

/// What the upstream grants a pool now, as one explainable estimate.
package struct PoolCapacity: Equatable, Sendable {
    package var pool: PoolID
    /// One rate for each resource of the nominal capacity.
    package var capacity: Rates
    package var nominal: Rates
    package var reason: CapacityReason
    /// 0 to 1: of the least certain resource.
    package var confidence: Double
    package var state: PoolState
    /// The models' breakers, ascending by name; empty where there is no pool to fail over to.
    package var models: [PoolAllocation.Model]
    /// Attempts since the estimator began, by outcome, indexed by `Outcome.rawValue`.
    package var calls: [Int]
    /// Attempts of the last 10 s, and how many of them the provider refused for want of quota.
    package var recentAttempts: Int
    package var recentRefusals: Int
    package var upstream: UpstreamReport

    package init(
        pool: PoolID, capacity: Rates, nominal: Rates, reason: CapacityReason = .contract, confidence: Double = 0,
        state: PoolState = .healthy, models: [PoolAllocation.Model] = [],
        calls: [Int] = Array(repeating: 0, count: Outcome.allCases.count), recentAttempts: Int = 0,
        recentRefusals: Int = 0, upstream: UpstreamReport = UpstreamReport()
    ) {
        self.pool = pool
        self.capacity = capacity
        self.nominal = nominal
        self.reason = reason
        self.confidence = confidence
        self.state = state
        self.models = models
        self.calls = calls
        self.recentAttempts = recentAttempts
        self.recentRefusals = recentRefusals
        self.upstream = upstream
    }

    /// Part of the usual slew with which rates may rise: below 1 while the provider says that we grow too fast.
    package var growth: Double { upstream.growth }
}
