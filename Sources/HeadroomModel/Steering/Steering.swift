/// People's steering, each with an end: overrides, approvals, freezes, pinned capacities. None is permanent.
public struct Steering: Equatable, Sendable {
    /// Ascending by id, as all of these.
    public var overrides: [Override]
    public var freezes: [Freeze]
    public var pins: [CapacityPin]
    /// Pending ones, those whose decision still holds, and those denied not long ago.
    public var proposals: [Proposal]
    public var costLifts: [CostLift]
    /// At most one of a task.
    public var taskRulings: [TaskRuling]

    public static let none = Steering()

    public init(
        overrides: [Override] = [], freezes: [Freeze] = [], pins: [CapacityPin] = [], proposals: [Proposal] = [],
        costLifts: [CostLift] = [], taskRulings: [TaskRuling] = []
    ) {
        self.overrides = overrides
        self.freezes = freezes
        self.pins = pins
        self.proposals = proposals
        self.costLifts = costLifts
        self.taskRulings = taskRulings
    }
}

/// The author, the reason, and the time span for which it holds.
public struct Authorship: Equatable, Sendable {
    /// The name of a token; `headroom` for automation.
    public var author: String
    public var reason: String
    public var at: Timestamp
    public var until: Timestamp

    public static let automation = "headroom"

    public init(author: String, reason: String, at: Timestamp, until: Timestamp) {
        self.author = author
        self.reason = reason
        self.at = at
        self.until = until
    }

    public func holds(at now: Timestamp) -> Bool { at <= now && now < until }
}

/// Another tier, or another weight, for a tenant in one pool or in all.
///
/// Of several that hold at once one for the pool itself goes before one for all pools, and of the same kind the one
/// set last before the others: the tier and the weight are each taken from the first that names it.
public struct Override: Equatable, Sendable {
    public var id: Int64
    public var tenant: TenantID
    /// `nil`: in all pools.
    public var pool: PoolID?
    public var tier: String?
    /// In place of the tier's.
    public var weight: Double?
    public var authorship: Authorship

    public init(
        id: Int64 = 0, tenant: TenantID, pool: PoolID? = nil, tier: String? = nil, weight: Double? = nil,
        authorship: Authorship
    ) {
        self.id = id
        self.tenant = tenant
        self.pool = pool
        self.tier = tier
        self.weight = weight
        self.authorship = authorship
    }
}

/// A pool, or all, keeps the numbers that it has; or those of an old generation that was rolled back to.
public struct Freeze: Equatable, Sendable {
    public var id: Int64
    /// `nil`: all pools.
    public var pool: PoolID?
    /// The generation that it keeps; `nil` keeps the one in force when it begins.
    public var generation: Int64?
    /// The old generation's pools, where ``generation`` is not `nil`.
    public var numbers: [PoolAllocation]
    public var authorship: Authorship

    public init(
        id: Int64 = 0, pool: PoolID? = nil, generation: Int64? = nil, numbers: [PoolAllocation] = [],
        authorship: Authorship
    ) {
        self.id = id
        self.pool = pool
        self.generation = generation
        self.numbers = numbers
        self.authorship = authorship
    }
}

/// A capacity that an SRE vouches for, whatever the observer makes of the upstream. At most one a pool.
public struct CapacityPin: Equatable, Sendable {
    public var pool: PoolID
    /// Resources that it does not name are estimated as ever.
    public var capacity: Rates
    public var authorship: Authorship

    public init(pool: PoolID, capacity: Rates, authorship: Authorship) {
        self.pool = pool
        self.capacity = capacity
        self.authorship = authorship
    }
}

/// A person's word that the cost breaker leaves a tenant, or a kind of task, alone for a while.
public struct CostLift: Equatable, Sendable {
    public var id: Int64
    public var subject: CostSubject
    public var authorship: Authorship

    public init(id: Int64 = 0, subject: CostSubject, authorship: Authorship) {
        self.id = id
        self.subject = subject
        self.authorship = authorship
    }
}

/// A person's word on one agent task, for a while: no call of it or of the tasks below it goes, or it goes on whatever its
/// budget says.
public struct TaskRuling: Equatable, Sendable {
    public enum Verdict: Int, CaseIterable, Sendable, Hashable {
        case stop, lift

        public var name: String {
            switch self {
            case .stop: "stop"
            case .lift: "lift"
            }
        }
    }

    public var id: Int64
    public var name: TaskName
    public var verdict: Verdict
    public var authorship: Authorship

    public init(id: Int64 = 0, name: TaskName, verdict: Verdict, authorship: Authorship) {
        self.id = id
        self.name = name
        self.verdict = verdict
        self.authorship = authorship
    }
}

/// A change that waits for a person, or that a person has decided on: an approval (a change beyond the guardrails, an
/// override beyond its limits, or an import of contracts beyond its own) or a recommendation (a change in a pool that does not move by itself).
///
/// There is at most one pending per kind, tenant and pool: asking again updates it. Automation's are about a whole pool, for
/// ``allTenants``, with a change for each tenant that it would move: a pool has at most one of each kind.
public struct Proposal: Equatable, Sendable {
    public enum Kind: Int, CaseIterable, Sendable, Hashable {
        case guardrail, override, recommendation, contracts

        public var name: String {
            switch self {
            case .guardrail: "guardrail"
            case .override: "override"
            case .recommendation: "recommendation"
            case .contracts: "contracts"
            }
        }
    }

    public enum State: Int, CaseIterable, Sendable, Hashable {
        /// Approved is also applied, denied is also dismissed: what a recommendation calls it.
        case pending, approved, denied, expired

        public var name: String {
            switch self {
            case .pending: "pending"
            case .approved: "approved"
            case .denied: "denied"
            case .expired: "expired"
            }
        }
    }

    /// One tenant's assured rates, before and after.
    public struct Change: Equatable, Sendable {
        public var tenant: TenantID
        public var from: Rates
        public var to: Rates

        public init(tenant: TenantID, from: Rates, to: Rates) {
            self.tenant = tenant
            self.from = from
            self.to = to
        }
    }

    public var id: Int64
    public var kind: Kind
    /// The tenant of an override; else ``allTenants``.
    public var tenant: TenantID
    /// `nil` only for an override in all pools, and for an import of contracts.
    public var pool: PoolID?
    /// The changes that automation asks for, the largest first, at most ``maxChanges``. A person decides on all, or on those of
    /// named tenants.
    public var changes: [Change]
    /// So many of ``changes``, the first, are large enough to be named in lists (``GuardrailPolicy/moverShare``).
    public var movers: Int
    /// The reasons for it, in sentences with numbers and without names: a reader may not see all tenants.
    public var evidence: [String]
    /// What that changes for others, the largest first, as far as it is worth naming.
    public var effects: [Change]
    /// The override to be set, where ``kind`` is an override; its authorship is from the time of the approval.
    public var override: Override?
    /// The author, the reason, the time of asking, and when the question expires.
    public var authorship: Authorship
    public var state: State
    /// The decider, the reason, the time, and until when the decision holds: an approved change is in force, a denied
    /// one is not asked for again.
    public var decision: Authorship?
    /// Counts from 1 each time that what is asked for changes.
    public var revision: Int64 = 1
    /// The newest changes of it, ascending, at most ``maxRevisions``.
    public var revisions: [Revision] = []

    public init(
        id: Int64 = 0, kind: Kind, tenant: TenantID = Proposal.allTenants, pool: PoolID?, changes: [Change] = [],
        movers: Int = 0, evidence: [String] = [], effects: [Change] = [], override: Override? = nil,
        authorship: Authorship, state: State = .pending, decision: Authorship? = nil
    ) {
        self.id = id
        self.kind = kind
        self.tenant = tenant
        self.pool = pool
        self.changes = changes
        self.movers = movers
        self.evidence = evidence
        self.effects = effects
        self.override = override
        self.authorship = authorship
        self.state = state
        self.decision = decision
    }
}

extension Proposal {
    /// In place of a tenant where a question is about several. No tenant has this name.
    public static let allTenants = TenantID(unchecked: "*")

    /// More tenants are left for the next question, the smallest changes.
    public static let maxChanges = 5_000

    /// The same question about `tenants` alone; `nil` when it names none of them.
    public func limited(to tenants: Set<TenantID>) -> Proposal? {
        var part = self
        part.changes = changes.filter { tenants.contains($0.tenant) }
        part.movers = changes.prefix(movers).count { tenants.contains($0.tenant) }
        return part.changes.isEmpty ? nil : part
    }

    /// The part about `tenants`, and the others that go on waiting; `nil` when one of both is empty.
    public func divided(by tenants: Set<TenantID>) -> (part: Proposal, rest: Proposal)? {
        guard let part = limited(to: tenants),
            let rest = limited(to: Set(changes.map(\.tenant)).subtracting(tenants))
        else { return nil }
        return (part, rest)
    }

    /// The decision as an action of the audit log.
    public var decisionAction: String {
        switch (kind, state) {
        case (.recommendation, .approved): "recommendation.apply"
        case (.recommendation, _): "recommendation.dismiss"
        case (_, .approved): "approval.approve"
        default: "approval.deny"
        }
    }

    /// The action of the row that a decision on several tenants has for each of them, besides its own.
    public var tenantAction: String { decisionAction + AuditEntry.tenantSuffix }

    /// Why a person cannot decide on these tenants alone; `nil` when they can.
    public func refusal(naming tenants: Set<TenantID>) -> SteeringError? {
        guard !changes.isEmpty else {
            return SteeringError(.invalid, "\(id) is about one thing: leave the tenants out, and decide on the whole")
        }
        let unknown = tenants.subtracting(changes.map(\.tenant)).sorted().map(\.text)
        guard !tenants.isEmpty, unknown.isEmpty else {
            return SteeringError(
                .invalid,
                tenants.isEmpty
                    ? "name at least one tenant of \(id), or leave the tenants out to decide on all of them"
                    : "\(id) does not change \(unknown.prefix(5).joined(separator: ", ")); it may have been updated: read it again"
            )
        }
        return nil
    }

    /// The tenants that it would change, or its own.
    public var subjects: [TenantID] { changes.isEmpty ? [tenant] : changes.map(\.tenant) }

    /// Whether it is about a tenant that `isVisible`.
    public func concerns(_ isVisible: (TenantID) -> Bool) -> Bool { subjects.contains(where: isVisible) }
}
