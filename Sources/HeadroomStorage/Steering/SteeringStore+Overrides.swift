import HeadroomModel

extension SteeringStore {
    package func set(_ override: Override, askingUntil deadline: Timestamp?) throws(SteeringError) -> OverrideOutcome {
        try SteeringRules.check(override)
        let now = override.authorship.at
        return try change {
            guard let deadline else { return try enter(override).map(OverrideOutcome.set) }
            return try ask(for: override, until: deadline, at: now)
        }
    }

    package func endOverride(
        _ id: Int64, by author: String, mayEndOthers: Bool, at now: Timestamp
    ) throws(SteeringError) {
        try change { () throws(StorageError) -> Result<Void, SteeringError> in
            let found = try connection.statement(SteeringStore.selectOverride)
                .bind(":id", id).bind(":now", now.milliseconds).first { SteeringStore.override($0) }
            guard let found else {
                return .failure(SteeringError(.notFound, "no override \(id) is in force"))
            }
            guard mayEndOthers || found.authorship.author == author else {
                return .failure(
                    SteeringError(
                        .forbidden,
                        "override \(id) was set by \(found.authorship.author), and you may end only your own"))
            }
            try connection.statement("UPDATE override SET until_ms = :now WHERE id = :id")
                .bind(":id", id).bind(":now", now.milliseconds).run()
            try audit.append(
                AuditAct("override.end", by: author, tenant: found.tenant, [("id", .integer(id))]), at: now)
            return .success(())
        }
    }

    /// Those in force, ascending by id.
    func overrides(at now: Timestamp) throws(StorageError) -> [Override] {
        var overrides: [Override] = []
        try connection.statement(SteeringStore.selectOverrides).bind(":now", now.milliseconds)
            .forEachRow { overrides.append(SteeringStore.override($0)) }
        return overrides
    }

    /// Inside a transaction. Refuses one too many.
    func enter(_ override: Override) throws(StorageError) -> Result<Override, SteeringError> {
        let authorship = override.authorship
        let inForce =
            try connection.statement("SELECT count(*) FROM override WHERE until_ms > :now")
            .bind(":now", authorship.at.milliseconds).first { $0.integer(0) } ?? 0
        guard inForce < SteeringStore.maxOverrides else {
            return .failure(
                SteeringError(.conflict, "\(inForce) overrides are in force, the most there may be; end some first"))
        }
        var entered = override
        entered.id = try connection.statement(SteeringStore.insertOverride)
            .bind(":tenant", override.tenant.text)
            .bind(":pool", override.pool?.text)
            .bind(":tier", override.tier)
            .bind(":weight", override.weight)
            .bind(authorship)
            .runForID()
        try audit.append(
            AuditAct(
                "override.set", by: authorship.author, tenant: override.tenant,
                [("id", .integer(entered.id))] + SteeringStore.detail(of: override) + authorship.detail),
            at: authorship.at)
        return .success(entered)
    }

    static func detail(of override: Override) -> [(StaticString, AuditAct.Value)] {
        [("pool", .text(override.pool?.text)), ("tier", .text(override.tier)), ("weight", .number(override.weight))]
    }

    private func ask(
        for override: Override, until deadline: Timestamp, at now: Timestamp
    ) throws(StorageError) -> Result<OverrideOutcome, SteeringError> {
        var question = Proposal(
            kind: .override, tenant: override.tenant, pool: override.pool, override: override,
            authorship: override.authorship)
        question.authorship.until = deadline
        let desk = ProposalTable(connection: connection)
        try desk.expire(at: now)
        guard let question = try desk.ask(question, keepingAuthorship: false) else {
            return .failure(
                SteeringError(
                    .conflict, "\(SteeringStore.maxPending) approvals are pending, the most there may be; decide some")
            )
        }
        let authorship = override.authorship
        try audit.append(
            AuditAct(
                "override.ask", by: authorship.author, tenant: override.tenant,
                [("approval", .integer(question.id))] + SteeringStore.detail(of: override) + authorship.detail),
            at: now)
        return .success(.awaitsApproval(question))
    }

    private static func override(_ row: SQLStatement) -> Override {
        Override(
            id: row.integer(0), tenant: TenantID(unchecked: row.text(1)),
            pool: row.optionalText(2).map(PoolID.init(unchecked:)), tier: row.optionalText(3),
            weight: row.optionalDouble(4), authorship: Authorship(row, firstColumn: 5))
    }

    private static let insertOverride: StaticString = """
        INSERT INTO override (tenant, pool, tier, weight, author, reason, at_ms, until_ms)
        VALUES (:tenant, :pool, :tier, :weight, :author, :reason, :at_ms, :until_ms)
        RETURNING id
        """
    private static let selectOverride: StaticString = """
        SELECT id, tenant, pool, tier, weight, author, reason, at_ms, until_ms FROM override
        WHERE id = :id AND until_ms > :now
        """
    private static let selectOverrides: StaticString = """
        SELECT id, tenant, pool, tier, weight, author, reason, at_ms, until_ms FROM override
        WHERE until_ms > :now ORDER BY id
        """
}
