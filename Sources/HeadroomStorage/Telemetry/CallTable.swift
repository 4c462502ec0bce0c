import HeadroomModel

/// The table `call`: nearly all rows of telemetry, so that its insert decides what ingest costs.
struct CallTable {
    /// Numbers of the names in a record.
    struct Names {
        var gateway: Int64
        var tenant: Int64
        var pool: Int64
        var model: Int64?
        var endpoint: Int64?
        var taskKind: Int64?
    }

    private let insert: SQLStatement
    private let at, gateway, tenant, pool, model, endpoint: SQLStatement.Parameter
    private let criticality, outcome, attempt, status, latency, queued: SQLStatement.Parameter
    private let inputTokens, outputTokens, cachedInputTokens, maxTokens, countedTokens: SQLStatement.Parameter
    private let request, task, parent, taskKind, isToolWork: SQLStatement.Parameter

    init(connection: SQLConnection) throws(StorageError) {
        insert = try connection.statement(CallTable.insertRow)
        at = insert.parameter(":at_ms")
        gateway = insert.parameter(":gateway_id")
        tenant = insert.parameter(":tenant_id")
        pool = insert.parameter(":pool_id")
        model = insert.parameter(":model_id")
        endpoint = insert.parameter(":endpoint_id")
        criticality = insert.parameter(":criticality")
        outcome = insert.parameter(":outcome")
        attempt = insert.parameter(":attempt")
        status = insert.parameter(":status")
        latency = insert.parameter(":latency_ms")
        queued = insert.parameter(":queued_ms")
        inputTokens = insert.parameter(":input_tokens")
        outputTokens = insert.parameter(":output_tokens")
        cachedInputTokens = insert.parameter(":cached_input_tokens")
        maxTokens = insert.parameter(":max_tokens")
        countedTokens = insert.parameter(":counted_tokens")
        request = insert.parameter(":request")
        task = insert.parameter(":task")
        parent = insert.parameter(":parent")
        taskKind = insert.parameter(":task_kind_id")
        isToolWork = insert.parameter(":is_tool_work")
    }

    func add(_ call: CallRecord, _ names: Names) throws(StorageError) {
        insert.bind(at, call.at.milliseconds)
        insert.bind(gateway, names.gateway)
        insert.bind(tenant, names.tenant)
        insert.bind(pool, names.pool)
        insert.bind(model, names.model)
        insert.bind(endpoint, names.endpoint)
        insert.bind(criticality, Int64(call.criticality.rawValue))
        insert.bind(outcome, Int64(call.outcome.rawValue))
        insert.bind(attempt, Int64(call.attempt))
        insert.bind(status, call.status.map(Int64.init))
        insert.bind(latency, call.latencyMilliseconds)
        insert.bind(queued, call.queuedMilliseconds)
        insert.bind(inputTokens, call.inputTokens)
        insert.bind(outputTokens, call.outputTokens)
        insert.bind(cachedInputTokens, call.cachedInputTokens)
        insert.bind(maxTokens, call.maxTokens)
        insert.bind(countedTokens, call.countedTokens)
        insert.bind(request, call.request)
        insert.bind(task, call.task)
        insert.bind(parent, call.parent)
        insert.bind(taskKind, names.taskKind)
        insert.bind(isToolWork, call.isToolWork ? 1 : 0 as Int64)
        try insert.runLater()
    }

    /// The columns of ``selectRows`` as a record. The line's id is not among them: it only serves to find repetitions.
    static func record(_ row: SQLStatement, names: NameReader) throws(StorageError) -> CallRecord {
        var call = CallRecord(
            request: row.optionalText(18),
            at: Timestamp(milliseconds: row.integer(1)),
            gateway: GatewayID(unchecked: try names.text(row.integer(2))),
            tenant: TenantID(unchecked: try names.text(row.integer(3))),
            pool: PoolID(unchecked: try names.text(row.integer(4))),
            model: try names.optionalText(row.optionalInteger(5)),
            endpoint: try names.optionalText(row.optionalInteger(6)),
            criticality: try row.value(7),
            task: row.optionalText(19),
            parent: row.optionalText(20),
            attempt: Int(row.integer(9)),
            outcome: try row.value(8),
            status: row.optionalInteger(10).map(Int.init),
            latencyMilliseconds: row.optionalDouble(11),
            queuedMilliseconds: row.optionalDouble(12),
            inputTokens: row.optionalInteger(13),
            outputTokens: row.optionalInteger(14),
            cachedInputTokens: row.optionalInteger(15),
            maxTokens: row.optionalInteger(16),
            countedTokens: row.optionalInteger(17),
            taskKind: try names.optionalText(row.optionalInteger(21)))
        call.isToolWork = row.integer(22) != 0
        return call
    }

    static let selectRows: StaticString = """
        SELECT id, at_ms, gateway_id, tenant_id, pool_id, model_id, endpoint_id, criticality, outcome, attempt, status,
            latency_ms, queued_ms, input_tokens, output_tokens, cached_input_tokens, max_tokens, counted_tokens,
            request, task, parent, task_kind_id, is_tool_work
        FROM call WHERE id > :after ORDER BY id LIMIT :limit
        """

    private static let insertRow: StaticString = """
        INSERT INTO call (at_ms, gateway_id, tenant_id, pool_id, model_id, endpoint_id, criticality, outcome, attempt,
            status, latency_ms, queued_ms, input_tokens, output_tokens, cached_input_tokens, max_tokens,
            counted_tokens, request, task, parent, task_kind_id, is_tool_work)
        VALUES (:at_ms, :gateway_id, :tenant_id, :pool_id, :model_id, :endpoint_id, :criticality, :outcome, :attempt,
            :status, :latency_ms, :queued_ms, :input_tokens, :output_tokens, :cached_input_tokens, :max_tokens,
            :counted_tokens, :request, :task, :parent, :task_kind_id, :is_tool_work)
        """
}

extension SQLStatement {
    /// A column that holds the raw value of an enumeration.
    func value<Value: RawRepresentable<Int>>(_ column: Int32) throws(StorageError) -> Value {
        let number = integer(column)
        guard let value = Value(rawValue: Int(number)) else {
            throw StorageError(
                code: .corrupt, message: "a row of telemetry holds \(number), which is no \(Value.self)")
        }
        return value
    }
}
