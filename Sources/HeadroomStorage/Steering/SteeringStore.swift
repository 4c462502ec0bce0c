import HeadroomModel

/// People's steering, in SQLite: each act and its row in the audit log are one transaction.
///
/// Bounded: at most ``maxOverrides``, ``maxFreezes``, ``maxPins``, ``maxLifts`` and ``maxRulings`` hold at once, at most ``maxPending``
/// questions are open.
package actor SteeringStore: SteeringDesk {
    package static let maxOverrides: Int64 = 10_000
    package static let maxFreezes: Int64 = 1_000
    package static let maxPins: Int64 = 1_000
    package static let maxPending: Int64 = 10_000
    /// Rows in one answer.
    package static let maxListed = 10_000

    /// The last read, and the state of the tables then.
    private struct Known {
        var counter: Int64
        var steering: Steering
    }

    let connection: SQLConnection
    let audit: AuditLog
    let coding: SnapshotStore.Coding
    let time: TimeSource
    private var known: Known?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection, coding: SnapshotStore.Coding, time: TimeSource) {
        self.connection = connection
        self.coding = coding
        self.time = time
        audit = AuditLog(connection: connection)
    }

    package func steering() throws(SteeringError) -> Steering {
        try perform { .success(try steeringInForce()) }
    }

    /// For every tick: while nobody has changed anything, in this process or another, one number is read.
    package func steeringInForce() throws(StorageError) -> Steering {
        let now = time.now()
        let counter = try ChangeCounter.steering.read(connection)
        if known?.counter != counter { known = Known(counter: counter, steering: try read(at: now)) }
        return (known?.steering ?? .none).holding(at: now)
    }

    package func noteRelease(of gateway: GatewayID, by author: String, at now: Timestamp) throws(SteeringError) {
        try perform {
            try connection.transaction {
                try audit.append(
                    AuditAct("gateway.release", by: author, [("gateway", .text(gateway.text))]), at: now)
            }
            return .success(())
        }
    }

    /// Ascending by sequence, those after `sequence`.
    package func audit(after sequence: Int64, limit: Int) throws(SteeringError) -> [AuditEntry] {
        try perform {
            .success(try audit.entries(after: sequence, limit: min(max(limit, 0), SteeringStore.maxListed)))
        }
    }

    /// Deletes at most `limit` rows of each kind that ended before `instant`, and returns how many: call again until that
    /// is none. The audit log keeps what they were.
    package func prune(before instant: Timestamp, limit: Int = 1_000) throws(StorageError) -> Int {
        try connection.transaction {
            var deleted = 0
            for sql in SteeringStore.deletes {
                try connection.statement(sql).bind(":before", instant.milliseconds).bind(":limit", Int64(limit)).run()
                deleted += connection.changedRows
            }
            return deleted
        }
    }

    /// Runs `body`, which returns a refusal before it has written anything.
    func perform<Value>(
        _ body: () throws -> Result<Value, SteeringError>
    ) throws(SteeringError) -> Value {
        let result: Result<Value, SteeringError>
        do {
            result = try body()
        } catch {
            throw SteeringError(StorageError(error))
        }
        return try result.get()
    }

    /// The same in a transaction, whose writes it counts as a change.
    func change<Value>(
        _ body: () throws -> Result<Value, SteeringError>
    ) throws(SteeringError) -> Value {
        try perform {
            try connection.transaction {
                let result = try body()
                if case .success = result { try ChangeCounter.steering.raise(connection) }
                return result
            }
        }
    }

    private func read(at now: Timestamp) throws(StorageError) -> Steering {
        Steering(
            overrides: try overrides(at: now), freezes: try freezes(at: now), pins: try pins(at: now),
            proposals: try ProposalTable(connection: connection).standing(at: now), costLifts: try lifts(at: now),
            taskRulings: try taskRulings(at: now))
    }

    private static let deletes: [StaticString] = [
        """
        DELETE FROM override WHERE id IN (SELECT id FROM override WHERE until_ms < :before LIMIT :limit)
        """,
        """
        DELETE FROM "freeze" WHERE id IN (SELECT id FROM "freeze" WHERE until_ms < :before LIMIT :limit)
        """,
        """
        DELETE FROM capacity_pin WHERE pool IN (SELECT pool FROM capacity_pin WHERE until_ms < :before LIMIT :limit)
        """,
        """
        DELETE FROM cost_lift WHERE id IN (SELECT id FROM cost_lift WHERE until_ms < :before LIMIT :limit)
        """,
        """
        DELETE FROM task_ruling WHERE id IN (SELECT id FROM task_ruling WHERE until_ms < :before LIMIT :limit)
        """,
        """
        DELETE FROM proposal WHERE id IN (
            SELECT id FROM proposal
            WHERE until_ms < :before AND coalesce(decided_until_ms, until_ms) < :before LIMIT :limit)
        """,
    ]
}
