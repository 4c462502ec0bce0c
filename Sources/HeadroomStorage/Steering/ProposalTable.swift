import HeadroomModel

/// The rows of `proposal`. Every change is made inside a transaction.
struct ProposalTable {
    private let connection: SQLConnection

    init(connection: SQLConnection) {
        self.connection = connection
    }

    /// Pending questions whose time has passed make room for new ones.
    func expire(at now: Timestamp) throws(StorageError) {
        try connection.statement("UPDATE proposal SET state = 3 WHERE state = 0 AND until_ms <= :now")
            .bind(":now", now.milliseconds).run()
    }

    /// Enters `question`, or updates the pending one of its kind, tenant and pool, as its next revision where it asks for
    /// something else. Returns it as it stands then, and `nil` when there are too many. After ``expire(at:)``.
    /// - Parameter keepingAuthorship: of a pending one: who asked and since when stay, and only the end moves.
    func ask(_ question: Proposal, keepingAuthorship: Bool) throws(StorageError) -> Proposal? {
        let pending = try connection.statement(ProposalTable.selectPending)
            .bind(":kind", Int64(question.kind.rawValue))
            .bind(":tenant", question.tenant.text)
            .bind(":pool", question.pool?.text ?? "")
            .first { $0.integer(0) }
        if let pending, let old = try find(pending, at: question.authorship.at) {
            var asked = question.inPlace(of: old, at: question.authorship.at)
            asked.id = old.id
            if keepingAuthorship {
                asked.authorship = old.authorship
                asked.authorship.reason = question.authorship.reason
                asked.authorship.until = question.authorship.until
            }
            try connection.statement(ProposalTable.update).bind(":id", old.id)
                .bind(":body", ProposalBody.encode(asked)).bind(asked.authorship).run()
            return asked
        }
        let open = try connection.statement("SELECT count(*) FROM proposal WHERE state = 0").first { $0.integer(0) }
        guard open ?? 0 < SteeringStore.maxPending else { return nil }
        var asked = question
        asked.id = try insert(question)
        return asked
    }

    /// Returns its id. A pending one goes through ``ask(_:keepingAuthorship:)``.
    func insert(_ proposal: Proposal) throws(StorageError) -> Int64 {
        try connection.statement(ProposalTable.insert)
            .bind(":kind", Int64(proposal.kind.rawValue))
            .bind(":state", Int64(proposal.state.rawValue))
            .bind(":tenant", proposal.tenant.text)
            .bind(":pool", proposal.pool?.text)
            .bind(":body", ProposalBody.encode(proposal))
            .bind(proposal.authorship)
            .runForID()
    }

    /// The question no longer stands. False when it was decided, or is not there.
    func withdraw(_ id: Int64) throws(StorageError) -> Bool {
        try connection.statement("UPDATE proposal SET state = 3 WHERE id = :id AND state = 0").bind(":id", id).run()
        return connection.changedRows == 1
    }

    func write(body: [UInt8], of id: Int64) throws(StorageError) {
        try connection.statement("UPDATE proposal SET body = :body WHERE id = :id")
            .bind(":id", id).bind(":body", body).run()
    }

    func decide(_ id: Int64, _ state: Proposal.State, as decision: Authorship) throws(StorageError) {
        try connection.statement(ProposalTable.updateDecision)
            .bind(":id", id).bind(":state", Int64(state.rawValue)).bind(decision).run()
    }

    /// A decision that has been used no longer holds.
    func endDecision(_ id: Int64, at now: Timestamp) throws(StorageError) {
        try connection.statement("UPDATE proposal SET decided_until_ms = :now WHERE id = :id")
            .bind(":id", id).bind(":now", now.milliseconds).run()
    }

    func find(_ id: Int64, at now: Timestamp) throws(StorageError) -> Proposal? {
        try read(
            connection.statement(ProposalTable.selectOne).bind(":id", id).bind(":now", now.milliseconds)
        ).first
    }

    /// Pending ones, and those whose decision holds; ascending by id.
    func standing(at now: Timestamp) throws(StorageError) -> [Proposal] {
        try read(connection.statement(ProposalTable.selectStanding).bind(":now", now.milliseconds))
    }

    /// Newest first; `nil` is every state.
    func all(in state: Proposal.State?, at now: Timestamp, limit: Int) throws(StorageError) -> [Proposal] {
        try read(
            connection.statement(ProposalTable.selectAll)
                .bind(":state", state.map { Int64($0.rawValue) })
                .bind(":now", now.milliseconds).bind(":limit", Int64(limit)))
    }

    /// Those whose body has the bytes of the tenant's id in it, and perhaps some others.
    func mentioning(_ tenant: TenantID) throws(StorageError) -> [Proposal] {
        let name = Array(tenant.text.utf8)
        return try read(connection.statement(ProposalTable.selectEvery)) { $0.bytes(5).contains(name) }
    }

    private func read(
        _ rows: SQLStatement, where isWanted: (SQLStatement) -> Bool = { _ in true }
    ) throws(StorageError) -> [Proposal] {
        var proposals: [Proposal] = []
        try rows.forEachRow { row in
            if isWanted(row) { proposals.append(try proposal(row)) }
        }
        return proposals
    }

    private func proposal(_ row: SQLStatement) throws(StorageError) -> Proposal {
        guard let kind = Proposal.Kind(rawValue: Int(row.integer(1))),
            let state = Proposal.State(rawValue: Int(row.integer(2)))
        else { throw StorageError(code: .corrupt, message: "proposal \(row.integer(0)) has no kind or no state") }
        var proposal = Proposal(
            id: row.integer(0), kind: kind, tenant: TenantID(unchecked: row.text(3)),
            pool: row.optionalText(4).map(PoolID.init(unchecked:)), authorship: Authorship(row, firstColumn: 6),
            state: state, decision: row.isNull(10) ? nil : Authorship(row, firstColumn: 10))
        do {
            try ProposalBody.decode(row.bytes(5), into: &proposal)
        } catch {
            throw StorageError(code: .corrupt, message: "proposal \(proposal.id) cannot be read: \(error)")
        }
        return proposal
    }

    private static let insert: StaticString = """
        INSERT INTO proposal (kind, state, tenant, pool, body, author, reason, at_ms, until_ms)
        VALUES (:kind, :state, :tenant, :pool, :body, :author, :reason, :at_ms, :until_ms)
        RETURNING id
        """
    private static let update: StaticString = """
        UPDATE proposal SET body = :body, author = :author, reason = :reason, at_ms = :at_ms, until_ms = :until_ms
        WHERE id = :id
        """
    private static let updateDecision: StaticString = """
        UPDATE proposal SET state = :state, decided_by = :author, decision_reason = :reason, decided_at_ms = :at_ms,
            decided_until_ms = :until_ms
        WHERE id = :id
        """
    private static let selectPending: StaticString = """
        SELECT id FROM proposal
        WHERE kind = :kind AND tenant = :tenant AND coalesce(pool, '') = :pool AND state = 0
        """
    private static let selectOne: StaticString = """
        SELECT id, kind, CASE WHEN state = 0 AND until_ms <= :now THEN 3 ELSE state END, tenant, pool, body,
            author, reason, at_ms, until_ms, decided_by, decision_reason, decided_at_ms, decided_until_ms
        FROM proposal WHERE id = :id
        """
    private static let selectStanding: StaticString = """
        SELECT id, kind, state, tenant, pool, body, author, reason, at_ms, until_ms,
            decided_by, decision_reason, decided_at_ms, decided_until_ms
        FROM proposal WHERE state = 0 AND until_ms > :now OR state IN (1, 2) AND decided_until_ms > :now ORDER BY id
        """
    private static let selectEvery: StaticString = """
        SELECT id, kind, state, tenant, pool, body, author, reason, at_ms, until_ms,
            decided_by, decision_reason, decided_at_ms, decided_until_ms
        FROM proposal ORDER BY id
        """
    private static let selectAll: StaticString = """
        SELECT id, kind, CASE WHEN state = 0 AND until_ms <= :now THEN 3 ELSE state END, tenant, pool, body,
            author, reason, at_ms, until_ms, decided_by, decision_reason, decided_at_ms, decided_until_ms
        FROM proposal WHERE :state IS NULL OR CASE WHEN state = 0 AND until_ms <= :now THEN 3 ELSE state END = :state
        ORDER BY id DESC LIMIT :limit
        """
}
