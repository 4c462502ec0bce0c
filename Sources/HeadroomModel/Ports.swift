// The loop's ports. Storage and HTTP implement these; tests and the simulator have doubles.

/// How far a reader of telemetry has come: the last row of each table. Rows never come again.
public struct TelemetryCursor: Hashable, Sendable {
    public var call: Int64
    public var window: Int64
    public var queue: Int64
    public var response: Int64
    public var task: Int64
    public var model: Int64

    public static let start = TelemetryCursor(call: 0, window: 0, queue: 0, response: 0, task: 0, model: 0)

    public init(call: Int64, window: Int64, queue: Int64, response: Int64, task: Int64, model: Int64) {
        self.call = call
        self.window = window
        self.queue = queue
        self.response = response
        self.task = task
        self.model = model
    }
}

/// Some rows of telemetry, in the order in which they were committed within each kind.
public struct TelemetryPage: Sendable {
    public var records: [TelemetryRecord]
    public var next: TelemetryCursor
    /// False when more rows wait after ``next``.
    public var isLast: Bool

    public init(records: [TelemetryRecord], next: TelemetryCursor, isLast: Bool) {
        self.records = records
        self.next = next
        self.isLast = isLast
    }
}

public protocol TelemetrySource: Sendable {
    /// At most `limit` records after `cursor`.
    func page(after cursor: TelemetryCursor, limit: Int) async throws(StorageError) -> TelemetryPage
    /// The cursor in front of the first row that arrived at or after `instant`: where a start begins to read.
    func cursor(at instant: Timestamp) async throws(StorageError) -> TelemetryCursor
}

/// One request's worth of telemetry.
public struct TelemetryBatch: Sendable {
    /// A record and the line it came in, from 1.
    public struct Line: Sendable {
        public var number: Int
        public var id: String?
        public var record: TelemetryRecord
        /// Older than the live windows reach: stored and counted as late.
        public var isLate: Bool

        public init(number: Int, id: String? = nil, record: TelemetryRecord, isLate: Bool = false) {
            self.number = number
            self.id = id
            self.record = record
            self.isLate = isLate
        }
    }

    /// The sender, and its `Headroom-Batch` number, if it had one.
    public var gateway: GatewayID?
    public var number: Int64?
    /// SHA-256 of what was sent, of a numbered batch: the number belongs to this content. `nil`: it is not compared.
    public var contentDigest: [UInt8]?
    public var received: Timestamp
    public var lines: [Line]
    /// Lines that were refused while reading the request.
    public var faults: [TelemetryReceipt.Fault]

    public init(
        gateway: GatewayID? = nil, number: Int64? = nil, contentDigest: [UInt8]? = nil, received: Timestamp,
        lines: [Line], faults: [TelemetryReceipt.Fault] = []
    ) {
        self.gateway = gateway
        self.number = number
        self.contentDigest = contentDigest
        self.received = received
        self.lines = lines
        self.faults = faults
    }
}

/// The result of a batch. Every accepted line is committed.
public struct TelemetryReceipt: Equatable, Sendable {
    public struct Fault: Equatable, Sendable {
        public var line: Int
        public var detail: String

        public init(line: Int, detail: String) {
            self.line = line
            self.detail = detail
        }
    }

    public var accepted: Int
    public var duplicate: Int
    public var late: Int
    /// Ascending by line.
    public var rejected: [Fault]

    public init(accepted: Int, duplicate: Int, late: Int, rejected: [Fault]) {
        self.accepted = accepted
        self.duplicate = duplicate
        self.late = late
        self.rejected = rejected
    }
}

/// Where the HTTP edge puts telemetry.
public protocol TelemetrySink: Sendable {
    /// Returns after the commit. On an error nothing of the batch was stored.
    func append(_ batch: TelemetryBatch) async throws(TelemetryError) -> TelemetryReceipt
}

/// Why a batch was not stored.
public struct TelemetryError: Error, Equatable, Sendable, CustomStringConvertible {
    public enum Code: Sendable, Hashable {
        /// The gateway has used the batch's number for other content.
        case conflict
        /// The storage does not take it now.
        case unavailable
    }

    public var code: Code
    /// For people.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}

/// Every snapshot before anyone sees it, so that no number is ever used twice.
public protocol SnapshotLedger: Sendable {
    /// A new term: the epoch is stored before this returns.
    /// - Parameter rememberingSeconds: how far back ``LedgerStart/budgets`` reach: lease and grace.
    func begin(at now: Timestamp, rememberingSeconds: Double) async throws(StorageError) -> LedgerStart
    /// The next number; numbers are reserved in blocks, so that a crash skips some and reuses none.
    func reserveGeneration() async throws(StorageError) -> Int64
    /// The whole and the budgets of its parts, in one transaction.
    func append(_ publication: Publication) async throws(StorageError)
    /// Gives back what is left of the block.
    func end() async throws(StorageError)
}

public struct LedgerStart: Sendable {
    public var epoch: Int64
    /// The last snapshot that was published, if there was one.
    public var last: Snapshot?
    /// Budgets that gateways may still be using: of each gateway its last part, and every one that was superseded within the
    /// remembered time before that. Ascending by version, gateway, pool.
    public var budgets: [SentBudget]

    public init(epoch: Int64, last: Snapshot?, budgets: [SentBudget] = []) {
        self.epoch = epoch
        self.last = last
        self.budgets = budgets
    }
}

/// The budget that one gateway was given of one pool in one generation.
public struct SentBudget: Equatable, Sendable {
    public var version: SnapshotVersion
    public var gateway: GatewayID
    public var pool: PoolID
    public var budget: Rates
    public var fallback: Rates
    public var publishedAt: Timestamp
    /// When the generation after it was published, with a part for the gateway or without: from then on it was not
    /// handed out any more. `nil`: there is none.
    public var supersededAt: Timestamp?

    public init(
        version: SnapshotVersion, gateway: GatewayID, pool: PoolID, budget: Rates, fallback: Rates,
        publishedAt: Timestamp, supersededAt: Timestamp? = nil
    ) {
        self.version = version
        self.gateway = gateway
        self.pool = pool
        self.budget = budget
        self.fallback = fallback
        self.publishedAt = publishedAt
        self.supersededAt = supersededAt
    }
}

/// The records of a decision that must outlive the process.
public protocol DecisionRecords: Sendable {
    /// Every balance, for a start; ascending by pool, then tenant.
    func credits() async throws(StorageError) -> [CreditBalance]
    /// In one transaction.
    func record(_ outcome: DecisionOutcome, at now: Timestamp) async throws(StorageError)
}

public struct DecisionOutcome: Sendable {
    /// Questions to people, all pending: each updates the pending one of its kind, tenant and pool, if there is one.
    public var questions: [Proposal]
    /// Pending questions that no longer stand, as the tenant's demand went elsewhere: withdrawn as expired.
    public var withdrawn: [Int64]
    /// Balances that changed.
    public var credits: [CreditBalance]
    /// Of the numbers that this generation changed.
    public var explanations: [PoolExplanation]
    /// Noticed since the last tick.
    public var events: [PoolEvent] = []

    public var isEmpty: Bool {
        questions.isEmpty && withdrawn.isEmpty && credits.isEmpty && explanations.isEmpty && events.isEmpty
    }

    public init(
        questions: [Proposal] = [], withdrawn: [Int64] = [], credits: [CreditBalance] = [],
        explanations: [PoolExplanation] = []
    ) {
        self.questions = questions
        self.withdrawn = withdrawn
        self.credits = credits
        self.explanations = explanations
    }
}

/// The loop's knowledge of telemetry, stored once a minute, so that a start reads only the rows since.
public struct Checkpoint: Sendable {
    public var at: Timestamp
    /// Everything in front of it is in the state and in the roll-ups.
    public var cursor: TelemetryCursor
    /// As the actors encode it; another version's is not read.
    public var observer: [UInt8]
    public var classifier: [UInt8]
    /// Clocks and floor accounts of the pools' floats; empty in a checkpoint from before they were kept.
    public var floats: [UInt8]
    /// What the cost breaker has counted, and whom it holds; empty where there is nothing.
    public var breaker: [UInt8]
    /// Agent tasks in progress; empty where there are none.
    public var tasks: [UInt8]

    public init(
        at: Timestamp, cursor: TelemetryCursor, observer: [UInt8], classifier: [UInt8], floats: [UInt8] = [],
        breaker: [UInt8] = [], tasks: [UInt8] = []
    ) {
        self.at = at
        self.cursor = cursor
        self.observer = observer
        self.classifier = classifier
        self.floats = floats
        self.breaker = breaker
        self.tasks = tasks
    }
}

public protocol CheckpointStore: Sendable {
    func latest() async throws(StorageError) -> Checkpoint?
    /// Erased after `id`, ascending, of those that no checkpoint was made without.
    func erasures(after id: Int64) async throws(StorageError) -> [ErasedTenant]
    /// The saved use of tenants whose use is priced, of `day` and later days.
    func uses(since day: Int64) async throws(StorageError) -> [TenantUse]
    /// In one transaction, so that every row counts once in the roll-ups: adds `rollups` to the minutes, hours and days
    /// that they belong to, with their sums to those of their pools, and those of tenants in `priced` to what is priced.
    /// The checkpoint knows nobody who was erased up to `erasedThrough`.
    /// - Parameters:
    ///   - capacities: the pools' capacities; their own sums are empty.
    ///   - uses: what of the use in `rollups` names a model or a kind of task.
    ///   - taskTimes: of agent tasks that ended.
    func save(
        _ checkpoint: Checkpoint, rollups: [Rollup], capacities: [PoolRollup], uses: [ModelUse],
        taskTimes: [TaskTimeRollup], priced: Set<TenantID>, erasedThrough: Int64
    ) async throws(StorageError)
}

/// A tenant that was erased, and that the loop is to forget.
public struct ErasedTenant: Equatable, Sendable {
    /// Ascending from 1.
    public var id: Int64
    /// Of its name, which is gone.
    public var fingerprint: UInt64

    public init(id: Int64, fingerprint: UInt64) {
        self.id = id
        self.fingerprint = fingerprint
    }
}

/// One generation, whole and divided over gateways.
public struct Publication: Sendable {
    public var whole: Snapshot
    /// Ascending by gateway; each is the whole with that gateway's part of budgets and rates.
    public var parts: [(gateway: GatewayID, snapshot: Snapshot)]

    public init(whole: Snapshot, parts: [(gateway: GatewayID, snapshot: Snapshot)]) {
        self.whole = whole
        self.parts = parts
    }
}

/// The board's record of a gateway that takes part: one that has acknowledged a snapshot or sent telemetry.
public struct GatewayPresence: Equatable, Sendable {
    public var gateway: GatewayID
    public var lastSeen: Timestamp
    /// The version in force there, as acknowledged; the least over the members seen within the lease.
    public var applied: SnapshotVersion?
    /// The newest that it was sent.
    public var sent: SnapshotVersion?
    /// It said goodbye, or a person said it for it: it uses nothing any more.
    public var hasLeft: Bool

    public init(
        gateway: GatewayID, lastSeen: Timestamp, applied: SnapshotVersion?, sent: SnapshotVersion?,
        hasLeft: Bool = false
    ) {
        self.gateway = gateway
        self.lastSeen = lastSeen
        self.applied = applied
        self.sent = sent
        self.hasLeft = hasLeft
    }
}

/// Where gateways read.
public protocol SnapshotPublishing: Sendable {
    func publish(_ publication: Publication)
    /// Service clocks ride along between generations. Seconds of capacity, by pool, then tenant.
    func update(serviceClocks: [PoolID: [TenantID: Double]])
    func report(_ report: LoopReport)
    /// Those that take part and were seen at or after `since`, and those that have left since, ascending by id.
    func gateways(since: Timestamp) -> [GatewayPresence]
}

/// Where the loop reads the rules, each tick. A fault in a policy file changes nothing: the last good rules stay.
public protocol RuleSource: Sendable {
    func current() async throws(StorageError) -> Rules
}
