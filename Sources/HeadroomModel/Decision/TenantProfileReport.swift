/// A tenant's behaviour in one pool beyond its rates of the moment, and how far its claims are believed.
public struct TenantProfileReport: Equatable, Sendable {
    /// Its work of one criticality.
    public struct Flow: Equatable, Sendable {
        public var criticality: Criticality
        public var demand: Rates
        /// Served over the last five minutes, and over the last hour or so.
        public var burnFast: Rates
        public var burnSlow: Rates
        /// Unique work over the last hour or so, or over the time for which the tenant is known: what it is safe to expect.
        public var usualDemand: Rates
        /// Fast over slow, less 1: 0.5 burns half as fast again as it used to. 0 while there is no past to compare with.
        public var trend: Double
        /// Its mean request; `nil` before the first.
        public var shape: Work?

        public init(
            criticality: Criticality, demand: Rates, burnFast: Rates, burnSlow: Rates, usualDemand: Rates,
            trend: Double, shape: Work?
        ) {
            self.criticality = criticality
            self.demand = demand
            self.burnFast = burnFast
            self.burnSlow = burnSlow
            self.usualDemand = usualDemand
            self.trend = trend
            self.shape = shape
        }
    }

    /// Those that it has used, in the order of ``Criticality``.
    public var flows: [Flow]
    public var shapeClass: ShapeClass
    /// 0 to 1, by the amount of evidence.
    public var confidence: Double
    public var burstiness: BurstinessReport
    /// The cost of one of its agents' tasks; `nil` before the first has ended.
    public var tasks: TaskCost?
    /// Counted tokens of what it was served, over what was claimed for such work before it was served; 1 while estimates
    /// are right or unknown. 0.15: estimates are seven times too high, and what waits counts accordingly.
    public var tokenCorrection: Double
    /// 0 to 1: how reliably it returns to its base after a burst.
    public var repayment: Double
    /// In the order of ``GamingFlag/Kind``.
    public var flags: [GamingFlag]

    public init(
        flows: [Flow] = [], shapeClass: ShapeClass = .idle, confidence: Double = 0,
        burstiness: BurstinessReport = BurstinessReport(), tasks: TaskCost? = nil, tokenCorrection: Double = 1,
        repayment: Double = 0.5, flags: [GamingFlag] = []
    ) {
        self.flows = flows
        self.shapeClass = shapeClass
        self.confidence = confidence
        self.burstiness = burstiness
        self.tasks = tasks
        self.tokenCorrection = tokenCorrection
        self.repayment = repayment
        self.flags = flags
    }
}

/// The kind of work that a tenant does, in a word.
public enum ShapeClass: String, CaseIterable, Sendable, Hashable {
    /// Long prompts: retrieval, documents, code bases.
    case longContext = "long_context"
    /// Many small calls: classification, routing, autocompletion.
    case shortFrequent = "short_frequent"
    /// Writes more than it reads.
    case generationHeavy = "generation_heavy"
    case balanced
    /// No work for the policy's idle time.
    case idle
}

/// How uneven a tenant's work is, by the minute, over the last hours.
public struct BurstinessReport: Equatable, Sendable {
    /// The largest minute over the mean one; 1 is even.
    public var peakToMean: Double
    /// Standard deviation of a minute over its mean; 0 is even.
    public var variation: Double
    /// The minute of the last seven days in which most was wanted; `nil` before the first.
    public var peakMinute: Timestamp?
    /// The work that was wanted in it.
    public var peakWork: Work

    public init(
        peakToMean: Double = 1, variation: Double = 0, peakMinute: Timestamp? = nil, peakWork: Work = .zero
    ) {
        self.peakToMean = peakToMean
        self.variation = variation
        self.peakMinute = peakMinute
        self.peakWork = peakWork
    }
}

/// The mean cost of one agent's task.
public struct TaskCost: Equatable, Sendable {
    public var requests: Double
    public var tokens: Double
    /// Tasks that it starts itself.
    public var fanOut: Double
    /// Of the tasks whose course was reported, the part that completed; `nil` where none was.
    public var completion: Double?
    /// In progress now.
    public var open: Int

    public init(requests: Double, tokens: Double, fanOut: Double, completion: Double?, open: Int) {
        self.requests = requests
        self.tokens = tokens
        self.fanOut = fanOut
        self.completion = completion
        self.open = open
    }
}

/// A sign that a tenant, or the client library that it uses, tries to look as if it needed more than it does.
public struct GamingFlag: Equatable, Sendable {
    public enum Kind: String, CaseIterable, Sendable, Hashable {
        /// Its queue goes away unserved, although there was room for it.
        case vanishingDemand = "vanishing_demand"
        /// Its work comes in spikes, one to each period of the loop.
        case loopSynchronised = "loop_synchronised"
        /// Its tasks say that they are mid-way and never complete.
        case unfinishedTasks = "unfinished_tasks"
        /// Denied work comes again as new work.
        case resentDenials = "resent_denials"
        /// Work that used to be less urgent is now called interactive.
        case interactiveJump = "interactive_jump"

        /// The claim of the tenant that is not believed, as in a sentence.
        public var doubtedClaim: String {
            switch self {
            case .vanishingDemand: "that all that waits in its queues is wanted"
            case .loopSynchronised: "that its spikes are what it needs all the time"
            case .unfinishedTasks: "that its tasks are mid-way and need what they say"
            case .resentDenials: "that the calls it sends after a denial are new work"
            case .interactiveJump: "that its work has become interactive"
            }
        }
    }

    public var kind: Kind
    public var since: Timestamp
    /// A sentence with numbers.
    public var evidence: String

    public init(kind: Kind, since: Timestamp, evidence: String) {
        self.kind = kind
        self.since = since
        self.evidence = evidence
    }
}

/// Many tenants try again at the same moments.
public struct RetryStorm: Equatable, Sendable {
    public var since: Timestamp
    /// Time from one wave to the next.
    public var periodSeconds: Double
    /// Retries among all attempts.
    public var share: Double
    /// Those that take part, the most eager first; at most 20.
    public var tenants: [TenantID]

    public init(since: Timestamp, periodSeconds: Double, share: Double, tenants: [TenantID]) {
        self.since = since
        self.periodSeconds = periodSeconds
        self.share = share
        self.tenants = tenants
    }
}
