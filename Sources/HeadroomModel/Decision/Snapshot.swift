/// The number of a snapshot: the control plane's term, and a number within it that is never reused.
public struct SnapshotVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var epoch: Int64
    public var generation: Int64

    public init(epoch: Int64, generation: Int64) {
        self.epoch = epoch
        self.generation = generation
    }

    /// `EPOCH.GENERATION`, as gateways write it in `applied=` and `since=`.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Int64(parts[0]), let generation = Int64(parts[1]), epoch >= 0,
            generation >= 0
        else { return nil }
        self.init(epoch: epoch, generation: generation)
    }

    public var description: String { "\(epoch).\(generation)" }

    public static func < (left: SnapshotVersion, right: SnapshotVersion) -> Bool {
        (left.epoch, left.generation) < (right.epoch, right.generation)
    }
}

/// One immutable set of allocations: the whole, or one gateway's part of it.
public struct Snapshot: Equatable, Sendable {
    public var version: SnapshotVersion
    public var issuedAt: Timestamp
    public var leaseSeconds: Double
    /// `NAME@DIGEST` of the policy that it follows.
    public var policy: String
    /// Ascending by id.
    public var pools: [PoolAllocation]

    public init(
        version: SnapshotVersion, issuedAt: Timestamp, leaseSeconds: Double, policy: String, pools: [PoolAllocation]
    ) {
        self.version = version
        self.issuedAt = issuedAt
        self.leaseSeconds = leaseSeconds
        self.policy = policy
        self.pools = pools
    }
}

/// How a pool fares. Hysteresis is in the thresholds between the states.
public enum PoolState: Int, CaseIterable, Sendable, Hashable {
    case healthy, pressured, throttled, open, halfOpen

    public var name: String {
        switch self {
        case .healthy: "healthy"
        case .pressured: "pressured"
        case .throttled: "throttled"
        case .open: "open"
        case .halfOpen: "half_open"
        }
    }
}

/// How much of a pool Headroom may move by itself (Model §5.4).
public enum PoolMode: Int, CaseIterable, Sendable, Hashable {
    case observe, recommend, guarded, full

    public var name: String {
        switch self {
        case .observe: "observe"
        case .recommend: "recommend"
        case .guarded: "guarded"
        case .full: "full"
        }
    }
}

/// Why the capacity estimate is what it is (Model §3).
public enum CapacityReason: Int, CaseIterable, Sendable, Hashable {
    case contract, headers, throttled, probing, latency, overload, manual

    public var name: String {
        switch self {
        case .contract: "contract"
        case .headers: "headers"
        case .throttled: "throttled"
        case .probing: "probing"
        case .latency: "latency"
        case .overload: "overload"
        case .manual: "manual"
        }
    }
}

/// The constraint that binds a published number (Model §5.7).
public enum Constraint: Int, CaseIterable, Sendable, Hashable {
    case demand, level, floor, ceiling, slew, observationWindow, deadband, guardrail, awaitingRoom, coldStart
    case gamingDiscount, burst, override, mode, frozen, breaker, costCeiling, costBreaker

    public var name: String {
        switch self {
        case .demand: "demand"
        case .level: "level"
        case .floor: "floor"
        case .ceiling: "ceiling"
        case .slew: "slew"
        case .observationWindow: "observation_window"
        case .deadband: "deadband"
        case .guardrail: "guardrail"
        case .awaitingRoom: "awaiting_room"
        case .coldStart: "cold_start"
        case .gamingDiscount: "gaming_discount"
        case .burst: "burst"
        case .override: "override"
        case .mode: "mode"
        case .frozen: "frozen"
        case .breaker: "breaker"
        case .costCeiling: "cost_ceiling"
        case .costBreaker: "cost_breaker"
        }
    }
}

/// A pool's part of a snapshot. Rates are whole numbers per minute.
public struct PoolAllocation: Equatable, Sendable {
    public struct Retry: Equatable, Sendable {
        public var afterMilliseconds: Int64
        public var jitterMilliseconds: Int64

        public init(afterMilliseconds: Int64, jitterMilliseconds: Int64) {
            self.afterMilliseconds = afterMilliseconds
            self.jitterMilliseconds = jitterMilliseconds
        }
    }

    /// How a model behind the pool fares: its breaker, where models have limits of their own.
    public struct Model: Equatable, Sendable {
        public var model: String
        public var state: PoolState

        public init(model: String, state: PoolState) {
            self.model = model
            self.state = state
        }
    }

    /// The cost breaker's hold on one kind of agent task.
    public struct TaskKind: Equatable, Sendable {
        public var kind: String
        /// Calls for such tasks, of all tenants together; 0: it is paused.
        public var requestsPerMinute: Double

        public init(kind: String, requestsPerMinute: Double) {
            self.kind = kind
            self.requestsPerMinute = requestsPerMinute
        }
    }

    public var pool: PoolID
    public var state: PoolState
    /// Ascending by name.
    public var models: [Model]
    public var mode: PoolMode
    /// False: gateways count and let pass.
    public var enforce: Bool
    /// Weighted dominant share that the last band reached.
    public var level: Double
    /// The capacity that the upstream grants the pool now.
    public var capacity: Rates
    /// The contract's capacity.
    public var nominal: Rates
    public var capacityReason: CapacityReason
    /// The rates that all tenants together may spend here; Σ over gateways, with the float, ≤ capacity.
    public var budget: Rates
    /// Budget that no gateway has work for just now.
    public var float: Rates
    /// The budget once the lease has run out.
    public var fallback: Rates
    /// Those that have a part of the budget; `nil` where the snapshot does not say. One that is alone has nobody to draw from.
    public var gateways: Int?
    /// Seconds of the budget that may be spent at once.
    public var burstSeconds: Double
    public var failover: [PoolID]
    /// By which each gateway's own breaker opens and closes beside the pool's.
    public var breaker: BreakerPolicy
    public var retry: Retry
    /// Those that the cost breaker holds; ascending by kind. Further kinds go as they come.
    public var taskKinds: [TaskKind] = []
    /// Tokens of a mean answer of the pool: what an answer without a bound is expected to cost, at a gateway that knows no
    /// better; `nil` before there was one.
    public var meanOutputTokens: Double?
    /// So long after the end of the lease gateways go on, on the fallback, and then refuse calls; `nil`: for as long as it
    /// takes.
    public var closedAfterSeconds: Double?
    /// What agent tasks are held to.
    public var tasks = TaskTerms()
    /// Ascending by id. Σ assured + unlisted ≤ budget.
    public var tenants: [TenantAllocation]
    /// One bucket that all tenants without an entry share.
    public var unlisted: Rates

    public init(
        pool: PoolID, state: PoolState = .healthy, models: [Model] = [], mode: PoolMode = .full, enforce: Bool = true,
        level: Double = 0,
        capacity: Rates, nominal: Rates, capacityReason: CapacityReason = .contract, budget: Rates,
        float: Rates = .none, fallback: Rates = .none, burstSeconds: Double = 5, failover: [PoolID] = [],
        breaker: BreakerPolicy = BreakerPolicy(),
        retry: Retry = Retry(afterMilliseconds: 1000, jitterMilliseconds: 1000), tenants: [TenantAllocation] = [],
        unlisted: Rates = .none
    ) {
        self.pool = pool
        self.state = state
        self.models = models
        self.mode = mode
        self.enforce = enforce
        self.level = level
        self.capacity = capacity
        self.nominal = nominal
        self.capacityReason = capacityReason
        self.budget = budget
        self.float = float
        self.fallback = fallback
        self.burstSeconds = burstSeconds
        self.failover = failover
        self.breaker = breaker
        self.retry = retry
        self.tenants = tenants
        self.unlisted = unlisted
    }
}

/// A tenant's part of a pool in one snapshot. Rates are whole numbers per minute.
public struct TenantAllocation: TenantRow, Equatable, Sendable {
    /// A grant from credit; it is part of ``TenantAllocation/assured`` while it lasts.
    public struct Burst: Equatable, Sendable {
        public var rates: Rates
        public var secondsLeft: Double

        public static let none = Burst(rates: .none, secondsLeft: 0)

        public init(rates: Rates, secondsLeft: Double) {
            self.rates = rates
            self.secondsLeft = secondsLeft
        }
    }

    public var tenant: TenantID
    /// The rate that the tenant is sure of.
    public var assured: Rates
    /// The contract's guarantee, over all gateways; empty without one. The float goes by it; gateways are
    /// not sent it.
    public var floor: Rates
    /// What the tenant has whatever the criticality of its work, by its demand of this tick. The float goes by it, gateways
    /// by ``isQuiet``.
    public var leastShare = Rates.none
    /// It asks for no more than its fair share, so all that it asks for is its own, whatever the criticality of its work
    /// (Model §5.1, band `least_share`).
    public var isQuiet = false
    /// How far lending may go; an absent resource has no ceiling.
    public var ceiling: Rates
    /// The ceiling is its tier's alone: it holds while others wait, or the reserve would be touched. What nobody else
    /// has work for may be lent beyond it, last of all.
    public var hasSoftCeiling = false
    /// For gateways that take one plain number behind a cap for the whole pool.
    public var plain: Rates
    /// The tenant's part of the fallback.
    public var safe: Rates
    public var burst: Burst
    public var weight: Double
    /// Seconds of the pool's capacity served to the tenant, over all gateways, divided by its weight.
    public var serviceClock: Double
    public var tier: String
    public var constraint: Constraint
    public var flags: [String]
    public var retryOffsetMilliseconds: Int64
    /// The assured rate in its order of service; the parts sum to it.
    public var criticality: PerCriticality<Rates>

    public init(
        tenant: TenantID, assured: Rates, floor: Rates = .none, ceiling: Rates = .none, plain: Rates = .none,
        safe: Rates = .none,
        burst: Burst = .none, weight: Double = 1, serviceClock: Double = 0, tier: String = "standard",
        constraint: Constraint = .level,
        flags: [String] = [], retryOffsetMilliseconds: Int64 = 0,
        criticality: PerCriticality<Rates> = PerCriticality(repeating: .none)
    ) {
        self.tenant = tenant
        self.assured = assured
        self.floor = floor
        self.ceiling = ceiling
        self.plain = plain
        self.safe = safe
        self.burst = burst
        self.weight = weight
        self.serviceClock = serviceClock
        self.tier = tier
        self.constraint = constraint
        self.flags = flags
        self.retryOffsetMilliseconds = retryOffsetMilliseconds
        self.criticality = criticality
    }
}
