import HeadroomModel

/// How long a time one row sums up; the raw value is the column `span_s`.
package enum RollupSpan: Int64, CaseIterable, Comparable, Sendable {
    case minute = 60
    case hour = 3600
    case day = 86400

    package var milliseconds: Int64 { rawValue * 1000 }

    /// The start of the one that `instant` lies in, also before 1970.
    package func start(of instant: Timestamp) -> Timestamp {
        let remainder = instant.milliseconds % milliseconds
        return Timestamp(
            milliseconds: instant.milliseconds - (remainder < 0 ? remainder + milliseconds : remainder))
    }

    package static func < (left: RollupSpan, right: RollupSpan) -> Bool { left.rawValue < right.rawValue }

    /// The longest of which steps are made.
    package init(step seconds: Int64) {
        self = seconds % 86400 == 0 ? .day : seconds % 3600 == 0 ? .hour : .minute
    }
}

/// The columns that `rollup` and `pool_rollup` have in common. Their places among a statement's parameters are looked up
/// once, since a row has so many.
private struct SumsColumns {
    /// Of a row that begins with the sums.
    static let count: Int32 = 28

    private let counts: [SQLStatement.Parameter]
    private let amounts: [SQLStatement.Parameter]

    init(of statement: SQLStatement) {
        let countNames: [StaticString] = [
            ":ok", ":quota", ":overload", ":error", ":ramp", ":billing", ":retries", ":denied",
            ":denied_tokens", ":input_tokens", ":cached_input_tokens", ":output_tokens",
            ":counted_tokens", ":waits", ":asked_requests", ":asked_tokens", ":asked_input_tokens",
            ":asked_output_tokens",
        ]
        let amountNames: [StaticString] = [
            ":waited_s", ":active_s", ":assured_tokens",
            ":assured_requests", ":ceiling_tokens", ":ceiling_requests", ":starved_for_delivery_s",
            ":starved_for_shortage_s", ":oldest_queued_s", ":missed_s",
        ]
        counts = countNames.map(statement.parameter)
        amounts = amountNames.map(statement.parameter)
    }

    func bind(_ sums: RollupSums, to statement: SQLStatement) {
        statement.bind(counts[0], sums.ok)
        statement.bind(counts[1], sums.quota)
        statement.bind(counts[2], sums.overload)
        statement.bind(counts[3], sums.error)
        statement.bind(counts[4], sums.ramp)
        statement.bind(counts[5], sums.billing)
        statement.bind(counts[6], sums.retries)
        statement.bind(counts[7], sums.denied)
        statement.bind(counts[8], sums.deniedTokens)
        statement.bind(counts[9], sums.inputTokens)
        statement.bind(counts[10], sums.cachedInputTokens)
        statement.bind(counts[11], sums.outputTokens)
        statement.bind(counts[12], sums.countedTokens)
        statement.bind(counts[13], sums.waits)
        statement.bind(counts[14], sums.asked.requests)
        statement.bind(counts[15], sums.asked.tokens)
        statement.bind(counts[16], sums.asked.inputTokens)
        statement.bind(counts[17], sums.asked.outputTokens)
        statement.bind(amounts[0], sums.waitedSeconds)
        statement.bind(amounts[1], sums.activeSeconds)
        statement.bind(amounts[2], sums.assuredTokens)
        statement.bind(amounts[3], sums.assuredRequests)
        statement.bind(amounts[4], sums.ceilingTokens)
        statement.bind(amounts[5], sums.ceilingRequests)
        statement.bind(amounts[6], sums.starvedForDeliverySeconds)
        statement.bind(amounts[7], sums.starvedForShortageSeconds)
        statement.bind(amounts[8], sums.oldestQueuedSeconds)
        statement.bind(amounts[9], sums.missedSeconds)
    }

    /// - Parameter first: the column of `ok`; the others follow it in the order of ``bind(_:to:)``.
    static func sums(_ row: SQLStatement, from first: Int32) -> RollupSums {
        RollupSums {
            $0.ok = row.integer(first)
            $0.quota = row.integer(first + 1)
            $0.overload = row.integer(first + 2)
            $0.error = row.integer(first + 3)
            $0.ramp = row.integer(first + 4)
            $0.billing = row.integer(first + 5)
            $0.retries = row.integer(first + 6)
            $0.denied = row.integer(first + 7)
            $0.deniedTokens = row.integer(first + 8)
            $0.inputTokens = row.integer(first + 9)
            $0.cachedInputTokens = row.integer(first + 10)
            $0.outputTokens = row.integer(first + 11)
            $0.countedTokens = row.integer(first + 12)
            $0.waits = row.integer(first + 13)
            $0.asked.requests = row.integer(first + 14)
            $0.asked.tokens = row.integer(first + 15)
            $0.asked.inputTokens = row.integer(first + 16)
            $0.asked.outputTokens = row.integer(first + 17)
            $0.waitedSeconds = row.double(first + 18)
            $0.activeSeconds = row.double(first + 19)
            $0.assuredTokens = row.double(first + 20)
            $0.assuredRequests = row.double(first + 21)
            $0.ceilingTokens = row.double(first + 22)
            $0.ceilingRequests = row.double(first + 23)
            $0.starvedForDeliverySeconds = row.double(first + 24)
            $0.starvedForShortageSeconds = row.double(first + 25)
            $0.oldestQueuedSeconds = row.double(first + 26)
            $0.missedSeconds = row.double(first + 27)
        }
    }
}

/// Adds to the rows of `rollup`, and reads them.
struct RollupTable {
    private let upsert: SQLStatement
    private let key: [SQLStatement.Parameter]
    private let columns: SumsColumns

    init(connection: SQLConnection) throws(StorageError) {
        upsert = try connection.statement(RollupTable.upsertRow)
        let keyNames: [StaticString] = [":span_s", ":pool_id", ":start_ms", ":tenant_id", ":criticality"]
        key = keyNames.map(upsert.parameter)
        columns = SumsColumns(of: upsert)
    }

    func add(_ rollup: Rollup, to span: RollupSpan, tenant: Int64, pool: Int64) throws(StorageError) {
        upsert.bind(key[0], span.rawValue)
        upsert.bind(key[1], pool)
        upsert.bind(key[2], span.start(of: rollup.start).milliseconds)
        upsert.bind(key[3], tenant)
        upsert.bind(key[4], Int64(rollup.criticality.rawValue))
        columns.bind(rollup.sums, to: upsert)
        try upsert.run()
    }

    /// A row of ``selectOfTenant`` or ``selectOfAll``.
    static func rollup(_ row: SQLStatement, pool: PoolID, names: NameReader) throws(StorageError) -> Rollup {
        guard let criticality = Criticality(rawValue: Int(row.integer(2))) else {
            throw StorageError(code: .corrupt, message: "a roll-up has the criticality \(row.integer(2))")
        }
        return Rollup(
            start: Timestamp(milliseconds: row.integer(0)), tenant: TenantID(unchecked: try names.text(row.integer(1))),
            pool: pool, criticality: criticality, sums: SumsColumns.sums(row, from: 3))
    }

    private static let upsertRow: StaticString = """
        INSERT INTO rollup (span_s, pool_id, start_ms, tenant_id, criticality,
            ok, quota, overload, error, ramp, billing, retries, denied, denied_tokens, input_tokens,
            cached_input_tokens, output_tokens, counted_tokens, waits, asked_requests, asked_tokens,
            asked_input_tokens, asked_output_tokens, waited_s, active_s, assured_tokens, assured_requests, ceiling_tokens, ceiling_requests,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s, missed_s)
        VALUES (:span_s, :pool_id, :start_ms, :tenant_id, :criticality,
            :ok, :quota, :overload, :error, :ramp, :billing, :retries, :denied, :denied_tokens, :input_tokens,
            :cached_input_tokens, :output_tokens, :counted_tokens, :waits, :asked_requests, :asked_tokens,
            :asked_input_tokens, :asked_output_tokens, :waited_s, :active_s, :assured_tokens, :assured_requests, :ceiling_tokens, :ceiling_requests,
            :starved_for_delivery_s, :starved_for_shortage_s, :oldest_queued_s, :missed_s)
        ON CONFLICT (span_s, pool_id, start_ms, tenant_id, criticality) DO UPDATE SET
            ok = rollup.ok + excluded.ok, quota = rollup.quota + excluded.quota,
            overload = rollup.overload + excluded.overload, error = rollup.error + excluded.error,
            ramp = rollup.ramp + excluded.ramp, billing = rollup.billing + excluded.billing,
            retries = rollup.retries + excluded.retries, denied = rollup.denied + excluded.denied,
            denied_tokens = rollup.denied_tokens + excluded.denied_tokens,
            input_tokens = rollup.input_tokens + excluded.input_tokens,
            cached_input_tokens = rollup.cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = rollup.output_tokens + excluded.output_tokens,
            counted_tokens = rollup.counted_tokens + excluded.counted_tokens, waits = rollup.waits + excluded.waits,
            asked_requests = rollup.asked_requests + excluded.asked_requests,
            asked_tokens = rollup.asked_tokens + excluded.asked_tokens,
            asked_input_tokens = rollup.asked_input_tokens + excluded.asked_input_tokens,
            asked_output_tokens = rollup.asked_output_tokens + excluded.asked_output_tokens,
            waited_s = rollup.waited_s + excluded.waited_s, active_s = rollup.active_s + excluded.active_s,
            assured_tokens = rollup.assured_tokens + excluded.assured_tokens,
            assured_requests = rollup.assured_requests + excluded.assured_requests,
            ceiling_tokens = rollup.ceiling_tokens + excluded.ceiling_tokens,
            ceiling_requests = rollup.ceiling_requests + excluded.ceiling_requests,
            starved_for_delivery_s = rollup.starved_for_delivery_s + excluded.starved_for_delivery_s,
            starved_for_shortage_s = rollup.starved_for_shortage_s + excluded.starved_for_shortage_s,
            oldest_queued_s = CASE WHEN excluded.oldest_queued_s > rollup.oldest_queued_s
                THEN excluded.oldest_queued_s ELSE rollup.oldest_queued_s END,
            missed_s = rollup.missed_s + excluded.missed_s
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
        SELECT rollup.start_ms, tenant_id, criticality,
            ok, quota, overload, error, ramp, billing, retries, denied, denied_tokens, input_tokens,
            cached_input_tokens, output_tokens, counted_tokens, waits, asked_requests, asked_tokens,
            asked_input_tokens, asked_output_tokens, waited_s, active_s, assured_tokens, assured_requests, ceiling_tokens, ceiling_requests,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s, missed_s
        FROM step CROSS JOIN rollup
        WHERE span_s = :span_s AND pool_id = :pool_id AND rollup.start_ms = step.start_ms AND tenant_id = :tenant_id
        ORDER BY rollup.start_ms, criticality LIMIT :limit
        """
    static let selectOfAll: StaticString = """
        SELECT start_ms, tenant_id, criticality,
            ok, quota, overload, error, ramp, billing, retries, denied, denied_tokens, input_tokens,
            cached_input_tokens, output_tokens, counted_tokens, waits, asked_requests, asked_tokens,
            asked_input_tokens, asked_output_tokens, waited_s, active_s, assured_tokens, assured_requests, ceiling_tokens, ceiling_requests,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s, missed_s
        FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        ORDER BY start_ms, tenant_id, criticality LIMIT :limit
        """
    /// The counted tokens of each tenant, in no order.
    static let selectServed: StaticString = """
        SELECT tenant_id, CAST(sum(counted_tokens) AS BIGINT) FROM rollup
        WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        GROUP BY tenant_id
        """
}

/// Adds to the rows of `pool_rollup`, and reads them.
struct PoolRollupTable {
    private let upsert: SQLStatement
    private let columns: SumsColumns

    init(connection: SQLConnection) throws(StorageError) {
        upsert = try connection.statement(PoolRollupTable.upsertRow)
        columns = SumsColumns(of: upsert)
    }

    func add(_ rollup: PoolRollup, to span: RollupSpan, pool: Int64) throws(StorageError) {
        let capacity = rollup.capacity
        upsert.bind(":span_s", span.rawValue).bind(":pool_id", pool)
            .bind(":start_ms", span.start(of: rollup.start).milliseconds)
            .bind(":observed_s", capacity.observedSeconds).bind(":queue_depth", capacity.queueDepth)
            .bind(":nominal_requests", capacity.nominal[.requests]).bind(":nominal_tokens", capacity.nominal[.tokens])
            .bind(":nominal_input_tokens", capacity.nominal[.inputTokens])
            .bind(":nominal_output_tokens", capacity.nominal[.outputTokens])
            .bind(":estimated_requests", capacity.estimated[.requests]).bind(
                ":estimated_tokens", capacity.estimated[.tokens]
            )
            .bind(":estimated_input_tokens", capacity.estimated[.inputTokens])
            .bind(":estimated_output_tokens", capacity.estimated[.outputTokens])
            .bind(":budget_requests", capacity.budget[.requests]).bind(":budget_tokens", capacity.budget[.tokens])
            .bind(":budget_input_tokens", capacity.budget[.inputTokens])
            .bind(":budget_output_tokens", capacity.budget[.outputTokens])
        columns.bind(rollup.sums, to: upsert)
        try upsert.run()
    }

    /// A row of ``select``.
    static func rollup(_ row: SQLStatement, pool: PoolID) -> PoolRollup {
        var rollup = PoolRollup(
            start: Timestamp(milliseconds: row.integer(0)), pool: pool, sums: SumsColumns.sums(row, from: 1))
        let first = 1 + SumsColumns.count
        rollup.capacity.observedSeconds = row.double(first)
        rollup.capacity.queueDepth = row.integer(first + 1)
        rollup.capacity.nominal = rates(row, from: first + 2)
        rollup.capacity.estimated = rates(row, from: first + 6)
        rollup.capacity.budget = rates(row, from: first + 10)
        return rollup
    }

    private static func rates(_ row: SQLStatement, from first: Int32) -> Rates {
        Rates(
            rpm: row.optionalDouble(first), tpm: row.optionalDouble(first + 1), itpm: row.optionalDouble(first + 2),
            otpm: row.optionalDouble(first + 3))
    }

    private static let upsertRow: StaticString = """
        INSERT INTO pool_rollup (span_s, pool_id, start_ms,
            ok, quota, overload, error, ramp, billing, retries, denied, denied_tokens, input_tokens,
            cached_input_tokens, output_tokens, counted_tokens, waits, asked_requests, asked_tokens,
            asked_input_tokens, asked_output_tokens, waited_s, active_s, assured_tokens, assured_requests, ceiling_tokens, ceiling_requests,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s, missed_s,
            observed_s, queue_depth,
            nominal_requests, nominal_tokens, nominal_input_tokens, nominal_output_tokens, estimated_requests,
            estimated_tokens, estimated_input_tokens, estimated_output_tokens, budget_requests, budget_tokens,
            budget_input_tokens, budget_output_tokens)
        VALUES (:span_s, :pool_id, :start_ms,
            :ok, :quota, :overload, :error, :ramp, :billing, :retries, :denied, :denied_tokens, :input_tokens,
            :cached_input_tokens, :output_tokens, :counted_tokens, :waits, :asked_requests, :asked_tokens,
            :asked_input_tokens, :asked_output_tokens, :waited_s, :active_s, :assured_tokens, :assured_requests, :ceiling_tokens, :ceiling_requests,
            :starved_for_delivery_s, :starved_for_shortage_s, :oldest_queued_s, :missed_s,
            :observed_s, :queue_depth,
            :nominal_requests, :nominal_tokens, :nominal_input_tokens, :nominal_output_tokens,
            :estimated_requests, :estimated_tokens, :estimated_input_tokens, :estimated_output_tokens,
            :budget_requests, :budget_tokens, :budget_input_tokens, :budget_output_tokens)
        ON CONFLICT (span_s, pool_id, start_ms) DO UPDATE SET
            ok = pool_rollup.ok + excluded.ok, quota = pool_rollup.quota + excluded.quota,
            overload = pool_rollup.overload + excluded.overload, error = pool_rollup.error + excluded.error,
            ramp = pool_rollup.ramp + excluded.ramp, billing = pool_rollup.billing + excluded.billing,
            retries = pool_rollup.retries + excluded.retries, denied = pool_rollup.denied + excluded.denied,
            denied_tokens = pool_rollup.denied_tokens + excluded.denied_tokens,
            input_tokens = pool_rollup.input_tokens + excluded.input_tokens,
            cached_input_tokens = pool_rollup.cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = pool_rollup.output_tokens + excluded.output_tokens,
            counted_tokens = pool_rollup.counted_tokens + excluded.counted_tokens,
            waits = pool_rollup.waits + excluded.waits,
            asked_requests = pool_rollup.asked_requests + excluded.asked_requests,
            asked_tokens = pool_rollup.asked_tokens + excluded.asked_tokens,
            asked_input_tokens = pool_rollup.asked_input_tokens + excluded.asked_input_tokens,
            asked_output_tokens = pool_rollup.asked_output_tokens + excluded.asked_output_tokens,
            waited_s = pool_rollup.waited_s + excluded.waited_s, active_s = pool_rollup.active_s + excluded.active_s,
            assured_tokens = pool_rollup.assured_tokens + excluded.assured_tokens,
            assured_requests = pool_rollup.assured_requests + excluded.assured_requests,
            ceiling_tokens = pool_rollup.ceiling_tokens + excluded.ceiling_tokens,
            ceiling_requests = pool_rollup.ceiling_requests + excluded.ceiling_requests,
            starved_for_delivery_s = pool_rollup.starved_for_delivery_s + excluded.starved_for_delivery_s,
            starved_for_shortage_s = pool_rollup.starved_for_shortage_s + excluded.starved_for_shortage_s,
            oldest_queued_s = CASE WHEN excluded.oldest_queued_s > pool_rollup.oldest_queued_s
                THEN excluded.oldest_queued_s ELSE pool_rollup.oldest_queued_s END,
            missed_s = pool_rollup.missed_s + excluded.missed_s,
            observed_s = pool_rollup.observed_s + excluded.observed_s,
            queue_depth = CASE WHEN excluded.queue_depth > pool_rollup.queue_depth
                THEN excluded.queue_depth ELSE pool_rollup.queue_depth END,
            nominal_requests =
                coalesce(pool_rollup.nominal_requests + excluded.nominal_requests, pool_rollup.nominal_requests, excluded.nominal_requests),
            nominal_tokens =
                coalesce(pool_rollup.nominal_tokens + excluded.nominal_tokens, pool_rollup.nominal_tokens, excluded.nominal_tokens),
            nominal_input_tokens =
                coalesce(pool_rollup.nominal_input_tokens + excluded.nominal_input_tokens, pool_rollup.nominal_input_tokens, excluded.nominal_input_tokens),
            nominal_output_tokens =
                coalesce(pool_rollup.nominal_output_tokens + excluded.nominal_output_tokens, pool_rollup.nominal_output_tokens, excluded.nominal_output_tokens),
            estimated_requests =
                coalesce(pool_rollup.estimated_requests + excluded.estimated_requests, pool_rollup.estimated_requests, excluded.estimated_requests),
            estimated_tokens =
                coalesce(pool_rollup.estimated_tokens + excluded.estimated_tokens, pool_rollup.estimated_tokens, excluded.estimated_tokens),
            estimated_input_tokens =
                coalesce(pool_rollup.estimated_input_tokens + excluded.estimated_input_tokens, pool_rollup.estimated_input_tokens, excluded.estimated_input_tokens),
            estimated_output_tokens =
                coalesce(pool_rollup.estimated_output_tokens + excluded.estimated_output_tokens, pool_rollup.estimated_output_tokens, excluded.estimated_output_tokens),
            budget_requests =
                coalesce(pool_rollup.budget_requests + excluded.budget_requests, pool_rollup.budget_requests, excluded.budget_requests),
            budget_tokens =
                coalesce(pool_rollup.budget_tokens + excluded.budget_tokens, pool_rollup.budget_tokens, excluded.budget_tokens),
            budget_input_tokens =
                coalesce(pool_rollup.budget_input_tokens + excluded.budget_input_tokens, pool_rollup.budget_input_tokens, excluded.budget_input_tokens),
            budget_output_tokens =
                coalesce(pool_rollup.budget_output_tokens + excluded.budget_output_tokens, pool_rollup.budget_output_tokens, excluded.budget_output_tokens)
        """

    /// The first and the last start; one row, of NULL where there is none.
    static let selectEnds: StaticString = """
        SELECT (SELECT min(start_ms) FROM pool_rollup WHERE span_s = :span_s AND pool_id = :pool_id),
            (SELECT max(start_ms) FROM pool_rollup WHERE span_s = :span_s AND pool_id = :pool_id)
        """
    static let select: StaticString = """
        SELECT start_ms,
            ok, quota, overload, error, ramp, billing, retries, denied, denied_tokens, input_tokens,
            cached_input_tokens, output_tokens, counted_tokens, waits, asked_requests, asked_tokens,
            asked_input_tokens, asked_output_tokens, waited_s, active_s, assured_tokens, assured_requests, ceiling_tokens, ceiling_requests,
            starved_for_delivery_s, starved_for_shortage_s, oldest_queued_s, missed_s,
            observed_s, queue_depth,
            nominal_requests, nominal_tokens, nominal_input_tokens, nominal_output_tokens, estimated_requests,
            estimated_tokens, estimated_input_tokens, estimated_output_tokens, budget_requests, budget_tokens,
            budget_input_tokens, budget_output_tokens
        FROM pool_rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        ORDER BY start_ms
        """
}
