#if PostgreSQL
    import HeadroomModel

    /// A connection to a file or to a server, used on its executor only, like the one that it passes each call to.
    package final class SQLConnection: @unchecked Sendable {
        package typealias Access = SQLiteConnection.Access

        enum Engine {
            case sqlite(SQLiteConnection)
            case postgreSQL(PostgreSQLConnection)
        }

        let engine: Engine
        private var statements: [UInt: SQLStatement] = [:]

        init(_ engine: Engine) {
            self.engine = engine
        }

        /// - Parameter path: a file, or the URL of a server.
        package convenience init(
            path: String, access: Access, executor: DiskExecutor, busyMilliseconds: Int32 = 5_000
        ) throws(StorageError) {
            if Database.isServer(path) {
                self.init(
                    .postgreSQL(
                        try PostgreSQLConnection(
                            url: path, use: access == .readWrite ? .writing : .reading, executor: executor,
                            busyMilliseconds: busyMilliseconds)))
            } else {
                self.init(
                    .sqlite(
                        try SQLiteConnection(
                            path: path, access: access, executor: executor, busyMilliseconds: busyMilliseconds)))
            }
        }

        /// For what only SQLite has.
        package var sqlite: SQLiteConnection? {
            if case .sqlite(let connection) = engine { connection } else { nil }
        }

        package var path: String {
            switch engine {
            case .sqlite(let connection): connection.path
            case .postgreSQL(let connection): connection.path
            }
        }

        package var executor: DiskExecutor {
            switch engine {
            case .sqlite(let connection): connection.executor
            case .postgreSQL(let connection): connection.executor
            }
        }

        package var auditKey: AuditKey? {
            get {
                switch engine {
                case .sqlite(let connection): connection.auditKey
                case .postgreSQL(let connection): connection.auditKey
                }
            }
            set {
                switch engine {
                case .sqlite(let connection): connection.auditKey = newValue
                case .postgreSQL(let connection): connection.auditKey = newValue
                }
            }
        }

        package func statement(_ sql: StaticString) throws(StorageError) -> SQLStatement {
            executor.checkIsolated()
            let key = unsafe UInt(bitPattern: sql.utf8Start)
            if let known = statements[key] { return known }
            let statement =
                switch engine {
                case .sqlite(let connection): SQLStatement(.sqlite(try connection.statement(sql)))
                case .postgreSQL(let connection): SQLStatement(.postgreSQL(try connection.statement(sql)))
                }
            statements[key] = statement
            return statement
        }

        package func execute(_ sql: StaticString) throws(StorageError) { try statement(sql).run() }

        package func transaction<Result>(_ body: () throws -> Result) throws(StorageError) -> Result {
            switch engine {
            case .sqlite(let connection): try connection.transaction(body)
            case .postgreSQL(let connection): try connection.transaction(body)
            }
        }

        package func reading<Result>(_ body: () throws -> Result) throws(StorageError) -> Result {
            switch engine {
            case .sqlite(let connection): try connection.reading(body)
            case .postgreSQL(let connection): try connection.reading(body)
            }
        }

        package var changedRows: Int {
            switch engine {
            case .sqlite(let connection): connection.changedRows
            case .postgreSQL(let connection): connection.changedRows
            }
        }

        func foreignChangeCounter() throws(StorageError) -> Int64 {
            switch engine {
            case .sqlite(let connection): try connection.foreignChangeCounter()
            case .postgreSQL(let connection): try connection.foreignChangeCounter()
            }
        }

        func lastIDs() throws(StorageError) -> [String: Int64] {
            switch engine {
            case .sqlite(let connection): try connection.lastIDs()
            case .postgreSQL(let connection): try connection.lastIDs()
            }
        }

        func lastAuditSequence() throws(StorageError) -> Int64 {
            switch engine {
            case .sqlite(let connection): try connection.lastAuditSequence()
            // Nothing but the head remembers numbers of rows that are gone.
            case .postgreSQL: 0
            }
        }

        /// Throws when a server cannot prepare `sql`, whatever the types of its parameters: for tests of statements.
        package func check(_ sql: String) throws(StorageError) {
            if case .postgreSQL(let connection) = engine { try connection.check(sql) }
        }

        /// Brings the schema to that of this program; returns the names of the migrations applied.
        package func migrate(at now: Timestamp) throws(StorageError) -> [String] {
            switch engine {
            case .sqlite(let connection): try connection.migrate(at: now)
            case .postgreSQL(let connection): try PostgreSQLSchema(connection).migrate(at: now)
            }
        }
    }

    extension SQLiteConnection {
        /// For the stores.
        package var portable: SQLConnection { SQLConnection(.sqlite(self)) }
    }
#endif
