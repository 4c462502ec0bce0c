/// How one number came about: the chain from what was observed to what was published (DESIGN §5.7), for one tenant in
/// one pool and generation. Activities are in requests a minute of the tenant's direction.
package struct Explanation: Equatable, Sendable {
    package var version: SnapshotVersion
    package var at: Timestamp
    package var pool: PoolFacts
    package var tenant: TenantFacts

    package init(version: SnapshotVersion, at: Timestamp, pool: PoolFacts, tenant: TenantFacts) {
        self.version = version
        self.at = at
        self.pool = pool
        self.tenant = tenant
    }

    /// What a tenant's use may still cost, as rates of its mean request. Money is in millionths (see ``CostTerms``).
    package struct CostFacts: Equatable, Sendable {
        package var currency: String
        package var period: CostTerms.Period
        package var most: Double
        package var spent: Double
        package var until: Timestamp
        package var minutesLeft: Double
        /// What a mean request costs.
        package var perRequest: Double

        package init(
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
        package var affordable: Double { max(0, most - spent) / minutesLeft / perRequest }
    }

    /// What all tenants of the pool have in common.
    package struct PoolFacts: Equatable, Sendable {
        package var pool: PoolID
        package var mode: PoolMode
        package var state: PoolState
        package var nominal: Rates
        package var capacity: Rates
        package var capacityReason: CapacityReason
        /// When the capacity last fell or rose by more than a twentieth, and from what.
        package var capacityChangedAt: Timestamp?
        package var capacityBefore: Rates?
        /// Refused for want of quota, of the attempts of the last 10 s.
        package var recentAttempts: Int
        package var recentRefusals: Int
        /// What the fill ran on: capacity less what `unlisted` and the float take, times the assured share; more where
        /// floors or what nobody may fall below need it.
        package var shared: Rates
        /// By how much published rates exceed the fill in each resource (λ of DESIGN §5.1): what is not used up is
        /// handed out in proportion, up to the ceilings.
        package var slack: Rates
        /// The level that each band of the fill reached, and the resource that ended it.
        package var bands: [Band]
        /// Where the undampened fill ended; `nil` when there was enough of everything.
        package var exhausted: Band?
        package var isFrozen: Bool

        package struct Band: Equatable, Sendable {
            package var name: String
            package var level: Double
            package var saturated: Resource?

            package init(name: String, level: Double, saturated: Resource?) {
                self.name = name
                self.level = level
                self.saturated = saturated
            }
        }

        package init(
            pool: PoolID, mode: PoolMode = .full, state: PoolState = .healthy, nominal: Rates, capacity: Rates,
            capacityReason: CapacityReason = .contract, capacityChangedAt: Timestamp? = nil,
            capacityBefore: Rates? = nil, recentAttempts: Int = 0, recentRefusals: Int = 0, shared: Rates,
            slack: Rates = .none, bands: [Band] = [], exhausted: Band? = nil, isFrozen: Bool = false
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
        }
    }

    package struct TenantFacts: Equatable, Sendable {
        package var tenant: TenantID
        package var tier: String
        package var weight: Double
        /// The override that set tier or weight; `nil` without.
        package var override: Int64?
        /// As estimated, before any discount.
        package var demand: Rates
        /// As counted in the fill; each part in the tenant's direction.
        package var credibleDemand: PerCriticality<Rates>
        /// Activity that the `start` band gives; 0 for one that has demand or a floor.
        package var start: Double
        package var confidence: Double
        package var floor: Rates
        package var ceiling: Rates
        /// One unit of activity: the work that comes with one request.
        package var direction: Rates
        /// What the fill gives undampened, now and as the mean over the observation window.
        package var target: Double
        package var mean: Double
        /// What was published before.
        package var before: Double
        /// Between these the fill could move it, and what set each end.
        package var least: Double
        package var leastConstraint: Constraint
        package var most: Double
        package var mostConstraint: Constraint
        /// What the fill gave inside them.
        package var fill: Double
        /// What was published.
        package var assured: Rates
        package var constraint: Constraint
        /// The burst it was granted; 0 without.
        package var burst: Double
        /// The tenant's part of the demand above what it is entitled to, of all tenants'; 0 without pressure.
        package var excessShare: Double
        /// `nil` where its use costs nothing here.
        package var cost: CostFacts?

        package init(
            tenant: TenantID, tier: String, weight: Double, override: Int64? = nil, demand: Rates,
            credibleDemand: PerCriticality<Rates>, start: Double = 0, confidence: Double = 1, floor: Rates = .none,
            ceiling: Rates = .none,
            direction: Rates, target: Double, mean: Double, before: Double, least: Double,
            leastConstraint: Constraint, most: Double, mostConstraint: Constraint, fill: Double, assured: Rates,
            constraint: Constraint, burst: Double = 0, excessShare: Double = 0, cost: CostFacts? = nil
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
        }
    }
}

/// The chains of one pool in one generation: those of the tenants whose number changed, ascending.
package struct PoolExplanation: Equatable, Sendable {
    package var version: SnapshotVersion
    package var at: Timestamp
    package var pool: Explanation.PoolFacts
    package var tenants: [Explanation.TenantFacts]

    package init(
        version: SnapshotVersion, at: Timestamp, pool: Explanation.PoolFacts, tenants: [Explanation.TenantFacts]
    ) {
        self.version = version
        self.at = at
        self.pool = pool
        self.tenants = tenants
    }
}
