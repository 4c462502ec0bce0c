import HeadroomModel

/// Lifts of the cost breaker.
extension SteeringStore {
    package static let maxLifts: Int64 = 1_000

    package func lift(_ lift: CostLift) throws(SteeringError) -> CostLift {
        let authorship = lift.authorship
        try SteeringRules.check(authorship)
        return try change { () throws(StorageError) -> Result<CostLift, SteeringError> in
            try bind(lift.subject, to: connection.statement(SteeringStore.endLiftsOfSubject))
                .bind(":now", authorship.at.milliseconds).run()
            let others =
                try connection.statement("SELECT count(*) FROM cost_lift WHERE until_ms > :now")
                .bind(":now", authorship.at.milliseconds).first { $0.integer(0) } ?? 0
            guard others < SteeringStore.maxLifts else {
                return .failure(SteeringError(.conflict, "\(others) lifts are in force, the most there may be"))
            }
            var entered = lift
            entered.id = try bind(lift.subject, to: connection.statement(SteeringStore.insertLift))
                .bind(authorship).runForID()
            try audit.append(
                AuditAct(
                    "cost.lift", by: authorship.author, tenant: lift.subject.tenant,
                    [("id", .integer(entered.id)), ("task_kind", .text(lift.subject.taskKind))] + authorship.detail),
                at: authorship.at)
            return .success(entered)
        }
    }

    package func endLift(_ id: Int64, by author: String, at now: Timestamp) throws(SteeringError) {
        try change { () throws(StorageError) -> Result<Void, SteeringError> in
            try connection.statement("UPDATE cost_lift SET until_ms = :now WHERE id = :id AND until_ms > :now")
                .bind(":id", id).bind(":now", now.milliseconds).run()
            guard connection.changedRows == 1 else {
                return .failure(SteeringError(.notFound, "no lift \(id) of the cost breaker is in force"))
            }
            try audit.append(AuditAct("cost.lift_end", by: author, [("id", .integer(id))]), at: now)
            return .success(())
        }
    }

    /// Those in force, ascending by id.
    func lifts(at now: Timestamp) throws(StorageError) -> [CostLift] {
        var lifts: [CostLift] = []
        try connection.statement(SteeringStore.selectLifts).bind(":now", now.milliseconds).forEachRow { row in
            let subject =
                row.optionalText(1).map { CostSubject.tenant(TenantID(unchecked: $0)) }
                ?? .taskKind(row.optionalText(2) ?? "")
            lifts.append(CostLift(id: row.integer(0), subject: subject, authorship: Authorship(row, firstColumn: 3)))
        }
        return lifts
    }

    private func bind(_ subject: CostSubject, to statement: SQLStatement) -> SQLStatement {
        statement.bind(":tenant", subject.tenant?.text).bind(":task_kind", subject.taskKind)
    }

    private static let endLiftsOfSubject: StaticString = """
        UPDATE cost_lift SET until_ms = :now 
        WHERE coalesce(tenant, '') = coalesce(:tenant, '') AND coalesce(task_kind, '') = coalesce(:task_kind, '')
            AND until_ms > :now
        """
    private static let insertLift: StaticString = """
        INSERT INTO cost_lift (tenant, task_kind, author, reason, at_ms, until_ms)
        VALUES (:tenant, :task_kind, :author, :reason, :at_ms, :until_ms)
        RETURNING id
        """
    private static let selectLifts: StaticString = """
        SELECT id, tenant, task_kind, author, reason, at_ms, until_ms FROM cost_lift WHERE until_ms > :now ORDER BY id
        """
}
