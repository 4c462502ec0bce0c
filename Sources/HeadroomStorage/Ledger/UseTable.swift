import HeadroomModel

/// The table `use_sum`: served use by model and kind of task, and what caches saved.
struct UseTable {
    static let spans: [RollupSpan] = [.hour, .day]

    let connection: SQLConnection

    /// Inside a transaction.
    func add(_ use: ModelUse, names: NameTable) throws(StorageError) {
        let statement = try connection.statement(Self.upsert)
            .bind(":pool_id", try names.id(of: use.pool.text, .pool))
            .bind(":tenant_id", try names.id(of: use.tenant.text, .tenant))
            .bind(":criticality", Int64(use.criticality.rawValue))
            .bind(":model_id", try names.optionalID(of: use.model, .model) ?? 0)
            .bind(":task_kind_id", try names.optionalID(of: use.taskKind, .taskKind) ?? 0)
            .bind(":requests", use.sums.requests).bind(":input_tokens", use.sums.inputTokens)
            .bind(":cached_input_tokens", use.sums.cachedInputTokens).bind(":output_tokens", use.sums.outputTokens)
            .bind(":saved_requests", use.saved.requests).bind(":saved_input_tokens", use.saved.inputTokens)
            .bind(":saved_output_tokens", use.saved.outputTokens)
            .bind(":asked_requests", use.asked.requests).bind(":asked_tokens", use.asked.tokens)
        for span in Self.spans {
            try statement.bind(":span_s", span.rawValue)
                .bind(":start_ms", span.start(of: use.start).milliseconds).run()
        }
    }

    /// Inside a transaction. Deletes some `limit` of the oldest of the pool; returns how many.
    func prune(_ span: RollupSpan, pool: Int64, before: Timestamp, limit: Int64) throws(StorageError) -> Int {
        guard Self.spans.contains(span) else { return 0 }
        try connection.statement(Self.deleteOldest)
            .bind(":span_s", span.rawValue).bind(":pool_id", pool).bind(":before_ms", before.milliseconds)
            .bind(":limit", limit).run()
        return connection.changedRows
    }

    private static let upsert: StaticString = """
        INSERT INTO use_sum (span_s, pool_id, start_ms, tenant_id, criticality, model_id, task_kind_id, requests,
            input_tokens, cached_input_tokens, output_tokens, saved_requests, saved_input_tokens, saved_output_tokens,
            asked_requests, asked_tokens)
        VALUES (:span_s, :pool_id, :start_ms, :tenant_id, :criticality, :model_id, :task_kind_id, :requests,
            :input_tokens, :cached_input_tokens, :output_tokens, :saved_requests, :saved_input_tokens,
            :saved_output_tokens, :asked_requests, :asked_tokens)
        ON CONFLICT (span_s, pool_id, start_ms, tenant_id, criticality, model_id, task_kind_id) DO UPDATE SET requests = use_sum.requests + excluded.requests,
            input_tokens = use_sum.input_tokens + excluded.input_tokens,
            cached_input_tokens = use_sum.cached_input_tokens + excluded.cached_input_tokens,
            output_tokens = use_sum.output_tokens + excluded.output_tokens,
            saved_requests = use_sum.saved_requests + excluded.saved_requests,
            saved_input_tokens = use_sum.saved_input_tokens + excluded.saved_input_tokens,
            saved_output_tokens = use_sum.saved_output_tokens + excluded.saved_output_tokens,
            asked_requests = use_sum.asked_requests + excluded.asked_requests,
            asked_tokens = use_sum.asked_tokens + excluded.asked_tokens
        """
    private static let deleteOldest: StaticString = """
        DELETE FROM use_sum WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms < :before_ms AND start_ms <= coalesce(
            (SELECT start_ms FROM use_sum WHERE span_s = :span_s AND pool_id = :pool_id
                ORDER BY start_ms LIMIT 1 OFFSET :limit - 1), :before_ms)
        """
}
