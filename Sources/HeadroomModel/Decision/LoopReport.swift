/// A tick's findings and actions, as numbers: `/readyz`, `/metrics`, the demo's terminal and the pages read it.
public struct LoopReport: Sendable {
    /// The steps of a tick that may fail: reading rules and telemetry, publishing, and storing what must outlive the
    /// process. Decisions do not fail.
    public enum Stage: String, CaseIterable, Sendable, Hashable {
        case read, publish, record
    }

    public var at: Timestamp
    /// Since the start.
    public var ticksSucceeded: Int
    public var ticksFailed: Int
    public var ticksSkipped: Int
    public var lastTickSeconds: Double
    /// How often a tick is due.
    public var periodSeconds = LoopPolicy().periodSeconds
    /// The failures of the last tick, in the order of the stages; empty when all is well.
    public var failures: [(stage: Stage, message: String)]
    /// Why newer rules were refused, while older ones stay in force; `nil` when there are none.
    public var rulesRefusal: String?
    /// The newest published; `nil` before the first.
    public var version: SnapshotVersion?
    public var publishedAt: Timestamp?
    /// The last decision that was made, published or not.
    public var decidedAt: Timestamp?
    /// The last tick that made sure that what is published is what was decided.
    public var confirmedAt: Timestamp?
    /// The last tick that read all telemetry there was: no line that waits was taken before.
    public var caughtUpAt: Timestamp?
    /// False while decreases are published from memory because the ledger cannot be written.
    public var isLedgerWritable: Bool
    /// Rows of telemetry that wait to be read when the tick ended.
    public var hasBacklog: Bool
    /// Budgets that vanished gateways may still be using; ascending by pool, then gateway.
    public var withheld: [WithheldBudget] = []
    /// What gateways that draw have made of their grants lately; ascending by pool, then gateway.
    public var grantUses: [GrantUse] = []
    /// What tenants whose use is priced may still spend.
    public var allowances: [TenantID: CostAllowance] = [:]
    /// Those whose spending is near its ceiling or beyond (``CostBreakerPolicy``); ascending by subject.
    public var costBreaks: [CostBreak] = []
    /// The loop's own, by owner.
    public var memory: [MemoryShare] = []
    /// Agent tasks in progress, over all gateways.
    public var tasks = TaskReports()
    /// Ascending by id.
    public var pools: [PoolReport]

    public init(
        at: Timestamp, ticksSucceeded: Int = 0, ticksFailed: Int = 0, ticksSkipped: Int = 0,
        lastTickSeconds: Double = 0, failures: [(stage: Stage, message: String)] = [],
        version: SnapshotVersion? = nil, publishedAt: Timestamp? = nil, decidedAt: Timestamp? = nil,
        isLedgerWritable: Bool = true, hasBacklog: Bool = false, pools: [PoolReport] = []
    ) {
        self.at = at
        self.ticksSucceeded = ticksSucceeded
        self.ticksFailed = ticksFailed
        self.ticksSkipped = ticksSkipped
        self.lastTickSeconds = lastTickSeconds
        self.failures = failures
        self.version = version
        self.publishedAt = publishedAt
        self.decidedAt = decidedAt
        self.isLedgerWritable = isLedgerWritable
        self.hasBacklog = hasBacklog
        self.pools = pools
    }
}

public struct PoolReport: Sendable {
    public var pool: PoolID
    public var state: PoolState
    public var nominal: Rates
    public var estimated: Rates
    public var capacityReason: CapacityReason
    /// 0 to 1.
    public var confidence: Double
    public var budget: Rates
    public var assured: Rates
    /// Over the demand window.
    public var consumed: Rates
    /// Attempts since the start, by outcome, in the order of ``Outcome``.
    public var calls: [Outcome: Int]
    /// Capacity that budgets in force exceeded, in tokens, since the start.
    public var overcommittedTokens: Double
    /// How often assured rates turned back by more than a hundredth, since the start.
    public var reversals: Int
    /// How long calls that went through had waited at gateways, since the start. Ascending by tier.
    public var waits: [(tier: String, seconds: PerCriticality<Histogram>)]
    /// Questions that wait for a person.
    public var openQuestions: Int
    public var gateways = GatewayCounts()
    /// `nil` while there is none.
    public var retryStorm: RetryStorm?
    /// Telemetry of tenants beyond the bounds on their number.
    public var untracked: UntrackedTenants
    public var upstream: UpstreamReport
    /// Ascending by id.
    public var tenants: [TenantReport]

    public init(
        pool: PoolID, state: PoolState, nominal: Rates, estimated: Rates, capacityReason: CapacityReason,
        confidence: Double, budget: Rates, assured: Rates, consumed: Rates, calls: [Outcome: Int],
        overcommittedTokens: Double = 0, reversals: Int = 0,
        waits: [(tier: String, seconds: PerCriticality<Histogram>)] = [], openQuestions: Int = 0,
        retryStorm: RetryStorm? = nil, untracked: UntrackedTenants = UntrackedTenants(),
        upstream: UpstreamReport = UpstreamReport(),
        tenants: [TenantReport]
    ) {
        self.pool = pool
        self.state = state
        self.nominal = nominal
        self.estimated = estimated
        self.capacityReason = capacityReason
        self.confidence = confidence
        self.budget = budget
        self.assured = assured
        self.consumed = consumed
        self.calls = calls
        self.overcommittedTokens = overcommittedTokens
        self.reversals = reversals
        self.waits = waits
        self.openQuestions = openQuestions
        self.retryStorm = retryStorm
        self.untracked = untracked
        self.upstream = upstream
        self.tenants = tenants
    }

    /// The calls that wait at gateways, of all tenants.
    public var queue: TenantReport.Queue {
        var sum = TenantReport.Queue()
        // By index: there may be many, and each is a large struct to take out.
        for index in tenants.indices {
            for criticality in Criticality.allCases {
                sum.depth += tenants[index].queue[criticality].depth
                sum.oldestSeconds = max(sum.oldestSeconds, tenants[index].queue[criticality].oldestSeconds)
            }
        }
        return sum
    }
}

public struct TenantReport: Sendable {
    public struct Queue: Equatable, Sendable {
        public var depth: Int64
        public var oldestSeconds: Double

        public init(depth: Int64 = 0, oldestSeconds: Double = 0) {
            self.depth = depth
            self.oldestSeconds = oldestSeconds
        }
    }

    public var tenant: TenantID
    public var tier: String
    /// Planned: what decisions go by.
    public var demand: Rates
    /// As ``TenantDemand/asked``.
    public var asked: Rates
    public var assured: Rates
    public var consumed: Rates
    /// As ``TenantDemand/arrivals``.
    public var arrivals = Rates.none
    /// As ``TenantAllocation/isQuiet``.
    public var isQuiet = false
    public var queue: PerCriticality<Queue>
    /// Since the start.
    public var retries: PerCriticality<Int>
    /// Counted tokens served, since the start.
    public var tokens: PerCriticality<Double>
    /// How long its throughput has been under the starvation rule's share; 0 when it is not.
    public var underservedSeconds: Double
    /// Why it is starved; `nil` when it is not.
    public var starvation: Starvation?
    /// Burst credit: whole tokens, or requests in a pool that limits no tokens.
    public var credit: Int64
    /// How it behaves; `nil` for a tenant that was not heard of.
    public var profile: TenantProfileReport?

    public init(
        tenant: TenantID, tier: String, demand: Rates, assured: Rates, consumed: Rates,
        queue: PerCriticality<Queue> = PerCriticality(repeating: Queue()),
        retries: PerCriticality<Int> = PerCriticality(repeating: 0),
        tokens: PerCriticality<Double> = PerCriticality(repeating: 0), underservedSeconds: Double = 0,
        starvation: Starvation? = nil, credit: Int64 = 0, profile: TenantProfileReport? = nil
    ) {
        self.tenant = tenant
        self.tier = tier
        self.demand = demand
        asked = demand
        self.assured = assured
        self.consumed = consumed
        self.queue = queue
        self.retries = retries
        self.tokens = tokens
        self.underservedSeconds = underservedSeconds
        self.starvation = starvation
        self.credit = credit
        self.profile = profile
    }
}

/// The budget of a pool that a vanished gateway may still be using; the others are not given it meanwhile.
public struct WithheldBudget: Equatable, Sendable {
    public var pool: PoolID
    public var gateway: GatewayID
    /// The largest rate that it may be using.
    public var rates: Rates
    /// From then on nothing is withheld for it.
    public var until: Timestamp

    public init(pool: PoolID, gateway: GatewayID, rates: Rates, until: Timestamp) {
        self.pool = pool
        self.gateway = gateway
        self.rates = rates
        self.until = until
    }
}

/// Why a tenant is starved.
public enum Starvation: String, CaseIterable, Sendable, Hashable {
    /// It does not get what it was given.
    case delivery
    /// The pool has lost capacity.
    case shortage
}
