/// The capacity that the upstream grants a pool now, as one explainable estimate.
public struct PoolCapacity: Equatable, Sendable {
    public var pool: PoolID
    /// What may be used now, one rate for each resource of the nominal capacity: ``estimated``, or a part of it while refused
    /// calls that the provider counts are paid off (``UpstreamReport/isBraked``).
    public var capacity: Rates
    /// What the upstream grants, as believed.
    public var estimated: Rates
    public var nominal: Rates
    public var reason: CapacityReason
    /// 0 to 1: of the least certain resource.
    public var confidence: Double
    public var state: PoolState
    /// The models' breakers, ascending by name; empty where there is no pool to fail over to.
    public var models: [PoolAllocation.Model]
    /// Attempts since the estimator began, by outcome, indexed by `Outcome.rawValue`.
    public var calls: [Int]
    /// Attempts of the last 10 s, and how many of them the provider refused for want of quota.
    public var recentAttempts: Int
    public var recentRefusals: Int
    public var upstream: UpstreamReport

    public init(
        pool: PoolID, capacity: Rates, estimated: Rates? = nil, nominal: Rates, reason: CapacityReason = .contract,
        confidence: Double = 0,
        state: PoolState = .healthy, models: [PoolAllocation.Model] = [],
        calls: [Int] = Array(repeating: 0, count: Outcome.allCases.count), recentAttempts: Int = 0,
        recentRefusals: Int = 0, upstream: UpstreamReport = UpstreamReport()
    ) {
        self.pool = pool
        self.capacity = capacity
        self.estimated = estimated ?? capacity
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

    /// True when the pool grants clearly less than its contract in some resource: capacity is lost.
    public var isBelowContract: Bool {
        nominal.resources.members.contains { (capacity[$0] ?? 0) < 0.95 * (nominal[$0] ?? 0) }
    }

    /// Part of the usual slew with which rates may rise: below 1 while the provider says that we grow too fast.
    public var growth: Double { upstream.growth }
}
