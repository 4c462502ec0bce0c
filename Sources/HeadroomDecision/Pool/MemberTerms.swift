import HeadroomModel

/// The rules' terms for one tenant in one pool.
struct MemberTerms: Sendable {
    var tier: String
    /// Its place among the policy's tiers.
    var rank: Int
    var weight: Double
    var floor: Rates
    /// Of its contract or its tier. Whole, so that no rounding of what is below it ends above it.
    var contractCeiling: Rates
    /// The rates that its money buys, and how that came about; `nil` where its use costs nothing.
    var costCeiling: Rates?
    var cost: Explanation.CostFacts?
    /// What the cost breaker leaves it, and why; `nil` where it does not hold it.
    var breakerCeiling: Rates?
    var breaker: CostBreak?
    /// The lowest of all.
    var ceiling: Rates
    /// Nothing but its tier bounds it: what nobody else has work for may be lent beyond.
    var hasSoftCeiling: Bool { hasTierCeilingOnly && costCeiling == nil && breakerCeiling == nil }
    private let hasTierCeilingOnly: Bool
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
        hasTierCeilingOnly = !tierCeiling.isEmpty && terms?.ceiling.isEmpty ?? true
        override = rules.override(of: tenant, in: pool.pool)?.id
    }
}

/// The rules that members' terms follow from: while they are the same, no terms are looked up again.
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
