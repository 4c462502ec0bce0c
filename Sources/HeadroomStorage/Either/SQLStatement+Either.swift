#if PostgreSQL
    import HeadroomModel

    /// A prepared statement of either engine.
    package final class SQLStatement {
        enum Engine {
            case sqlite(SQLiteStatement)
            case postgreSQL(PostgreSQLStatement)
        }

        /// The place of a parameter, from its name.
        package struct Parameter {
            fileprivate enum Place {
                case sqlite(SQLiteStatement.Parameter)
                case postgreSQL(Int)
            }

            fileprivate let place: Place
        }

        private let engine: Engine

        init(_ engine: Engine) {
            self.engine = engine
        }

        package func parameter(_ name: StaticString) -> Parameter {
            switch engine {
            case .sqlite(let statement): Parameter(place: .sqlite(statement.parameter(name)))
            case .postgreSQL(let statement): Parameter(place: .postgreSQL(statement.index(of: name)))
            }
        }

        package func bind(_ parameter: Parameter, _ value: Int64) { bind(parameter, Int64?(value)) }
        package func bind(_ parameter: Parameter, _ value: Double) { bind(parameter, Double?(value)) }
        package func bind(_ parameter: Parameter, _ value: String) { bind(parameter, String?(value)) }
        package func bind(_ parameter: Parameter, _ value: [UInt8]) { bind(parameter, [UInt8]?(value)) }

        package func bind(_ parameter: Parameter, _ value: Int64?) {
            switch (engine, parameter.place) {
            case (.sqlite(let statement), .sqlite(let place)): statement.bind(place, value)
            case (.postgreSQL(let statement), .postgreSQL(let place)): statement.bind(place, .integer(value))
            default: preconditionFailure("a parameter of another statement")
            }
        }

        package func bind(_ parameter: Parameter, _ value: Double?) {
            switch (engine, parameter.place) {
            case (.sqlite(let statement), .sqlite(let place)): statement.bind(place, value)
            case (.postgreSQL(let statement), .postgreSQL(let place)): statement.bind(place, .double(value))
            default: preconditionFailure("a parameter of another statement")
            }
        }

        package func bind(_ parameter: Parameter, _ value: String?) {
            switch (engine, parameter.place) {
            case (.sqlite(let statement), .sqlite(let place)): statement.bind(place, value)
            case (.postgreSQL(let statement), .postgreSQL(let place)): statement.bind(place, .text(value))
            default: preconditionFailure("a parameter of another statement")
            }
        }

        package func bind(_ parameter: Parameter, _ value: [UInt8]?) {
            switch (engine, parameter.place) {
            case (.sqlite(let statement), .sqlite(let place)): statement.bind(place, value)
            case (.postgreSQL(let statement), .postgreSQL(let place)): statement.bind(place, .bytes(value))
            default: preconditionFailure("a parameter of another statement")
            }
        }

        @discardableResult package func bind(_ name: StaticString, _ value: Int64?) -> SQLStatement {
            bind(parameter(name), value)
            return self
        }

        @discardableResult package func bind(_ name: StaticString, _ value: Double?) -> SQLStatement {
            bind(parameter(name), value)
            return self
        }

        @discardableResult package func bind(_ name: StaticString, _ value: String?) -> SQLStatement {
            bind(parameter(name), value)
            return self
        }

        @discardableResult package func bind(_ name: StaticString, _ value: [UInt8]?) -> SQLStatement {
            bind(parameter(name), value)
            return self
        }

        package func run() throws(StorageError) {
            switch engine {
            case .sqlite(let statement): try statement.run()
            case .postgreSQL(let statement): try statement.run()
            }
        }

        func runLater() throws(StorageError) {
            switch engine {
            case .sqlite(let statement): try statement.run()
            case .postgreSQL(let statement): try statement.runLater()
            }
        }

        func runForID() throws(StorageError) -> Int64 {
            guard let id = try first({ $0.integer(0) }) else { preconditionFailure("the statement returns no id") }
            return id
        }

        package func forEachRow(_ body: (SQLStatement) throws -> Void) throws(StorageError) {
            switch engine {
            case .sqlite(let statement): try statement.forEachRow { _ in try body(self) }
            case .postgreSQL(let statement): try statement.forEachRow { try body(self) }
            }
        }

        package func first<Result>(_ read: (SQLStatement) -> Result) throws(StorageError) -> Result? {
            try firstResult { .some(read($0)) }
        }

        func firstResult<Result>(_ read: (SQLStatement) -> Result?) throws(StorageError) -> Result? {
            switch engine {
            case .sqlite(let statement): try statement.firstResult { _ in read(self) }
            case .postgreSQL(let statement): try statement.firstResult { read(self) }
            }
        }

        package func integer(_ column: Int32) -> Int64 {
            switch engine {
            case .sqlite(let statement): statement.integer(column)
            case .postgreSQL(let statement): statement.integer(column)
            }
        }

        package func double(_ column: Int32) -> Double {
            switch engine {
            case .sqlite(let statement): statement.double(column)
            case .postgreSQL(let statement): statement.double(column)
            }
        }

        package func text(_ column: Int32) -> String {
            switch engine {
            case .sqlite(let statement): statement.text(column)
            case .postgreSQL(let statement): statement.text(column)
            }
        }

        package func bytes(_ column: Int32) -> [UInt8] {
            switch engine {
            case .sqlite(let statement): statement.bytes(column)
            case .postgreSQL(let statement): statement.bytes(column)
            }
        }

        package func isNull(_ column: Int32) -> Bool {
            switch engine {
            case .sqlite(let statement): statement.isNull(column)
            case .postgreSQL(let statement): statement.isNull(column)
            }
        }

        package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

        package func optionalDouble(_ column: Int32) -> Double? { isNull(column) ? nil : double(column) }

        package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
    }
#endif
