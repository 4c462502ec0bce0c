/// The rules of the business, as `policies/*.json5` state them, checked and complete.
public struct Policy: Equatable, Sendable {
    public var name: String
    /// Of the files' bytes, for the snapshot's `policy` field: `NAME@DIGEST`.
    public var digest: String
    /// Highest priority first; never empty, names unique.
    public var tiers: [TierPolicy]
    /// The tier of a tenant without a contract.
    public var defaultTier: String
    /// A strategic account's weight is multiplied by this.
    public var strategicFactor: Double
    /// The order in which the fill hands out a pool.
    public var bands: [Band]
    public var start: StartPolicy
    public var loop: LoopPolicy
    public var demand: DemandPolicy
    public var capacity: CapacityPolicy
    public var starvation: StarvationPolicy
    public var telemetry: TelemetryPolicy
    public var dampening: DampeningPolicy
    public var guardrails: GuardrailPolicy
    public var overrideLimits: OverrideLimits
    public var credit: CreditPolicy
    public var breaker: BreakerPolicy
    public var trust: TrustPolicy
    public var alerts: AlertPolicy
    public var serviceLevels: ServiceLevelPolicy
    public var contracts: ContractPolicy
    public var costBreaker: CostBreakerPolicy
    public var taskBudgets: TaskBudgetPolicy
    /// Ascending by id.
    public var pools: [PoolPolicy]

    /// Its name and digest, as snapshots bear it.
    public var label: String { "\(name)@\(digest)" }

    public init(
        name: String = "default", digest: String = "", tiers: [TierPolicy] = TierPolicy.standardTiers,
        defaultTier: String = "standard", strategicFactor: Double = 1.5, bands: [Band] = Band.standardBands,
        start: StartPolicy = StartPolicy(), loop: LoopPolicy = LoopPolicy(), demand: DemandPolicy = DemandPolicy(),
        capacity: CapacityPolicy = CapacityPolicy(), starvation: StarvationPolicy = StarvationPolicy(),
        telemetry: TelemetryPolicy = TelemetryPolicy(), dampening: DampeningPolicy = DampeningPolicy(),
        guardrails: GuardrailPolicy = GuardrailPolicy(), overrideLimits: OverrideLimits = OverrideLimits(),
        credit: CreditPolicy = CreditPolicy(), breaker: BreakerPolicy = BreakerPolicy(),
        trust: TrustPolicy = TrustPolicy(), alerts: AlertPolicy = AlertPolicy(),
        serviceLevels: ServiceLevelPolicy = ServiceLevelPolicy(), contracts: ContractPolicy = ContractPolicy(),
        costBreaker: CostBreakerPolicy = CostBreakerPolicy(), taskBudgets: TaskBudgetPolicy = TaskBudgetPolicy(),
        pools: [PoolPolicy] = []
    ) {
        self.name = name
        self.digest = digest
        self.tiers = tiers
        self.defaultTier = defaultTier
        self.strategicFactor = strategicFactor
        self.bands = bands
        self.start = start
        self.loop = loop
        self.demand = demand
        self.capacity = capacity
        self.starvation = starvation
        self.telemetry = telemetry
        self.dampening = dampening
        self.guardrails = guardrails
        self.overrideLimits = overrideLimits
        self.credit = credit
        self.breaker = breaker
        self.trust = trust
        self.alerts = alerts
        self.serviceLevels = serviceLevels
        self.contracts = contracts
        self.costBreaker = costBreaker
        self.taskBudgets = taskBudgets
        self.pools = pools
    }

    public func tier(named name: String) -> TierPolicy? { tiers.first { $0.name == name } }
    public func pool(_ id: PoolID) -> PoolPolicy? { pools.first { $0.pool == id } }
}

/// An ordered priority class of tenants.
public struct TierPolicy: Equatable, Sendable {
    public var name: String
    /// Above 0.
    public var weight: Double
    /// Most that one tenant may get, as a part of the pool's nominal capacity; `nil` is no ceiling.
    public var ceilingShare: Double?
    /// A call of such a tenant that waits for longer is a sign of starvation.
    public var longestWaitSeconds: Double
    /// The tier's service level: the part of the time in which such a tenant wants something that it must be satisfied.
    /// Below 1.
    public var satisfiedShare: Double
    /// The part ``satisfiedShare`` of the agent tasks of such a tenant must end within so long; `nil`: their time is no service
    /// level.
    public var taskSeconds: Double?

    public init(
        name: String, weight: Double, ceilingShare: Double? = nil, longestWaitSeconds: Double = 60,
        satisfiedShare: Double = 0.95, taskSeconds: Double? = nil
    ) {
        self.name = name
        self.weight = weight
        self.ceilingShare = ceilingShare
        self.longestWaitSeconds = longestWaitSeconds
        self.satisfiedShare = satisfiedShare
        self.taskSeconds = taskSeconds
    }

    /// Weights and ceilings of the study behind ControlLaw.
    public static let standardTiers = [
        TierPolicy(name: "critical", weight: 8, longestWaitSeconds: 15, satisfiedShare: 0.99),
        TierPolicy(name: "premium", weight: 4, ceilingShare: 0.7, longestWaitSeconds: 30, satisfiedShare: 0.98),
        TierPolicy(name: "standard", weight: 2, ceilingShare: 0.5, longestWaitSeconds: 60),
        TierPolicy(name: "free", weight: 1, ceilingShare: 0.25, longestWaitSeconds: 120, satisfiedShare: 0.9),
    ]
}

/// One step of the fill (Model §5.1).
public struct Band: Equatable, Sendable {
    public enum Bound: Int, CaseIterable, Sendable, Hashable {
        case floor, floorInDemand, leastShare, start, demand, burst, ceiling

        public var name: String {
            switch self {
            case .floor: "floor"
            case .floorInDemand: "floor_in_demand"
            case .leastShare: "least_share"
            case .start: "start"
            case .demand: "demand"
            case .burst: "burst"
            case .ceiling: "ceiling"
            }
        }
    }

    public var bound: Bound
    /// The demand up to and including this criticality; `nil` is all of it.
    public var criticality: Criticality?
    /// Only tenants of these tiers move; `nil` is all.
    public var tiers: [String]?

    public init(_ bound: Bound, criticality: Criticality? = nil, tiers: [String]? = nil) {
        self.bound = bound
        self.criticality = criticality
        self.tiers = tiers
    }

    /// Guarantees first, then all that quiet tenants ask for, then enough for idle tenants to begin, then what is wanted
    /// in its order of urgency, then bursts that are paid from credit, then what is left as room to grow.
    public static let standardBands = [
        Band(.floor), Band(.leastShare), Band(.start), Band(.demand, criticality: .interactive),
        Band(.demand, criticality: .nearRealTime), Band(.demand, criticality: .batch), Band(.burst), Band(.ceiling),
    ]
}

/// The rates of idle tenants without a floor, so that they can begin at once.
public struct StartPolicy: Equatable, Sendable {
    /// Most for one tenant, as a part of capacity.
    public var shareEach: Double
    /// Most for all together.
    public var shareTotal: Double

    public init(shareEach: Double = 0.004, shareTotal: Double = 0.05) {
        self.shareEach = shareEach
        self.shareTotal = shareTotal
    }
}

public struct LoopPolicy: Equatable, Sendable {
    public var periodSeconds: Double
    /// How long a gateway may use a snapshot.
    public var leaseSeconds: Double
    /// The time that Headroom adds to the lease before a silent gateway counts as vanished.
    public var graceSeconds: Double
    /// Part of capacity that the fallbacks of all gateways may sum to.
    public var fallbackShare: Double
    /// Tenants beyond this many per pool are folded into `unlisted`.
    public var maxTenants: Int
    /// Tenants beyond this many over all pools are folded into `unlisted`; one in two pools counts twice, since memory is
    /// per pool. Tenants with a contract are admitted beyond it.
    public var maxTenantsTotal: Int
    /// Tenants without a contract that one gateway may bring into a pool's table; its others are folded into `unlisted`.
    public var maxNewTenantsPerGateway: Int
    /// Part of a pool that tenants without an entry share.
    public var unlistedShare: Double
    /// Named parts a pool is divided into; gateways beyond it share one.
    public var maxParts: Int
    /// A newcomer's first part is at most 1/max(members + 1, this).
    public var expectedGateways: Int
    /// After a start the last known allocations hold for this long.
    public var learningSeconds: Double
    /// Part of the budget that stays in the float from the start (Φ); gateways that draw return what they do not use
    /// to it in any case.
    public var floatShare: Double
    /// For so long after its lease and the grace the fallback of a gateway that vanished is withheld from the others.
    public var safeSeconds: Double

    public init(
        periodSeconds: Double = 2, leaseSeconds: Double = 15, graceSeconds: Double = 5, fallbackShare: Double = 0.95,
        maxTenants: Int = 100_000, maxTenantsTotal: Int = 100_000, maxNewTenantsPerGateway: Int = 5_000,
        unlistedShare: Double = 0.01, maxParts: Int = 64, expectedGateways: Int = 1,
        learningSeconds: Double = 10, floatShare: Double = 0, safeSeconds: Double = 60
    ) {
        self.periodSeconds = periodSeconds
        self.leaseSeconds = leaseSeconds
        self.graceSeconds = graceSeconds
        self.fallbackShare = fallbackShare
        self.maxTenants = maxTenants
        self.maxTenantsTotal = maxTenantsTotal
        self.maxNewTenantsPerGateway = maxNewTenantsPerGateway
        self.unlistedShare = unlistedShare
        self.maxParts = maxParts
        self.expectedGateways = expectedGateways
        self.learningSeconds = learningSeconds
        self.floatShare = floatShare
        self.safeSeconds = safeSeconds
    }

    /// From the last answer on a snapshot until a gateway that is not heard of any more counts as vanished.
    public var vanishedSeconds: Double { leaseSeconds + graceSeconds }
    /// From then on nothing is withheld for it.
    public var forgottenSeconds: Double { vanishedSeconds + safeSeconds }
}

/// How demand is estimated (ControlLaw, rule 8).
public struct DemandPolicy: Equatable, Sendable {
    /// Unique arrivals are averaged over this window.
    public var windowSeconds: Double
    /// Backlog counts as if it had to be served in this time.
    public var backlogSeconds: Double
    /// Demand rises at once and falls with this half-life.
    public var halfLifeSeconds: Double
    /// Head-room above what was seen.
    public var margin: Double
    /// A tenant not heard of for this long is idle and leaves memory when the table is full.
    public var idleSeconds: Double

    public init(
        windowSeconds: Double = 20, backlogSeconds: Double = 20, halfLifeSeconds: Double = 60, margin: Double = 1.05,
        idleSeconds: Double = 3600
    ) {
        self.windowSeconds = windowSeconds
        self.backlogSeconds = backlogSeconds
        self.halfLifeSeconds = halfLifeSeconds
        self.margin = margin
        self.idleSeconds = idleSeconds
    }
}

/// How effective capacity is estimated: the bank of hypothetical buckets (ControlLaw, rule 5).
public struct CapacityPolicy: Equatable, Sendable {
    /// How sharply a second's evidence moves belief between hypotheses (K).
    public var evidenceGain: Double
    /// Part of the belief that returns to the prior each second: forgetting is what probes (EPS).
    public var forgettingPerSecond: Double
    /// The estimate is this quantile of the belief (Q).
    public var quantile: Double
    /// Provider limits in headers are believed for this long.
    public var headerSeconds: Double

    public init(
        evidenceGain: Double = 3, forgettingPerSecond: Double = 0.03, quantile: Double = 0.5,
        headerSeconds: Double = 60
    ) {
        self.evidenceGain = evidenceGain
        self.forgettingPerSecond = forgettingPerSecond
        self.quantile = quantile
        self.headerSeconds = headerSeconds
    }
}

/// When a tenant counts as starved (Model §2).
public struct StarvationPolicy: Equatable, Sendable {
    public var seconds: Double
    /// Throughput below this part of min(demand, entitlement) starves.
    public var share: Double

    public init(seconds: Double = 300, share: Double = 0.7) {
        self.seconds = seconds
        self.share = share
    }
}

public struct TelemetryPolicy: Equatable, Sendable {
    /// An event's `id` counts once within this time.
    public var dedupeSeconds: Double
    /// An older line enters storage, not the live windows, and counts as late.
    public var lateSeconds: Double
    /// A line is refused that claims more than this many times what its pool's nominal rates give in a minute, or in the
    /// line's own time where that is longer.
    public var maxTimesNominal: Double
    /// Raw rows are kept this long; older lines are refused.
    public var rawHours: Double
    /// Sums by minute and by hour are kept this long.
    public var minuteDays: Double
    public var hourDays: Double
    /// The windows are stored this often; a start reads the rows since.
    public var checkpointSeconds: Double
    /// Published snapshots are kept this long, and at most this many bytes of them.
    public var ledgerHours: Double
    public var ledgerBytes: Int64

    public init(
        dedupeSeconds: Double = 900, lateSeconds: Double = 300, maxTimesNominal: Double = 10, rawHours: Double = 48,
        minuteDays: Double = 35, hourDays: Double = 400, checkpointSeconds: Double = 60, ledgerHours: Double = 48,
        ledgerBytes: Int64 = 2_000_000_000
    ) {
        self.dedupeSeconds = dedupeSeconds
        self.lateSeconds = lateSeconds
        self.maxTimesNominal = maxTimesNominal
        self.rawHours = rawHours
        self.minuteDays = minuteDays
        self.hourDays = hourDays
        self.checkpointSeconds = checkpointSeconds
        self.ledgerHours = ledgerHours
        self.ledgerBytes = ledgerBytes
    }
}

/// One upstream limit, and how Headroom may move it.
public struct PoolPolicy: Equatable, Sendable {
    public var pool: PoolID
    public var provider: String?
    /// The contract's capacity; at least one resource.
    public var nominal: Rates
    public var mode: PoolMode
    /// Seconds of its limit that the provider lets pass at once.
    public var providerBurstSeconds: Double
    /// Seconds of the budget that gateways together let pass at once: a second less than the provider's.
    public var burstSeconds: Double
    public var failover: [PoolID]
    /// The provider counts refused attempts against the limit.
    public var countsRefused: Bool
    /// A limit in headers above the contract is believed once it has held for a minute.
    public var acceptAboveContract: Bool
    /// Gateways that have not heard of Headroom for so long after their lease refuse calls; `nil`: they go on.
    public var closedAfterSeconds: Double?
    /// No two of them hold at one time.
    public var prices: [PoolPrice] = []
    /// Calls have to name their agent task; `nil`: as ``TaskBudgetPolicy/requiresTask`` says.
    public var requiresTask: Bool?

    public init(
        pool: PoolID, provider: String? = nil, nominal: Rates, mode: PoolMode = .full,
        providerBurstSeconds: Double = 6, burstSeconds: Double = 5, failover: [PoolID] = [],
        countsRefused: Bool = false, acceptAboveContract: Bool = false
    ) {
        self.pool = pool
        self.provider = provider
        self.nominal = nominal
        self.mode = mode
        self.providerBurstSeconds = providerBurstSeconds
        self.burstSeconds = burstSeconds
        self.failover = failover
        self.countsRefused = countsRefused
        self.acceptAboveContract = acceptAboveContract
    }
}
