import HeadroomModel

/// Counts changes in the database itself, so that every process and every store sees them.
enum ChangeCounter {
    case contracts, steering, erasures

    func read(_ connection: SQLConnection) throws(StorageError) -> Int64 {
        let sql: StaticString =
            switch self {
            case .contracts: "SELECT contracts FROM change_counter"
            case .steering: "SELECT steering FROM change_counter"
            case .erasures: "SELECT erasures FROM change_counter"
            }
        return try connection.statement(sql).first { $0.integer(0) } ?? 0
    }

    /// In the transaction of the change.
    func raise(_ connection: SQLConnection) throws(StorageError) {
        let sql: StaticString =
            switch self {
            case .contracts: "UPDATE change_counter SET contracts = contracts + 1"
            case .steering: "UPDATE change_counter SET steering = steering + 1"
            case .erasures: "UPDATE change_counter SET erasures = erasures + 1"
            }
        try connection.execute(sql)
    }
}
