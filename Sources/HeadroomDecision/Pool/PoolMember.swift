import HeadroomModel

/// What a pool knows of one tenant from one decision to the next, as far as every decision reads it: the rest stands
/// in columns beside it, so that a loop over all tenants streams what it needs and nothing else.
///
/// Shares are dominant shares of the pool's *nominal* capacity: they mean the same whatever the upstream grants just now
/// and however the tenant's mean request changes. Activities are shares over ``nominalCost``.
struct PoolMember: Sendable {
    /// Where it stands in the list of demands of this tick; `nil` when it has not been heard of.
    var demandIndex: Int?
    /// It has terms in the pool, and so a place, whether it is heard of or not.
    var isContracted = false

    /// What one unit of its activity costs: its mean request. Held until the mean has moved by a quarter, so that the
    /// rates of one who neither rises nor falls stay the numbers they are.
    var unit = Rates.none
    /// The part of nominal capacity that one unit takes.
    var nominalCost = 0.0

    /// As estimated, and as counted.
    var demand = 0.0
    var credibleDemand = 0.0
    /// 1 when nothing is left of the cold start.
    var trust = 1.0
    /// The most that it consumed during the cold start, less by the half-life of demand: who calls now and then has
    /// not lost what it proved when nothing of it is under way.
    var proven = 0.0

    /// In force; without a burst.
    var share = 0.0
    var isNew = true
    /// What is published of it besides its rate must be written anew.
    var isRewritten = true
    /// The mean over the observation window of the part of its target that it needs: without room to grow.
    var needed = 0.0
    var course: Course
    /// When its number was last explained.
    var toldAt: Timestamp
    /// The last move of more than a hundredth, for whatever reason: 1 up, -1 down.
    var lastMove = 0.0

    init(at clock: ObservationClock) {
        course = Course(at: clock.now)
        toldAt = clock.now
    }

    @inline(__always)
    var activity: Double { nominalCost > 0 ? share / nominalCost : 0 }

    /// Follows the tenant's mean request, once it lies far enough from the one in use. Returns true when it moved.
    mutating func follow(_ mean: Rates) -> Bool {
        guard mean.perMinute != .zero else { return false }
        guard unit.resources == mean.resources else {
            unit = mean
            return true
        }
        let few = SIMD4(repeating: 1e-6)
        let ratios = mean.perMinute.raised(to: few) / unit.perMinute.raised(to: few)
        var (least, most) = (Double.infinity, 0.0)
        for resource in mean.resources.members {
            least = min(least, ratios[resource.rawValue])
            most = max(most, ratios[resource.rawValue])
        }
        guard most > 1.25 * least else { return false }
        unit = mean
        return true
    }
}

/// What a pool observes of one tenant.
struct MemberWindows: Sendable {
    /// Of its target …
    var target = ObservationWindow()
    /// … and of the part of the target that it needs.
    var needs = ObservationWindow()
    private let since: Timestamp

    init(at clock: ObservationClock) {
        since = clock.now.adding(seconds: -clock.elapsed)
    }

    /// How much of the observation window it has been here.
    func seconds(at clock: borrowing ObservationClock) -> Double {
        min(clock.observed, clock.now.seconds(since: since))
    }
}

/// What the rules say of one tenant in one pool.
struct MemberTerms: Sendable {
    var tier: String
    /// Its place among the policy's tiers.
    var rank: Int
    var weight: Double
    var floor: Rates
    /// Of its contract or its tier. Whole, so that no rounding of what is below it ends above it.
    var contractCeiling: Rates
    /// What its money buys, and how that came about; `nil` where its use costs nothing.
    var costCeiling: Rates?
    var cost: Explanation.CostFacts?
    /// The lower of both.
    var ceiling: Rates
    /// The override that set tier or weight.
    var override: Int64?

    init(of tenant: TenantID, in pool: PoolPolicy, under rules: Rules) {
        let tier = rules.tier(of: tenant, in: pool.pool)
        let terms = rules.terms(of: tenant, in: pool.pool)
        self.tier = tier.name
        rank = rules.policy.tiers.firstIndex { $0.name == tier.name } ?? 0
        weight = rules.weight(of: tenant, in: pool.pool)
        floor = (terms?.floor ?? .none).limited(to: pool.nominal.resources)
        let tierCeiling = tier.ceilingShare.map { pool.nominal * $0 } ?? .none
        contractCeiling = Rates.least(terms?.ceiling ?? .none, tierCeiling).map { $1.rounded(.down) }
        ceiling = contractCeiling
        override = rules.override(of: tenant, in: pool.pool)?.id
    }
}

/// What members' terms follow from: while it is the same, nobody's terms are looked up again.
struct MembershipRules: Sendable {
    private var policy: Policy
    private var contracts: [TenantID: Contract]
    private var overrides: [Override]
    /// Tenants with terms in the pool, ascending.
    let contracted: [TenantID]

    init(_ rules: Rules, for pool: PoolPolicy) {
        policy = rules.policy
        contracts = rules.contracts
        overrides = rules.steering.overrides
        contracted = rules.contracts.values.filter { contract in
            contract.terms.contains { $0.pool == pool.pool }
        }.map(\.tenant).sorted()
    }

    /// Cheap where nothing was read anew: equal storage is equal.
    func areStill(_ rules: Rules) -> Bool {
        overrides == rules.steering.overrides && contracts == rules.contracts && policy == rules.policy
    }
}
