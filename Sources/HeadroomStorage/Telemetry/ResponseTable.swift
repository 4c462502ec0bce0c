import HeadroomModel

/// The tables `provider_response` and `quota_window`.
struct ResponseTable {
    private let insertResponse: SQLStatement
    private let insertWindow: SQLStatement

    init(connection: SQLConnection) throws(StorageError) {
        insertResponse = try connection.statement(ResponseTable.insertRow)
        insertWindow = try connection.statement(ResponseTable.insertWindowRow)
    }

    func add(_ response: ResponseRecord, names: NameTable) throws(StorageError) {
        let id =
            try insertResponse
            .bind(":at_ms", response.at.milliseconds)
            .bind(":gateway_id", try names.id(of: response.gateway.text, .gateway))
            .bind(":pool_id", try names.id(of: response.pool.text, .pool))
            .bind(":model_id", try names.optionalID(of: response.model, .model))
            .bind(":endpoint_id", try names.optionalID(of: response.endpoint, .endpoint))
            .bind(":provider_id", try names.optionalID(of: response.provider, .provider))
            .bind(":status", Int64(response.status))
            .bind(":kind", Int64(response.signal.kind.rawValue))
            .bind(":retry_after_ms", response.signal.retryAfterMilliseconds)
            .bind(":request", response.request)
            .runForID()
        for (position, window) in response.signal.windows.enumerated() {
            try insertWindow
                .bind(":provider_response_id", id)
                .bind(":position", Int64(position))
                .bind(":resource", Int64(window.resource.rawValue))
                .bind(":quota_limit", window.limit)
                .bind(":remaining", window.remaining)
                .bind(":reset_ms", window.resetMilliseconds)
                .bind(":duration_s", window.windowSeconds)
                .runLater()
        }
    }

    static func record(
        _ row: SQLStatement, names: NameReader, connection: SQLConnection
    ) throws(StorageError) -> ResponseRecord {
        var windows: [QuotaWindow] = []
        try connection.statement(selectWindows).bind(":id", row.integer(0))
            .forEachRow { window in
                windows.append(
                    QuotaWindow(
                        resource: try window.value(0), limit: window.optionalDouble(1),
                        remaining: window.optionalDouble(2), resetMilliseconds: window.optionalDouble(3),
                        windowSeconds: window.optionalDouble(4)))
            }
        return ResponseRecord(
            at: Timestamp(milliseconds: row.integer(1)),
            request: row.optionalText(10),
            gateway: GatewayID(unchecked: try names.text(row.integer(2))),
            pool: PoolID(unchecked: try names.text(row.integer(3))),
            model: try names.optionalText(row.optionalInteger(4)),
            endpoint: try names.optionalText(row.optionalInteger(5)),
            provider: try names.optionalText(row.optionalInteger(6)),
            status: Int(row.integer(7)),
            signal: ProviderSignal(
                kind: try row.value(8), windows: windows, retryAfterMilliseconds: row.optionalDouble(9)))
    }

    static let selectRows: StaticString = """
        SELECT id, at_ms, gateway_id, pool_id, model_id, endpoint_id, provider_id, status, kind, retry_after_ms, request
        FROM provider_response WHERE id > :after ORDER BY id LIMIT :limit
        """

    private static let selectWindows: StaticString = """
        SELECT resource, quota_limit, remaining, reset_ms, duration_s FROM quota_window
        WHERE provider_response_id = :id ORDER BY position
        """

    private static let insertRow: StaticString = """
        INSERT INTO provider_response (at_ms, gateway_id, pool_id, model_id, endpoint_id, provider_id, status, kind,
            retry_after_ms, request)
        VALUES (:at_ms, :gateway_id, :pool_id, :model_id, :endpoint_id, :provider_id, :status, :kind,
            :retry_after_ms, :request)
        RETURNING id
        """

    private static let insertWindowRow: StaticString = """
        INSERT INTO quota_window (provider_response_id, position, resource, quota_limit, remaining, reset_ms,
            duration_s)
        VALUES (:provider_response_id, :position, :resource, :quota_limit, :remaining, :reset_ms, :duration_s)
        """
}
