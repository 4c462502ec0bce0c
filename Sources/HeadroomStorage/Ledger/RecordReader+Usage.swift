import HeadroomModel

extension RecordReader {
    package func usage(from: Timestamp, to: Timestamp) throws(StorageError) -> [Rollup] {
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
            var uses: [Rollup] = []
            for pool in pools {
                let name = PoolID(unchecked: try names.text(pool))
                for (span, range) in parts where !range.isEmpty {
                    try connection.statement(Self.selectUsage)
                        .bind(":span_s", span.rawValue).bind(":pool_id", pool)
                        .bind(":from_ms", span.start(of: range.lowerBound).milliseconds)
                        .bind(":to_ms", range.upperBound.milliseconds)
                        .forEachRow { row in
                            guard let criticality = Criticality(rawValue: Int(row.integer(1))) else { return }
                            uses.append(
                                Rollup(
                                    start: from, tenant: TenantID(unchecked: try names.text(row.integer(0))),
                                    pool: name,
                                    criticality: criticality,
                                    sums: RollupSums {
                                        $0.ok = row.integer(2)
                                        $0.inputTokens = row.integer(3)
                                        $0.cachedInputTokens = row.integer(4)
                                        $0.outputTokens = row.integer(5)
                                    }))
                        }
                }
            }
            return uses
        }
    }

    private static let selectUsage: StaticString = """
        SELECT tenant_id, criticality, sum(ok), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens)
        FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms AND start_ms < :to_ms
        GROUP BY tenant_id, criticality HAVING sum(ok) > 0
        """
}
