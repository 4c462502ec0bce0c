import HeadroomModel

/// Where the tables of telemetry stood when: finds the rows that arrived since, or before, a moment.
struct ArrivalMarks {
    /// Time between two marks: what a reader may get too much of.
    static let spacingMilliseconds: Int64 = 1_000

    private let connection: SQLConnection

    init(connection: SQLConnection) {
        self.connection = connection
    }

    /// The received time of the newest mark.
    func newest() throws(StorageError) -> Timestamp? {
        try connection.statement("SELECT received_ms FROM arrival ORDER BY id DESC LIMIT 1")
            .first { Timestamp(milliseconds: $0.integer(0)) }
    }

    /// The received time of the oldest mark.
    func oldest() throws(StorageError) -> Timestamp? {
        try connection.statement("SELECT received_ms FROM arrival ORDER BY id LIMIT 1")
            .first { Timestamp(milliseconds: $0.integer(0)) }
    }

    /// Marks that everything from here on arrives at `received` or later. Before the rows, in their transaction.
    func mark(_ received: Timestamp) throws(StorageError) {
        let cursor = try end()
        try connection.statement(ArrivalMarks.insertMark)
            .bind(":received_ms", received.milliseconds)
            .bind(":call_id", cursor.call)
            .bind(":call_window_id", cursor.window)
            .bind(":queue_state_id", cursor.queue)
            .bind(":provider_response_id", cursor.response)
            .bind(":task_event_id", cursor.task)
            .bind(":model_event_id", cursor.model)
            .run()
    }

    /// The newest mark set at or before `instant`. By id and not by time: the clock may have gone back between two
    /// starts, and ids never do.
    func last(at instant: Timestamp) throws(StorageError) -> (id: Int64, cursor: TelemetryCursor)? {
        try connection.statement(ArrivalMarks.lastMark).bind(":received_ms", instant.milliseconds)
            .first(ArrivalMarks.mark)
    }

    /// Where the tables stood when all that had arrived before `instant` was in them, and the oldest mark that is still of
    /// use behind that. What follows a mark arrived within ``spacingMilliseconds`` of it, or has a mark of its own.
    func past(_ instant: Timestamp) throws(StorageError) -> (id: Int64, cursor: TelemetryCursor)? {
        let spacing = Double(ArrivalMarks.spacingMilliseconds) / 1_000
        guard let last = try last(at: instant.adding(seconds: -spacing)) else { return nil }
        let next = try connection.statement(ArrivalMarks.nextMark).bind(":id", last.id).first(ArrivalMarks.mark)
        if let next { return next }
        return (last.id, try end())
    }

    private static func mark(_ row: SQLStatement) -> (id: Int64, cursor: TelemetryCursor) {
        let cursor = TelemetryCursor(
            call: row.integer(1), window: row.integer(2), queue: row.integer(3), response: row.integer(4),
            task: row.integer(5), model: row.integer(6))
        return (row.integer(0), cursor)
    }

    func delete(before id: Int64) throws(StorageError) {
        try connection.statement("DELETE FROM arrival WHERE id < :id").bind(":id", id).run()
    }

    /// Behind the last row of each table, also of one that is empty by now.
    private func end() throws(StorageError) -> TelemetryCursor {
        let last = try connection.lastIDs()
        return TelemetryCursor(
            call: last["call", default: 0], window: last["call_window", default: 0],
            queue: last["queue_state", default: 0], response: last["provider_response", default: 0],
            task: last["task_event", default: 0], model: last["model_event", default: 0])
    }

    private static let insertMark: StaticString = """
        INSERT INTO arrival (received_ms, call_id, call_window_id, queue_state_id, provider_response_id, task_event_id,
            model_event_id)
        VALUES (:received_ms, :call_id, :call_window_id, :queue_state_id, :provider_response_id, :task_event_id,
            :model_event_id)
        """

    private static let lastMark: StaticString = """
        SELECT id, call_id, call_window_id, queue_state_id, provider_response_id, task_event_id, model_event_id
        FROM arrival WHERE received_ms <= :received_ms ORDER BY id DESC LIMIT 1
        """

    private static let nextMark: StaticString = """
        SELECT id, call_id, call_window_id, queue_state_id, provider_response_id, task_event_id, model_event_id
        FROM arrival WHERE id > :id ORDER BY id LIMIT 1
        """
}
