import HeadroomModel

/// What a tenant needs in one pool, and what it gets.
package struct TenantDemand: TenantRow, Equatable, Sendable {
    // What every decision reads of every tenant comes first: the rest is not in its way.

    package var tenant: TenantID
    /// What it would use if unlimited, by criticality: up at once, down by half-life.
    package var demand: PerCriticality<Rates>
    /// Its mean request; `nil` before the first.
    package var shape: Work?
    /// What it used, over the demand window.
    package var consumed: Rates
    /// 0 to 1, by the amount of evidence: what a cold start waits for.
    package var confidence: Double
    /// 0 to 1: how reliably it returns to its base after a burst.
    package var repayment: Double
    /// Seconds of the pool's capacity that it was served, divided by its weight.
    package var serviceClock = 0.0
    /// How much later than others it may try again while a retry storm lasts.
    package var retryOffsetMilliseconds: Int64
    /// Names of the gaming flags that stand, in the order of ``GamingFlag/Kind``.
    package var flags: [String]
    /// A gaming flag stands: its credible demand is at most a factor of what it consumed.
    package var isDiscounted: Bool
    /// What its tasks in progress say that they still need, as far as its claims are believed; `nil` without one.
    package var midTask: Work?

    /// What it wants at this moment, without what is remembered of a minute ago: the measure of starvation.
    package var wanted: Rates
    /// What it was served since the estimate before.
    package var served: Work
    package var queue: PerCriticality<TenantReport.Queue>
    /// Attempts beyond the first, since the estimator began.
    package var retries: PerCriticality<Int>
    /// Counted tokens served, since the estimator began.
    package var tokens = PerCriticality<Double>(repeating: 0)
    /// Where its work arrives: counted seconds of the pool's nominal capacity of about the last minute. Ascending by
    /// gateway.
    package var gateways: [GatewayTraffic]
    package var profile: TenantProfileReport?

    package init(
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
        self.wanted = .none
        self.wanted = wanted ?? total
    }

    /// Over all criticalities.
    package var total: Rates { demand.total }
}

/// How much arrives at a gateway; only the proportion between gateways matters.
package struct GatewayTraffic: Equatable, Sendable {
    package var gateway: GatewayID
    package var weight: Double

    package init(gateway: GatewayID, weight: Double) {
        self.gateway = gateway
        self.weight = weight
    }
}

/// What all tenants of a pool need.
package struct PoolDemand: Equatable, Sendable {
    package var pool: PoolID
    /// Those heard of within the policy's idle time. Ascending by id.
    package var tenants: [TenantDemand]
    /// Arrivals of about the last 10 s and backlog. Ascending by gateway.
    package var gateways: [GatewayTraffic]
    /// Mean arrivals of the last hour or so. Ascending by gateway.
    package var hourlyGateways: [GatewayTraffic]
    package var consumed: Rates
    /// Tenants that found no place in the table since the estimator began.
    package var untracked: Int
    /// `nil` while there is none.
    package var retryStorm: RetryStorm?
    /// When gateways may try refused work again: wider while a storm lasts, so that it does not come back as one.
    package var retry: PoolAllocation.Retry

    package init(
        pool: PoolID, tenants: [TenantDemand] = [], gateways: [GatewayTraffic] = [],
        hourlyGateways: [GatewayTraffic] = [], consumed: Rates = .none,
        untracked: Int = 0, retryStorm: RetryStorm? = nil,
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
