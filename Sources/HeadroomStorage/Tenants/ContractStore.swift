import HeadroomModel

/// Tenants' contracts: each change and its row in the audit log are one transaction.
package actor ContractStore {
    let connection: SQLConnection
    let audit: AuditLog

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection) {
        self.connection = connection
        audit = AuditLog(connection: connection)
    }

    /// Ascending by tenant.
    package func all() throws(StorageError) -> [Contract] {
        var contracts: [Contract] = []
        try connection.statement(ContractStore.selectAll).forEachRow { row in
            let tenant = TenantID(unchecked: row.text(0))
            if contracts.last?.tenant != tenant {
                contracts.append(
                    Contract(tenant: tenant, tier: row.optionalText(1), isStrategic: row.integer(2) != 0))
            }
            guard let pool = row.optionalText(3) else { return }
            contracts[contracts.count - 1].terms.append(
                Contract.Terms(
                    pool: PoolID(unchecked: pool), floor: row.rates(firstColumn: 4),
                    ceiling: row.rates(firstColumn: 8)))
        }
        let costs = try ContractCostTable(connection: connection).all()
        if !costs.isEmpty {
            for index in contracts.indices { contracts[index].cost = costs[contracts[index].tenant] }
        }
        let budgets = try ContractTaskBudgetTable(connection: connection).all()
        if !budgets.isEmpty {
            for index in contracts.indices { contracts[index].taskBudgets = budgets[contracts[index].tenant] ?? [] }
        }
        return contracts
    }

    /// Differs from an earlier value if a contract has changed since, here or in another process: read ``all()`` again
    /// then.
    package func changeCounter() throws(StorageError) -> Int64 {
        try ChangeCounter.contracts.read(connection)
    }

    /// Inside a transaction; the tenant has no contract.
    func insert(_ contract: Contract, at now: Timestamp) throws(StorageError) {
        try connection.statement(ContractStore.insertContract)
            .bind(":tenant", contract.tenant.text)
            .bind(":tier", contract.tier)
            .bind(":is_strategic", contract.isStrategic ? 1 : 0 as Int64)
            .bind(":imported_at_ms", now.milliseconds)
            .run()
        for terms in contract.terms { try insert(terms, of: contract.tenant) }
        if let cost = contract.cost {
            try ContractCostTable(connection: connection).insert(cost, of: contract.tenant)
        }
        try ContractTaskBudgetTable(connection: connection).insert(contract.taskBudgets, of: contract.tenant)
    }

    private func insert(_ terms: Contract.Terms, of tenant: TenantID) throws(StorageError) {
        try connection.statement(ContractStore.insertTerms)
            .bind(":tenant", tenant.text)
            .bind(":pool", terms.pool.text)
            .bind(":floor_requests", terms.floor[.requests])
            .bind(":floor_tokens", terms.floor[.tokens])
            .bind(":floor_input_tokens", terms.floor[.inputTokens])
            .bind(":floor_output_tokens", terms.floor[.outputTokens])
            .bind(":ceiling_requests", terms.ceiling[.requests])
            .bind(":ceiling_tokens", terms.ceiling[.tokens])
            .bind(":ceiling_input_tokens", terms.ceiling[.inputTokens])
            .bind(":ceiling_output_tokens", terms.ceiling[.outputTokens])
            .run()
    }

    private static let insertContract: StaticString = """
        INSERT INTO contract (tenant, tier, is_strategic, imported_at_ms)
        VALUES (:tenant, :tier, :is_strategic, :imported_at_ms)
        """

    private static let insertTerms: StaticString = """
        INSERT INTO commitment (tenant, pool, floor_requests_per_minute, floor_tokens_per_minute,
            floor_input_tokens_per_minute, floor_output_tokens_per_minute, ceiling_requests_per_minute,
            ceiling_tokens_per_minute, ceiling_input_tokens_per_minute, ceiling_output_tokens_per_minute)
        VALUES (:tenant, :pool, :floor_requests, :floor_tokens, :floor_input_tokens, :floor_output_tokens,
            :ceiling_requests, :ceiling_tokens, :ceiling_input_tokens, :ceiling_output_tokens)
        """

    private static let selectAll: StaticString = """
        SELECT contract.tenant, tier, is_strategic, pool,
            floor_requests_per_minute, floor_tokens_per_minute,
            floor_input_tokens_per_minute, floor_output_tokens_per_minute,
            ceiling_requests_per_minute, ceiling_tokens_per_minute,
            ceiling_input_tokens_per_minute, ceiling_output_tokens_per_minute
        FROM contract LEFT JOIN commitment USING (tenant) ORDER BY contract.tenant, pool
        """
}
