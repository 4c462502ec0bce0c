import HeadroomModel

extension RecordReader {
    /// Events, and acts of people, in one answer.
    private static let maxEvents: Int64 = 500
    /// From this long on, whole days say who was served most; from ``hoursFrom`` on, whole hours do.
    private static let daysFrom = 2.0 * 86_400
    private static let hoursFrom = 2.0 * 3_600

    package func history(_ query: HistoryQuery) throws(StorageError) -> HistoryRecords {
        try connection.reading {
            guard let pool = try number(of: query.pool.text, .pool) else { return HistoryRecords() }
            var records = HistoryRecords(
                events: try events(of: pool, query), acts: try acts(of: query.tenant, from: query.from, to: query.to))
            if let tenant = query.tenant {
                if let id = try number(of: tenant.text, .tenant) { records.tenant = try sums(of: id, in: pool, query) }
                return records
            }
            for (span, range) in try parts(of: query, table: PoolRollupTable.selectEnds, pool: pool) {
                try connection.statement(PoolRollupTable.select)
                    .bind(":span_s", span.rawValue).bind(":pool_id", pool)
                    .bind(":from_ms", span.start(of: range.lowerBound).milliseconds)
                    .bind(":to_ms", range.upperBound.milliseconds)
                    .forEachRow { records.pools.append(PoolRollupTable.rollup($0, pool: query.pool)) }
            }
            if query.leaders > 0 { try addLeaders(to: &records, query, pool: pool) }
            return records
        }
    }

    /// By minute, hour or day; the part of which minutes are no longer kept by hour. Ascending and without gaps.
    private func parts(
        of query: HistoryQuery, table: StaticString, pool: Int64
    ) throws(StorageError) -> [(span: RollupSpan, range: Range<Timestamp>)] {
        let span = RollupSpan(step: query.stepSeconds)
        guard query.from < query.to else { return [] }
        guard span == .minute else { return [(span, query.from..<query.to)] }
        let oldest =
            try connection.statement(table)
            .bind(":span_s", RollupSpan.minute.rawValue).bind(":pool_id", pool).first { $0.optionalInteger(0) } ?? nil
        let firstMinute = oldest.map { RollupSpan.hour.start(of: Timestamp(milliseconds: $0)) } ?? query.to
        let border = min(max(firstMinute, query.from), query.to)
        return [(.hour, query.from..<border), (.minute, border..<query.to)].filter { !$0.1.isEmpty }
    }

    private func sums(of tenant: Int64, in pool: Int64, _ query: HistoryQuery) throws(StorageError) -> [Rollup] {
        var rollups: [Rollup] = []
        for (span, range) in try parts(of: query, table: RollupTable.selectEnds, pool: pool) {
            let rows = try rows(span, range, pool: pool, tenant: tenant, limit: RecordReader.maxRollups)
            try rows?.forEachRow { row in
                rollups.append(try RollupTable.rollup(row, pool: query.pool, names: names))
            }
        }
        return rollups
    }

    private func addLeaders(
        to records: inout HistoryRecords, _ query: HistoryQuery, pool: Int64
    ) throws(StorageError) {
        let seconds = query.to.seconds(since: query.from)
        let span: RollupSpan = seconds >= Self.daysFrom ? .day : seconds >= Self.hoursFrom ? .hour : .minute
        var served: [(tenant: Int64, tokens: Int64)] = []
        try connection.statement(RollupTable.selectServed)
            .bind(":span_s", span.rawValue).bind(":pool_id", pool)
            .bind(":from_ms", span.start(of: query.from).milliseconds).bind(":to_ms", query.to.milliseconds)
            .forEachRow { served.append((tenant: $0.integer(0), tokens: $0.integer(1))) }
        records.tenantCount = served.count
        served.sort { ($1.tokens, $0.tenant) < ($0.tokens, $1.tenant) }
        for (tenant, _) in served.prefix(query.leaders) {
            records.leaders.append(
                HistoryRecords.Leader(
                    tenant: TenantID(unchecked: try names.text(tenant)), rollups: try sums(of: tenant, in: pool, query))
            )
        }
    }

    private func events(of pool: Int64, _ query: HistoryQuery) throws(StorageError) -> [PoolEvent] {
        var events: [PoolEvent] = []
        try connection.statement(Self.selectEvents)
            .bind(":from_ms", query.from.milliseconds).bind(":to_ms", query.to.milliseconds).bind(":pool_id", pool)
            .bind(":limit", Self.maxEvents)
            .forEachRow { row in
                guard let kind = PoolEvent.Kind(rawValue: Int(row.integer(2))) else { return }
                events.append(
                    PoolEvent(
                        at: Timestamp(milliseconds: row.integer(0)), pool: row.isNull(1) ? nil : query.pool, kind: kind,
                        subject: row.optionalText(3), before: row.optionalText(4), after: row.optionalText(5)))
            }
        return events.reversed()
    }

    private func acts(of tenant: TenantID?, from: Timestamp, to: Timestamp) throws(StorageError) -> [AuditEntry] {
        var acts: [AuditEntry] = []
        try connection.statement(Self.selectActs)
            .bind(":from_ms", from.milliseconds).bind(":to_ms", to.milliseconds).bind(":limit", Self.maxEvents)
            .bind(":tenant_sha256", tenant.map(AuditLog.digest))
            .forEachRow { acts.append(AuditRow($0).entry(hash: $0.bytes(7))) }
        return acts.reversed()
    }

    private static let selectEvents: StaticString = """
        SELECT at_ms, pool_id, kind, subject, before, after FROM pool_event INDEXED BY pool_event_at
        WHERE at_ms >= :from_ms AND at_ms < :to_ms AND (pool_id IS NULL OR pool_id = :pool_id)
        ORDER BY at_ms DESC, id DESC LIMIT :limit
        """
    /// Without the use of tokens, which is most of the log and changes nothing. Of a decision on thousands of tenants there is a
    /// row for each: the tenant's own is enough.
    private static let selectActs: StaticString = """
        SELECT sequence, at_ms, author, action, tenant_sha256, detail, detail_sha256, sha256
        FROM audit INDEXED BY audit_at
        WHERE at_ms >= :from_ms AND at_ms < :to_ms AND action NOT LIKE 'token.%'
            AND (action NOT LIKE '%!_tenant' ESCAPE '!' OR tenant_sha256 = :tenant_sha256)
        ORDER BY at_ms DESC, sequence DESC LIMIT :limit
        """
}
