/// A tenant's purchase: its tier, its guarantees and ceilings per pool, and the cost ceiling of its use.
public struct Contract: Equatable, Sendable {
    /// The tenant's terms in one pool.
    public struct Terms: Equatable, Sendable {
        public var pool: PoolID
        /// Least that it gets while the pool can cover all floors; absent is 0.
        public var floor: Rates
        /// Most that it may get; absent is the tier's.
        public var ceiling: Rates

        public init(pool: PoolID, floor: Rates = .none, ceiling: Rates = .none) {
            self.pool = pool
            self.floor = floor
            self.ceiling = ceiling
        }
    }

    public var tenant: TenantID
    /// A tier of the policy; `nil` is the policy's default tier.
    public var tier: String?
    /// Its weight is multiplied by the policy's factor.
    public var isStrategic: Bool
    /// Ascending by pool.
    public var terms: [Terms]
    /// `nil`: what it uses is not priced here.
    public var cost: CostTerms?
    /// What its agent tasks may use: the first that fits holds, before the policy's. None names a tenant.
    public var taskBudgets: [TaskBudget]

    public init(
        tenant: TenantID, tier: String? = nil, isStrategic: Bool = false, terms: [Terms] = [], cost: CostTerms? = nil,
        taskBudgets: [TaskBudget] = []
    ) {
        self.tenant = tenant
        self.tier = tier
        self.isStrategic = isStrategic
        self.terms = terms
        self.cost = cost
        self.taskBudgets = taskBudgets
    }
}
