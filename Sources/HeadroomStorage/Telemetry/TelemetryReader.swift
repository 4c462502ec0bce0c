import HeadroomModel

/// Reads telemetry behind a cursor, on a read-only connection with a thread of its own.
package actor TelemetryReader: TelemetrySource {
    private let connection: SQLConnection
    private let names: NameReader

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    /// Reads through `connection`, which has a thread of its own; of a database that has been migrated. Call it when starting.
    package init(connection: SQLConnection) throws(StorageError) {
        self.connection = connection
        names = try connection.executor.performAndWait {
            try NameReader(connection: connection)
        }
    }

    package func page(after cursor: TelemetryCursor, limit: Int) throws(StorageError) -> TelemetryPage {
        try page(after: cursor, through: nil, limit: limit)
    }

    /// Rare kinds first: limits and queues are not to wait behind a backlog of calls.
    /// - Parameter end: the last rows to read; `nil` is all that there are.
    package func page(
        after cursor: TelemetryCursor, through end: TelemetryCursor?, limit: Int
    ) throws(StorageError) -> TelemetryPage {
        try connection.reading {
            var page = TelemetryPage(records: [], next: cursor, isLast: false)
            try read(EventTables.selectModelRows, limit, end, &page, \.model) { row in
                .model(try EventTables.model(row, names: names))
            }
            try read(ResponseTable.selectRows, limit, end, &page, \.response) { row in
                .response(try ResponseTable.record(row, names: names, connection: connection))
            }
            try read(EventTables.selectQueueRows, limit, end, &page, \.queue) { row in
                .queue(try EventTables.queue(row, names: names))
            }
            try read(EventTables.selectTaskRows, limit, end, &page, \.task) { row in
                .task(try EventTables.task(row, names: names))
            }
            try read(WindowTable.selectRows, limit, end, &page, \.window) { row in
                .window(try WindowTable.record(row, names: names))
            }
            try read(CallTable.selectRows, limit, end, &page, \.call) { row in
                .call(try CallTable.record(row, names: names))
            }
            page.isLast = page.records.count < limit
            return page
        }
    }

    /// Up to a second of earlier rows lies behind it too.
    package func cursor(at instant: Timestamp) throws(StorageError) -> TelemetryCursor {
        try ArrivalMarks(connection: connection).last(at: instant)?.cursor ?? .start
    }

    /// From when on rows are known; `nil` without any.
    package func oldestArrival() throws(StorageError) -> Timestamp? {
        try ArrivalMarks(connection: connection).oldest()
    }

    /// Rows now in each table.
    package func rowCounts() throws(StorageError) -> [(kind: TelemetryKind, rows: Int64)] {
        try connection.reading {
            var counts: [(kind: TelemetryKind, rows: Int64)] = []
            for (kind, sql) in TelemetryReader.counts {
                counts.append((kind, try connection.statement(sql).first { $0.integer(0) } ?? 0))
            }
            return counts
        }
    }

    private func read(
        _ sql: StaticString, _ limit: Int, _ end: TelemetryCursor?, _ page: inout TelemetryPage,
        _ lane: WritableKeyPath<TelemetryCursor, Int64>,
        record: (SQLStatement) throws -> TelemetryRecord
    ) throws(StorageError) {
        // Ids ascend by one but for rows that were deleted: so many ids are at most so many rows.
        let ahead = end.map { $0[keyPath: lane] - page.next[keyPath: lane] } ?? .max
        let room = Int(min(Int64(limit - page.records.count), ahead))
        guard room > 0 else { return }
        let rows = try connection.statement(sql).bind(":after", page.next[keyPath: lane]).bind(":limit", Int64(room))
        var records: [TelemetryRecord] = []
        var last = page.next[keyPath: lane]
        try rows.forEachRow { row in
            records.append(try record(row))
            last = row.integer(0)
        }
        page.records += records
        page.next[keyPath: lane] = last
    }

    private static let counts: [(kind: TelemetryKind, sql: StaticString)] = [
        (.call, "SELECT count(*) FROM call"),
        (.window, "SELECT count(*) FROM call_window"),
        (.queue, "SELECT count(*) FROM queue_state"),
        (.response, "SELECT count(*) FROM provider_response"),
        (.task, "SELECT count(*) FROM task_event"),
        (.model, "SELECT count(*) FROM model_event"),
    ]
}
