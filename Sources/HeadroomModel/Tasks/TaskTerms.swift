/// Limits for the tasks of a kind, of a tenant or of a tier: what is `nil` fits all.
public struct TaskBudget: Hashable, Sendable {
    public var taskKind: String?
    public var tenant: TenantID?
    public var tier: String?
    public var limits: TaskLimits

    /// Characters of a kind's name.
    public static let maxKindCharacters = CostSubject.maxKindCharacters

    /// In the words of an error message.
    public static let needsLimit =
        "must state at least one of " + TaskMeasure.allCases.map(\.name).joined(separator: ", ")

    public init(
        taskKind: String? = nil, tenant: TenantID? = nil, tier: String? = nil, limits: TaskLimits = TaskLimits()
    ) {
        self.taskKind = taskKind
        self.tenant = tenant
        self.tier = tier
        self.limits = limits
    }

    /// All tasks that `other` fits, this one fits.
    public func covers(_ other: TaskBudget) -> Bool {
        (taskKind == nil || taskKind == other.taskKind) && (tenant == nil || tenant == other.tenant)
            && (tier == nil || tier == other.tier)
    }
}

extension [TaskBudget] {
    /// The first that fits holds, whole: `nil` where none does, or where it depends on a tier that is not known.
    public func limits(of tenant: TenantID, kind: String?, tier: String?) -> TaskLimits? {
        for budget in self {
            guard budget.tenant == nil || budget.tenant == tenant, budget.taskKind == nil || budget.taskKind == kind
            else { continue }
            if let wanted = budget.tier {
                guard let tier else { return nil }
                if wanted != tier { continue }
            }
            return budget.limits
        }
        return nil
    }
}

/// What gateways hold agent tasks to in a pool: a part of its allocation.
public struct TaskTerms: Equatable, Sendable {
    /// What Headroom makes of one task, over all gateways. One that is not held back is named so that a gateway that has not
    /// seen it takes it for no new one.
    public struct Held: Equatable, Sendable {
        public var name: TaskName
        /// With all tasks below it.
        public var hold: TaskHold
        /// Its own calls only, where they are held back further: the rounds of its loop are used up.
        public var ownHold: TaskHold
        /// It is money that the task has used up.
        public var isCost: Bool
        /// It has started all the tasks that it may start itself.
        public var isFull: Bool
        /// A person lets the task go on beyond its own limits.
        public var isLifted: Bool

        public init(
            _ name: TaskName, _ hold: TaskHold, ownHold: TaskHold = .nothing, isCost: Bool = false,
            isFull: Bool = false, isLifted: Bool = false
        ) {
            self.name = name
            self.hold = hold
            self.ownHold = max(hold, ownHold)
            self.isCost = isCost
            self.isFull = isFull
            self.isLifted = isLifted
        }
    }

    /// Calls that name no task do not go.
    public var requiresTask = false
    /// The first that fits a task holds. Without money: gateways know no prices.
    public var budgets: [TaskBudget] = []
    /// Ascending by name.
    public var held: [Held] = []

    /// Of ``held``: more are left out, those that are held back least first.
    public static let maxHeld = 1_000
    /// Of ``budgets``: where there are more, gateways have none of them, and what Headroom counts holds alone.
    public static let maxBudgets = 1_000

    public init(requiresTask: Bool = false, budgets: [TaskBudget] = [], held: [Held] = []) {
        self.requiresTask = requiresTask
        self.budgets = budgets
        self.held = held
    }

    public var isEmpty: Bool { !requiresTask && budgets.isEmpty && held.isEmpty }

    /// What concerns `tenants`.
    public func limited(to tenants: Set<TenantID>) -> TaskTerms {
        TaskTerms(
            requiresTask: requiresTask, budgets: budgets.filter { $0.tenant.map(tenants.contains) ?? true },
            held: held.filter { tenants.contains($0.name.tenant) })
    }
}
