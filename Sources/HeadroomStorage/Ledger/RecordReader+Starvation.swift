import HeadroomModel

extension RecordReader {
    /// Numbers of the table `name`.
    private struct Pair: Hashable {
        var pool: Int64
        var tenant: Int64
    }

    private struct Name: Hashable {
        var pool: PoolID
        var tenant: TenantID
    }

    /// A pair with a spell that goes on.
    private struct Ongoing {
        var spell: OngoingStarvation
        /// Of the roll-ups since its first minute.
        var storedSeconds = 0.0
    }

    /// The starved tenants, the longest starved first: by minutes where they are kept, before that by hours.
    ///
    /// - Parameter ongoing: what the loop's last tick saw; roll-ups know of the last minute only once they are stored.
    package func starvation(
        from: Timestamp, to: Timestamp, ongoing: [OngoingStarvation]
    ) throws(StorageError) -> [StarvedTenant] {
        guard from < to else { return [] }
        var going: [Name: Ongoing] = [:]
        for spell in ongoing {
            if let part = spell.clipped(from: from, to: to) {
                going[Name(pool: spell.pool, tenant: spell.tenant)] = Ongoing(spell: part)
            }
        }
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
                        var spell = RecordReader.spell(row, span)
                        let name: Name
                        if let place = places[pair] {
                            name = Name(pool: starved[place].pool, tenant: starved[place].tenant)
                        } else {
                            name = Name(
                                pool: PoolID(unchecked: try names.text(pair.pool)),
                                tenant: TenantID(unchecked: try names.text(pair.tenant)))
                        }
                        if let since = going[name]?.spell.since, span.start(of: since) <= spell.first {
                            going[name]?.storedSeconds += spell.starvedSeconds
                            spell.first = max(spell.first, since)
                        }
                        if let place = places[pair] {
                            starved[place].add(spell)
                            return
                        }
                        places[pair] = starved.count
                        starved.append(StarvedTenant(tenant: name.tenant, pool: name.pool, spell: spell))
                    }
            }
            for place in starved.indices {
                let name = Name(pool: starved[place].pool, tenant: starved[place].tenant)
                guard let rest = going.removeValue(forKey: name) else { continue }
                starved[place].add(rest.spell.spell(without: rest.storedSeconds))
                starved[place].starvedSince = rest.spell.since
            }
            for rest in going.values {
                var tenant = StarvedTenant(
                    tenant: rest.spell.tenant, pool: rest.spell.pool, spell: rest.spell.spell(without: 0))
                tenant.starvedSince = rest.spell.since
                starved.append(tenant)
            }
            // The order is whole, so that it does not depend on the dictionary's.
            return starved.sorted(by: StarvedTenant.isLonger)
        }
    }

    private static func spell(_ row: SQLStatement, _ span: RollupSpan) -> StarvedTenant.Spell {
        StarvedTenant.Spell(
            first: Timestamp(milliseconds: row.integer(2)),
            last: Timestamp(milliseconds: row.integer(2) + span.milliseconds), deliverySeconds: row.double(3),
            shortageSeconds: row.double(4), longestWaitSeconds: row.double(5), askedTokens: row.integer(6),
            countedTokens: row.integer(7))
    }

    /// A tenant is starved in a pool as a whole: of its criticalities the longest time counts, and all of the work.
    private static let selectStarved: StaticString = """
        SELECT starved.pool_id, starved.tenant_id, starved.start_ms, max(starved_for_delivery_s),
            max(starved_for_shortage_s), max(oldest_queued_s),
            CAST(sum(asked_tokens) AS BIGINT), CAST(sum(counted_tokens) AS BIGINT)
        FROM (SELECT DISTINCT start_ms, pool_id, tenant_id FROM rollup INDEXED BY rollup_starved
                WHERE span_s = :span_s AND start_ms >= :from_ms AND start_ms < :to_ms
                    AND (starved_for_delivery_s > 0 OR starved_for_shortage_s > 0)) AS starved
            CROSS JOIN rollup
        WHERE rollup.span_s = :span_s AND rollup.pool_id = starved.pool_id AND rollup.start_ms = starved.start_ms
            AND rollup.tenant_id = starved.tenant_id
        GROUP BY starved.start_ms, starved.pool_id, starved.tenant_id
        ORDER BY starved.start_ms, starved.pool_id, starved.tenant_id
        """
}
