#if PostgreSQL
    import HeadroomModel

    /// The schema on a PostgreSQL server. An empty database gets that of all migrations at once, made from the one that
    /// SQLite has after them; a migration that comes later is translated by the same rules.
    struct PostgreSQLSchema {
        private let connection: PostgreSQLConnection

        init(_ connection: PostgreSQLConnection) {
            self.connection = connection
        }

        /// Any number: two that migrate at a time wait for one another.
        private static let lock = 1_214_542_446

        /// Returns the names of the migrations applied.
        func migrate(at now: Timestamp) throws(StorageError) -> [String] {
            try connection.transaction(begin: "BEGIN; SELECT pg_advisory_xact_lock(\(Self.lock))") {
                guard try hasTable("schema_migration") else {
                    try refuseForeignSchema()
                    try create(at: now)
                    return Migration.all.map(\.fileName)
                }
                let applied = try applied()
                try Migrator.verify(applied, migrations: Migration.all, path: connection.path)
                let numbers = Set(applied.map(\.number))
                let missing = Migration.all.filter { !numbers.contains($0.number) }
                for migration in missing {
                    try connection.run(Self.translate(String(decoding: migration.sql, as: UTF8.self)))
                    try connection.statement(Migrator.record)
                        .bound(":number", .integer(migration.number))
                        .bound(":file_name", .text(migration.fileName))
                        .bound(":checksum", .text(migration.checksum))
                        .bound(":applied_at_ms", .integer(now.milliseconds))
                        .run()
                }
                return missing.map(\.fileName)
            }
        }

        private func hasTable(_ name: String) throws(StorageError) -> Bool {
            try connection.statement(
                """
                SELECT 1 FROM information_schema.tables
                WHERE table_schema = current_schema() AND table_name = :name
                """
            ).bound(":name", .text(name)).firstResult { true } ?? false
        }

        /// A database with tables but without records of migrations is not Headroom's.
        private func refuseForeignSchema() throws(StorageError) {
            let tables =
                try connection.statement(
                    "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()"
                ).firstInteger() ?? 0
            guard tables == 0 else {
                throw StorageError(
                    code: .notHeadroom,
                    message: "\(connection.path): this is another program's database (\(tables) tables, none of them "
                        + "Headroom's); name another one")
            }
        }

        private func applied() throws(StorageError) -> [Migrator.Applied] {
            var applied: [Migrator.Applied] = []
            let rows = try connection.statement(
                "SELECT number, file_name, checksum FROM schema_migration ORDER BY number")
            try rows.forEachRow {
                applied.append(
                    Migrator.Applied(number: rows.integer(0), fileName: rows.text(1), checksum: rows.text(2)))
            }
            return applied
        }

        // MARK: From SQLite's schema

        private func create(at now: Timestamp) throws(StorageError) {
            let model = try SQLiteConnection(
                path: ":memory:", access: .readWrite, executor: DiskExecutor(label: "headroom.schema"))
            let (schema, tables) = try model.executor.performAndWait {
                _ = try Migrator(connection: model).migrate(at: now)
                return (try Self.schema(of: model), try SQLiteTable.all(of: model))
            }
            try connection.run(Self.functions)
            for sql in schema { try connection.run(sql) }
            // Rows that migrations have entered: there are few.
            for table in tables {
                _ = try model.executor.performAndWait { try table.copy(from: model, to: connection) }
            }
        }

        /// Each table and index, in the order in which SQLite made them.
        static func schema(of model: SQLiteConnection) throws(StorageError) -> [String] {
            var schema: [String] = []
            try model.statement(
                "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' ORDER BY rowid"
            ).forEachRow { schema.append(translate($0.text(0))) }
            return schema
        }

        /// What statements call by the name that it has in SQLite.
        private static let functions = """
            CREATE FUNCTION json_extract(document TEXT, path TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE STRICT
            AS $$ SELECT CAST(CAST(document AS JSON) ->> substr(path, 3) AS BIGINT) $$
            """

        /// Words of SQLite's DDL. Text is ordered by its bytes, as SQLite does.
        private static let words: [(String, String)] = [
            (#"\bINTEGER PRIMARY KEY AUTOINCREMENT\b"#, "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"),
            // The one table whose ids SQLite chooses without that word.
            (
                #"(CREATE TABLE name \(\s*id) INTEGER PRIMARY KEY\b"#,
                "$1 BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
            ),
            (#"\bINTEGER\b"#, "BIGINT"), (#"\bREAL\b"#, "DOUBLE PRECISION"), (#"\bBLOB\b"#, "BYTEA"),
            (#"\bTEXT\b"#, #"TEXT COLLATE "C""#), (#"\bX''"#, "''"), (#"\) STRICT(, WITHOUT ROWID)?"#, ")"),
            (#"\bifnull\("#, "coalesce("), (#"\b(TABLE|UPDATE|FROM|INTO) freeze\b"#, #"$1 "freeze""#),
        ]

        static func translate(_ sql: String) -> String {
            var sql = sql
            for (pattern, replacement) in words {
                guard let regex = try? Regex<AnyRegexOutput>(pattern) else { preconditionFailure(pattern) }
                sql.replace(regex) { match in
                    guard match.output.count > 1, replacement.contains("$1") else { return replacement }
                    return replacement.replacing("$1", with: match.output[1].substring ?? "")
                }
            }
            return sql
        }
    }

    /// A table of SQLite's, for copying its rows.
    struct SQLiteTable {
        let name: String
        private(set) var columns: [(name: String, type: String)] = []

        /// In the order in which they were made: what refers to a table comes after it.
        static func all(of connection: SQLiteConnection) throws(StorageError) -> [SQLiteTable] {
            var tables: [SQLiteTable] = []
            try connection.statement(
                """
                SELECT made.name, columns.name, columns.type FROM sqlite_schema AS made, pragma_table_info(made.name) AS columns
                WHERE made.type = 'table' AND made.name NOT LIKE 'sqlite%' ORDER BY made.rowid, columns.cid
                """
            ).forEachRow { row in
                if tables.last?.name != row.text(0) { tables.append(SQLiteTable(name: row.text(0))) }
                tables[tables.count - 1].columns.append((row.text(1), row.text(2)))
            }
            return tables
        }

        /// Sends all rows, a few megabytes at a time; returns how many there are. The two connections may have one thread each:
        /// the server's is used on this one, while its own waits.
        func copy(from source: SQLiteConnection, to server: PostgreSQLConnection) throws(StorageError) -> Int64 {
            let names = columns.map(\.name)
            var copy = PostgreSQLCopy(name, names)
            var rows: Int64 = 0
            try source.forEachRow(of: name) { row in
                copy.add(
                    columns.enumerated().map { place, column in
                        let place = Int32(place)
                        return switch column.type {
                        case "INTEGER": .integer(row.optionalInteger(place))
                        case "REAL": .double(row.optionalDouble(place))
                        case "TEXT": .text(row.optionalText(place))
                        default: .bytes(row.isNull(place) ? nil : row.bytes(place))
                        }
                    })
                rows += 1
                if copy.bytes.count > PostgreSQLCopy.mostBytes {
                    try server.send(copy)
                    copy = PostgreSQLCopy(name, names)
                }
            }
            if rows > 0 { try server.send(copy) }
            return rows
        }
    }
#endif
