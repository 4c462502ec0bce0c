import HeadroomModel

/// The ids that tables with ascending ids have given out.
extension SQLiteConnection {
    /// The last one of each table, also of rows that are gone. A table that never had a row is missing.
    func lastIDs() throws(StorageError) -> [String: Int64] {
        var last: [String: Int64] = [:]
        try statement("SELECT name, seq FROM sqlite_sequence").forEachRow { last[$0.text(0)] = $0.integer(1) }
        return last
    }

    /// The last sequence number in the audit log, also of rows that are gone; 0 before the first.
    func lastAuditSequence() throws(StorageError) -> Int64 {
        try statement("SELECT seq FROM sqlite_sequence WHERE name = 'audit'").first { $0.integer(0) } ?? 0
    }
}
