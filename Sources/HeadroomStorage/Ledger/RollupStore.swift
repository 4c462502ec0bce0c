import HeadroomModel

/// The loop's checkpoint, and the sums by minute and hour that go with it.
package actor RollupStore: CheckpointStore {
    private let connection: SQLConnection
    private let names: NameTable
    private let table: RollupTable
    private let poolTable: PoolRollupTable

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    /// On the connection's executor: call it when starting.
    package init(connection: SQLConnection) throws(StorageError) {
        self.connection = connection
        (names, table, poolTable) = try connection.executor.performAndWait {
            (
                try NameTable(connection: connection), try RollupTable(connection: connection),
                try PoolRollupTable(connection: connection)
            )
        }
    }

    package func latest() throws(StorageError) -> Checkpoint? {
        try connection.statement(RollupStore.selectCheckpoint).first { row in
            Checkpoint(
                at: Timestamp(milliseconds: row.integer(0)),
                cursor: TelemetryCursor(
                    call: row.integer(1), window: row.integer(2), queue: row.integer(3), response: row.integer(4),
                    task: row.integer(5), model: row.integer(6)),
                observer: row.bytes(7), classifier: row.bytes(8), floats: row.bytes(9),
                breaker: row.bytes(10), tasks: row.bytes(11))
        }
    }

    package func erasures(after id: Int64) throws(StorageError) -> [ErasedTenant] {
        var erasures: [ErasedTenant] = []
        try connection.statement(RollupStore.selectErasures).bind(":after", id).forEachRow { row in
            erasures.append(
                ErasedTenant(id: row.integer(0), fingerprint: UInt64(bitPattern: row.integer(1))))
        }
        return erasures
    }

    package func uses(since day: Int64) throws(StorageError) -> [TenantUse] {
        try TenantUseTable(connection: connection).all(since: day)
    }

    package func save(
        _ checkpoint: Checkpoint, rollups: [Rollup], capacities: [PoolRollup] = [], uses: [ModelUse] = [],
        taskTimes: [TaskTimeRollup] = [], priced: Set<TenantID> = [], erasedThrough: Int64 = 0
    ) throws(StorageError) {
        do throws(StorageError) {
            try connection.transaction {
                try names.begin()
                let priceable = TenantUseTable(connection: connection)
                for rollup in rollups {
                    let tenant = try names.id(of: rollup.tenant.text, .tenant)
                    let pool = try names.id(of: rollup.pool.text, .pool)
                    for span in RollupSpan.allCases {
                        try table.add(rollup, to: span, tenant: tenant, pool: pool)
                    }
                    if priced.contains(rollup.tenant) { try priceable.add(TenantUse(rollup)) }
                }
                for rollup in capacities.adding(rollups) {
                    let pool = try names.id(of: rollup.pool.text, .pool)
                    for span in RollupSpan.allCases { try poolTable.add(rollup, to: span, pool: pool) }
                }
                let useTable = UseTable(connection: connection)
                for use in uses { try useTable.add(use, names: names) }
                let taskTable = TaskTimeTable(connection: connection)
                for rollup in taskTimes { try taskTable.add(rollup, names: names) }
                try replace(checkpoint)
                try connection.statement("DELETE FROM erased_tenant WHERE id <= :id").bind(":id", erasedThrough).run()
            }
            names.keepAdded()
        } catch {
            names.forgetAdded()
            throw error
        }
    }

    /// Deletes of each pool the oldest `limit` sums of `span`, and the rest of their minute or hour, that began before
    /// `instant`; returns how many: call again until that is none.
    ///
    /// Whole hours of minutes go, so that an hour is read from its minutes or from its sum. The sums of the pool as a whole
    /// go with those of its tenants.
    package func prune(
        _ span: RollupSpan, before instant: Timestamp, limit: Int = 5_000
    ) throws(StorageError) -> Int {
        let horizon = max(span, .hour).start(of: instant)
        return try connection.transaction {
            var pools: [Int64] = []
            try connection.statement("SELECT id FROM name WHERE kind = 1").forEachRow { pools.append($0.integer(0)) }
            var deleted = 0
            for pool in pools {
                let oldest = try connection.statement(RollupTable.selectEnds)
                    .bind(":span_s", span.rawValue).bind(":pool_id", pool).first { $0.optionalInteger(0) }
                guard let oldest = oldest ?? nil, oldest < horizon.milliseconds else { continue }
                try connection.statement(RollupStore.deleteOldest)
                    .bind(":span_s", span.rawValue).bind(":pool_id", pool)
                    .bind(":before_ms", horizon.milliseconds).bind(":limit", Int64(limit)).run()
                deleted += connection.changedRows
            }
            for pool in pools {
                try connection.statement(RollupStore.deleteOldestOfPool)
                    .bind(":span_s", span.rawValue).bind(":pool_id", pool)
                    .bind(":before_ms", horizon.milliseconds).bind(":limit", Int64(limit)).run()
                deleted += connection.changedRows
                deleted += try UseTable(connection: connection)
                    .prune(span, pool: pool, before: horizon, limit: Int64(limit))
            }
            deleted += try TaskTimeTable(connection: connection).prune(span, before: horizon, limit: Int64(limit))
            return deleted
        }
    }

    /// Deletes what tenants used in days that no period of a contract reaches back to.
    package func pruneUses(at now: Timestamp) throws(StorageError) {
        let uses = TenantUseTable(connection: connection)
        guard try uses.hasPast(at: now) else { return }
        try connection.transaction { try uses.prune(at: now) }
    }

    private func replace(_ checkpoint: Checkpoint) throws(StorageError) {
        try connection.statement(RollupStore.replaceCheckpoint)
            .bind(":at_ms", checkpoint.at.milliseconds)
            .bind(":call_id", checkpoint.cursor.call)
            .bind(":call_window_id", checkpoint.cursor.window)
            .bind(":queue_state_id", checkpoint.cursor.queue)
            .bind(":provider_response_id", checkpoint.cursor.response)
            .bind(":task_event_id", checkpoint.cursor.task)
            .bind(":model_event_id", checkpoint.cursor.model)
            .bind(":observer", checkpoint.observer)
            .bind(":classifier", checkpoint.classifier)
            .bind(":floats", checkpoint.floats)
            .bind(":breaker", checkpoint.breaker)
            .bind(":tasks", checkpoint.tasks)
            .run()
    }

    private static let selectErasures: StaticString =
        "SELECT id, fingerprint FROM erased_tenant WHERE id > :after ORDER BY id"
    private static let selectCheckpoint: StaticString = """
        SELECT at_ms, call_id, call_window_id, queue_state_id, provider_response_id, task_event_id, model_event_id,
            observer, classifier, floats, breaker, tasks
        FROM checkpoint
        """
    private static let replaceCheckpoint: StaticString = """
        INSERT INTO checkpoint (id, at_ms, call_id, call_window_id, queue_state_id, provider_response_id,
            task_event_id, model_event_id, observer, classifier, floats, breaker, tasks)
        VALUES (1, :at_ms, :call_id, :call_window_id, :queue_state_id, :provider_response_id,
            :task_event_id, :model_event_id, :observer, :classifier, :floats, :breaker, :tasks)
        ON CONFLICT (id) DO UPDATE SET
            at_ms = excluded.at_ms, call_id = excluded.call_id, call_window_id = excluded.call_window_id,
            queue_state_id = excluded.queue_state_id, provider_response_id = excluded.provider_response_id,
            task_event_id = excluded.task_event_id, model_event_id = excluded.model_event_id,
            observer = excluded.observer, classifier = excluded.classifier, floats = excluded.floats,
            breaker = excluded.breaker, tasks = excluded.tasks
        """
    private static let deleteOldest: StaticString = """
        DELETE FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms < :before_ms AND start_ms <= coalesce(
            (SELECT start_ms FROM rollup WHERE span_s = :span_s AND pool_id = :pool_id
                ORDER BY start_ms LIMIT 1 OFFSET :limit - 1), :before_ms)
        """
    private static let deleteOldestOfPool: StaticString = """
        DELETE FROM pool_rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms IN (
            SELECT start_ms FROM pool_rollup WHERE span_s = :span_s AND pool_id = :pool_id AND start_ms < :before_ms
            ORDER BY start_ms LIMIT :limit)
        """
}

extension [PoolRollup] {
    /// With the sums of the pools' tenants; ascending by minute and pool.
    fileprivate func adding(_ rollups: [Rollup]) -> [PoolRollup] {
        var sums: [PoolMinute: PoolRollup] = [:]
        func add(_ start: Timestamp, _ pool: PoolID, _ change: (inout PoolRollup) -> Void) {
            let minute = PoolMinute(start: RollupSpan.minute.start(of: start), pool: pool)
            change(&sums[minute, default: PoolRollup(start: minute.start, pool: pool)])
        }
        for rollup in self { add(rollup.start, rollup.pool) { $0.capacity.add(rollup.capacity) } }
        for rollup in rollups { add(rollup.start, rollup.pool) { $0.sums.add(rollup.sums) } }
        return sums.values.sorted { ($0.start, $0.pool) < ($1.start, $1.pool) }
    }
}

private struct PoolMinute: Hashable {
    var start: Timestamp
    var pool: PoolID
}
