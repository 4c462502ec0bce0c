import HeadroomModel

/// The line ids of the last minutes, so that a line that is sent twice counts once.
final class SeenLines {
    private let connection: SQLConnection
    private let insert: SQLStatement
    private let gateway: SQLStatement.Parameter
    private let line: SQLStatement.Parameter
    private let received: SQLStatement.Parameter
    /// Where the sweep goes on.
    private var sweepGateway: Int64 = 0
    private var sweepLine = ""

    init(connection: SQLConnection) throws(StorageError) {
        self.connection = connection
        insert = try connection.statement(SeenLines.remember)
        gateway = insert.parameter(":gateway_id")
        line = insert.parameter(":line_id")
        received = insert.parameter(":received_ms")
    }

    /// False when `id` has been seen. Inside a transaction.
    func remember(_ id: String, gateway: Int64, received: Timestamp) throws(StorageError) -> Bool {
        insert.bind(self.gateway, gateway)
        insert.bind(line, id)
        insert.bind(self.received, received.milliseconds)
        try insert.run()
        return connection.changedRows == 1
    }

    /// Looks at the next `count` ids, in the order of the table and round and round, and deletes those that came before
    /// `horizon`. Inside a transaction.
    func sweep(_ count: Int, before horizon: Timestamp) throws(StorageError) {
        let last = try connection.statement(SeenLines.rangeEnd)
            .bind(":gateway_id", sweepGateway).bind(":line_id", sweepLine).bind(":skipped", Int64(count - 1))
            .first { ($0.integer(0), $0.text(1)) }
        // No end: fewer than `count` ids are left, and the next sweep starts over.
        try connection.statement(SeenLines.forgetRange)
            .bind(":gateway_id", sweepGateway).bind(":line_id", sweepLine)
            .bind(":last_gateway_id", last?.0 ?? .max).bind(":last_line_id", last?.1 ?? "")
            .bind(":horizon_ms", horizon.milliseconds)
            .run()
        (sweepGateway, sweepLine) = last ?? (0, "")
    }

    private static let remember: StaticString = """
        INSERT INTO seen_line (gateway_id, line_id, received_ms)
        VALUES (:gateway_id, :line_id, :received_ms) ON CONFLICT DO NOTHING
        """

    private static let rangeEnd: StaticString = """
        SELECT gateway_id, line_id FROM seen_line WHERE (gateway_id, line_id) > (:gateway_id, :line_id)
        ORDER BY gateway_id, line_id LIMIT 1 OFFSET :skipped
        """

    private static let forgetRange: StaticString = """
        DELETE FROM seen_line WHERE (gateway_id, line_id) > (:gateway_id, :line_id)
            AND (gateway_id, line_id) <= (:last_gateway_id, :last_line_id) AND received_ms < :horizon_ms
        """
}
