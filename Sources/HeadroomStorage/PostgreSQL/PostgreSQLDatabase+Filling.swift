#if PostgreSQL
    import HeadroomModel

    extension PostgreSQLDatabase {
        /// Raw telemetry, and what finds its rows.
        private static let left: Set<String> = [
            "call", "call_window", "queue_state", "provider_response", "quota_window", "task_event", "model_event",
            "arrival", "seen_line", "schema_migration",
        ]

        /// Copies the file into an empty database, in one transaction.
        static func fill(
            _ url: String, from file: String, at now: Timestamp
        ) throws(StorageError) -> [(table: String, rows: Int64)] {
            guard DatabaseLock.Identity(path: file) != nil else {
                throw StorageError(code: .cannotOpen, message: "\(file): there is no such database")
            }
            // What the file lacks of the schema is applied to it, and no service may be writing.
            let source = try SQLiteDatabase(path: file, use: .service, auditKey: nil, at: now, onLock: nil)
            let server = try PostgreSQLDatabase(url: url, use: .service, auditKey: nil, at: now)
            let isUsed = try server.writer.executor.performAndWait {
                try server.writer.statement("SELECT epoch + (SELECT sequence FROM audit_head) FROM ledger")
                    .firstInteger()
                    != 0
            }
            guard !isUsed else {
                throw StorageError(
                    code: .constraint,
                    message: "\(Database.withoutPassword(url)): is in use already; name an empty database")
            }
            return try source.writer.executor.performAndWait {
                try source.writer.reading {
                    try server.writer.executor.performAndWait { try fill(server.writer, from: source.writer) }
                }
            }
        }

        private static func fill(
            _ server: PostgreSQLConnection, from file: SQLiteConnection
        ) throws(StorageError) -> [(table: String, rows: Int64)] {
            try server.transaction {
                var filled: [(table: String, rows: Int64)] = []
                let tables = try SQLiteTable.all(of: file).filter { !left.contains($0.name) }
                // What the migrations have entered. In the other order, since rows refer to earlier tables.
                for table in tables.reversed() { try server.run("DELETE FROM \"\(table.name)\"") }
                for table in tables {
                    let rows = try table.copy(from: file, to: server)
                    if rows > 0 { filled.append((table.name, rows)) }
                }
                // Ids go on where they were, also those of raw telemetry: the loop's checkpoint names the last one read.
                var last = try file.lastIDs()
                last["name"] = try file.statement("SELECT max(id) FROM name").first { $0.integer(0) } ?? 0
                for (table, id) in last.sorted(by: { $0.key < $1.key }) where id > 0 {
                    let column = table == "audit" ? "sequence" : "id"
                    try server.run("SELECT setval(pg_get_serial_sequence('\"\(table)\"', '\(column)'), \(id))")
                }
                return filled
            }
        }
    }
#endif
