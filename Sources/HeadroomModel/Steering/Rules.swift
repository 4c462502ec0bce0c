/// The business's wishes: the policy in force, the contracts, and people's steering of limited duration.
public struct Rules: Sendable {
    public var policy: Policy
    /// By tenant.
    public var contracts: [TenantID: Contract] {
        didSet { contractBudgets = Rules.budgets(contracts) }
    }
    public var steering: Steering {
        didSet { overrides = Rules.ranked(steering.overrides) }
    }
    /// The money that tenants whose use is priced may still spend.
    public var allowances: [TenantID: CostAllowance] = [:]
    /// Those whose spending the cost breaker holds back.
    public var costBreaks: [CostBreak] = []
    /// Agent tasks that are held back or lifted; ascending by name.
    public var heldTasks: [TaskTerms.Held] = []
    /// The faults of newer rules that were refused; `nil` while these are the newest.
    public var refusal: String?
    /// By tenant, the one that goes before the others first.
    private var overrides: [TenantID: [Override]]
    /// Of tasks, by contracts; ascending by tenant.
    private var contractBudgets: [TaskBudget]

    public init(
        policy: Policy, contracts: [TenantID: Contract] = [:], steering: Steering = .none, refusal: String? = nil
    ) {
        self.policy = policy
        self.contracts = contracts
        self.steering = steering
        self.refusal = refusal
        overrides = Rules.ranked(steering.overrides)
        contractBudgets = Rules.budgets(contracts)
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

    /// Of an agent task; `nil`: it has no budget. A contract's own go before the policy's.
    public func taskLimits(of tenant: TenantID, kind: String?, in pool: PoolID) -> TaskLimits? {
        let own = contracts[tenant]?.taskBudgets ?? []
        guard !own.isEmpty || !policy.taskBudgets.budgets.isEmpty else { return nil }
        let tier = tier(of: tenant, in: pool).name
        return own.limits(of: tenant, kind: kind, tier: tier)
            ?? policy.taskBudgets.budgets.limits(of: tenant, kind: kind, tier: tier)
    }

    /// What gateways hold agent tasks to.
    public func taskTerms(in pool: PoolPolicy) -> TaskTerms {
        // Without some of them a gateway would take later ones for those that hold.
        let isWhole = contractBudgets.count + policy.taskBudgets.budgets.count <= TaskTerms.maxBudgets
        var budgets = isWhole ? contractBudgets + policy.taskBudgets.budgets : []
        // Gateways know no prices.
        for index in budgets.indices { budgets[index].limits[.micros] = nil }
        return TaskTerms(
            requiresTask: pool.requiresTask ?? policy.taskBudgets.requiresTask, budgets: budgets, held: heldTasks)
    }

    /// What served use is charged at, in millionths; `nil`: it has no price in `currency`.
    public func micros(of call: CallRecord, in currency: String) -> Double? {
        micros(of: UseSums(call), of: call.tenant, in: call.pool, model: call.model, at: call.at, currency: currency)
    }

    public func micros(
        of sums: UseSums, of tenant: TenantID, in pool: PoolID, model: String?, at instant: Timestamp, currency: String
    ) -> Double? {
        let cost = CostReport.charge(
            sums, in: pool, model: model, at: instant, contract: contracts[tenant]?.cost,
            prices: policy.pool(pool)?.prices ?? [])
        return cost.currency == currency ? Double(cost.micros) : nil
    }

    private static func budgets(_ contracts: [TenantID: Contract]) -> [TaskBudget] {
        contracts.values.lazy.filter { !$0.taskBudgets.isEmpty }.sorted { $0.tenant < $1.tenant }
            .flatMap { contract in
                contract.taskBudgets.map { budget in
                    var own = budget
                    own.tenant = contract.tenant
                    return own
                }
            }
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
            costLifts: costLifts.filter { $0.authorship.holds(at: now) },
            taskRulings: taskRulings.filter { $0.authorship.holds(at: now) })
    }
}
