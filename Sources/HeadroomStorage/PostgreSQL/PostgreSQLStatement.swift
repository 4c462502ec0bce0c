#if PostgreSQL
    import CPostgreSQL
    import HeadroomModel

    /// A statement as the stores use it: bind, run or read its rows, again and again. It is prepared at its first run, when
    /// the types of its parameters are known.
    ///
    /// Used on its connection's executor only.
    final class PostgreSQLStatement {
        private let text: PostgreSQLText
        private let name: String
        private unowned let connection: PostgreSQLConnection
        private var values: [PostgreSQLValue?]
        private var preparedTypes: [Oid] = []
        private var preparedSession = 0
        /// What is read while ``forEachRow(_:)`` and the like run.
        private var result: PostgreSQLResult?
        private var row: Int32 = 0

        init(_ sql: StaticString, name: String, connection: PostgreSQLConnection) {
            text = PostgreSQLText(sql)
            self.name = name
            self.connection = connection
            values = [PostgreSQLValue?](repeating: nil, count: text.parameters.count)
        }

        func index(of name: StaticString) -> Int {
            let name = "\(name)"
            guard let index = text.parameters.firstIndex(of: name) else {
                preconditionFailure("the statement has no parameter \(name)")
            }
            return index
        }

        func bind(_ index: Int, _ value: PostgreSQLValue) { values[index] = value }

        func bound(_ name: StaticString, _ value: PostgreSQLValue) -> PostgreSQLStatement {
            bind(index(of: name), value)
            return self
        }

        func run() throws(StorageError) { _ = try execute() }

        /// Of an insert of one row: sends it with others, at the latest when the transaction is committed.
        func runLater() throws(StorageError) {
            guard let row = text.row else { return try run() }
            try connection.add(bound(), to: row)
        }

        func forEachRow(_ body: () throws -> Void) throws(StorageError) {
            guard let found = try execute() else { return }
            result = found
            defer { result = nil }
            do {
                for index in 0..<found.rowCount {
                    row = index
                    try body()
                }
            } catch {
                throw StorageError(error)
            }
        }

        /// The first result of `read` that is not `nil`.
        func firstResult<Value>(_ read: () -> Value?) throws(StorageError) -> Value? {
            guard let found = try execute() else { return nil }
            result = found
            defer { result = nil }
            for index in 0..<found.rowCount {
                row = index
                if let value = read() { return value }
            }
            return nil
        }

        func firstInteger() throws(StorageError) -> Int64? { try firstResult { integer(0) } }

        func integer(_ column: Int32) -> Int64 { current.integer(row, column) }
        func double(_ column: Int32) -> Double { current.double(row, column) }
        func text(_ column: Int32) -> String { current.text(row, column) }
        func bytes(_ column: Int32) -> [UInt8] { current.bytes(row, column) }
        func isNull(_ column: Int32) -> Bool { current.isNull(row, column) }

        private var current: PostgreSQLResult {
            guard let result else { preconditionFailure("a column is read outside a row") }
            return result
        }

        /// One that was never bound is NULL, as in SQLite.
        private func bound() -> [PostgreSQLValue] { values.map { $0 ?? .text(nil) } }

        private func execute() throws(StorageError) -> PostgreSQLResult? {
            try connection.flush(text.words)
            let values = bound()
            let types = values.map(\.type)
            if preparedSession != connection.session || preparedTypes != types {
                try connection.prepare(name, text.sql, types: types, again: preparedSession == connection.session)
                preparedTypes = types
                preparedSession = connection.session
            }
            return try connection.run(name, values)
        }
    }
#endif
