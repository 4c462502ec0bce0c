import HeadroomModel

/// How long a time one row sums up; the raw value is the column `span_s`.
package enum RollupSpan: Int64, CaseIterable, Sendable {
    case minute = 60
    case hour = 3600

    package var milliseconds: Int64 { rawValue * 1000 }

    /// The start of the one that `instant` lies in, also before 1970.
    package func start(of instant: Timestamp) -> Timestamp {
        let remainder = instant.milliseconds % milliseconds
        return Timestamp(
            milliseconds: instant.milliseconds - (remainder < 0 ? remainder + milliseconds : remainder))
    }
}

/// Adds to the rows of `rollup`, each of which has twenty parameters: their places are looked up once.
struct RollupTable {
    private let upsert: SQLiteStatement
    private let key: [SQLiteStatement.Parameter]
    private let counts: [SQLiteStatement.Parameter]
    private let amounts: [SQLiteStatement.Parameter]

    init(connection: SQLiteConnection) throws(StorageError) {
        let upsert = try connection.statement(RollupTable.upsertRow)
        self.upsert = upsert
        let keyNames: [StaticString] = [":span_s", ":pool_id", ":start_ms", ":tenant_id", ":criticality"]
        let countNames: [StaticString] = [
            ":ok", ":quota", ":overload", ":error", ":retries", ":denied", ":denied_tokens", ":input_tokens",
            ":output_tokens", ":counted_tokens",
        ]
        let amountNames: [StaticString] = [
            ":demand_tokens", ":assured_tokens", ":starved_for_delivery_s", ":starved_for_shortage_s",
            ":oldest_queued_s",
        ]
        key = keyNames.map(upsert.parameter)
        counts = countNames.map(upsert.parameter)
        amounts = amountNames.map(upsert.parameter)
    }

    func add(_ rollup: Rollup, to span: RollupSpan, tenant: Int64, pool: Int64) throws(StorageError) {
        bind(key[0], span.rawValue)
        bind(key[1], pool)
        bind(key[2], span.start(of: rollup.start).milliseconds)
        bind(key[3], tenant)
        bind(key[4], Int64(rollup.criticality.rawValue))
        bind(counts[0], rollup.ok)
        bind(counts[1], rollup.quota)
        bind(counts[2], rollup.overload)
        bind(counts[3], rollup.error)
        bind(counts[4], rollup.retries)
        bind(counts[5], rollup.denied)
        bind(counts[6], rollup.deniedTokens)
        bind(counts[7], rollup.inputTokens)
        bind(counts[8], rollup.outputTokens)
        bind(counts[9], rollup.countedTokens)
        bind(amounts[0], rollup.demandTokens)
        bind(amounts[1], rollup.assuredTokens)
        bind(amounts[2], rollup.starvedForDeliverySeconds)
        bind(amounts[3], rollup.starvedForShortageSeconds)
        bind(amounts[4], rollup.oldestQueuedSeconds)
        try upsert.run()
    }

    private func bind(_ parameter: SQLiteStatement.Parameter, _ value: Int64) { upsert.bind(parameter, value) }

    private func bind(_ parameter: SQLiteStatement.Parameter, _ value: Double) { upsert.bind(parameter, value) }

    /// A row of ``selectOfTenant`` or ``selectOfAll``.
    static func rollup(_ row: SQLiteStatement, pool: PoolID, names: NameReader) throws(StorageError) -> Rollup {
        guard let criticality = Criticality(rawValue: Int(row.integer(2))) else {
            throw StorageError(code: .corrupt, message: "a roll-up has the criticality \(row.integer(2))")
        }
        return Rollup(
            start: Timestamp(milliseconds: row.integer(0)), tenant: TenantID(unchecked: try names.text(row.integer(1))),
            pool: pool, criticality: criticality, ok: row.integer(3), quota: row.integer(4), overload: row.integer(5),
            error: row.integer(6), retries: row.integer(7), denied: row.integer(8), deniedTokens: row.integer(9),
            inputTokens: row.integer(10), outputTokens: row.integer(11), countedTokens: row.integer(12),
            demandTokens: row.double(13), assuredTokens: row.double(14), starvedForDeliverySeconds: row.double(15),
            starvedForShortageSeconds: row.double(16), oldestQueuedSeconds: row.double(17))
    }

    private static let upsertRow: StaticString = """
        INSERT INTO rollup (span_s, pool_id, start_ms, tenant_id, criticality, ok, quota, overload, error, retries,
            denied, denied_tokens, input_tokens, output_tokens, counted_tokens, demand_tokens, assured_tokens,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s)
        VALUES (:span_s, :pool_id, :start_ms, :tenant_id, :criticality, :ok, :quota, :overload, :error, :retries,
            :denied, :denied_tokens, :input_tokens, :output_tokens, :counted_tokens, :demand_tokens, :assured_tokens,
            :starved_for_delivery_s, :starved_for_shortage_s, :oldest_queued_s)
        ON CONFLICT DO UPDATE SET
            ok = ok + excluded.ok, quota = quota + excluded.quota, overload = overload + excluded.overload,
            error = error + excluded.error, retries = retries + excluded.retries, denied = denied + excluded.denied,
            denied_tokens = denied_tokens + excluded.denied_tokens,
            input_tokens = input_tokens + excluded.input_tokens,
            output_tokens = output_tokens + excluded.output_tokens,
            counted_tokens = counted_tokens + excluded.counted_tokens,
            demand_tokens = demand_tokens + excluded.demand_tokens,
            assured_tokens = assured_tokens + excluded.assured_tokens,
            starved_for_delivery_s = starved_for_delivery_s + excluded.starved_for_delivery_s,
            starved_for_shortage_s = starved_for_shortage_s + excluded.starved_for_shortage_s,
            oldest_queued_s = max(oldest_queued_s, excluded.oldest_queued_s)
        """

    /// The first and the last start; one row, of NULL where there is none.
    static let selectEnds: StaticString = """
        SELECT (SELECT min(start_ms) FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id),
            (SELECT max(start_ms) FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id)
        """
    /// One search for each minute or hour: all tenants' rows in between would have to be read otherwise.
    static let selectOfTenant: StaticString = """
        WITH RECURSIVE step (start_ms) AS (
            SELECT :from_ms WHERE :from_ms < :to_ms
            UNION ALL SELECT start_ms + 1000 * :span_s FROM step WHERE start_ms + 1000 * :span_s < :to_ms)
        SELECT rollup.start_ms, tenant_id, criticality, ok, quota, overload, error, retries, denied, denied_tokens,
            input_tokens, output_tokens, counted_tokens, demand_tokens, assured_tokens, starved_for_delivery_s,
            starved_for_shortage_s, oldest_queued_s
        FROM step CROSS JOIN rollup ON span_s = :span_s AND pool_id = :pool_id
            AND rollup.start_ms = step.start_ms AND tenant_id = :tenant_id
        ORDER BY rollup.start_ms, criticality LIMIT :limit
        """
    static let selectOfAll: StaticString = """
        SELECT start_ms, tenant_id, criticality, ok, quota, overload, error, retries, denied, denied_tokens,
            input_tokens, output_tokens, counted_tokens, demand_tokens, assured_tokens, starved_for_delivery_s,
            starved_for_shortage_s, oldest_queued_s
        FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        ORDER BY start_ms, tenant_id, criticality LIMIT :limit
        """
}
