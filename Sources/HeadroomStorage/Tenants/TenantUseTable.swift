import HeadroomModel

/// The daily use of tenants whose use is priced.
struct TenantUseTable {
    /// Of use that no period reaches back to.
    private static let keptDays: Int64 = 62

    let connection: SQLConnection

    /// Ascending by day, tenant and pool.
    func all(since day: Int64) throws(StorageError) -> [TenantUse] {
        var uses: [TenantUse] = []
        try connection.statement(TenantUseTable.select).bind(":day", day).forEachRow { row in
            uses.append(
                TenantUse(
                    tenant: TenantID(unchecked: row.text(1)), pool: PoolID(unchecked: row.text(2)),
                    day: row.integer(0), requests: row.integer(3), inputTokens: row.integer(4),
                    cachedInputTokens: row.integer(6), outputTokens: row.integer(5)))
        }
        return uses
    }

    /// Inside a transaction.
    func add(_ use: TenantUse) throws(StorageError) {
        try connection.statement(TenantUseTable.upsert)
            .bind(":day", use.day).bind(":tenant", use.tenant.text).bind(":pool", use.pool.text)
            .bind(":requests", use.requests).bind(":input_tokens", use.inputTokens)
            .bind(":cached_input_tokens", use.cachedInputTokens).bind(":output_tokens", use.outputTokens).run()
    }

    /// There are days for ``prune(at:)`` to delete.
    func hasPast(at now: Timestamp) throws(StorageError) -> Bool {
        try connection.statement("SELECT 1 FROM tenant_use WHERE day < :day LIMIT 1")
            .bind(":day", now.day - TenantUseTable.keptDays).first { _ in true } ?? false
    }

    /// Inside a transaction.
    func prune(at now: Timestamp) throws(StorageError) {
        try connection.statement("DELETE FROM tenant_use WHERE day < :day")
            .bind(":day", now.day - TenantUseTable.keptDays).run()
    }

    private static let select: StaticString = """
        SELECT day, tenant, pool, requests, input_tokens, output_tokens, cached_input_tokens FROM tenant_use
        WHERE day >= :day ORDER BY day, tenant, pool
        """
    private static let upsert: StaticString = """
        INSERT INTO tenant_use (day, tenant, pool, requests, input_tokens, cached_input_tokens, output_tokens)
        VALUES (:day, :tenant, :pool, :requests, :input_tokens, :cached_input_tokens, :output_tokens)
        ON CONFLICT (day, tenant, pool) DO UPDATE SET requests = tenant_use.requests + excluded.requests,
            input_tokens = tenant_use.input_tokens + excluded.input_tokens,
            cached_input_tokens = tenant_use.cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = tenant_use.output_tokens + excluded.output_tokens
        """
}
