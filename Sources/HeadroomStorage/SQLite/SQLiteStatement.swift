import CSQLite
import HeadroomModel

/// A prepared statement: bind, ``run()`` or read its rows, again and again. A binding holds until the next one.
///
/// Used on its connection's executor only, like the connection itself.
@safe package final class SQLiteStatement {
    /// The place of a parameter, from its name.
    package struct Parameter {
        fileprivate let index: Int32
    }

    private let handle: OpaquePointer
    private let database: OpaquePointer
    private let path: String

    @unsafe convenience init(_ sql: StaticString, database: OpaquePointer, path: String) throws(StorageError) {
        let text = unsafe UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
        try unsafe self.init(text, sql.utf8CodeUnitCount, database: database, path: path)
    }

    @unsafe init(
        _ text: UnsafePointer<CChar>, _ count: Int, database: OpaquePointer, path: String
    ) throws(StorageError) {
        var prepared: OpaquePointer?
        var rest: UnsafePointer<CChar>?
        // PERSISTENT: it will be kept, so that its memory should not come out of the small fast store.
        let result = unsafe sqlite3_prepare_v3(
            database, text, Int32(count), UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, &rest)
        guard result == SQLITE_OK, let prepared = unsafe prepared else {
            throw unsafe StorageError(database: database, path: path)
        }
        // What follows a first statement would never run.
        precondition(unsafe rest.map { unsafe $0 - text == count } ?? true, "one statement at a time")
        unsafe handle = prepared
        unsafe self.database = database
        self.path = path
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// Looks `name` (with its colon) up, once for many bindings.
    package func parameter(_ name: StaticString) -> Parameter {
        let text = unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
        let index = unsafe sqlite3_bind_parameter_index(handle, text)
        precondition(index > 0, "the statement has no parameter \(name)")
        return Parameter(index: index)
    }

    package func bind(_ parameter: Parameter, _ value: Int64) {
        check(unsafe sqlite3_bind_int64(handle, parameter.index, value))
    }

    package func bind(_ parameter: Parameter, _ value: Int64?) {
        guard let value else { return bindNull(parameter) }
        bind(parameter, value)
    }

    package func bind(_ parameter: Parameter, _ value: Double) {
        check(unsafe sqlite3_bind_double(handle, parameter.index, value))
    }

    package func bind(_ parameter: Parameter, _ value: Double?) {
        guard let value else { return bindNull(parameter) }
        bind(parameter, value)
    }

    /// SQLite copies the bytes: those of a short `String` have no address that lasts.
    package func bind(_ parameter: Parameter, _ value: String) {
        var value = value
        value.withUTF8 { bytes in
            unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
                check(
                    unsafe sqlite3_bind_text(handle, parameter.index, bytes.baseAddress, Int32(bytes.count), copying))
            }
        }
    }

    package func bind(_ parameter: Parameter, _ value: String?) {
        guard let value else { return bindNull(parameter) }
        bind(parameter, value)
    }

    package func bind(_ parameter: Parameter, _ value: [UInt8]) {
        unsafe value.withUnsafeBytes { bytes in
            check(unsafe sqlite3_bind_blob64(handle, parameter.index, bytes.baseAddress, UInt64(bytes.count), copying))
        }
    }

    package func bind(_ parameter: Parameter, _ value: [UInt8]?) {
        guard let value else { return bindNull(parameter) }
        bind(parameter, value)
    }

    private func bindNull(_ parameter: Parameter) {
        check(unsafe sqlite3_bind_null(handle, parameter.index))
    }

    /// Runs a statement that has no rows.
    package func run() throws(StorageError) {
        _ = try step()
        reset()
    }

    /// Runs an insert of one row, of which nothing is asked: an engine may send it with others, at the latest when the
    /// transaction is committed or a statement names the table.
    func runLater() throws(StorageError) { try run() }

    /// Runs an insert of one row, which returns the row's id.
    func runForID() throws(StorageError) -> Int64 {
        guard let id = try first({ $0.integer(0) }) else { preconditionFailure("the statement returns no id") }
        return id
    }

    /// Calls `body` at each row.
    package func forEachRow(_ body: (SQLiteStatement) throws -> Void) throws(StorageError) {
        // A statement left open would keep the reader's view, and with it the log, from moving on.
        defer { reset() }
        do {
            while try step() { try body(self) }
        } catch {
            throw StorageError(error)
        }
    }

    /// The result of `read` for the first row, if there is one.
    package func first<Result>(_ read: (SQLiteStatement) -> Result) throws(StorageError) -> Result? {
        defer { reset() }
        return try step() ? read(self) : nil
    }

    /// The first result of `read` that is not `nil`.
    func firstResult<Result>(_ read: (SQLiteStatement) -> Result?) throws(StorageError) -> Result? {
        defer { reset() }
        while try step() {
            if let result = read(self) { return result }
        }
        return nil
    }

    package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

    package func double(_ column: Int32) -> Double { unsafe sqlite3_column_double(handle, column) }

    package func text(_ column: Int32) -> String {
        // The text before the count: asking for it may convert the value.
        guard let start = unsafe sqlite3_column_text(handle, column) else { return "" }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    package func bytes(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
        let count = Int(unsafe sqlite3_column_bytes(handle, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

    package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    package func optionalDouble(_ column: Int32) -> Double? { isNull(column) ? nil : double(column) }

    package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    /// True at a row, false at the end.
    private func step() throws(StorageError) -> Bool {
        switch unsafe sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let error = unsafe StorageError(database: database, path: path)
            reset()
            throw error
        }
    }

    private func reset() {
        // Repeats the error of the step, which has been thrown.
        _ = unsafe sqlite3_reset(handle)
    }

    /// Binding fails when a statement is misused, or when memory has run out.
    private func check(_ result: Int32) {
        precondition(result == SQLITE_OK, "cannot bind: SQLite code \(result)")
    }
}

/// For statements that run seldom: the parameter by its name.
extension SQLiteStatement {
    @discardableResult package func bind(_ name: StaticString, _ value: Int64?) -> SQLiteStatement {
        bind(parameter(name), value)
        return self
    }

    @discardableResult package func bind(_ name: StaticString, _ value: Double?) -> SQLiteStatement {
        bind(parameter(name), value)
        return self
    }

    @discardableResult package func bind(_ name: StaticString, _ value: String?) -> SQLiteStatement {
        bind(parameter(name), value)
        return self
    }

    @discardableResult package func bind(_ name: StaticString, _ value: [UInt8]?) -> SQLiteStatement {
        bind(parameter(name), value)
        return self
    }
}

/// SQLITE_TRANSIENT, which C defines by a cast that Swift does not import.
private let copying = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
