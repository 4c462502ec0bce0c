import HeadroomModel

/// The money terms of contracts.
struct ContractCostTable {
    let connection: SQLConnection

    func all() throws(StorageError) -> [TenantID: CostTerms] {
        var prices: [TenantID: [CostTerms.Price]] = [:]
        try connection.statement(ContractCostTable.selectPrices).forEachRow { row in
            prices[TenantID(unchecked: row.text(0)), default: []].append(
                CostTerms.Price(
                    pool: row.text(1).isEmpty ? nil : PoolID(unchecked: row.text(1)),
                    perMillionInputTokens: row.integer(2), perMillionCachedInputTokens: row.optionalInteger(5),
                    perMillionOutputTokens: row.integer(3), perRequest: row.integer(4)))
        }
        var costs: [TenantID: CostTerms] = [:]
        try connection.statement(ContractCostTable.selectCosts).forEachRow { row in
            guard let period = CostTerms.Period(rawValue: Int(row.integer(2))) else {
                throw StorageError(code: .corrupt, message: "a contract has the cost period \(row.integer(2))")
            }
            let tenant = TenantID(unchecked: row.text(0))
            costs[tenant] = CostTerms(
                currency: row.text(1), period: period, most: row.integer(3), prices: prices[tenant] ?? [])
        }
        return costs
    }

    /// Inside a transaction; the tenant has a contract, and none of these rows.
    func insert(_ cost: CostTerms, of tenant: TenantID) throws(StorageError) {
        try connection.statement(ContractCostTable.insertCost)
            .bind(":tenant", tenant.text).bind(":currency", cost.currency)
            .bind(":period", Int64(cost.period.rawValue)).bind(":most_micros", cost.most).run()
        for price in cost.prices {
            try connection.statement(ContractCostTable.insertPrice)
                .bind(":tenant", tenant.text).bind(":pool", price.pool?.text ?? "")
                .bind(":input", price.perMillionInputTokens).bind(":output", price.perMillionOutputTokens)
                .bind(":cached", price.perMillionCachedInputTokens).bind(":request", price.perRequest).run()
        }
    }

    private static let selectPrices: StaticString = """
        SELECT tenant, pool, input_micros_per_million, output_micros_per_million, request_micros,
            cached_input_micros_per_million
        FROM contract_price
        """
    private static let selectCosts: StaticString = "SELECT tenant, currency, period, most_micros FROM contract_cost"
    private static let insertCost: StaticString = """
        INSERT INTO contract_cost (tenant, currency, period, most_micros)
        VALUES (:tenant, :currency, :period, :most_micros)
        """
    private static let insertPrice: StaticString = """
        INSERT INTO contract_price (tenant, pool, input_micros_per_million, cached_input_micros_per_million,
            output_micros_per_million, request_micros)
        VALUES (:tenant, :pool, :input, :cached, :output, :request)
        """
}
