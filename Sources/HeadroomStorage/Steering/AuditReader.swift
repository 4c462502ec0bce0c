import HeadroomModel

/// Reads the audit log, and checks that nobody has changed it.
package actor AuditReader {
    /// Why a row is not what was written.
    package struct Fault: Equatable, Sendable {
        /// The first row that is wrong, or that is missing.
        package var sequence: Int64
        package var detail: String
    }

    /// Rows between which others who read on the same thread get their turn.
    private static let rowsAtATime = 10_000

    private let connection: SQLiteConnection
    private let log: AuditLog

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe connection.executor.asUnownedSerialExecutor()
    }

    package init(connection: SQLiteConnection) {
        self.connection = connection
        log = AuditLog(connection: connection)
    }

    /// Ascending by sequence, those after `sequence`.
    package func entries(after sequence: Int64, limit: Int) throws(StorageError) -> [AuditEntry] {
        try log.entries(after: sequence, limit: limit)
    }

    /// Goes through the whole log; `nil` when every row is as it was written and none is missing.
    package func verify() async throws(StorageError) -> Fault? {
        var previous = AuditRow.origin
        var last: Int64 = 0
        var erased: [[UInt8]: Int64] = [:]
        while true {
            var rows: [(row: AuditRow, hash: [UInt8])] = []
            try connection.statement(AuditLog.select)
                .bind(":after", last).bind(":limit", Int64(AuditReader.rowsAtATime))
                .forEachRow { rows.append((AuditRow($0), $0.bytes(7))) }
            for (row, hash) in rows {
                if row.sequence != last + 1 {
                    return Fault(sequence: last + 1, detail: "row \(last + 1) is missing")
                }
                if let detail = try fault(in: row, hash: hash, after: previous, erased: &erased) {
                    return Fault(sequence: row.sequence, detail: detail)
                }
                (previous, last) = (hash, row.sequence)
            }
            if rows.count < AuditReader.rowsAtATime { break }
            await Task.yield()
        }
        // The sequence remembers the highest number also when the rows that had it are gone.
        let written =
            try connection.statement("SELECT seq FROM sqlite_sequence WHERE name = 'audit'")
            .first { $0.integer(0) } ?? 0
        return written > last ? Fault(sequence: last + 1, detail: "row \(last + 1) is missing") : nil
    }

    private func fault(
        in row: AuditRow, hash: [UInt8], after previous: [UInt8], erased: inout [[UInt8]: Int64]
    ) throws(StorageError) -> String? {
        if row.hash(after: previous) != hash { return "row \(row.sequence) is not what was written" }
        if let detail = row.detail {
            return SHA256.digest(of: Array(detail.utf8)) == row.detailDigest
                ? nil : "the detail of row \(row.sequence) is not what was written"
        }
        // Only an erasure, which is a row of its own further on, takes details out.
        guard let tenant = row.tenantDigest else { return "the detail of row \(row.sequence) is missing" }
        if erased[tenant] == nil {
            erased[tenant] = try connection.statement(AuditReader.selectErasure)
                .bind(":tenant_sha256", tenant).first { $0.integer(0) }
        }
        return row.sequence <= erased[tenant] ?? 0
            ? nil : "the detail of row \(row.sequence) is missing, and no erasure tells why"
    }

    private static let selectErasure: StaticString = """
        SELECT max(sequence) FROM audit WHERE tenant_sha256 = :tenant_sha256 AND action = 'tenant.erase'
        """
}
