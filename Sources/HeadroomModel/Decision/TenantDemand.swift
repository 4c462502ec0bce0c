/// A tenant's need in one pool, and its use.
public struct TenantDemand: TenantRow, Equatable, Sendable {
    // The fields that every decision reads of every tenant come first, so that they share cache lines.

    public var tenant: TenantID
    /// The rates it would use if unlimited, by criticality: up at once, down by half-life.
    public var demand: PerCriticality<Rates>
    /// Its mean request; `nil` before the first.
    public var shape: Work?
    /// Its use over the demand window.
    public var consumed: Rates
    /// 0 to 1, by the amount of evidence: what a cold start waits for.
    public var confidence: Double
    /// 0 to 1: how reliably it returns to its base after a burst.
    public var repayment: Double
    /// Seconds of the pool's capacity that it was served, divided by its weight.
    public var serviceClock = 0.0
    /// How much later than others it may try again while a retry storm lasts.
    public var retryOffsetMilliseconds: Int64
    /// Names of the gaming flags that stand, in the order of ``GamingFlag/Kind``.
    public var flags: [String]
    /// A gaming flag stands: its credible demand is at most a factor of what it consumed.
    public var isDiscounted: Bool
    /// The work that its tasks in progress still need, as far as its claims are believed; `nil` without one.
    public var midTask: Work?

    /// The rates it wants at this moment, without memory of a minute ago: the measure of starvation.
    public var wanted: Rates
    /// What it asked for in the demand window (``AskedWork``): what people read.
    public var asked: Rates
    /// The work that waits at gateways, at the cost that such work turned out to have.
    public var waiting = Work.zero
    /// Its mean arrivals of the last five minutes, what waits among them.
    public var arrivals: Rates
    /// The work it was served since the estimate before.
    public var served: Work
    public var queue: PerCriticality<TenantReport.Queue>
    /// Attempts beyond the first, since the estimator began.
    public var retries: PerCriticality<Int>
    /// Counted tokens served, since the estimator began.
    public var tokens = PerCriticality<Double>(repeating: 0)
    /// Where its work arrives and waits: counted seconds of the pool's nominal capacity of about the last minute. Ascending
    /// by gateway.
    public var gateways: [GatewayTraffic]
    public var profile: TenantProfileReport?

    public init(
        tenant: TenantID, demand: PerCriticality<Rates>, wanted: Rates? = nil, shape: Work? = nil,
        consumed: Rates = .none, served: Work = .zero,
        queue: PerCriticality<TenantReport.Queue> = PerCriticality(repeating: TenantReport.Queue()),
        retries: PerCriticality<Int> = PerCriticality(repeating: 0), gateways: [GatewayTraffic] = [],
        confidence: Double = 1, repayment: Double = 1, midTask: Work? = nil, flags: [String] = [],
        isDiscounted: Bool = false, retryOffsetMilliseconds: Int64 = 0, profile: TenantProfileReport? = nil
    ) {
        self.tenant = tenant
        self.demand = demand
        self.shape = shape
        self.consumed = consumed
        self.served = served
        self.queue = queue
        self.retries = retries
        self.gateways = gateways
        self.confidence = confidence
        self.repayment = repayment
        self.midTask = midTask
        self.flags = flags
        self.isDiscounted = isDiscounted
        self.retryOffsetMilliseconds = retryOffsetMilliseconds
        self.profile = profile
        let total = demand.total
        self.wanted = wanted ?? total
        asked = total
        arrivals = total
    }

    /// Over all criticalities.
    public var total: Rates { demand.total }
}

/// How much arrives at a gateway; only the proportion between gateways matters.
public struct GatewayTraffic: Equatable, Sendable {
    public var gateway: GatewayID
    public var weight: Double

    public init(gateway: GatewayID, weight: Double) {
        self.gateway = gateway
        self.weight = weight
    }
}

/// The work that arrives and waits at a gateway, by resource: a gateway of short calls needs more requests for its tokens
/// than one of long ones.
public struct GatewayLoad: Equatable, Sendable {
    public var gateway: GatewayID
    /// Seconds of the pool's nominal capacity; lanes in the order of ``Resource``.
    public var seconds: SIMD4<Double>

    public init(gateway: GatewayID, seconds: SIMD4<Double>) {
        self.gateway = gateway
        self.seconds = seconds
    }
}

/// The demand of all tenants of a pool.
public struct PoolDemand: Equatable, Sendable {
    public var pool: PoolID
    /// Those heard of within the policy's idle time. Ascending by id.
    public var tenants: [TenantDemand]
    /// Arrivals of about the last 10 s and backlog. Ascending by gateway.
    public var gateways: [GatewayLoad]
    /// Mean arrivals of the last hour or so. Ascending by gateway.
    public var hourlyGateways: [GatewayTraffic]
    public var consumed: Rates
    /// Telemetry of tenants that are not tracked: they share `unlisted`.
    public var untracked: UntrackedTenants
    /// `nil` while there is none.
    public var retryStorm: RetryStorm?
    /// When gateways may try refused work again: wider while a storm lasts, so that it does not come back as one.
    public var retry: PoolAllocation.Retry

    public init(
        pool: PoolID, tenants: [TenantDemand] = [], gateways: [GatewayLoad] = [],
        hourlyGateways: [GatewayTraffic] = [], consumed: Rates = .none,
        untracked: UntrackedTenants = UntrackedTenants(), retryStorm: RetryStorm? = nil,
        retry: PoolAllocation.Retry = PoolAllocation.Retry(afterMilliseconds: 1000, jitterMilliseconds: 1000)
    ) {
        self.pool = pool
        self.tenants = tenants
        self.gateways = gateways
        self.hourlyGateways = hourlyGateways
        self.consumed = consumed
        self.untracked = untracked
        self.retryStorm = retryStorm
        self.retry = retry
    }
}
