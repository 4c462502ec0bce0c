import HeadroomModel

/// Alerts and what people said of them, in SQLite: an act and its row in the audit log are one transaction.
package actor AlertStore: AlertDesk {
    /// Rows in one answer.
    package static let maxListed = 1_000

    let connection: SQLConnection
    private let audit: AuditLog
    private let time: TimeSource

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection, time: TimeSource) {
        self.connection = connection
        self.time = time
        audit = AuditLog(connection: connection)
    }

    // MARK: For the watch

    /// Those that are open; ascending by id.
    package func openAlerts() throws(StorageError) -> [Alert] {
        try newest(in: [.open, .acknowledged], limit: AlertStore.maxListed).reversed()
    }

    /// Enters, updates or closes each by its key, in one transaction. Returns them as stored: with their ids, and with what
    /// people said of them.
    package func save(_ alerts: [Alert]) throws(StorageError) -> [Alert] {
        guard !alerts.isEmpty else { return [] }
        return try connection.transaction { () throws(StorageError) in
            var saved: [Alert] = []
            for alert in alerts {
                let id = try enter(alert)
                if let stored = try find(id) { saved.append(stored) }
            }
            return saved
        }
    }

    private func enter(_ alert: Alert) throws(StorageError) -> Int64 {
        let open = try connection.statement(AlertStore.selectOpenID).bind(alert.key).first { $0.integer(0) }
        let id: Int64
        if let open {
            id = open
            try connection.statement(AlertStore.update)
                .bind(":id", id).bind(":updated_ms", alert.updatedAt.milliseconds)
                .bind(":closed_ms", alert.closedAt?.milliseconds).bind(":outcome", alert.outcome)
                .bind(":members", Int64(alert.memberCount)).run()
        } else {
            id = try connection.statement(AlertStore.insert)
                .bind(alert.key).bind(":opened_ms", alert.openedAt.milliseconds)
                .bind(":updated_ms", alert.updatedAt.milliseconds).bind(":closed_ms", alert.closedAt?.milliseconds)
                .bind(":outcome", alert.outcome).bind(":members", Int64(alert.memberCount)).runForID()
        }
        try connection.statement("DELETE FROM alert_member WHERE alert_id = :id").bind(":id", id).run()
        for (place, member) in alert.members.prefix(Alert.maxMembers).enumerated() {
            try connection.statement(AlertStore.insertMember)
                .bind(":id", id).bind(":place", Int64(place)).bind(":name", member.name)
                .bind(":tenant", member.tenant?.text).bind(":body", AlertMemberBody.encode(member)).run()
        }
        return id
    }

    // MARK: For people

    package func alerts(in states: Set<AlertState>?, limit: Int) throws(SteeringError) -> [Alert] {
        try perform { () throws(StorageError) in
            .success(try newest(in: states, limit: min(max(0, limit), AlertStore.maxListed)))
        }
    }

    package func acknowledge(_ id: Int64, as authorship: Authorship) throws(SteeringError) -> Alert {
        try act(on: id, "alert.acknowledge", authorship, [("reason", .text(authorship.reason))]) {
            (_) throws(StorageError) in
            try connection.statement(AlertStore.updateAcknowledgement)
                .bind(":id", id).bind(":author", authorship.author).bind(":reason", authorship.reason)
                .bind(":at_ms", authorship.at.milliseconds).run()
        }
    }

    package func mute(_ id: Int64, as authorship: Authorship) throws(SteeringError) -> Alert {
        try act(on: id, "alert.mute", authorship, authorship.detail) { (alert) throws(StorageError) in
            try connection.statement(AlertStore.replaceMute).bind(alert.key).bind(authorship).run()
        }
    }

    private func act(
        on id: Int64, _ action: String, _ authorship: Authorship, _ detail: [(StaticString, AuditAct.Value)],
        _ change: (Alert) throws(StorageError) -> Void
    ) throws(SteeringError) -> Alert {
        try SteeringRules.check(authorship)
        return try perform { () throws(StorageError) in
            try connection.transaction { () throws(StorageError) -> Result<Alert, SteeringError> in
                guard let alert = try find(id) else {
                    return .failure(SteeringError(.notFound, "there is no alert \(id)"))
                }
                guard alert.closedAt == nil else {
                    return .failure(SteeringError(.conflict, "alert \(id) is closed: its cause is gone"))
                }
                try change(alert)
                let about: [(StaticString, AuditAct.Value)] = [
                    ("id", .integer(id)), ("kind", .text(alert.key.kind.rawValue)),
                    ("pool", .text(alert.key.pool?.text)),
                ]
                try audit.append(AuditAct(action, by: authorship.author, about + detail), at: authorship.at)
                return .success(try find(id) ?? alert)
            }
        }
    }

    /// Deletes at most `limit` alerts that closed before `instant`, and mutes that ended; returns how many rows.
    package func prune(before instant: Timestamp, limit: Int = 1_000) throws(StorageError) -> Int {
        try connection.transaction { () throws(StorageError) in
            var deleted = 0
            for sql in AlertStore.deletes {
                try connection.statement(sql).bind(":before", instant.milliseconds).bind(":limit", Int64(limit)).run()
                deleted += connection.changedRows
            }
            return deleted
        }
    }

    // MARK: Rows

    private func newest(in states: Set<AlertState>?, limit: Int) throws(StorageError) -> [Alert] {
        let rows = try connection.statement(AlertStore.selectNewest)
        for (name, state) in [(":open", AlertState.open), (":acknowledged", .acknowledged), (":closed", .closed)]
            as [(StaticString, AlertState)]
        {
            rows.bind(name, Int64(states?.contains(state) ?? true ? 1 : 0))
        }
        return try read(rows.bind(":limit", Int64(limit)))
    }

    func find(_ id: Int64) throws(StorageError) -> Alert? {
        try read(connection.statement(AlertStore.selectOne).bind(":id", id)).first
    }

    private func read(_ rows: SQLStatement) throws(StorageError) -> [Alert] {
        let now = time.now()
        var alerts: [Alert] = []
        rows.bind(":now", now.milliseconds)
        try rows.forEachRow { (row) throws(StorageError) in
            // A kind that a newer version wrote is left to it.
            guard let kind = AlertKind(rawValue: row.text(1)) else { return }
            var alert = Alert(
                id: row.integer(0),
                key: AlertKey(
                    kind, pool: row.text(2).isEmpty ? nil : PoolID(unchecked: row.text(2)), reason: row.text(3)),
                openedAt: Timestamp(milliseconds: row.integer(4)), updatedAt: Timestamp(milliseconds: row.integer(5)),
                closedAt: row.optionalInteger(6).map(Timestamp.init(milliseconds:)), members: [],
                memberCount: Int(row.integer(7)))
            if let author = row.optionalText(8) {
                let at = Timestamp(milliseconds: row.integer(10))
                alert.acknowledgement = Authorship(author: author, reason: row.text(9), at: at, until: at)
            }
            if !row.isNull(11) { alert.mute = Authorship(row, firstColumn: 11) }
            alert.outcome = row.optionalText(15)
            alerts.append(alert)
        }
        for index in alerts.indices {
            try connection.statement(AlertStore.selectMembers).bind(":id", alerts[index].id)
                .forEachRow { (row) throws(StorageError) in
                    do {
                        alerts[index].members.append(
                            try AlertMemberBody.decode(
                                row.bytes(2), name: row.text(0),
                                tenant: row.optionalText(1).map(TenantID.init(unchecked:))))
                    } catch {
                        throw StorageError(
                            code: .corrupt, message: "alert \(alerts[index].id) cannot be read: \(error)")
                    }
                }
        }
        return alerts
    }

    private func perform<Value>(
        _ body: () throws(StorageError) -> Result<Value, SteeringError>
    ) throws(SteeringError) -> Value {
        let result: Result<Value, SteeringError>
        do throws(StorageError) { result = try body() } catch { throw SteeringError(error) }
        return try result.get()
    }

    private static let selectOne: StaticString = """
        SELECT alert.id, alert.kind, alert.pool, alert.reason, opened_ms, updated_ms, closed_ms, members, acknowledged_by,
            acknowledged_reason, acknowledged_ms, muted_by, muted_reason, at_ms, until_ms, outcome
        FROM alert LEFT JOIN alert_mute ON alert_mute.kind = alert.kind AND alert_mute.pool = alert.pool
            AND alert_mute.reason = alert.reason AND until_ms > :now
        WHERE alert.id = :id
        """
    private static let selectNewest: StaticString = """
        SELECT alert.id, alert.kind, alert.pool, alert.reason, opened_ms, updated_ms, closed_ms, members, acknowledged_by,
            acknowledged_reason, acknowledged_ms, muted_by, muted_reason, at_ms, until_ms, outcome
        FROM alert LEFT JOIN alert_mute ON alert_mute.kind = alert.kind AND alert_mute.pool = alert.pool
            AND alert_mute.reason = alert.reason AND until_ms > :now
        WHERE CASE WHEN closed_ms IS NOT NULL THEN :closed WHEN acknowledged_by IS NULL THEN :open ELSE :acknowledged END <> 0
        ORDER BY alert.id DESC LIMIT :limit
        """
    private static let selectMembers: StaticString =
        "SELECT name, tenant, body FROM alert_member WHERE alert_id = :id ORDER BY place"
    private static let selectOpenID: StaticString =
        "SELECT id FROM alert WHERE kind = :kind AND pool = :pool AND reason = :reason_key AND closed_ms IS NULL"
    private static let insert: StaticString = """
        INSERT INTO alert (kind, pool, reason, opened_ms, updated_ms, closed_ms, outcome, members)
        VALUES (:kind, :pool, :reason_key, :opened_ms, :updated_ms, :closed_ms, :outcome, :members)
        RETURNING id
        """
    private static let update: StaticString = """
        UPDATE alert SET updated_ms = :updated_ms, closed_ms = :closed_ms, outcome = :outcome, members = :members
        WHERE id = :id
        """
    private static let insertMember: StaticString = """
        INSERT INTO alert_member (alert_id, place, name, tenant, body) VALUES (:id, :place, :name, :tenant, :body)
        """
    private static let updateAcknowledgement: StaticString = """
        UPDATE alert SET acknowledged_by = :author, acknowledged_reason = :reason, acknowledged_ms = :at_ms
        WHERE id = :id
        """
    private static let replaceMute: StaticString = """
        INSERT INTO alert_mute (kind, pool, reason, muted_by, muted_reason, at_ms, until_ms)
        VALUES (:kind, :pool, :reason_key, :author, :reason, :at_ms, :until_ms)
        ON CONFLICT (kind, pool, reason) DO UPDATE SET muted_by = excluded.muted_by,
            muted_reason = excluded.muted_reason, at_ms = excluded.at_ms, until_ms = excluded.until_ms
        """
    private static let deletes: [StaticString] = [
        """
        DELETE FROM alert_member WHERE alert_id IN (SELECT id FROM alert WHERE closed_ms < :before LIMIT :limit)
        """,
        """
        DELETE FROM alert_delivery WHERE alert_id IN (SELECT id FROM alert WHERE closed_ms < :before LIMIT :limit)
        """,
        "DELETE FROM alert WHERE id IN (SELECT id FROM alert WHERE closed_ms < :before LIMIT :limit)",
        """
        DELETE FROM alert_mute WHERE (kind, pool, reason) IN (
            SELECT kind, pool, reason FROM alert_mute WHERE until_ms < :before LIMIT :limit)
        """,
    ]
}

extension SQLStatement {
    /// Parameters `:kind`, `:pool`, `:reason_key`.
    fileprivate func bind(_ key: AlertKey) -> SQLStatement {
        bind(":kind", key.kind.rawValue).bind(":pool", key.pool?.text ?? "").bind(":reason_key", key.reason)
    }
}
