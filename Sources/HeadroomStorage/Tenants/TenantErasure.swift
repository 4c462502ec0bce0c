import HeadroomModel

/// Removes what is stored of a tenant. Its name goes at once, so that nothing points to it any more; the rows of the
/// large tables, which have no index by tenant, go in steps of a bounded number of rows looked at.
struct TenantErasure {
    /// Rows of each table that one step looks at: some 50 ms of work in all.
    private static let rowsAStep: Int64 = 50_000
    private static let explanationsAStep: Int64 = 500
    /// Time that one step looks at in the sums: two days are 2,880 searches a pool.
    private static let millisecondsAStep: Int64 = 2 * 86_400_000

    /// How far the erasure of one tenant has come.
    private struct Progress {
        var tenant: Int64
        var call: Int64
        var window: Int64
        var queue: Int64
        var task: Int64
        var explanation: Int64
        var rollup: Int64

        var isDone: Bool { call <= 0 && window <= 0 && queue <= 0 && task <= 0 && explanation <= 0 && rollup <= 0 }
    }

    let connection: SQLConnection

    /// Inside a transaction. False when nothing is stored of the tenant.
    func begin(_ tenant: TenantID, at now: Timestamp) throws(StorageError) -> Bool {
        var isKnown = try eraseSmallRows(of: tenant)
        let number = try connection.statement("SELECT id FROM name WHERE kind = 0 AND text = :tenant")
            .bind(":tenant", tenant.text).first { $0.integer(0) }
        if let number {
            isKnown = true
            // The number stays taken: a reader may remember the name that it had.
            try connection.statement(TenantErasure.rename).bind(":id", number).bind(":at_ms", now.milliseconds).run()
            try connection.statement("DELETE FROM credit WHERE tenant_id = :id").bind(":id", number).run()
            try connection.statement(TenantErasure.insertProgress).bind(":tenant_id", number).run()
        }
        guard isKnown else { return false }
        try connection.statement("INSERT INTO erased_tenant (fingerprint) VALUES (:fingerprint)")
            .bind(":fingerprint", Int64(bitPattern: tenant.text.fingerprint)).run()
        try ChangeCounter.contracts.raise(connection)
        try ChangeCounter.steering.raise(connection)
        try ChangeCounter.erasures.raise(connection)
        return true
    }

    /// One step of one erasure; true when there is more to do.
    func step() throws(StorageError) -> Bool {
        guard try progress() != nil else { return false }
        return try connection.transaction {
            guard var progress = try progress() else { return false }
            let tenant = progress.tenant
            for (sql, oldest, lane) in TenantErasure.rawTables {
                progress[keyPath: lane] = try stepBack(
                    progress[keyPath: lane], by: TenantErasure.rowsAStep, oldest: oldest
                ) { after, upTo in
                    try connection.statement(sql)
                        .bind(":tenant_id", tenant).bind(":after", after).bind(":up_to", upTo).run()
                }
            }
            progress.explanation = try stepBack(
                progress.explanation, by: TenantErasure.explanationsAStep, oldest: "SELECT min(id) FROM explanation"
            ) { after, upTo in
                try eraseExplanations(of: tenant, after: after, upTo: upTo)
            }
            progress.rollup = try stepBack(
                progress.rollup, by: TenantErasure.millisecondsAStep, oldest: "SELECT min(start_ms) FROM rollup"
            ) { after, upTo in
                try eraseRollups(of: tenant, after: after, upTo: upTo)
            }
            try keep(progress)
            return try self.progress() != nil
        }
    }

    /// Lets `erase` see to what lies above the result and at or below `last`. 0 when all has been seen to.
    private func stepBack(
        _ last: Int64, by count: Int64, oldest: StaticString,
        _ erase: (_ after: Int64, _ upTo: Int64) throws -> Void
    ) throws(StorageError) -> Int64 {
        guard last > 0 else { return 0 }
        guard let first = try connection.statement(oldest).first({ $0.optionalInteger(0) }) ?? nil, first <= last
        else { return 0 }
        let after = max(last - count, first - 1)
        do { try erase(after, last) } catch { throw StorageError(error) }
        return after < first ? 0 : after
    }

    private func eraseExplanations(of tenant: Int64, after: Int64, upTo: Int64) throws(StorageError) {
        guard let wanted = UInt32(exactly: tenant) else { return }
        var found: [(row: Int64, index: TenantIndex, place: Int)] = []
        try connection.statement(TenantErasure.selectIndexes).bind(":after", after).bind(":up_to", upTo)
            .forEachRow { row in
                let index = TenantIndex(bytes: row.bytes(1))
                if let place = index.place(of: wanted) { found.append((row.integer(0), index, place)) }
            }
        for (row, index, place) in found {
            let body =
                try connection.statement("SELECT body FROM explanation WHERE id = :id")
                .bind(":id", row).first { $0.bytes(0) } ?? []
            try connection.statement(TenantErasure.updateExplanation)
                .bind(":id", row)
                .bind(
                    ":tenant_ids",
                    TenantIndex(index.ids.enumerated().filter { $0.offset != place }.map(\.element)).bytes
                )
                .bind(":body", try ExplanationBody.removing(place, of: index.count, from: body))
                .run()
        }
    }

    private func eraseRollups(of tenant: Int64, after: Int64, upTo: Int64) throws(StorageError) {
        var pools: [Int64] = []
        try connection.statement("SELECT id FROM name WHERE kind = 1").forEachRow { pools.append($0.integer(0)) }
        for span in RollupSpan.allCases {
            try TaskTimeTable(connection: connection)
                .erase(tenant, span, from: span.start(of: Timestamp(milliseconds: after)), upTo: upTo)
        }
        for pool in pools {
            for span in RollupSpan.allCases {
                let from = span.start(of: Timestamp(milliseconds: after))
                try connection.statement(TenantErasure.deleteRollups)
                    .bind(":span_s", span.rawValue).bind(":pool_id", pool).bind(":tenant_id", tenant)
                    .bind(":from_ms", from.milliseconds).bind(":up_to_ms", upTo).run()
                guard UseTable.spans.contains(span) else { continue }
                try connection.statement(TenantErasure.deleteUses)
                    .bind(":span_s", span.rawValue).bind(":pool_id", pool).bind(":tenant_id", tenant)
                    .bind(":from_ms", from.milliseconds).bind(":up_to_ms", upTo).run()
            }
        }
    }

    private func progress() throws(StorageError) -> Progress? {
        try connection.statement(TenantErasure.selectProgress).first { row in
            Progress(
                tenant: row.integer(0), call: row.integer(1), window: row.integer(2), queue: row.integer(3),
                task: row.integer(4), explanation: row.integer(5), rollup: row.integer(6))
        }
    }

    private func keep(_ progress: Progress) throws(StorageError) {
        guard !progress.isDone else {
            try connection.statement("DELETE FROM erasure WHERE tenant_id = :tenant_id")
                .bind(":tenant_id", progress.tenant).run()
            return
        }
        try connection.statement(TenantErasure.updateProgress)
            .bind(":tenant_id", progress.tenant)
            .bind(":call_id", progress.call)
            .bind(":call_window_id", progress.window)
            .bind(":queue_state_id", progress.queue)
            .bind(":task_event_id", progress.task)
            .bind(":explanation_id", progress.explanation)
            .bind(":rollup_ms", progress.rollup)
            .run()
    }

    /// The tables that name the tenant by its number, how to delete its rows among some, and where they begin.
    private static var rawTables: [(StaticString, StaticString, WritableKeyPath<Progress, Int64>)] {
        [
            (
                "DELETE FROM call WHERE id > :after AND id <= :up_to AND tenant_id = :tenant_id",
                "SELECT min(id) FROM call", \.call
            ),
            (
                "DELETE FROM call_window WHERE id > :after AND id <= :up_to AND tenant_id = :tenant_id",
                "SELECT min(id) FROM call_window", \.window
            ),
            (
                "DELETE FROM queue_state WHERE id > :after AND id <= :up_to AND tenant_id = :tenant_id",
                "SELECT min(id) FROM queue_state", \.queue
            ),
            (
                "DELETE FROM task_event WHERE id > :after AND id <= :up_to AND tenant_id = :tenant_id",
                "SELECT min(id) FROM task_event", \.task
            ),
        ]
    }

    /// Unique, as no second tenant has the number.
    private static let rename: StaticString =
        "UPDATE name SET text = 'erased:' || :id || ':' || :at_ms WHERE id = :id"
    private static let insertProgress: StaticString = """
        INSERT INTO erasure (tenant_id, call_id, call_window_id, queue_state_id, task_event_id, explanation_id, rollup_ms)
        VALUES (:tenant_id,
            coalesce((SELECT max(id) FROM call), 0), coalesce((SELECT max(id) FROM call_window), 0),
            coalesce((SELECT max(id) FROM queue_state), 0), coalesce((SELECT max(id) FROM task_event), 0),
            coalesce((SELECT max(id) FROM explanation), 0), coalesce((SELECT max(start_ms) FROM rollup), 0))
        """
    private static let selectProgress: StaticString = """
        SELECT tenant_id, call_id, call_window_id, queue_state_id, task_event_id, explanation_id, rollup_ms FROM erasure
        ORDER BY tenant_id LIMIT 1
        """
    private static let updateProgress: StaticString = """
        UPDATE erasure SET call_id = :call_id, call_window_id = :call_window_id, queue_state_id = :queue_state_id,
            task_event_id = :task_event_id, explanation_id = :explanation_id, rollup_ms = :rollup_ms
        WHERE tenant_id = :tenant_id
        """
    private static let selectIndexes: StaticString =
        "SELECT id, tenant_ids FROM explanation WHERE id > :after AND id <= :up_to"
    private static let updateExplanation: StaticString =
        "UPDATE explanation SET tenant_ids = :tenant_ids, body = :body WHERE id = :id"
    private static let deleteRollups: StaticString = """
        WITH RECURSIVE step (start_ms) AS (
            SELECT :from_ms UNION ALL SELECT start_ms + 1000 * :span_s FROM step WHERE start_ms + 1000 * :span_s <= :up_to_ms)
        DELETE FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms IN (SELECT start_ms FROM step)
            AND tenant_id = :tenant_id
        """
    private static let deleteUses: StaticString = """
        DELETE FROM use_sum WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms >= :from_ms
            AND start_ms <= :up_to_ms AND tenant_id = :tenant_id
        """
}
