import HeadroomModel

/// The lasting records of decisions: questions to people, burst credit, explanations, events. ``RecordReader`` reads them
/// back.
package actor DecisionStore: DecisionRecords {
    private let connection: SQLConnection
    private let names: NameTable

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    /// On the connection's executor: call it when starting.
    package init(connection: SQLConnection) throws(StorageError) {
        self.connection = connection
        names = try connection.executor.performAndWait {
            try NameTable(connection: connection)
        }
    }

    package func credits() throws(StorageError) -> [CreditBalance] {
        var credits: [CreditBalance] = []
        try connection.statement(DecisionStore.selectCredits).forEachRow { row in
            credits.append(
                CreditBalance(
                    tenant: TenantID(unchecked: row.text(1)), pool: PoolID(unchecked: row.text(0)),
                    accrued: row.integer(2), spent: row.integer(3), expired: row.integer(4), aboveCap: row.integer(5)))
        }
        return credits
    }

    /// A question that would be one too many (``SteeringStore/maxPending``) is not entered; the decision asks again
    /// while it stands.
    package func record(_ outcome: DecisionOutcome, at now: Timestamp) throws(StorageError) {
        guard !outcome.isEmpty else { return }
        do throws(StorageError) {
            try connection.transaction {
                try names.begin()
                try ask(outcome.questions, withdrawing: outcome.withdrawn, at: now)
                for credit in outcome.credits { try keep(credit) }
                for explanation in outcome.explanations { try keep(explanation) }
                for event in outcome.events { try keep(event) }
            }
            names.keepAdded()
        } catch {
            names.forgetAdded()
            throw error
        }
    }

    /// Deletes at most `limit` explanations of each pool, those made longer than `seconds` before the pool's newest; and
    /// at most `limit` of the oldest, as far as all of them exceed `maxBytes`. The newest stays. Returns how many it
    /// deleted: call again until that is none.
    ///
    /// It counts from the newest and not from now, since a decision tells again what has stood for half of the time: so
    /// every number that stands is explained, also that of a pool in which nothing has moved for a month.
    package func prune(
        keepingSeconds seconds: Double, maxBytes: Int64, limit: Int = 100
    ) throws(StorageError) -> Int {
        try connection.transaction {
            var deleted = 0
            var pool: Int64 = 0
            let next = DecisionStore.selectNextPool
            while let found = try connection.statement(next).bind(":pool_id", pool).first({ $0.integer(0) }) {
                pool = found
                try connection.statement(DecisionStore.deleteOldExplanations)
                    .bind(":pool_id", pool).bind(":kept_ms", Int64((seconds * 1000).rounded()))
                    .bind(":limit", Int64(limit)).run()
                deleted += connection.changedRows
            }
            try connection.statement(DecisionStore.deleteExplanations)
                .bind(":most_bytes", maxBytes).bind(":limit", Int64(limit)).run()
            return deleted + connection.changedRows
        }
    }

    /// Deletes at most `limit` of the oldest events, those before `instant`; returns how many: call again until that is none.
    package func pruneEvents(before instant: Timestamp, limit: Int = 5_000) throws(StorageError) -> Int {
        try connection.transaction {
            try connection.statement(DecisionStore.deleteOldEvents)
                .bind(":before_ms", instant.milliseconds).bind(":limit", Int64(limit)).run()
            return connection.changedRows
        }
    }

    private func ask(
        _ questions: [Proposal], withdrawing withdrawn: [Int64], at now: Timestamp
    ) throws(StorageError) {
        if questions.isEmpty && withdrawn.isEmpty { return }
        let table = ProposalTable(connection: connection)
        try table.expire(at: now)
        for id in withdrawn { _ = try table.withdraw(id) }
        for question in questions { _ = try table.ask(question, keepingAuthorship: true) }
        try ChangeCounter.steering.raise(connection)
    }

    private func keep(_ credit: CreditBalance) throws(StorageError) {
        try connection.statement(DecisionStore.upsertCredit)
            .bind(":pool_id", try names.id(of: credit.pool.text, .pool))
            .bind(":tenant_id", try names.id(of: credit.tenant.text, .tenant))
            .bind(":accrued", credit.accrued)
            .bind(":spent", credit.spent)
            .bind(":expired", credit.expired)
            .bind(":above_cap", credit.aboveCap)
            .run()
    }

    private func keep(_ explanation: PoolExplanation) throws(StorageError) {
        var numbered: [(id: UInt32, tenant: Explanation.TenantFacts)] = []
        numbered.reserveCapacity(explanation.tenants.count)
        for tenant in explanation.tenants {
            // 4 billion names would fill a disk of 100 GB by themselves.
            numbered.append((UInt32(try names.id(of: tenant.tenant.text, .tenant)), tenant))
        }
        numbered.sort { $0.id < $1.id }
        let body = ExplanationBody.encode(explanation.pool, numbered.lazy.map(\.tenant))
        let ids = TenantIndex(numbered.lazy.map(\.id))
        let pool = try names.id(of: explanation.pool.pool.text, .pool)
        // One of the same generation goes: what takes its place has a new id, since ends ascend with ids.
        try connection.statement(DecisionStore.deleteExplanation)
            .bind(":pool_id", pool).bind(":generation", explanation.version.generation).run()
        try connection.statement(DecisionStore.insertExplanation)
            .bind(":pool_id", pool)
            .bind(":generation", explanation.version.generation)
            .bind(":epoch", explanation.version.epoch)
            .bind(":at_ms", explanation.at.milliseconds)
            .bind(":bytes", Int64(ids.bytes.count + body.count))
            .bind(":tenant_ids", ids.bytes)
            .bind(":body", body)
            .run()
    }

    private func keep(_ event: PoolEvent) throws(StorageError) {
        var pool: Int64?
        if let named = event.pool { pool = try names.id(of: named.text, .pool) }
        try connection.statement(DecisionStore.insertEvent)
            .bind(":at_ms", event.at.milliseconds).bind(":pool_id", pool).bind(":kind", Int64(event.kind.rawValue))
            .bind(":subject", event.subject).bind(":before", event.before).bind(":after", event.after).run()
    }

    private static let insertEvent: StaticString = """
        INSERT INTO pool_event (at_ms, pool_id, kind, subject, before, after)
        VALUES (:at_ms, :pool_id, :kind, :subject, :before, :after)
        """
    private static let deleteOldEvents: StaticString = """
        DELETE FROM pool_event WHERE id IN (
            SELECT id FROM pool_event INDEXED BY pool_event_at WHERE at_ms < :before_ms ORDER BY at_ms LIMIT :limit)
        """
    private static let selectCredits: StaticString = """
        SELECT pool.text, tenant.text, accrued_tokens, spent_tokens, expired_tokens, above_cap_tokens
        FROM credit JOIN name AS pool ON pool.id = pool_id JOIN name AS tenant ON tenant.id = tenant_id
        ORDER BY pool.text, tenant.text
        """
    private static let upsertCredit: StaticString = """
        INSERT INTO credit (pool_id, tenant_id, accrued_tokens, spent_tokens, expired_tokens, above_cap_tokens)
        VALUES (:pool_id, :tenant_id, :accrued, :spent, :expired, :above_cap)
        ON CONFLICT (pool_id, tenant_id) DO UPDATE SET accrued_tokens = excluded.accrued_tokens,
            spent_tokens = excluded.spent_tokens, expired_tokens = excluded.expired_tokens,
            above_cap_tokens = excluded.above_cap_tokens
        """
    private static let deleteExplanation: StaticString =
        "DELETE FROM explanation WHERE pool_id = :pool_id AND generation = :generation"
    private static let insertExplanation: StaticString = """
        INSERT INTO explanation (pool_id, generation, epoch, at_ms, end_byte, tenant_ids, body)
        VALUES (:pool_id, :generation, :epoch, :at_ms,
            coalesce((SELECT end_byte FROM explanation ORDER BY id DESC LIMIT 1), 0) + :bytes, :tenant_ids, :body)
        """
    private static let selectNextPool: StaticString =
        "SELECT pool_id FROM explanation INDEXED BY explanation_pool WHERE pool_id > :pool_id ORDER BY pool_id LIMIT 1"
    private static let deleteOldExplanations: StaticString = """
        DELETE FROM explanation WHERE id IN (
            SELECT id FROM explanation INDEXED BY explanation_pool WHERE pool_id = :pool_id ORDER BY generation LIMIT :limit
        ) AND at_ms < (SELECT at_ms FROM explanation INDEXED BY explanation_pool
            WHERE pool_id = :pool_id ORDER BY generation DESC LIMIT 1) - :kept_ms
        """
    private static let deleteExplanations: StaticString = """
        DELETE FROM explanation WHERE id < (SELECT min(id) FROM explanation) + :limit
            AND id <> (SELECT max(id) FROM explanation)
            AND end_byte <= (SELECT end_byte FROM explanation ORDER BY id DESC LIMIT 1) - :most_bytes
        """
}
