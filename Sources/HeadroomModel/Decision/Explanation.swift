/// How one number came about: the chain from what was observed to what was published (Model §5.7), for one tenant in
/// one pool and generation. Activities are in requests a minute of the tenant's direction.
public struct Explanation: Equatable, Sendable {
    public var version: SnapshotVersion
    public var at: Timestamp
    public var pool: PoolFacts
    public var tenant: TenantFacts

    public init(version: SnapshotVersion, at: Timestamp, pool: PoolFacts, tenant: TenantFacts) {
        self.version = version
        self.at = at
        self.pool = pool
        self.tenant = tenant
    }

    /// The rest of a tenant's cost ceiling, as rates of its mean request. Money is in millionths (see ``CostTerms``).
    public struct CostFacts: Equatable, Sendable {
        public var currency: String
        public var period: CostTerms.Period
        public var most: Double
        public var spent: Double
        public var until: Timestamp
        public var minutesLeft: Double
        /// The cost of a mean request.
        public var perRequest: Double

        public init(
            currency: String, period: CostTerms.Period, most: Double, spent: Double, until: Timestamp,
            minutesLeft: Double, perRequest: Double
        ) {
            self.currency = currency
            self.period = period
            self.most = most
            self.spent = spent
            self.until = until
            self.minutesLeft = minutesLeft
            self.perRequest = perRequest
        }

        /// Requests a minute: what is left of the money, over what is left of the time.
        public var affordable: Double { max(0, most - spent) / minutesLeft / perRequest }
    }

    /// The facts that all tenants of the pool have in common.
    public struct PoolFacts: Equatable, Sendable {
        public var pool: PoolID
        public var mode: PoolMode
        public var state: PoolState
        public var nominal: Rates
        public var capacity: Rates
        public var capacityReason: CapacityReason
        /// When the capacity last fell or rose by more than a twentieth, and from what.
        public var capacityChangedAt: Timestamp?
        public var capacityBefore: Rates?
        /// Refused for want of quota, of the attempts of the last 10 s.
        public var recentAttempts: Int
        public var recentRefusals: Int
        /// The rates that the fill divided: capacity less `unlisted` and the float, times the assured share; more where
        /// floors or lower bounds need it.
        public var shared: Rates
        /// By how much published rates exceed the fill in each resource (λ of Model §5.1): what is not used up is
        /// handed out in proportion, up to the ceilings.
        public var slack: Rates
        /// The level that each band of the fill reached, and the resource that ended it.
        public var bands: [Band]
        /// Where the undampened fill ended; `nil` when there was enough of everything.
        public var exhausted: Band?
        public var isFrozen: Bool
        /// The provider refuses the account for want of money.
        public var hasBillingFailure: Bool

        public struct Band: Equatable, Sendable {
            public var name: String
            public var level: Double
            public var saturated: Resource?

            public init(name: String, level: Double, saturated: Resource?) {
                self.name = name
                self.level = level
                self.saturated = saturated
            }
        }

        public init(
            pool: PoolID, mode: PoolMode = .full, state: PoolState = .healthy, nominal: Rates, capacity: Rates,
            capacityReason: CapacityReason = .contract, capacityChangedAt: Timestamp? = nil,
            capacityBefore: Rates? = nil, recentAttempts: Int = 0, recentRefusals: Int = 0, shared: Rates,
            slack: Rates = .none, bands: [Band] = [], exhausted: Band? = nil, isFrozen: Bool = false,
            hasBillingFailure: Bool = false
        ) {
            self.pool = pool
            self.mode = mode
            self.state = state
            self.nominal = nominal
            self.capacity = capacity
            self.capacityReason = capacityReason
            self.capacityChangedAt = capacityChangedAt
            self.capacityBefore = capacityBefore
            self.recentAttempts = recentAttempts
            self.recentRefusals = recentRefusals
            self.shared = shared
            self.slack = slack
            self.bands = bands
            self.exhausted = exhausted
            self.isFrozen = isFrozen
            self.hasBillingFailure = hasBillingFailure
        }
    }

    public struct TenantFacts: Equatable, Sendable {
        public var tenant: TenantID
        public var tier: String
        public var weight: Double
        /// The override that set tier or weight; `nil` without.
        public var override: Int64?
        /// As planned, before any discount: what decisions go by (``TenantDemand/demand``).
        public var demand: Rates
        /// What it asked for in the demand window, each piece of work once; `nil` in records from before that was kept.
        public var asked: Rates?
        /// What waits at gateways, and how soon the plan would serve it.
        public var waiting = Work.zero
        public var waitingSeconds = 0.0
        /// As counted in the fill; each part in the tenant's direction.
        public var credibleDemand: PerCriticality<Rates>
        /// Activity that the `start` band gives; 0 for one that has demand or a floor.
        public var start: Double
        public var confidence: Double
        public var floor: Rates
        public var ceiling: Rates
        /// One unit of activity: the work that comes with one request.
        public var direction: Rates
        /// The fill's undampened result, now and as the mean over the observation window.
        public var target: Double
        public var mean: Double
        /// The number that was published before.
        public var before: Double
        /// Between these the fill could move it, and what set each end.
        public var least: Double
        public var leastConstraint: Constraint
        public var most: Double
        public var mostConstraint: Constraint
        /// The fill's result inside them.
        public var fill: Double
        /// The published rates.
        public var assured: Rates
        public var constraint: Constraint
        /// The burst it was granted; 0 without.
        public var burst: Double
        /// The tenant's part of the demand above what it is entitled to, of all tenants'; 0 without pressure.
        public var excessShare: Double
        /// `nil` where its use costs nothing here.
        public var cost: CostFacts?
        /// `nil` where the cost breaker does not hold it.
        public var breaker: CostBreak?
        /// Activity that the `least_share` band gives: its own whatever its criticality.
        public var leastShare = 0.0
        /// It asks for no more than its fair share: all of it is its own.
        public var isQuiet = false
        /// What nobody else has work for it may be lent beyond its ceiling.
        public var hasSoftCeiling = false
        /// Why its claims are doubted; empty where they are not.
        public var flags: [GamingFlag] = []

        public init(
            tenant: TenantID, tier: String, weight: Double, override: Int64? = nil, demand: Rates,
            credibleDemand: PerCriticality<Rates>, start: Double = 0, confidence: Double = 1, floor: Rates = .none,
            ceiling: Rates = .none,
            direction: Rates, target: Double, mean: Double, before: Double, least: Double,
            leastConstraint: Constraint, most: Double, mostConstraint: Constraint, fill: Double, assured: Rates,
            constraint: Constraint, burst: Double = 0, excessShare: Double = 0, cost: CostFacts? = nil,
            breaker: CostBreak? = nil
        ) {
            self.tenant = tenant
            self.tier = tier
            self.weight = weight
            self.override = override
            self.demand = demand
            self.credibleDemand = credibleDemand
            self.start = start
            self.confidence = confidence
            self.floor = floor
            self.ceiling = ceiling
            self.direction = direction
            self.target = target
            self.mean = mean
            self.before = before
            self.least = least
            self.leastConstraint = leastConstraint
            self.most = most
            self.mostConstraint = mostConstraint
            self.fill = fill
            self.assured = assured
            self.constraint = constraint
            self.burst = burst
            self.excessShare = excessShare
            self.cost = cost
            self.breaker = breaker
        }
    }
}

/// The chains of one pool in one generation: those of the tenants whose number changed, ascending.
public struct PoolExplanation: Equatable, Sendable {
    public var version: SnapshotVersion
    public var at: Timestamp
    public var pool: Explanation.PoolFacts
    public var tenants: [Explanation.TenantFacts]

    public init(
        version: SnapshotVersion, at: Timestamp, pool: Explanation.PoolFacts, tenants: [Explanation.TenantFacts]
    ) {
        self.version = version
        self.at = at
        self.pool = pool
        self.tenants = tenants
    }
}
