import HeadroomModel

/// The tables `queue_state`, `task_event` and `model_event`.
struct EventTables {
    private let insertQueue: SQLStatement
    private let insertTask: SQLStatement
    private let insertModel: SQLStatement

    init(connection: SQLConnection) throws(StorageError) {
        insertQueue = try connection.statement(EventTables.insertQueueRow)
        insertTask = try connection.statement(EventTables.insertTaskRow)
        insertModel = try connection.statement(EventTables.insertModelRow)
    }

    func add(_ queue: QueueRecord, names: NameTable) throws(StorageError) {
        try insertQueue
            .bind(":at_ms", queue.at.milliseconds)
            .bind(":gateway_id", try names.id(of: queue.gateway.text, .gateway))
            .bind(":tenant_id", try names.id(of: queue.tenant.text, .tenant))
            .bind(":pool_id", try names.id(of: queue.pool.text, .pool))
            .bind(":criticality", Int64(queue.criticality.rawValue))
            .bind(":depth", queue.depth)
            .bind(":tokens", queue.tokens)
            .bind(":oldest_age_ms", queue.oldestAgeMilliseconds)
            .runLater()
    }

    func add(_ task: TaskRecord, names: NameTable) throws(StorageError) {
        try insertTask
            .bind(":at_ms", task.at.milliseconds)
            .bind(":gateway_id", try names.id(of: task.gateway.text, .gateway))
            .bind(":tenant_id", try names.id(of: task.tenant.text, .tenant))
            .bind(":pool_id", try names.id(of: task.pool.text, .pool))
            .bind(":criticality", Int64(task.criticality.rawValue))
            .bind(":state", Int64(task.state.rawValue))
            .bind(":progress", task.progress)
            .bind(":remaining_requests", task.remainingRequests)
            .bind(":remaining_tokens", task.remainingTokens)
            .bind(":task", task.task)
            .bind(":parent", task.parent)
            .runLater()
    }

    func add(_ model: ModelRecord, names: NameTable) throws(StorageError) {
        try insertModel
            .bind(":at_ms", model.at.milliseconds)
            .bind(":gateway_id", try names.optionalID(of: model.gateway?.text, .gateway))
            .bind(":pool_id", try names.id(of: model.pool.text, .pool))
            .bind(":model_id", try names.id(of: model.model, .model))
            .bind(":version", model.version)
            .runLater()
    }

    static func queue(_ row: SQLStatement, names: NameReader) throws(StorageError) -> QueueRecord {
        QueueRecord(
            at: Timestamp(milliseconds: row.integer(1)),
            gateway: GatewayID(unchecked: try names.text(row.integer(2))),
            tenant: TenantID(unchecked: try names.text(row.integer(3))),
            pool: PoolID(unchecked: try names.text(row.integer(4))),
            criticality: try row.value(5),
            depth: row.integer(6),
            tokens: row.integer(7),
            oldestAgeMilliseconds: row.double(8))
    }

    static func task(_ row: SQLStatement, names: NameReader) throws(StorageError) -> TaskRecord {
        TaskRecord(
            at: Timestamp(milliseconds: row.integer(1)),
            gateway: GatewayID(unchecked: try names.text(row.integer(2))),
            tenant: TenantID(unchecked: try names.text(row.integer(3))),
            pool: PoolID(unchecked: try names.text(row.integer(4))),
            criticality: try row.value(5),
            task: row.text(10),
            parent: row.optionalText(11),
            state: try row.value(6),
            progress: row.optionalDouble(7),
            remainingRequests: row.optionalInteger(8),
            remainingTokens: row.optionalInteger(9))
    }

    static func model(_ row: SQLStatement, names: NameReader) throws(StorageError) -> ModelRecord {
        ModelRecord(
            at: Timestamp(milliseconds: row.integer(1)),
            gateway: try names.optionalText(row.optionalInteger(2)).map(GatewayID.init(unchecked:)),
            pool: PoolID(unchecked: try names.text(row.integer(3))),
            model: try names.text(row.integer(4)),
            version: row.text(5))
    }

    static let selectQueueRows: StaticString = """
        SELECT id, at_ms, gateway_id, tenant_id, pool_id, criticality, depth, tokens, oldest_age_ms
        FROM queue_state WHERE id > :after ORDER BY id LIMIT :limit
        """
    static let selectTaskRows: StaticString = """
        SELECT id, at_ms, gateway_id, tenant_id, pool_id, criticality, state, progress, remaining_requests,
            remaining_tokens, task, parent
        FROM task_event WHERE id > :after ORDER BY id LIMIT :limit
        """
    static let selectModelRows: StaticString = """
        SELECT id, at_ms, gateway_id, pool_id, model_id, version
        FROM model_event WHERE id > :after ORDER BY id LIMIT :limit
        """

    private static let insertQueueRow: StaticString = """
        INSERT INTO queue_state (at_ms, gateway_id, tenant_id, pool_id, criticality, depth, tokens, oldest_age_ms)
        VALUES (:at_ms, :gateway_id, :tenant_id, :pool_id, :criticality, :depth, :tokens, :oldest_age_ms)
        """
    private static let insertTaskRow: StaticString = """
        INSERT INTO task_event (at_ms, gateway_id, tenant_id, pool_id, criticality, state, progress, remaining_requests,
            remaining_tokens, task, parent)
        VALUES (:at_ms, :gateway_id, :tenant_id, :pool_id, :criticality, :state, :progress, :remaining_requests,
            :remaining_tokens, :task, :parent)
        """
    private static let insertModelRow: StaticString = """
        INSERT INTO model_event (at_ms, gateway_id, pool_id, model_id, version)
        VALUES (:at_ms, :gateway_id, :pool_id, :model_id, :version)
        """
}
