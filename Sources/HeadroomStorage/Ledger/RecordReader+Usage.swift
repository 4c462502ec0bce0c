import HeadroomModel

extension RecordReader {
    package func usage(from: Timestamp, to: Timestamp) throws(StorageError) -> [ModelUse] {
        guard from < to else { return [] }
        // Whole days, and the hours before and behind them.
        let firstDay = min(RollupSpan.day.start(of: from.adding(seconds: 86_399.999)), to)
        let lastDay = max(RollupSpan.day.start(of: to), firstDay)
        let parts: [(RollupSpan, Range<Timestamp>)] = [
            (.hour, from..<firstDay), (.day, firstDay..<lastDay), (.hour, lastDay..<to),
        ]
        return try connection.reading {
            var pools: [Int64] = []
            try connection.statement("SELECT id FROM name WHERE kind = 1 ORDER BY text").forEachRow {
                pools.append($0.integer(0))
            }
            var uses: [ModelUse] = []
            for pool in pools {
                let name = PoolID(unchecked: try names.text(pool))
                for (span, range) in parts where !range.isEmpty {
                    uses += try usage(of: pool, name, span, range, since: from)
                }
            }
            return uses
        }
    }

    /// One tenant's use in one criticality.
    private struct Share: Hashable {
        var tenant: Int64
        var criticality: Criticality
    }

    /// What names a model or a kind of task, with what caches saved, and then the rest.
    private func usage(
        of pool: Int64, _ name: PoolID, _ span: RollupSpan, _ range: Range<Timestamp>, since from: Timestamp
    ) throws(StorageError) -> [ModelUse] {
        func rows(_ sql: StaticString) throws(StorageError) -> SQLStatement {
            try connection.statement(sql)
                .bind(":span_s", span.rawValue).bind(":pool_id", pool)
                .bind(":from_ms", span.start(of: range.lowerBound).milliseconds)
                .bind(":to_ms", range.upperBound.milliseconds)
        }
        var uses: [ModelUse] = []
        var named: [Share: UseSums] = [:]
        try rows(Self.selectNamed).forEachRow { row in
            guard let criticality = Criticality(rawValue: Int(row.integer(1))) else { return }
            let sums = UseSums(row, from: 4)
            named[Share(tenant: row.integer(0), criticality: criticality), default: UseSums()].add(sums)
            func label(_ column: Int32) throws(StorageError) -> String? {
                row.integer(column) == 0 ? nil : try names.text(row.integer(column))
            }
            uses.append(
                ModelUse(
                    start: from, tenant: TenantID(unchecked: try names.text(row.integer(0))), pool: name,
                    criticality: criticality, model: try label(2), taskKind: try label(3), sums: sums,
                    saved: UseSums(
                        requests: row.integer(8), inputTokens: row.integer(9), outputTokens: row.integer(10)),
                    asked: AskedWork(requests: row.integer(11), tokens: row.integer(12))))
        }
        try rows(Self.selectUsage).forEachRow { row in
            guard let criticality = Criticality(rawValue: Int(row.integer(1))) else { return }
            let share = Share(tenant: row.integer(0), criticality: criticality)
            let rest = UseSums(row, from: 2).without(named[share] ?? UseSums())
            guard !rest.isEmpty else { return }
            uses.append(
                ModelUse(
                    start: from, tenant: TenantID(unchecked: try names.text(row.integer(0))), pool: name,
                    criticality: criticality, sums: rest))
        }
        return uses
    }

    private static let selectNamed: StaticString = """
        SELECT tenant_id, criticality, model_id, task_kind_id,
            CAST(sum(requests) AS BIGINT), CAST(sum(input_tokens) AS BIGINT),
            CAST(sum(cached_input_tokens) AS BIGINT), CAST(sum(output_tokens) AS BIGINT),
            CAST(sum(saved_requests) AS BIGINT), CAST(sum(saved_input_tokens) AS BIGINT),
            CAST(sum(saved_output_tokens) AS BIGINT),
            CAST(sum(asked_requests) AS BIGINT), CAST(sum(asked_tokens) AS BIGINT)
        FROM use_sum WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        GROUP BY tenant_id, criticality, model_id, task_kind_id
        ORDER BY tenant_id, criticality, model_id, task_kind_id
        """
    private static let selectUsage: StaticString = """
        SELECT tenant_id, criticality, CAST(sum(ok) AS BIGINT), CAST(sum(input_tokens) AS BIGINT),
            CAST(sum(cached_input_tokens) AS BIGINT), CAST(sum(output_tokens) AS BIGINT)
        FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        GROUP BY tenant_id, criticality HAVING sum(ok) > 0
        ORDER BY tenant_id, criticality
        """
}

extension UseSums {
    fileprivate init(_ row: SQLStatement, from first: Int32) {
        self.init(
            requests: row.integer(first), inputTokens: row.integer(first + 1),
            cachedInputTokens: row.integer(first + 2), outputTokens: row.integer(first + 3))
    }
}
