#if PostgreSQL
    import HeadroomModel
    import HeadroomStorage
    import Testing

    /// What only the other engine has. It needs a server: see ``TestEngine``.
    @Suite(.enabled(if: !TestEngine.isSQLite)) struct PostgreSQLTests {
        private let directory = TemporaryDirectory()

        private func open(_ path: String, _ use: Database.Use) throws -> Database {
            try Database(path: path, use: use, coding: .unused, time: TimeSource { start })
        }

        @Test
        func `a second service on the same database is refused, a command is not, and the end of the first frees it`()
            throws
        {
            let path = try TestEngine.path(in: directory)
            do {
                let service = try open(path, .service)
                #expect(service.applied == Migration.all.map(\.fileName))
                let error = storageError { _ = try open(path, .service) }
                #expect(error?.code == .instanceRunning)
                #expect(try open(path, .command).applied.isEmpty)
            }
            _ = try open(path, .service)
        }

        @Test func `tables, columns, their types, keys and indexes are those of SQLite`() throws {
            let database = try TemporaryDatabase()
            let file = try SQLiteConnection(
                path: directory.file("headroom.db"), access: .readWrite, executor: DiskExecutor(label: "file"))
            var expected: [String] = []
            try file.executor.performAndWait {
                _ = try file.migrate(at: start)
                try file.statement(Self.sqliteColumns).forEachRow { expected.append($0.text(0)) }
                try file.statement(Self.sqliteIndexes).forEachRow { expected.append($0.text(0)) }
            }
            var found: [String] = []
            try database.writer.executor.performAndWait {
                try database.writer.statement(Self.columns).forEachRow { found.append($0.text(0)) }
                try database.writer.statement(Self.indexes).forEachRow { found.append($0.text(0)) }
            }
            #expect(expected.count > 300)
            #expect(Set(expected).symmetricDifference(found) == [])
        }

        @Test func `every statement of the stores is one that the server can prepare`() throws {
            let database = try TemporaryDatabase()
            for (place, sql) in try PortableSQLTests.statements() {
                let error = try database.writer.executor.performAndWait {
                    storageError { try database.writer.check(sql) }
                }
                #expect(error == nil, "\(place): \(error?.message ?? "")")
            }
        }

        /// What a transaction of one name ends with that `cut` does something to.
        private func transaction(_ writer: SQLConnection, _ cut: () throws -> Void) -> StorageError? {
            storageError {
                try writer.executor.performAndWait {
                    try writer.transaction {
                        try writer.execute("INSERT INTO name (kind, text) VALUES (0, 'acme')")
                        try cut()
                    }
                }
            }
        }

        @Test func `what a transaction did is gone when its body throws`() throws {
            let database = try TemporaryDatabase()
            let fault = StorageError(code: .misuse, message: "stop here")
            #expect(transaction(database.writer) { throw fault } == fault)
            #expect(try database.number("SELECT count(*) FROM name") == 0)
            #expect(transaction(database.writer) {} == nil)
            #expect(try database.number("SELECT count(*) FROM name") == 1)
        }

        @Test
        func `a connection that the server ends takes its transaction with it, and the next call makes a new one`()
            throws
        {
            let database = try TemporaryDatabase()
            let ended = transaction(database.writer) {
                try database.writer.execute("SELECT pg_terminate_backend(pg_backend_pid())")
            }
            #expect(ended?.code == .cannotOpen, "\(ended?.message ?? "")")
            #expect(try database.number("SELECT count(*) FROM name") == 0)
            #expect(transaction(database.writer) {} == nil)
            #expect(try database.number("SELECT count(*) FROM name") == 1)
        }

        @Test func `an error inside a transaction stores nothing of it, also rows that go in bulk`() async throws {
            let database = try TemporaryDatabase()
            let store = try database.telemetry()
            try database.execute("ALTER TABLE call ADD CONSTRAINT few CHECK (input_tokens < 1000)")
            let lines = (0..<3_000).map { call("\($0)", tokens: Int64($0)) }
            let refused = await #expect(throws: TelemetryError.self) { try await store.append(batch(lines, number: 1)) }
            #expect(refused?.code == .unavailable)
            #expect(try await database.telemetryRecords().isEmpty)
            #expect(try database.number("SELECT count(*) FROM seen_line") == 0)
            try database.execute("ALTER TABLE call DROP CONSTRAINT few")
            #expect(try await store.append(batch(lines, number: 1)).accepted == 3_000)
            let tokens = try await database.telemetryRecords().map { record -> Int64? in
                if case .call(let call) = record { call.inputTokens } else { nil }
            }
            #expect(tokens == (0..<3_000).map { Int64($0) })
        }

        @Test func `another program's database is refused, and nothing is put into it`() throws {
            let path = try TestEngine.path(in: directory)
            let other = try SQLConnection(path: path, access: .readWrite, executor: DiskExecutor(label: "other"))
            try other.executor.performAndWait { try other.execute("CREATE TABLE their_own (id BIGINT)") }
            let error = storageError { _ = try open(path, .command) }
            #expect(error?.code == .notHeadroom)
            let tables = try other.executor.performAndWait {
                try other.statement("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").first {
                    $0.integer(0)
                }
            }
            #expect(tables == 1)
        }

        @Test func `a file moves to a server with its audit log to the byte, and ids go on where they were`()
            async throws
        {
            let path = directory.file("headroom.db")
            let calls = [call("a"), call("b", tenant: "beta")]
            do {
                let file = try open(path, .service)
                try await file.contracts.replaceAll(with: [Contract(tenant: "acme")], by: "sync \"x\"\n", at: start)
                try await file.contracts.put(Contract(tenant: "beta", tier: "gold"))
                _ = try await file.tokens.create(
                    name: "edge", role: .viewer, secret: "s", tenants: ["acme"], at: start)
                _ = try await file.telemetry.append(batch(calls, number: 7))
                let page = try await file.telemetryReader.page(after: .start, limit: 10)
                try await file.checkpoints.save(
                    Checkpoint(at: start, cursor: page.next, observer: [1, 0, 255], classifier: []), rollups: [rollup()]
                )
            }
            let server = try TestEngine.path(in: directory)
            let rows = try Database.copy(path, to: server, at: start)
            #expect(!rows.contains { $0.table == "call" })
            let used = storageError { _ = try Database.copy(path, to: server, at: start) }
            #expect(used?.message.contains("is in use already") == true)
            let (old, new) = (try open(path, .command), try open(server, .service))
            #expect(try await new.audit.entries(after: 0, limit: 9) == old.audit.entries(after: 0, limit: 9))
            #expect(try await new.audit.verify(at: start).fault == nil)
            let sequence = try await new.audit.head()?.sequence
            #expect(sequence == rows.first { $0.table == "audit" }?.rows)
            #expect(try await new.contracts.all() == old.contracts.all())
            #expect(try await new.tokens.all() == old.tokens.all())
            let checkpoint = try #require(try await new.checkpoints.latest())
            #expect(
                checkpoint.cursor == (try await old.checkpoints.latest()?.cursor) && checkpoint.observer == [1, 0, 255])
            // The same batch is known, and what comes next lies behind the cursor.
            #expect(try await new.telemetry.append(batch(calls, number: 7)).accepted == 2)
            #expect(try await new.telemetryReader.page(after: checkpoint.cursor, limit: 10).records.isEmpty)
            _ = try await new.telemetry.append(batch([call("c")], number: 8))
            #expect(try await new.telemetryReader.page(after: checkpoint.cursor, limit: 10).records.count == 1)
            let again = storageError { _ = try Database.copy(path, to: server, at: start) }
            #expect(again?.code == .instanceRunning)
        }

        @Test func `values come back as they went in`() throws {
            let writer = try TemporaryDatabase().writer
            try writer.executor.performAndWait {
                let row = try writer.statement("SELECT :a, :b, :c, :d, :e, :f")
                for (integer, double) in [
                    (0, 0.0), (-1, -0.5), (Int64.max, .greatestFiniteMagnitude), (.min, .leastNonzeroMagnitude),
                ] {
                    let bytes: [UInt8] = [0, 1, 255]
                    let found = try row.bind(":a", integer).bind(":b", double).bind(":c", "Ünïcødé 🏔")
                        .bind(":d", bytes).bind(":e", nil as Double?).bind(":f", "")
                        .first {
                            $0.integer(0) == integer && $0.double(1) == double && $0.text(2) == "Ünïcødé 🏔"
                                && $0.bytes(3) == bytes && $0.isNull(4) && $0.optionalText(5) == ""
                        }
                    #expect(found == true)
                }
            }
        }

        @Test func `a server that is not there, and one without the database, are told in a sentence`() throws {
            let nowhere = storageError { _ = try open("postgres://u:secret@127.0.0.1:1/x", .command) }
            #expect(nowhere?.code == .cannotOpen)
            #expect(nowhere?.message.contains("secret") == false)
            let path = try TestEngine.path(in: directory).replacing("postgres:///", with: "postgres:///no-such-")
            let missing = storageError { _ = try open(path, .command) }
            #expect(missing?.code == .cannotOpen)
            #expect(missing?.message.contains("does not exist") == true)
        }

        private static let sqliteColumns: StaticString = """
            SELECT made.name || '.' || c.name || ' '
                || CASE c.type WHEN 'INTEGER' THEN 'bigint' WHEN 'REAL' THEN 'double precision' WHEN 'BLOB' THEN 'bytea'
                    ELSE 'text' END
                || CASE WHEN c."notnull" OR c.pk THEN ' not null' ELSE '' END
            FROM sqlite_schema AS made, pragma_table_info(made.name) AS c
            WHERE made.type = 'table' AND made.name NOT LIKE 'sqlite%'
            """
        private static let columns: StaticString = """
            SELECT CAST(table_name || '.' || column_name || ' ' || data_type
                || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END AS TEXT)
            FROM information_schema.columns WHERE table_schema = current_schema()
            """
        /// Keys and indexes by their columns; `?` is an expression.
        private static let sqliteIndexes: StaticString = """
            SELECT made.name || ' (' || (SELECT group_concat(coalesce(place.name, '?'), ', ')
                FROM pragma_index_info(own.name) AS place) || ')'
                || CASE WHEN own."unique" THEN ' unique' ELSE '' END || CASE WHEN own.partial THEN ' where' ELSE '' END
            FROM sqlite_schema AS made, pragma_index_list(made.name) AS own
            WHERE made.type = 'table' AND made.name NOT LIKE 'sqlite%'
            UNION ALL
            SELECT made.name || ' (' || c.name || ') unique'
            FROM sqlite_schema AS made, pragma_table_info(made.name) AS c
            WHERE made.type = 'table' AND made.name NOT LIKE 'sqlite%' AND c.pk = 1 AND c.type = 'INTEGER'
                AND (SELECT max(pk) FROM pragma_table_info(made.name)) = 1
            """
        private static let indexes: StaticString = """
            SELECT CAST(made.relname || ' (' || (
                    SELECT string_agg(coalesce(attname, '?'), ', ' ORDER BY place)
                    FROM unnest(CAST(own.indkey AS INT2[])) WITH ORDINALITY AS key (number, place)
                        LEFT JOIN pg_attribute ON attrelid = own.indrelid AND attnum = number AND number > 0) || ')'
                || CASE WHEN own.indisunique THEN ' unique' ELSE '' END
                || CASE WHEN own.indpred IS NOT NULL THEN ' where' ELSE '' END AS TEXT)
            FROM pg_index AS own JOIN pg_class AS made ON made.oid = own.indrelid
            WHERE made.relnamespace = CAST(current_schema() AS regnamespace)
            """
    }
#endif
