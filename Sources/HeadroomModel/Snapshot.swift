/// The number of a snapshot: the control plane's term, and a number within it that is never reused.
package struct SnapshotVersion: Hashable, Comparable, Sendable, CustomStringConvertible {
    package var epoch: Int64
    package var generation: Int64

    package init(epoch: Int64, generation: Int64) {
        self.epoch = epoch
        self.generation = generation
    }

    /// `EPOCH.GENERATION`, as gateways write it in `applied=` and `since=`.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let epoch = Int64(parts[0]), let generation = Int64(parts[1]), epoch >= 0,
            generation >= 0
        else { return nil }
        self.init(epoch: epoch, generation: generation)
    }

    package var description: String { "\(epoch).\(generation)" }

    package static func < (left: SnapshotVersion, right: SnapshotVersion) -> Bool {
        (left.epoch, left.generation) < (right.epoch, right.generation)
    }
}

/// One immutable set of allocations: the whole, or one gateway's part of it.
package struct Snapshot: Equatable, Sendable {
    package var version: SnapshotVersion
    package var issuedAt: Timestamp
    package var leaseSeconds: Double
    /// `NAME@DIGEST` of the policy that it follows.
    package var policy: String
    /// Ascending by id.
    package var pools: [PoolAllocation]

    package init(
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
package enum PoolState: Int, CaseIterable, Sendable, Hashable {
    case healthy, pressured, throttled, open, halfOpen

    package var name: String {
        switch self {
        case .healthy: "healthy"
        case .pressured: "pressured"
        case .throttled: "throttled"
        case .open: "open"
        case .halfOpen: "half_open"
        }
    }
}

/// How much of a pool Headroom may move by itself (DESIGN §5.4).
package enum PoolMode: Int, CaseIterable, Sendable, Hashable {
    case observe, recommend, guarded, full

    package var name: String {
        switch self {
        case .observe: "observe"
        case .recommend: "recommend"
        case .guarded: "guarded"
        case .full: "full"
        }
    }
}

/// Why the capacity estimate is what it is (DESIGN §3).
package enum CapacityReason: Int, CaseIterable, Sendable, Hashable {
    case contract, headers, throttled, probing, latency, overload, manual

    package var name: String {
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

/// What binds a published number (DESIGN §5.7).
package enum Constraint: Int, CaseIterable, Sendable, Hashable {
    case demand, level, floor, ceiling, slew, observationWindow, deadband, guardrail, awaitingRoom, coldStart
    case gamingDiscount, burst, override, mode, frozen, breaker, costCeiling

    package var name: String {
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
        }
    }
}

/// A pool's part of a snapshot. Rates are whole numbers per minute.
package struct PoolAllocation: Equatable, Sendable {
    package struct Retry: Equatable, Sendable {
        package var afterMilliseconds: Int64
        package var jitterMilliseconds: Int64

        package init(afterMilliseconds: Int64, jitterMilliseconds: Int64) {
            self.afterMilliseconds = afterMilliseconds
            self.jitterMilliseconds = jitterMilliseconds
        }
    }

    /// How a model behind the pool fares: its breaker, where models have limits of their own.
    package struct Model: Equatable, Sendable {
        package var model: String
        package var state: PoolState

        package init(model: String, state: PoolState) {
            self.model = model
            self.state = state
        }
    }

    package var pool: PoolID
    package var state: PoolState
    /// Ascending by name.
    package var models: [Model]
    package var mode: PoolMode
    /// False: gateways count and let pass.
    package var enforce: Bool
    /// Weighted dominant share that the last band reached.
    package var level: Double
    /// What the upstream grants the pool now.
    package var capacity: Rates
    /// What the contract says.
    package var nominal: Rates
    package var capacityReason: CapacityReason
    /// What all tenants together may spend here; Σ over gateways, with the float, ≤ capacity.
    package var budget: Rates
    /// Budget that no gateway has work for just now.
    package var float: Rates
    /// The budget once the lease has run out.
    package var fallback: Rates
    /// Seconds of the budget that may be spent at once.
    package var burstSeconds: Double
    package var failover: [PoolID]
    /// Calls a second that may pass while the state is `half_open`, over all gateways.
    package var probesPerSecond: Double
    package var retry: Retry
    /// Ascending by id. Σ assured + unlisted ≤ budget.
    package var tenants: [TenantAllocation]
    /// One bucket that all tenants without an entry share.
    package var unlisted: Rates

    package init(
        pool: PoolID, state: PoolState = .healthy, models: [Model] = [], mode: PoolMode = .full, enforce: Bool = true,
        level: Double = 0,
        capacity: Rates, nominal: Rates, capacityReason: CapacityReason = .contract, budget: Rates,
        float: Rates = .none, fallback: Rates = .none, burstSeconds: Double = 5, failover: [PoolID] = [],
        probesPerSecond: Double = 1,
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
        self.probesPerSecond = probesPerSecond
        self.retry = retry
        self.tenants = tenants
        self.unlisted = unlisted
    }
}

/// A tenant's part of a pool in one snapshot. Rates are whole numbers per minute.
package struct TenantAllocation: TenantRow, Equatable, Sendable {
    /// A grant from credit; it is part of ``TenantAllocation/assured`` while it lasts.
    package struct Burst: Equatable, Sendable {
        package var rates: Rates
        package var secondsLeft: Double

        package static let none = Burst(rates: .none, secondsLeft: 0)

        package init(rates: Rates, secondsLeft: Double) {
            self.rates = rates
            self.secondsLeft = secondsLeft
        }
    }

    package var tenant: TenantID
    /// The rate that the tenant is sure of.
    package var assured: Rates
    /// How far lending may go; an absent resource has no ceiling.
    package var ceiling: Rates
    /// For gateways that take one plain number behind a cap for the whole pool.
    package var plain: Rates
    /// The tenant's part of the fallback.
    package var safe: Rates
    package var burst: Burst
    package var weight: Double
    /// Seconds of the pool's capacity served to the tenant, over all gateways, divided by its weight.
    package var serviceClock: Double
    package var tier: String
    package var constraint: Constraint
    package var flags: [String]
    package var retryOffsetMilliseconds: Int64
    /// The assured rate in its order of service; the parts sum to it.
    package var criticality: PerCriticality<Rates>

    package init(
        tenant: TenantID, assured: Rates, ceiling: Rates = .none, plain: Rates = .none, safe: Rates = .none,
        burst: Burst = .none, weight: Double = 1, serviceClock: Double = 0, tier: String = "standard",
        constraint: Constraint = .level,
        flags: [String] = [], retryOffsetMilliseconds: Int64 = 0,
        criticality: PerCriticality<Rates> = PerCriticality(repeating: .none)
    ) {
        self.tenant = tenant
        self.assured = assured
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
