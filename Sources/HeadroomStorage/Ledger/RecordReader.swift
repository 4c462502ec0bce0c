import HeadroomModel

/// Reads back decisions and the past, on a read-only connection with a thread of its own: however far back somebody
/// looks, telemetry is committed meanwhile.
package actor RecordReader: RecordReading {
    /// Rows in one answer.
    static let maxRollups = 1_000_000
    /// Generations looked through for the one that set a number: 48 hours of a pool that changes every 2 s.
    private static let maxSearched: Int64 = 100_000

    let connection: SQLConnection
    let names: NameReader
    let coding: SnapshotStore.Coding

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    /// On the connection's executor: call it when starting.
    package init(connection: SQLConnection, coding: SnapshotStore.Coding) throws(StorageError) {
        self.connection = connection
        self.coding = coding
        names = try connection.executor.performAndWait {
            try NameReader(connection: connection)
        }
    }

    package func explanation(
        of tenant: TenantID, in pool: PoolID, generation: Int64?
    ) throws(StorageError) -> Explanation? {
        try connection.reading {
            guard let tenantNumber = try number(of: tenant.text, .tenant).flatMap(UInt32.init(exactly:)),
                let poolNumber = try number(of: pool.text, .pool)
            else { return nil }
            let found = try connection.statement(RecordReader.selectIndexes)
                .bind(":pool_id", poolNumber).bind(":generation", generation ?? .max)
                .bind(":limit", RecordReader.maxSearched)
                .firstResult { row in
                    TenantIndex(bytes: row.bytes(1)).place(of: tenantNumber).map { (id: row.integer(0), place: $0) }
                }
            guard let found else { return nil }
            return try explanation(row: found.id, place: found.place, pool: pool)
        }
    }

    package func rollups(
        pool: PoolID, tenant: TenantID?, from: Timestamp, to: Timestamp, limit: Int
    ) throws(StorageError) -> [Rollup] {
        let limit = min(max(limit, 0), RecordReader.maxRollups)
        return try connection.reading {
            guard let poolNumber = try number(of: pool.text, .pool) else { return [] }
            var tenantNumber: Int64?
            if let tenant {
                tenantNumber = try number(of: tenant.text, .tenant)
                if tenantNumber == nil { return [] }
            }
            // Minutes are deleted by whole hours: the hour of the oldest one is read from its minutes.
            let oldest = try ends(.minute, pool: poolNumber).map { RollupSpan.hour.start(of: $0.lowerBound) }
            let firstMinute = min(max(oldest ?? to, from), to)
            var rollups: [Rollup] = []
            for (span, range) in [(RollupSpan.hour, from..<firstMinute), (.minute, firstMinute..<to)] {
                let rows = try rows(span, range, pool: poolNumber, tenant: tenantNumber, limit: limit - rollups.count)
                try rows?.forEachRow { row in
                    rollups.append(try RollupTable.rollup(row, pool: pool, names: names))
                }
            }
            return rollups
        }
    }

    /// The statement for the sums in `range`, of which the first may begin before it; `nil` when there are none.
    func rows(
        _ span: RollupSpan, _ range: Range<Timestamp>, pool: Int64, tenant: Int64?, limit: Int
    ) throws(StorageError) -> SQLStatement? {
        guard limit > 0, !range.isEmpty, let ends = try ends(span, pool: pool) else { return nil }
        let from = max(span.start(of: range.lowerBound), ends.lowerBound)
        let to = min(range.upperBound, Timestamp(milliseconds: ends.upperBound.milliseconds + 1))
        let sql = tenant == nil ? RollupTable.selectOfAll : RollupTable.selectOfTenant
        let statement = try connection.statement(sql)
            .bind(":span_s", span.rawValue).bind(":pool_id", pool)
            .bind(":from_ms", from.milliseconds).bind(":to_ms", to.milliseconds).bind(":limit", Int64(limit))
        if let tenant { statement.bind(":tenant_id", tenant) }
        return statement
    }

    /// The first and the last start.
    private func ends(_ span: RollupSpan, pool: Int64) throws(StorageError) -> ClosedRange<Timestamp>? {
        let found = try connection.statement(RollupTable.selectEnds)
            .bind(":span_s", span.rawValue).bind(":pool_id", pool)
            .first { ($0.optionalInteger(0), $0.optionalInteger(1)) }
        guard let first = found?.0, let last = found?.1 else { return nil }
        return Timestamp(milliseconds: first)...Timestamp(milliseconds: last)
    }

    private func explanation(row: Int64, place: Int, pool: PoolID) throws(StorageError) -> Explanation? {
        let found = try connection.statement(RecordReader.selectExplanation).bind(":id", row).first { row in
            (
                version: SnapshotVersion(epoch: row.integer(0), generation: row.integer(1)),
                at: Timestamp(milliseconds: row.integer(2)), index: TenantIndex(bytes: row.bytes(3)), body: row.bytes(4)
            )
        }
        guard let found else { return nil }
        var tenants: [TenantID] = []
        for id in found.index.ids { tenants.append(TenantID(unchecked: try names.text(Int64(id)))) }
        do {
            let body = try ExplanationBody.decode(found.body, pool: pool, tenants: tenants)
            return Explanation(version: found.version, at: found.at, pool: body.pool, tenant: body.tenants[place])
        } catch {
            throw StorageError(
                code: .corrupt, message: "\(connection.path): explanation \(row) cannot be read: \(error)")
        }
    }

    func number(of text: String, _ kind: NameKind) throws(StorageError) -> Int64? {
        try connection.statement("SELECT id FROM name WHERE kind = :kind AND text = :text")
            .bind(":kind", Int64(kind.rawValue)).bind(":text", text).first { $0.integer(0) }
    }

    private static let selectIndexes: StaticString = """
        SELECT id, tenant_ids FROM explanation INDEXED BY explanation_pool
        WHERE pool_id = :pool_id AND generation <= :generation ORDER BY generation DESC LIMIT :limit
        """
    private static let selectExplanation: StaticString =
        "SELECT epoch, generation, at_ms, tenant_ids, body FROM explanation WHERE id = :id"
}
