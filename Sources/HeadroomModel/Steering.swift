/// What people have said, for as long as it holds: overrides, approvals, freezes, pinned capacities. None is permanent.
package struct Steering: Equatable, Sendable {
    /// Ascending by id, as all of these.
    package var overrides: [Override]
    package var freezes: [Freeze]
    package var pins: [CapacityPin]
    /// Pending ones, those whose decision still holds, and those denied not long ago.
    package var proposals: [Proposal]

    package static let none = Steering()

    package init(
        overrides: [Override] = [], freezes: [Freeze] = [], pins: [CapacityPin] = [], proposals: [Proposal] = []
    ) {
        self.overrides = overrides
        self.freezes = freezes
        self.pins = pins
        self.proposals = proposals
    }
}

/// Who said it, why, and from when until when it holds.
package struct Authorship: Equatable, Sendable {
    /// The name of a token; `headroom` for automation.
    package var author: String
    package var reason: String
    package var at: Timestamp
    package var until: Timestamp

    package static let automation = "headroom"

    package init(author: String, reason: String, at: Timestamp, until: Timestamp) {
        self.author = author
        self.reason = reason
        self.at = at
        self.until = until
    }

    package func holds(at now: Timestamp) -> Bool { at <= now && now < until }
}

/// Another tier, or another weight, for a tenant in one pool or in all.
///
/// Of several that hold at once one for the pool itself goes before one for all pools, and of the same kind the one
/// set last before the others: the tier and the weight are each taken from the first that names it.
package struct Override: Equatable, Sendable {
    package var id: Int64
    package var tenant: TenantID
    /// `nil`: in all pools.
    package var pool: PoolID?
    package var tier: String?
    /// In place of the tier's.
    package var weight: Double?
    package var authorship: Authorship

    package init(
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
package struct Freeze: Equatable, Sendable {
    package var id: Int64
    /// `nil`: all pools.
    package var pool: PoolID?
    /// What it keeps; `nil` keeps what is in force when it begins.
    package var generation: Int64?
    /// The old generation's pools, where ``generation`` is not `nil`.
    package var numbers: [PoolAllocation]
    package var authorship: Authorship

    package init(
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
package struct CapacityPin: Equatable, Sendable {
    package var pool: PoolID
    /// Resources that it does not name are estimated as ever.
    package var capacity: Rates
    package var authorship: Authorship

    package init(pool: PoolID, capacity: Rates, authorship: Authorship) {
        self.pool = pool
        self.capacity = capacity
        self.authorship = authorship
    }
}

/// A change that waits for a person, or that a person has decided on: an approval (a change beyond the guardrails, or
/// an override beyond its limits) or a recommendation (a change in a pool that does not move by itself).
///
/// There is at most one pending per kind, tenant and pool: asking again updates it.
package struct Proposal: Equatable, Sendable {
    package enum Kind: Int, CaseIterable, Sendable, Hashable {
        case guardrail, override, recommendation

        package var name: String {
            switch self {
            case .guardrail: "guardrail"
            case .override: "override"
            case .recommendation: "recommendation"
            }
        }
    }

    package enum State: Int, CaseIterable, Sendable, Hashable {
        /// Approved is also applied, denied is also dismissed: what a recommendation calls it.
        case pending, approved, denied, expired

        package var name: String {
            switch self {
            case .pending: "pending"
            case .approved: "approved"
            case .denied: "denied"
            case .expired: "expired"
            }
        }
    }

    /// What it would do to another tenant of the pool.
    package struct Effect: Equatable, Sendable {
        package var tenant: TenantID
        package var from: Rates
        package var to: Rates

        package init(tenant: TenantID, from: Rates, to: Rates) {
            self.tenant = tenant
            self.from = from
            self.to = to
        }
    }

    package var id: Int64
    package var kind: Kind
    package var tenant: TenantID
    /// `nil` only for an override in all pools.
    package var pool: PoolID?
    package var from: Rates
    package var to: Rates
    /// What led to it, in sentences with numbers.
    package var evidence: [String]
    /// Tenants that it changes, ascending.
    package var effects: [Effect]
    /// What is to be set, where ``kind`` is an override; its authorship is from the time of the approval.
    package var override: Override?
    /// Who asks, why, since when, and when the question expires.
    package var authorship: Authorship
    package var state: State
    /// Who decided, why, when, and until when the decision holds: an approved change is in force, a denied one is not
    /// asked for again.
    package var decision: Authorship?

    package init(
        id: Int64 = 0, kind: Kind, tenant: TenantID, pool: PoolID?, from: Rates = .none, to: Rates = .none,
        evidence: [String] = [], effects: [Effect] = [], override: Override? = nil, authorship: Authorship,
        state: State = .pending, decision: Authorship? = nil
    ) {
        self.id = id
        self.kind = kind
        self.tenant = tenant
        self.pool = pool
        self.from = from
        self.to = to
        self.evidence = evidence
        self.effects = effects
        self.override = override
        self.authorship = authorship
        self.state = state
        self.decision = decision
    }
}
