#if PostgreSQL
    import CPostgreSQL
    import Glibc
    import HeadroomModel

    /// One connection to a PostgreSQL server. Every wait for the server has a bound: what takes longer ends the connection,
    /// and the next call makes a new one.
    ///
    /// Like an SQLite connection it is used on its executor only, which is its mutex: hence `@unchecked Sendable`.
    @safe package final class PostgreSQLConnection: @unchecked Sendable {
        enum Use: Sendable {
            /// One connection at a time may: each has the lock of the service as long as it lasts.
            case serving
            case writing, reading
        }

        /// The URL without its password.
        let path: String
        let executor: DiskExecutor
        /// Signs the audit log. Set before the connection is used.
        var auditKey: AuditKey?
        /// How long one waits for a lock that another process has.
        var busyMilliseconds: Int32 {
            didSet { _ = try? run("SET lock_timeout = \(busyMilliseconds)") }
        }
        /// Rows that the last statement changed.
        private(set) var changedRows = 0
        /// Counts the connections made: a statement that an earlier one prepared is not known to this one.
        private(set) var session = 0

        private let url: String
        private let use: Use
        private var handle: OpaquePointer?
        private var isInTransaction = false
        private var statements: [UInt: PostgreSQLStatement] = [:]
        private var copies: [String: PostgreSQLCopy] = [:]

        /// For a statement, in seconds. The server is told a little less, so that it is the first to stop.
        static let statementSeconds = 60
        static let connectSeconds = 10
        /// The oldest server that is supported: 14.
        static let leastVersion: Int32 = 140_000

        /// - Parameter url: `postgres://…` or `postgresql://…`, as libpq takes it; passwords come from its files or its
        ///   environment too.
        init(
            url: String, use: Use, executor: DiskExecutor, busyMilliseconds: Int32 = 5_000
        ) throws(StorageError) {
            self.url = url
            path = Database.withoutPassword(url)
            self.use = use
            self.executor = executor
            self.busyMilliseconds = busyMilliseconds
            try executor.performAndWait { try connect() }
        }

        deinit {
            if let handle = unsafe handle { unsafe PQfinish(handle) }
        }

        func statement(_ sql: StaticString) throws(StorageError) -> PostgreSQLStatement {
            executor.checkIsolated()
            let key = unsafe UInt(bitPattern: sql.utf8Start)
            if let known = statements[key] { return known }
            let statement = PostgreSQLStatement(sql, name: "s\(statements.count)", connection: self)
            statements[key] = statement
            return statement
        }

        /// Runs `body` in a transaction that is committed when it returns and rolled back when it throws.
        ///
        /// One writer at a time, as with SQLite: each begins by locking the row of `change_counter`.
        func transaction<Result>(
            begin: String = "BEGIN; SELECT 1 FROM change_counter FOR UPDATE", _ body: () throws -> Result
        ) throws(StorageError) -> Result {
            do throws(StorageError) {
                try run(begin)
            } catch {
                rollBack()
                throw error
            }
            isInTransaction = true
            do {
                let result = try body()
                try flush()
                // A server may answer COMMIT with ROLLBACK, when an error was passed over.
                guard try run("COMMIT") == "COMMIT" else {
                    throw StorageError(code: .misuse, message: "\(path): the server rolled the transaction back")
                }
                isInTransaction = false
                return result
            } catch {
                rollBack()
                throw StorageError(error)
            }
        }

        /// Runs `body` on one state of the database, which others may go on changing.
        func reading<Result>(_ body: () throws -> Result) throws(StorageError) -> Result {
            try run("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            isInTransaction = true
            defer { rollBack() }
            do { return try body() } catch { throw StorageError(error) }
        }

        private func rollBack() {
            copies = [:]
            isInTransaction = false
            // The server rolls back what a connection leaves behind.
            guard let handle = unsafe handle, unsafe PQstatus(handle) == CONNECTION_OK else { return }
            if unsafe PQtransactionStatus(handle) != PQTRANS_IDLE { _ = try? run("ROLLBACK") }
        }

        /// A number that differs from an earlier one if another connection has committed in between: of anything on this
        /// server, so that it also differs at times when nothing has.
        func foreignChangeCounter() throws(StorageError) -> Int64 {
            try statement("SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)")
                .firstInteger() ?? 0
        }

        /// The last id that each table's sequence has given out, also of rows that are gone.
        func lastIDs() throws(StorageError) -> [String: Int64] {
            var last: [String: Int64] = [:]
            let rows = try statement(
                """
                SELECT tables.relname, coalesce(pg_sequence_last_value(sequences.oid), 0)
                FROM pg_class AS sequences
                    JOIN pg_depend ON pg_depend.objid = sequences.oid AND deptype IN ('a', 'i')
                    JOIN pg_class AS tables ON tables.oid = refobjid
                WHERE sequences.relkind = 'S' AND tables.relnamespace = CAST(current_schema() AS regnamespace)
                """
            )
            try rows.forEachRow { last[rows.text(0)] = rows.integer(1) }
            return last
        }

        // MARK: Rows in bulk

        /// Keeps the values of a row until the transaction ends, or a statement names the table.
        func add(_ values: [PostgreSQLValue], to row: (table: String, columns: [String])) throws(StorageError) {
            precondition(isInTransaction, "rows are added in bulk in a transaction only")
            copies[row.table, default: PostgreSQLCopy(row.table, row.columns)].add(values)
            if let copy = copies[row.table], copy.bytes.count > PostgreSQLCopy.mostBytes { try flush([row.table]) }
        }

        /// Sends the rows that are kept for these tables, or for all.
        func flush(_ tables: Set<String>? = nil) throws(StorageError) {
            for table in copies.keys.sorted() where tables?.contains(table) ?? true {
                guard let copy = copies.removeValue(forKey: table) else { continue }
                try send(copy)
            }
        }

        func send(_ copy: PostgreSQLCopy) throws(StorageError) {
            let handle = unsafe try connected()
            guard unsafe PQsendQuery(handle, copy.sql) == 1 else { throw unsafe lost(handle) }
            let deadline = Self.deadline()
            guard let begun = unsafe try next(handle, deadline) else { throw unsafe lost(handle) }
            guard begun.status == PGRES_COPY_IN else {
                _ = try unsafe finish(handle, deadline)
                throw failure(begun)
            }
            let bytes = copy.finished
            var queued: Int32 = 0
            while queued == 0 {
                queued = unsafe bytes.withUnsafeBytes { bytes in
                    unsafe PQputCopyData(
                        handle, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
                }
                // No room: what is queued goes first.
                if queued == 0 { try unsafe drain(handle, deadline) }
            }
            guard queued == 1, unsafe PQputCopyEnd(handle, nil) == 1 else { throw unsafe lost(handle) }
            try unsafe finish(handle, deadline)
        }

        // MARK: The wire

        /// Runs `sql`, which may be several statements and has no parameters; returns the last one's command tag.
        @discardableResult func run(_ sql: String) throws(StorageError) -> String {
            let handle = unsafe try connected()
            guard unsafe PQsendQuery(handle, sql) == 1 else { throw unsafe lost(handle) }
            return try unsafe finish(handle, Self.deadline())?.tag ?? ""
        }

        /// Prepares a statement under `name`; what it was before goes.
        func prepare(_ name: String, _ sql: String, types: [Oid], again: Bool) throws(StorageError) {
            if again { try run("DEALLOCATE \(name)") }
            let handle = unsafe try connected()
            guard unsafe PQsendPrepare(handle, name, sql, Int32(types.count), types) == 1 else {
                throw unsafe lost(handle)
            }
            _ = try unsafe finish(handle, Self.deadline())
        }

        /// Prepares `sql` and forgets it. Of parameters whose type cannot be told from the text, one that fits is tried.
        func check(_ sql: String) throws(StorageError) {
            let text = PostgreSQLText(utf8: Array(sql.utf8))
            let none = [Oid](repeating: 0, count: text.parameters.count)
            var choices = [none]
            for type in [PostgreSQLValue.integerType, PostgreSQLValue.textType] {
                choices.append(none.map { _ in type })
                for place in none.indices {
                    choices.append(none)
                    choices[choices.count - 1][place] = type
                }
            }
            var failed: StorageError?
            for types in choices {
                do throws(StorageError) {
                    try prepare("checked", text.sql, types: types, again: false)
                    try run("DEALLOCATE checked")
                    return
                } catch {
                    failed = failed ?? error
                }
            }
            if let failed { throw failed }
        }

        /// Runs a prepared statement. Values and results are binary.
        func run(_ name: String, _ values: [PostgreSQLValue]) throws(StorageError) -> PostgreSQLResult? {
            let handle = unsafe try connected()
            // One array for all: its address is taken once it no longer moves.
            var bytes: [UInt8] = []
            var lengths: [Int32] = []
            for value in values {
                let start = bytes.count
                value.append(to: &bytes)
                lengths.append(Int32(bytes.count - start))
            }
            bytes.append(0)
            let formats = [Int32](repeating: 1, count: values.count)
            let sent = unsafe bytes.withUnsafeBytes { buffer in
                let base = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                var pointers: [UnsafePointer<CChar>?] = unsafe []
                var start = 0
                for (value, length) in zip(values, lengths) {
                    unsafe pointers.append(value.isNull ? nil : base?.advanced(by: start))
                    start += Int(length)
                }
                return unsafe PQsendQueryPrepared(handle, name, Int32(values.count), pointers, lengths, formats, 1)
            }
            guard sent == 1 else { throw unsafe lost(handle) }
            let result = try unsafe finish(handle, Self.deadline())
            changedRows = result?.changedRows ?? 0
            return result
        }

        /// The connection; a new one where the old one was lost outside a transaction.
        private func connected() throws(StorageError) -> OpaquePointer {
            if let handle = unsafe handle, unsafe PQstatus(handle) == CONNECTION_OK { return unsafe handle }
            guard !isInTransaction else {
                throw StorageError(code: .cannotOpen, message: "\(path): the connection was lost in a transaction")
            }
            try connect()
            guard let handle = unsafe handle else { preconditionFailure("connected without a connection") }
            return unsafe handle
        }

        private func connect() throws(StorageError) {
            if let old = unsafe handle { unsafe PQfinish(old) }
            unsafe handle = nil
            guard let opened = unsafe PQconnectStart(url) else {
                throw StorageError(code: .outOfMemory, message: "\(path): no memory for a connection")
            }
            let deadline = ContinuousClock.now.advanced(by: .seconds(Self.connectSeconds))
            var wanted = PGRES_POLLING_WRITING
            while unsafe PQstatus(opened) != CONNECTION_BAD, wanted != PGRES_POLLING_OK {
                guard unsafe wait(opened, forWriting: wanted == PGRES_POLLING_WRITING, deadline) else { break }
                wanted = unsafe PQconnectPoll(opened)
            }
            guard unsafe PQstatus(opened) == CONNECTION_OK else {
                let detail = unsafe Self.message(opened)
                unsafe PQfinish(opened)
                throw StorageError(
                    code: .cannotOpen,
                    message:
                        "\(path): \(detail.isEmpty ? "no answer within \(Self.connectSeconds) s" : detail); the server must run "
                        + "and be reachable, and the URL name a database and a user of it")
            }
            let version = unsafe PQserverVersion(opened)
            guard version >= Self.leastVersion else {
                unsafe PQfinish(opened)
                throw StorageError(
                    code: .cannotOpen,
                    message: "\(path): the server is PostgreSQL \(version / 10_000); Headroom needs 14 or later")
            }
            // libpq would print notices to stderr.
            unsafe PQsetNoticeProcessor(opened, { _, _ in }, nil)
            _ = unsafe PQsetnonblocking(opened, 1)
            unsafe handle = opened
            session += 1
            try run(
                """
                SET client_encoding = 'UTF8'; SET lock_timeout = \(busyMilliseconds);
                SET statement_timeout = '\(Self.statementSeconds - 5)s';
                SET idle_in_transaction_session_timeout = '\(Self.statementSeconds)s';
                SET default_transaction_read_only = \(use == .reading ? "on" : "off");
                SET synchronous_commit = on
                """)
            if use == .serving { try lockInstance() }
        }

        /// Keeps a second service off the database. The server releases the lock however the connection ends.
        private func lockInstance() throws(StorageError) {
            let isLocked = try statement("SELECT CAST(pg_try_advisory_lock(1214542445) AS INTEGER)")
            guard try isLocked.firstResult({ isLocked.integer(0) }) == 1 else {
                throw StorageError(
                    code: .instanceRunning,
                    message: "\(path): another Headroom serves this database; stop it first, or name another one with "
                        + "--database")
            }
        }

        /// Reads results until there are none; the last one.
        @discardableResult private func finish(
            _ handle: OpaquePointer, _ deadline: ContinuousClock.Instant
        ) throws(StorageError) -> PostgreSQLResult? {
            var last: PostgreSQLResult?
            var failed: StorageError?
            while let result = unsafe try next(handle, deadline) {
                if result.isError {
                    failed = failed ?? failure(result)
                } else {
                    last = result
                }
            }
            if let failed { throw failed }
            return last
        }

        private func next(
            _ handle: OpaquePointer, _ deadline: ContinuousClock.Instant
        ) throws(StorageError) -> PostgreSQLResult? {
            while unsafe PQflush(handle) == 1 || PQisBusy(handle) == 1 { try unsafe drain(handle, deadline) }
            guard let result = unsafe PQgetResult(handle) else { return nil }
            return unsafe PostgreSQLResult(result)
        }

        /// Sends what is queued, as far as it goes, and reads what is there; waits for either.
        private func drain(_ handle: OpaquePointer, _ deadline: ContinuousClock.Instant) throws(StorageError) {
            let unsent = unsafe PQflush(handle)
            if unsent < 0 { throw unsafe lost(handle) }
            guard unsafe wait(handle, forWriting: unsent == 1, deadline) else {
                let error = StorageError(
                    code: .busy, message: "\(path): the server has not answered for \(Self.statementSeconds) s")
                unsafe PQfinish(handle)
                unsafe self.handle = nil
                throw error
            }
            if unsafe PQconsumeInput(handle) == 0 { throw unsafe lost(handle) }
        }

        private static func deadline() -> ContinuousClock.Instant {
            ContinuousClock.now.advanced(by: .seconds(statementSeconds))
        }

        /// False when the time is over.
        private func wait(
            _ handle: OpaquePointer, forWriting: Bool, _ deadline: ContinuousClock.Instant
        ) -> Bool {
            let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
            guard left > 0 else { return false }
            var wanted = pollfd(
                fd: unsafe PQsocket(handle), events: Int16(forWriting ? POLLIN | POLLOUT : POLLIN), revents: 0)
            let ready = unsafe poll(&wanted, 1, Int32(left.rounded(.up)))
            return ready > 0 || (ready < 0 && errno == EINTR)
        }

        private func failure(_ result: PostgreSQLResult) -> StorageError {
            StorageError(state: result.state, detail: result.message, path: path)
        }

        /// The connection is gone.
        private func lost(_ handle: OpaquePointer) -> StorageError {
            let detail = unsafe Self.message(handle)
            return StorageError(
                code: .cannotOpen,
                message: "\(path): \(detail.isEmpty ? "the connection was lost" : detail); the server must run, and be "
                    + "reachable from here")
        }

        private static func message(_ handle: OpaquePointer) -> String {
            let text = unsafe String(cString: PQerrorMessage(handle))
            return text.split { $0.isNewline || $0 == "\t" }.joined(separator: ", ")
        }
    }
#endif
