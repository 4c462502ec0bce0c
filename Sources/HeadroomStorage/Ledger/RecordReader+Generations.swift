import HeadroomModel

extension RecordReader {
    /// Generations in one answer.
    private static let maxGenerations = 1_000

    package func generations(
        from: Timestamp, to: Timestamp, limit: Int
    ) throws(StorageError) -> [GenerationSummary] {
        try connection.reading {
            var found: [GenerationSummary] = []
            try connection.statement(Self.selectGenerations)
                .bind(":from_ms", from.milliseconds).bind(":to_ms", to.milliseconds)
                .bind(":limit", Int64(min(max(limit, 0), Self.maxGenerations)))
                .forEachRow { row in
                    found.append(
                        GenerationSummary(
                            version: SnapshotVersion(epoch: row.integer(1), generation: row.integer(0)),
                            issuedAt: Timestamp(milliseconds: row.integer(2))))
                }
            guard let newest = found.first, let oldest = found.last else { return [] }
            let range = oldest.version.generation...newest.version.generation
            let changes = try changes(in: range)
            for place in found.indices { found[place].changes = changes[found[place].version.generation] ?? [] }
            return found
        }
    }

    package func snapshot(generation: Int64) throws(StorageError) -> Snapshot? {
        let body = try connection.statement("SELECT body FROM snapshot WHERE generation = :generation")
            .bind(":generation", generation).first { $0.bytes(0) }
        guard let body else { return nil }
        do {
            return try coding.decode(body)
        } catch {
            throw StorageError(
                code: .corrupt, message: "\(connection.path): generation \(generation) cannot be read: \(error)")
        }
    }

    private func changes(
        in range: ClosedRange<Int64>
    ) throws(StorageError) -> [Int64: [GenerationSummary.Change]] {
        var pools: [Int64] = []
        try connection.statement("SELECT id FROM name WHERE kind = 1 ORDER BY text").forEachRow {
            pools.append($0.integer(0))
        }
        var changes: [Int64: [GenerationSummary.Change]] = [:]
        for pool in pools {
            let name = PoolID(unchecked: try names.text(pool))
            try connection.statement(Self.selectChanges)
                .bind(":pool_id", pool).bind(":first", range.lowerBound).bind(":last", range.upperBound)
                .forEachRow { row in
                    changes[row.integer(0), default: []]
                        .append(GenerationSummary.Change(pool: name, tenants: Int(row.integer(1)) / 4))
                }
        }
        return changes
    }

    private static let selectGenerations: StaticString = """
        SELECT generation, epoch, issued_at_ms FROM snapshot
        WHERE issued_at_ms >= :from_ms AND issued_at_ms < :to_ms ORDER BY generation DESC LIMIT :limit
        """
    /// Four bytes a tenant.
    private static let selectChanges: StaticString = """
        SELECT generation, length(tenant_ids) FROM explanation INDEXED BY explanation_pool
        WHERE pool_id = :pool_id AND generation BETWEEN :first AND :last
        """
}
