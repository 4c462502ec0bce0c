import HeadroomModel

/// People's word on agent tasks.
extension SteeringStore {
    package static let maxRulings: Int64 = 500

    package func rule(_ ruling: TaskRuling) throws(SteeringError) -> TaskRuling {
        let authorship = ruling.authorship
        try SteeringRules.check(authorship)
        return try change { () throws(StorageError) -> Result<TaskRuling, SteeringError> in
            try bind(ruling.name, to: connection.statement(SteeringStore.endRulingsOfTask))
                .bind(":now", authorship.at.milliseconds).run()
            let others =
                try connection.statement("SELECT count(*) FROM task_ruling WHERE until_ms > :now")
                .bind(":now", authorship.at.milliseconds).first { $0.integer(0) } ?? 0
            guard others < SteeringStore.maxRulings else {
                return .failure(
                    SteeringError(.conflict, "\(others) tasks are stopped or lifted by people, the most there may be"))
            }
            var entered = ruling
            entered.id = try bind(ruling.name, to: connection.statement(SteeringStore.insertRuling))
                .bind(":verdict", Int64(ruling.verdict.rawValue)).bind(authorship).runForID()
            try audit.append(
                AuditAct(
                    ruling.verdict == .stop ? "task.stop" : "task.lift", by: authorship.author,
                    tenant: ruling.name.tenant,
                    [("id", .integer(entered.id)), ("task", .text(ruling.name.task))] + authorship.detail),
                at: authorship.at)
            return .success(entered)
        }
    }

    /// Those in force, ascending by id.
    func taskRulings(at now: Timestamp) throws(StorageError) -> [TaskRuling] {
        var rulings: [TaskRuling] = []
        try connection.statement(SteeringStore.selectRulings).bind(":now", now.milliseconds).forEachRow { row in
            rulings.append(
                TaskRuling(
                    id: row.integer(0), name: TaskName(row.text(2), of: TenantID(unchecked: row.text(1))),
                    verdict: row.integer(3) == TaskRuling.Verdict.stop.rawValue ? .stop : .lift,
                    authorship: Authorship(row, firstColumn: 4)))
        }
        return rulings
    }

    private func bind(_ name: TaskName, to statement: SQLStatement) -> SQLStatement {
        statement.bind(":tenant", name.tenant.text).bind(":task", name.task)
    }

    private static let endRulingsOfTask: StaticString = """
        UPDATE task_ruling SET until_ms = :now WHERE tenant = :tenant AND task = :task AND until_ms > :now
        """
    private static let insertRuling: StaticString = """
        INSERT INTO task_ruling (tenant, task, verdict, author, reason, at_ms, until_ms)
        VALUES (:tenant, :task, :verdict, :author, :reason, :at_ms, :until_ms)
        RETURNING id
        """
    private static let selectRulings: StaticString = """
        SELECT id, tenant, task, verdict, author, reason, at_ms, until_ms FROM task_ruling
        WHERE until_ms > :now ORDER BY id
        """
}
