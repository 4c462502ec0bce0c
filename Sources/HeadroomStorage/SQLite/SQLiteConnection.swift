import CSQLite
import HeadroomModel

/// A connection to a database file, with its prepared statements.
///
/// `@unchecked Sendable`: the handle is opened without SQLite's own mutexes and must be used on one thread at a time.
/// Every use goes through ``statement(_:)``, ``execute(script:)`` or ``transaction(_:)``, which trap elsewhere than on
/// ``executor``; the actors that hold a connection run there.
@safe package final class SQLiteConnection: @unchecked Sendable {
    package enum Access: Sendable {
        /// Creates the file if there is none.
        case readWrite
        case readOnly
        /// Reads the file as it stands, without its log, and leaves no trace: for one that may be another program's.
        case inspection
    }

    package let path: String
    package let executor: DiskExecutor
    /// Signs the audit log; `nil` where it is not signed. Set before the connection is used.
    package var auditKey: AuditKey?
    private let handle: OpaquePointer
    private var hookOwner: AnyObject?
    private var statements: [UInt: SQLiteStatement] = [:]
    /// How long one waits for other processes whenever one needs a lock that one of them has. Set on ``executor``.
    package var busyMilliseconds: Int32 {
        didSet { unsafe sqlite3_busy_timeout(handle, busyMilliseconds) }
    }
    /// Another process has kept the write lock for as long as one waits.
    private var isLockedOut = false

    /// Opens `path`, and waits up to `busyMilliseconds` for other processes whenever it needs a lock that one of them
    /// has: a command of the same program writes for milliseconds, a whole import takes a second. Blocks: call it when
    /// starting.
    package init(
        path: String, access: Access, executor: DiskExecutor, busyMilliseconds: Int32 = 5_000
    ) throws(StorageError) {
        self.path = path
        self.executor = executor
        self.busyMilliseconds = busyMilliseconds
        // NOMUTEX: the executor is the mutex. Locking again in each of twenty calls a row is a third of ingest.
        let flags =
            SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (access == .inspection ? SQLITE_OPEN_URI : 0)
            | (access == .readWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY)
        let name = access == .inspection ? Self.immutable(path) : path
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(name, &opened, flags, nil)
        guard result == SQLITE_OK, let opened = unsafe opened else {
            let detail = unsafe String(cString: sqlite3_errstr(result))
            unsafe sqlite3_close_v2(opened)
            throw StorageError(extendedResultCode: result, detail: "cannot be opened: \(detail)", path: path)
        }
        unsafe handle = opened
        unsafe sqlite3_busy_timeout(handle, busyMilliseconds)
        try executor.performAndWait { try configure(access) }
    }

    /// The statements hold the database open until they are gone (`close_v2`), whichever goes first.
    deinit {
        unsafe sqlite3_close_v2(handle)
    }

    /// The statement for `sql`, prepared at its first use. A `StaticString`, so that no text from outside can get into
    /// it, and because its address finds it again without hashing it.
    package func statement(_ sql: StaticString) throws(StorageError) -> SQLiteStatement {
        executor.checkIsolated()
        let key = unsafe UInt(bitPattern: sql.utf8Start)
        if let known = statements[key] { return known }
        let statement = unsafe try SQLiteStatement(sql, database: handle, path: path)
        statements[key] = statement
        return statement
    }

    /// Calls `body` at each row of a table, whose name comes from the schema, with its columns in their order.
    func forEachRow(of table: String, _ body: (SQLiteStatement) throws -> Void) throws(StorageError) {
        executor.checkIsolated()
        let text = "SELECT * FROM \"\(table)\"".utf8CString
        let statement: SQLiteStatement
        do {
            statement = try unsafe text.withUnsafeBufferPointer { text in
                guard let start = text.baseAddress else { preconditionFailure("no text") }
                return unsafe try SQLiteStatement(start, text.count - 1, database: handle, path: path)
            }
        } catch {
            throw StorageError(error)
        }
        try statement.forEachRow(body)
    }

    /// Runs `sql`, which has no parameters, to its end.
    package func execute(_ sql: StaticString) throws(StorageError) {
        try statement(sql).run()
    }

    /// Runs several statements, as a migration file has them.
    package func execute(script: [UInt8]) throws(StorageError) {
        executor.checkIsolated()
        let text = script.map(CChar.init(bitPattern:)) + [0]
        let result = unsafe sqlite3_exec(handle, text, nil, nil, nil)
        if result != SQLITE_OK { throw unsafe StorageError(database: handle, path: path) }
    }

    /// Runs `body` in a transaction that is committed when it returns and rolled back when it throws.
    ///
    /// IMMEDIATE: the write lock is taken, and waited for, at the start. A transaction that begins by reading and
    /// upgrades later fails at once when another process has written in between.
    ///
    /// The first one that another process keeps out waits its time-out; those behind it fail at once until one gets the
    /// lock. So however much stands in line, all of it is answered after one wait.
    package func transaction<Result>(
        _ body: () throws -> Result
    ) throws(StorageError) -> Result {
        try takeWriteLock()
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            rollBack()
            throw StorageError(error)
        }
    }

    /// Whether another process keeps the write lock for as long as this.
    package func isWriteLocked(forMilliseconds milliseconds: Int32) throws(StorageError) -> Bool {
        let usual = busyMilliseconds
        busyMilliseconds = milliseconds
        defer { busyMilliseconds = usual }
        do throws(StorageError) {
            try execute("BEGIN IMMEDIATE")
        } catch {
            if error.code == .busy { return true }
            throw error
        }
        rollBack()
        return false
    }

    private func takeWriteLock() throws(StorageError) {
        if isLockedOut { unsafe sqlite3_busy_timeout(handle, 0) }
        defer { unsafe sqlite3_busy_timeout(handle, busyMilliseconds) }
        do throws(StorageError) {
            try execute("BEGIN IMMEDIATE")
            isLockedOut = false
        } catch {
            isLockedOut = error.code == .busy
            throw error
        }
    }

    /// Runs `body` on one state of the database, which others may go on changing. A reader only.
    package func reading<Result>(_ body: () throws -> Result) throws(StorageError) -> Result {
        try execute("BEGIN")
        // Nothing was written, so that ending the transaction cannot fail in a way that matters.
        defer { rollBack() }
        do { return try body() } catch { throw StorageError(error) }
    }

    private func rollBack() {
        // A full disk and the like have rolled back already, and then there is no transaction to end.
        guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
        try? execute("ROLLBACK")
    }

    /// Rows that the last statement changed.
    package var changedRows: Int { Int(unsafe sqlite3_changes(handle)) }

    /// A number that differs from an earlier one if another connection, of any process, has committed in between.
    func foreignChangeCounter() throws(StorageError) -> Int64 {
        try statement("PRAGMA data_version").first { $0.integer(0) } ?? 0
    }

    /// Calls `hook` with a pointer to `owner` after each commit, with the number of pages in the write-ahead log. Keeps
    /// `owner` for as long as the connection lives.
    func setWriteAheadLogHook(_ hook: SQLiteWriteAheadLogHook, owner: AnyObject) {
        hookOwner = owner
        unsafe sqlite3_wal_hook(handle, hook, Unmanaged.passUnretained(owner).toOpaque())
    }

    /// Reads the file through and throws when a page is damaged. A large file takes long: of that, only the small
    /// tables without which nothing works are read; damage elsewhere shows when the page is read.
    package func checkIntegrity() throws(StorageError) {
        let bytes =
            try statement("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            .first { $0.integer(0) } ?? 0
        // 256 MiB take less than a second.
        let checks: [StaticString] =
            bytes <= 256 << 20
            ? ["PRAGMA quick_check(1)"]
            : [
                "PRAGMA quick_check(ledger)", "PRAGMA quick_check(contract)", "PRAGMA quick_check(commitment)",
                "PRAGMA quick_check(api_token)", "PRAGMA quick_check(api_token_scope)",
            ]
        for sql in checks {
            let verdict = try statement(sql).first { $0.text(0) } ?? ""
            if verdict != "ok" {
                throw StorageError(extendedResultCode: SQLITE_CORRUPT, detail: verdict, path: path)
            }
        }
    }

    /// Copies what it can of the write-ahead log into the database, waiting for nobody.
    package func checkpoint() throws(StorageError) {
        executor.checkIsolated()
        let result = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        if result != SQLITE_OK && result != SQLITE_BUSY { throw unsafe StorageError(database: handle, path: path) }
    }

    /// Copies all of the write-ahead log into the database and empties it, so that the file alone is whole. Waits for
    /// readers and writers as long as for any lock.
    package func truncateLog() throws(StorageError) {
        executor.checkIsolated()
        let result = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if result != SQLITE_OK { throw unsafe StorageError(database: handle, path: path) }
    }

    /// Copies the database as it is now into the empty file `target`. Others go on writing beside it: it reads one state of the
    /// log, which grows meanwhile. The copy needs no log, and is not synced.
    /// - Parameters:
    ///   - epochAtLeast: what the copy's epoch is raised to.
    ///   - goesOn: asked every 16 MiB.
    func copy(
        to target: String, epochAtLeast: Int64 = 0, while goesOn: () -> Bool
    ) throws(StorageError) {
        let copy = unsafe try SQLiteConnection.openForCopy(target)
        defer { unsafe sqlite3_close_v2(copy) }
        try reading {
            // The state is that of the first read.
            _ = try statement("PRAGMA schema_version").first { $0.integer(0) }
            guard let backup = unsafe sqlite3_backup_init(copy, "main", handle, "main") else {
                throw unsafe StorageError(database: copy, path: target)
            }
            var result = SQLITE_OK
            while result == SQLITE_OK, goesOn() { result = unsafe sqlite3_backup_step(backup, 4096) }
            unsafe sqlite3_backup_finish(backup)
            guard result == SQLITE_DONE else {
                if result == SQLITE_OK { throw StorageError(code: .misuse, message: "\(target): stopped half-way") }
                throw unsafe StorageError(database: copy, path: target)
            }
        }
        // A number, so that nothing from outside gets into the text. The journal's mode comes with the copy.
        let script = "UPDATE ledger SET epoch = max(epoch, \(epochAtLeast)); PRAGMA journal_mode = DELETE"
        if unsafe sqlite3_exec(copy, script, nil, nil, nil) != SQLITE_OK {
            throw unsafe StorageError(database: copy, path: target)
        }
    }

    private static func openForCopy(_ target: String) throws(StorageError) -> OpaquePointer {
        var opened: OpaquePointer?
        let result = unsafe sqlite3_open_v2(
            target, &opened, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READWRITE, nil)
        guard result == SQLITE_OK, let opened = unsafe opened else {
            unsafe sqlite3_close_v2(opened)
            throw StorageError(extendedResultCode: result, detail: "cannot be opened", path: target)
        }
        // It is thrown away when anything fails, and synced as a whole when nothing did.
        let script = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"
        guard unsafe sqlite3_exec(opened, script, nil, nil, nil) == SQLITE_OK else {
            defer { unsafe sqlite3_close_v2(opened) }
            throw unsafe StorageError(database: opened, path: target)
        }
        return unsafe opened
    }

    /// Reads every page and every index, and throws at the first fault.
    func checkAll() throws(StorageError) {
        let verdict = try statement("PRAGMA integrity_check(1)").first { $0.text(0) } ?? ""
        if verdict != "ok" {
            throw StorageError(extendedResultCode: SQLITE_CORRUPT, detail: verdict, path: path)
        }
    }

    /// `path` as a URI that says that nobody writes the file, so that SQLite neither locks it nor looks for a log.
    private static func immutable(_ path: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var uri = path.hasPrefix("/") ? "file://" : "file:"
        for byte in path.utf8 {
            let character = Character(UnicodeScalar(byte))
            let isPlain = byte < 128 && (character.isLetter || character.isNumber || "/._-".contains(character))
            uri += isPlain ? String(character) : "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
        }
        return uri + "?immutable=1"
    }

    /// What SQLite has allocated in this process, over all connections: most of it is their caches of pages.
    static var memoryBytes: Int { Int(clamping: sqlite3_memory_used()) }

    private func configure(_ access: Access) throws(StorageError) {
        if access == .readWrite {
            // SQLite falls back to reading when it may not write, and would say so at the first commit only.
            guard unsafe sqlite3_db_readonly(handle, nil) == 0 else {
                throw StorageError(extendedResultCode: SQLITE_READONLY, detail: "cannot be written", path: path)
            }
            // Readers go on while the writer commits, and a commit is one append to one file.
            try execute("PRAGMA journal_mode = WAL")
            // Every commit is on the disk before it is acknowledged: a power cut loses nothing.
            try execute("PRAGMA synchronous = FULL")
            try execute("PRAGMA foreign_keys = ON")
            // A checkpoint inside a commit makes that commit ten times as slow: SQLiteCheckpointer has a thread for it.
            try execute("PRAGMA wal_autocheckpoint = 0")
            // After a burst the log shrinks again to what the checkpointer lets it grow to.
            try execute("PRAGMA journal_size_limit = 67108864")
            // 32 MiB, in KiB: the inner pages of all tables and the ends of those that grow.
            try execute("PRAGMA cache_size = -32768")
        } else {
            // 8 MiB: a reader goes along the end of tables once.
            try execute("PRAGMA cache_size = -8192")
            try execute("PRAGMA query_only = ON")
        }
        // Sorting never needs room on the disk that may be full.
        try execute("PRAGMA temp_store = MEMORY")
        // A damaged page is an error, not a wrong number.
        try execute("PRAGMA cell_size_check = ON")
        // A schema from outside cannot call functions with effects.
        try execute("PRAGMA trusted_schema = OFF")
    }
}

/// The C signature of a hook that runs after a commit: context, connection, database name, pages in the log.
typealias SQLiteWriteAheadLogHook =
    @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32
