import HeadroomModel

/// A tenant that was starved in a pool, and when.
package struct StarvedTenant: Equatable, Sendable {
    /// Starved minutes, or hours where minutes are no longer kept, with less than an hour between them.
    package struct Spell: Equatable, Sendable {
        package var first: Timestamp
        /// The end of the last minute, or hour.
        package var last: Timestamp
        package var deliverySeconds: Double
        package var shortageSeconds: Double
        package var longestWaitSeconds: Double
        /// Its demand in the starved minutes, and its service.
        package var demandTokens: Double
        package var countedTokens: Int64

        package var starvedSeconds: Double { deliverySeconds + shortageSeconds }
    }

    package var tenant: TenantID
    package var pool: PoolID
    /// Ascending; never empty.
    package var spells: [Spell]

    package var first: Timestamp { spells[0].first }
    package var last: Timestamp { spells[spells.count - 1].last }
    package var starvedSeconds: Double { spells.reduce(0) { $0 + $1.starvedSeconds } }
    package var longestSpellSeconds: Double { spells.reduce(0) { max($0, $1.starvedSeconds) } }
    package var longestWaitSeconds: Double { spells.reduce(0) { max($0, $1.longestWaitSeconds) } }
    package var demandTokens: Double { spells.reduce(0) { $0 + $1.demandTokens } }
    package var countedTokens: Int64 { spells.reduce(0) { $0 + $1.countedTokens } }

    /// The resource or reason that starved it most of the time.
    package var reason: Starvation {
        spells.reduce(0) { $0 + $1.deliverySeconds - $1.shortageSeconds } >= 0 ? .delivery : .shortage
    }
}

extension RecordReader {
    /// Numbers of the table `name`.
    private struct Pair: Hashable {
        var pool: Int64
        var tenant: Int64
    }

    /// Less than this between two starved minutes, and they are one spell.
    private static let gapMilliseconds: Int64 = 3_600_000

    /// The starved tenants, the longest starved first: by minutes where they are kept, before that by hours.
    package func starvation(from: Timestamp, to: Timestamp) throws(StorageError) -> [StarvedTenant] {
        guard from < to else { return [] }
        return try connection.reading {
            let oldest =
                try connection.statement("SELECT min(start_ms) FROM rollup WHERE span_s = 60")
                .first { $0.optionalInteger(0) } ?? nil
            let firstMinute = oldest.map { RollupSpan.hour.start(of: Timestamp(milliseconds: $0)) } ?? to
            var starved: [StarvedTenant] = []
            var places: [Pair: Int] = [:]
            for (span, start, end) in [
                (RollupSpan.hour, from, min(firstMinute, to)), (.minute, max(firstMinute, from), to),
            ] {
                try connection.statement(RecordReader.selectStarved)
                    .bind(":span_s", span.rawValue)
                    .bind(":from_ms", span.start(of: start).milliseconds).bind(":to_ms", end.milliseconds)
                    .forEachRow { row in
                        let pair = Pair(pool: row.integer(0), tenant: row.integer(1))
                        let spell = RecordReader.spell(row, span)
                        if let place = places[pair] {
                            starved[place].add(spell, gapMilliseconds: RecordReader.gapMilliseconds)
                            return
                        }
                        places[pair] = starved.count
                        starved.append(
                            StarvedTenant(
                                tenant: TenantID(unchecked: try names.text(pair.tenant)),
                                pool: PoolID(unchecked: try names.text(pair.pool)), spells: [spell]))
                    }
            }
            return starved.sorted {
                let (left, right) = ($0.starvedSeconds, $1.starvedSeconds)
                return left == right ? ($0.tenant, $0.pool) < ($1.tenant, $1.pool) : left > right
            }
        }
    }

    private static func spell(_ row: SQLiteStatement, _ span: RollupSpan) -> StarvedTenant.Spell {
        StarvedTenant.Spell(
            first: Timestamp(milliseconds: row.integer(2)),
            last: Timestamp(milliseconds: row.integer(2) + span.milliseconds), deliverySeconds: row.double(3),
            shortageSeconds: row.double(4), longestWaitSeconds: row.double(5), demandTokens: row.double(6),
            countedTokens: row.integer(7))
    }

    /// A tenant is starved in a pool as a whole: of its criticalities the longest time counts, and all of the work.
    private static let selectStarved: StaticString = """
        SELECT starved.pool_id, starved.tenant_id, starved.start_ms, max(starved_for_delivery_s),
            max(starved_for_shortage_s), max(oldest_queued_s), total(demand_tokens), sum(counted_tokens)
        FROM (SELECT DISTINCT start_ms, pool_id, tenant_id FROM rollup INDEXED BY rollup_starved
                WHERE span_s = :span_s AND start_ms >= :from_ms AND start_ms < :to_ms
                    AND (starved_for_delivery_s > 0 OR starved_for_shortage_s > 0)) AS starved
            CROSS JOIN rollup ON rollup.span_s = :span_s AND rollup.pool_id = starved.pool_id
                AND rollup.start_ms = starved.start_ms AND rollup.tenant_id = starved.tenant_id
        GROUP BY starved.start_ms, starved.pool_id, starved.tenant_id
        ORDER BY starved.start_ms, starved.pool_id, starved.tenant_id
        """
}

extension StarvedTenant {
    /// `next` begins after all others.
    fileprivate mutating func add(_ next: Spell, gapMilliseconds: Int64) {
        var last = spells[spells.count - 1]
        guard next.first.milliseconds - last.last.milliseconds < gapMilliseconds else {
            spells.append(next)
            return
        }
        last.last = next.last
        last.deliverySeconds += next.deliverySeconds
        last.shortageSeconds += next.shortageSeconds
        last.longestWaitSeconds = max(last.longestWaitSeconds, next.longestWaitSeconds)
        last.demandTokens += next.demandTokens
        last.countedTokens += next.countedTokens
        spells[spells.count - 1] = last
    }
}
