import HeadroomModel

/// The table `call_window`.
struct WindowTable {
    private let insert: SQLStatement

    init(connection: SQLConnection) throws(StorageError) {
        insert = try connection.statement(WindowTable.insertRow)
    }

    func add(_ window: WindowRecord, gateway: Int64, tenant: Int64, pool: Int64) throws(StorageError) {
        try insert
            .bind(":start_ms", window.start.milliseconds)
            .bind(":duration_s", window.seconds)
            .bind(":gateway_id", gateway)
            .bind(":tenant_id", tenant)
            .bind(":pool_id", pool)
            .bind(":criticality", Int64(window.criticality.rawValue))
            .bind(":requests", window.requests)
            .bind(":ok", window.ok)
            .bind(":quota", window.quota)
            .bind(":overload", window.overload)
            .bind(":error", window.error)
            .bind(":retries", window.retries)
            .bind(":denied", window.denied)
            .bind(":denied_tokens", window.deniedTokens)
            .bind(":input_tokens", window.inputTokens)
            .bind(":output_tokens", window.outputTokens)
            .bind(":latency_count", window.latency?.count)
            .bind(":latency_p50_ms", window.latency?.p50Milliseconds)
            .bind(":latency_p95_ms", window.latency?.p95Milliseconds)
            .bind(":latency_p99_ms", window.latency?.p99Milliseconds)
            .runLater()
    }

    static func record(_ row: SQLStatement, names: NameReader) throws(StorageError) -> WindowRecord {
        WindowRecord(
            start: Timestamp(milliseconds: row.integer(1)),
            seconds: row.double(2),
            gateway: GatewayID(unchecked: try names.text(row.integer(3))),
            tenant: TenantID(unchecked: try names.text(row.integer(4))),
            pool: PoolID(unchecked: try names.text(row.integer(5))),
            criticality: try row.value(6),
            requests: row.integer(7),
            ok: row.integer(8),
            quota: row.integer(9),
            overload: row.integer(10),
            error: row.integer(11),
            retries: row.integer(12),
            denied: row.integer(13),
            deniedTokens: row.integer(14),
            inputTokens: row.integer(15),
            outputTokens: row.integer(16),
            latency: row.optionalInteger(17).map { count in
                WindowRecord.Latency(
                    count: count, p50Milliseconds: row.double(18), p95Milliseconds: row.double(19),
                    p99Milliseconds: row.double(20))
            })
    }

    static let selectRows: StaticString = """
        SELECT id, start_ms, duration_s, gateway_id, tenant_id, pool_id, criticality, requests, ok, quota, overload,
            error, retries, denied, denied_tokens, input_tokens, output_tokens, latency_count, latency_p50_ms,
            latency_p95_ms, latency_p99_ms
        FROM call_window WHERE id > :after ORDER BY id LIMIT :limit
        """

    private static let insertRow: StaticString = """
        INSERT INTO call_window (start_ms, duration_s, gateway_id, tenant_id, pool_id, criticality, requests, ok,
            quota, overload, error, retries, denied, denied_tokens, input_tokens, output_tokens, latency_count,
            latency_p50_ms, latency_p95_ms, latency_p99_ms)
        VALUES (:start_ms, :duration_s, :gateway_id, :tenant_id, :pool_id, :criticality, :requests, :ok,
            :quota, :overload, :error, :retries, :denied, :denied_tokens, :input_tokens, :output_tokens, :latency_count,
            :latency_p50_ms, :latency_p95_ms, :latency_p99_ms)
        """
}
