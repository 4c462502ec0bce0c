/// What agent tasks may use, counted over all gateways, and where calls have to name theirs.
public struct TaskBudgetPolicy: Equatable, Sendable {
    /// Limits of money are in this currency; use that is priced in another one counts for none.
    public var currency: String
    /// Calls in pools that do not say otherwise (``PoolPolicy/requiresTask``) have to name their task.
    public var requiresTask: Bool
    /// The first that fits a task holds; a contract's own go before them.
    public var budgets: [TaskBudget]

    public static let maxBudgets = 200
    /// Of one contract.
    public static let maxOfContract = 16

    public init(currency: String = "USD", requiresTask: Bool = false, budgets: [TaskBudget] = []) {
        self.currency = currency
        self.requiresTask = requiresTask
        self.budgets = budgets
    }
}
