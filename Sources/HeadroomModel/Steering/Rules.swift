/// The business's wishes: the policy in force, the contracts, and people's steering of limited duration.
public struct Rules: Sendable {
    public var policy: Policy
    /// By tenant.
    public var contracts: [TenantID: Contract]
    public var steering: Steering {
        didSet { overrides = Rules.ranked(steering.overrides) }
    }
    /// The money that tenants whose use is priced may still spend.
    public var allowances: [TenantID: CostAllowance] = [:]
    /// Those whose spending the cost breaker holds back.
    public var costBreaks: [CostBreak] = []
    /// The faults of newer rules that were refused; `nil` while these are the newest.
    public var refusal: String?
    /// By tenant, the one that goes before the others first.
    private var overrides: [TenantID: [Override]]

    public init(
        policy: Policy, contracts: [TenantID: Contract] = [:], steering: Steering = .none, refusal: String? = nil
    ) {
        self.policy = policy
        self.contracts = contracts
        self.steering = steering
        self.refusal = refusal
        overrides = Rules.ranked(steering.overrides)
    }

    /// Without what people said that does not hold at `now`: a tick goes by what is left.
    public func holding(at now: Timestamp) -> Rules {
        var rules = self
        rules.steering = steering.holding(at: now)
        return rules
    }

    /// The contract's, whatever overrides say.
    public func contractTier(of tenant: TenantID) -> TierPolicy {
        let named = contracts[tenant]?.tier.flatMap(policy.tier(named:))
        // A policy is checked to know its default tier, and to have at least one.
        return named ?? policy.tier(named: policy.defaultTier) ?? policy.tiers[0]
    }

    public func tier(of tenant: TenantID, in pool: PoolID) -> TierPolicy {
        guard !overrides.isEmpty else { return contractTier(of: tenant) }
        let named = override(of: tenant, in: pool, naming: \.tier)?.tier
        return named.flatMap(policy.tier(named:)) ?? contractTier(of: tenant)
    }

    /// The override's, or the tier's; times the policy's factor for a strategic account.
    public func weight(of tenant: TenantID, in pool: PoolID) -> Double {
        let factor = contracts[tenant]?.isStrategic == true ? policy.strategicFactor : 1
        let overridden = overrides.isEmpty ? nil : override(of: tenant, in: pool, naming: \.weight)?.weight
        return (overridden ?? tier(of: tenant, in: pool).weight) * factor
    }

    /// The override that goes before all others of the tenant in the pool; `nil` without.
    public func override(of tenant: TenantID, in pool: PoolID) -> Override? {
        override(of: tenant, in: pool, naming: \.self)
    }

    public func terms(of tenant: TenantID, in pool: PoolID) -> Contract.Terms? {
        contracts[tenant]?.terms.first { $0.pool == pool }
    }

    private func override<Value>(
        of tenant: TenantID, in pool: PoolID, naming value: (Override) -> Value?
    ) -> Override? {
        overrides[tenant]?.first { ($0.pool ?? pool) == pool && value($0) != nil }
    }

    private static func ranked(_ overrides: [Override]) -> [TenantID: [Override]] {
        Dictionary(grouping: overrides, by: \.tenant).mapValues { group in
            group.sorted { left, right in
                if (left.pool == nil) != (right.pool == nil) { return left.pool != nil }
                return left.id > right.id
            }
        }
    }
}

extension Steering {
    /// Without what does not hold at `now`.
    public func holding(at now: Timestamp) -> Steering {
        Steering(
            overrides: overrides.filter { $0.authorship.holds(at: now) },
            freezes: freezes.filter { $0.authorship.holds(at: now) },
            pins: pins.filter { $0.authorship.holds(at: now) },
            proposals: proposals.filter { ($0.decision ?? $0.authorship).holds(at: now) },
            costLifts: costLifts.filter { $0.authorship.holds(at: now) })
    }
}
