import HeadroomModel

/// The task budgets of contracts.
struct ContractTaskBudgetTable {
    let connection: SQLConnection

    func all() throws(StorageError) -> [TenantID: [TaskBudget]] {
        var budgets: [TenantID: [TaskBudget]] = [:]
        try connection.statement(ContractTaskBudgetTable.select).forEachRow { row in
            budgets[TenantID(unchecked: row.text(0)), default: []].append(
                TaskBudget(
                    taskKind: row.optionalText(1),
                    limits: TaskLimits(
                        calls: row.optionalInteger(2), iterations: row.optionalInteger(3),
                        tokens: row.optionalInteger(4), micros: row.optionalInteger(5), fanOut: row.optionalInteger(6),
                        seconds: row.optionalInteger(7))))
        }
        return budgets
    }

    /// Inside a transaction; the tenant has a contract, and none of these rows.
    func insert(_ budgets: [TaskBudget], of tenant: TenantID) throws(StorageError) {
        for (place, budget) in budgets.enumerated() {
            try connection.statement(ContractTaskBudgetTable.insert)
                .bind(":tenant", tenant.text).bind(":place", Int64(place)).bind(":task_kind", budget.taskKind)
                .bind(":calls", budget.limits[.calls]).bind(":iterations", budget.limits[.iterations])
                .bind(":tokens", budget.limits[.tokens]).bind(":micros", budget.limits[.micros])
                .bind(":fan_out", budget.limits[.fanOut]).bind(":seconds", budget.limits[.seconds]).run()
        }
    }

    private static let select: StaticString = """
        SELECT tenant, task_kind, calls, iterations, tokens, micros, fan_out, seconds
        FROM contract_task_budget ORDER BY tenant, place
        """
    private static let insert: StaticString = """
        INSERT INTO contract_task_budget (tenant, place, task_kind, calls, iterations, tokens, micros, fan_out, seconds)
        VALUES (:tenant, :place, :task_kind, :calls, :iterations, :tokens, :micros, :fan_out, :seconds)
        """
}
