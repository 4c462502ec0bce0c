import HeadroomModel

/// Reads the audit log, and checks that nobody has changed it.
package actor AuditReader {
    /// Rows that are read at once; other readers on the same thread go in between.
    private static let rowsAtATime = 10_000

    private let connection: SQLConnection
    private let log: AuditLog
    private var newest: AuditVerification?

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection) {
        self.connection = connection
        log = AuditLog(connection: connection)
    }

    /// Ascending by sequence, those after `sequence`.
    package func entries(after sequence: Int64, limit: Int) throws(StorageError) -> [AuditEntry] {
        try log.entries(after: sequence, limit: limit)
    }

    /// The result of the last ``verify(at:)``; `nil` before it has ended.
    package var lastVerification: AuditVerification? { newest }

    /// Whether the log bears a signature, by whichever key.
    package var isSigned: Bool {
        get throws(StorageError) { try log.head().code != nil }
    }

    /// Signs a log that has no rows yet. For the connection that writes.
    package func signIfNew() throws(StorageError) { try log.signIfNew() }

    /// The newest row; `nil` before the first.
    package func head() throws(StorageError) -> AuditHead? {
        let head = try log.head()
        return head.sequence > 0 ? AuditHead(sequence: head.sequence, hash: head.hash) : nil
    }

    /// Goes through the whole log, as far as it reaches now, and remembers what it found.
    /// - Parameter noted: a head of an earlier time, which must still be one of the rows. A person who can write the file can cut
    ///   rows off its end, or write all of it anew, so that only this shows it.
    @discardableResult package func verify(
        at now: Timestamp, noted: AuditHead? = nil, checksSignature: Bool = true
    ) async throws(StorageError) -> AuditVerification {
        // Before the rows: those that come meanwhile lie behind it.
        let head = try log.head()
        var verified = AuditVerification(at: now, sequence: 0, hash: "", fault: nil)
        var previous = AuditRow.origin
        var erased: [[UInt8]: Int64] = [:]
        while verified.fault == nil, verified.sequence < head.sequence {
            let rows = try rows(after: verified.sequence, through: head.sequence)
            for (row, hash) in rows {
                let next = verified.sequence + 1
                if row.sequence != next { break }
                verified.fault = try fault(in: row, hash: hash, after: previous, erased: &erased)
                if verified.fault != nil { break }
                (previous, verified.sequence) = (hash, next)
            }
            let found = rows.first { $0.row.sequence > verified.sequence }?.row.sequence
            if verified.fault == nil, rows.isEmpty || found != nil {
                verified.fault = missing(verified.sequence + 1, after: previous, found: found)
            }
            await Task.yield()
        }
        if verified.fault == nil { verified.fault = try endFault(head, previous, checksSignature) }
        if verified.fault == nil, let noted { verified.fault = try missing(noted) }
        verified.hash = SHA256.hexadecimal(previous)
        newest = verified
        return verified
    }

    /// Goes through the whole log and signs it, when it is whole and bears no signature yet. For the connection that
    /// writes.
    package func sign(at now: Timestamp) async throws(StorageError) -> AuditVerification {
        guard let key = connection.auditKey else {
            throw StorageError(code: .readOnly, message: "\(connection.path): there is no key to sign with")
        }
        let isSigned = try log.head().code != nil
        let found = try await verify(at: now, checksSignature: isSigned)
        guard found.fault == nil, !isSigned else { return found }
        try connection.transaction {
            try log.append(AuditAct("audit.sign", by: AuditLog.commandLine), at: now)
            try log.sign(with: key)
        }
        return try await verify(at: now)
    }

    private func rows(
        after sequence: Int64, through last: Int64
    ) throws(StorageError) -> [(row: AuditRow, hash: [UInt8])] {
        var rows: [(row: AuditRow, hash: [UInt8])] = []
        try connection.statement(AuditLog.select)
            .bind(":after", sequence).bind(":limit", min(Int64(AuditReader.rowsAtATime), last - sequence))
            .forEachRow { rows.append((AuditRow($0), $0.bytes(7))) }
        return rows
    }

    private func missing(_ noted: AuditHead) throws(StorageError) -> AuditVerification.Fault? {
        let digits = Array(noted.hash.utf8)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { place in
            UInt8(String(decoding: digits[place..<place + 2], as: UTF8.self), radix: 16)
        }
        let found = try connection.statement("SELECT sequence FROM audit WHERE sha256 = :sha256")
            .bind(":sha256", bytes).first { $0.integer(0) }
        if let found, noted.sequence == 0 || noted.sequence == found { return nil }
        let row = noted.sequence > 0 ? "row \(noted.sequence)" : "the row"
        return AuditVerification.Fault(
            sequence: noted.sequence > 0 ? noted.sequence : try log.head().sequence,
            detail: "\(row) with SHA-256 \(noted.hash), which was noted as the head, is "
                + "\(found.map { "row \($0) now" } ?? "missing"): rows were cut off the end, or the log was written anew"
        )
    }

    private func missing(_ sequence: Int64, after hash: [UInt8], found: Int64?) -> AuditVerification.Fault {
        let found = found.map { "found row \($0)" } ?? "found the end of the log"
        return AuditVerification.Fault(
            sequence: sequence,
            detail: "row \(sequence) is missing: expected the row that follows \(SHA256.hexadecimal(hash)), \(found)")
    }

    /// All rows up to the head are in order; is the head the last of them, and is it the last that was written?
    private func endFault(
        _ head: AuditLog.Head, _ last: [UInt8], _ checksSignature: Bool
    ) throws(StorageError) -> AuditVerification.Fault? {
        if checksSignature, let key = connection.auditKey, !log.isSigned(head, by: key) {
            let found = head.code == nil ? "no signature" : "another signature"
            return AuditVerification.Fault(
                sequence: head.sequence,
                detail:
                    "row \(head.sequence), the newest, is not signed by this key: expected its signature, found \(found)"
            )
        }
        if head.hash != last {
            return AuditVerification.Fault(
                sequence: head.sequence,
                detail: "row \(head.sequence) is not the last one that was written: expected SHA-256 "
                    + "\(SHA256.hexadecimal(head.hash)), found \(SHA256.hexadecimal(last))")
        }
        // A row that is written while this runs raises both, so that the head is read again.
        let written = try connection.lastAuditSequence()
        let newest = try connection.statement("SELECT max(sequence) FROM audit").first { $0.integer(0) } ?? 0
        let current = try log.head().sequence
        guard max(written, newest) > current else { return nil }
        return AuditVerification.Fault(
            sequence: current + 1,
            detail: "row \(current + 1) was not written by Headroom: expected \(current) rows, found the number "
                + "\(max(written, newest))")
    }

    private func fault(
        in row: AuditRow, hash: [UInt8], after previous: [UInt8], erased: inout [[UInt8]: Int64]
    ) throws(StorageError) -> AuditVerification.Fault? {
        let expected = row.hash(after: previous)
        if expected != hash {
            return AuditVerification.Fault(
                sequence: row.sequence,
                detail: "row \(row.sequence) is not what was written: expected SHA-256 "
                    + "\(SHA256.hexadecimal(expected)), found \(SHA256.hexadecimal(hash))")
        }
        if let detail = row.detail {
            let digest = SHA256.digest(of: Array(detail.utf8))
            return digest == row.detailDigest
                ? nil
                : AuditVerification.Fault(
                    sequence: row.sequence,
                    detail: "the detail of row \(row.sequence) is not what was written: expected SHA-256 "
                        + "\(SHA256.hexadecimal(row.detailDigest)), found \(SHA256.hexadecimal(digest))")
        }
        // Only an erasure, which is a row of its own further on, takes details out.
        if let tenant = row.tenantDigest {
            if erased[tenant] == nil {
                erased[tenant] = try connection.statement(AuditReader.selectErasure)
                    .bind(":tenant_sha256", tenant).first { $0.integer(0) }
            }
            if row.sequence <= erased[tenant] ?? 0 { return nil }
        }
        return AuditVerification.Fault(
            sequence: row.sequence,
            detail: "the detail of row \(row.sequence) is missing: expected SHA-256 "
                + "\(SHA256.hexadecimal(row.detailDigest)), and no erasure of its tenant follows")
    }

    private static let selectErasure: StaticString = """
        SELECT max(sequence) FROM audit WHERE tenant_sha256 = :tenant_sha256 AND action = 'tenant.erase'
        """
}
