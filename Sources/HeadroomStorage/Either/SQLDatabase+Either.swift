#if PostgreSQL
    import HeadroomModel

    /// A database that is open: a file, or one of a server.
    final class SQLDatabase: Sendable {
        private enum Engine: Sendable {
            case sqlite(SQLiteDatabase)
            case postgreSQL(PostgreSQLDatabase)
        }

        let writer: SQLConnection
        private let engine: Engine

        init(
            path: String, use: Database.Use, auditKey: AuditKey?, at now: Timestamp, onLock: ((String) -> Void)?
        ) throws(StorageError) {
            if Database.isServer(path) {
                let database = try PostgreSQLDatabase(url: path, use: use, auditKey: auditKey, at: now)
                engine = .postgreSQL(database)
                writer = SQLConnection(.postgreSQL(database.writer))
            } else {
                let database = try SQLiteDatabase(path: path, use: use, auditKey: auditKey, at: now, onLock: onLock)
                engine = .sqlite(database)
                writer = database.writer.portable
            }
        }

        var applied: [String] {
            switch engine {
            case .sqlite(let database): database.applied
            case .postgreSQL(let database): database.applied
            }
        }

        func reader(_ label: String) throws(StorageError) -> SQLConnection {
            switch engine {
            case .sqlite(let database): try database.reader(label).portable
            case .postgreSQL(let database): SQLConnection(.postgreSQL(try database.reader(label)))
            }
        }

        func restrictFiles() {
            if case .sqlite(let database) = engine { database.restrictFiles() }
        }

        func beginServing() throws(StorageError) {
            if case .sqlite(let database) = engine { try database.beginServing() }
        }

        var fault: String? {
            if case .sqlite(let database) = engine { database.fault } else { nil }
        }

        var memory: [MemoryShare] {
            if case .sqlite(let database) = engine { database.memory } else { [] }
        }

        func finish() throws(StorageError) {
            if case .sqlite(let database) = engine { try database.finish() }
        }
    }
#endif
