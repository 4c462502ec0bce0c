import HeadroomModel

/// A row of the audit log as it is stored, without its hash.
struct AuditRow {
    var sequence: Int64
    var at: Timestamp
    var author: String
    var action: String
    var tenantDigest: [UInt8]?
    /// `nil` once the tenant was erased.
    var detail: String?
    var detailDigest: [UInt8]

    /// The stand-in for the hash before the first row's.
    static let origin = [UInt8](repeating: 0, count: 32)

    /// SHA-256 over the hash before and everything but the detail, which its own digest stands for.
    func hash(after previous: [UInt8]) -> [UInt8] {
        var content = ByteWriter()
        content.write(previous) { $0.write($1) }
        content.write(sequence)
        content.write(at)
        for text in [author, action] { content.write(Array(text.utf8)) { $0.write($1) } }
        content.write(tenantDigest) { $0.write($1) { $0.write($1) } }
        content.write(detailDigest) { $0.write($1) }
        return SHA256.digest(of: content.bytes)
    }

    func entry(hash: [UInt8]) -> AuditEntry {
        let erased = "{\"tenant_sha256\":\"\(SHA256.hexadecimal(tenantDigest ?? []))\",\"erased\":true}"
        return AuditEntry(
            sequence: sequence, at: at, author: author, action: action, detail: detail ?? erased,
            hash: SHA256.hexadecimal(hash))
    }
}

extension AuditRow {
    /// A row of ``AuditLog/select``.
    init(_ row: SQLStatement) {
        self.init(
            sequence: row.integer(0), at: Timestamp(milliseconds: row.integer(1)), author: row.text(2),
            action: row.text(3), tenantDigest: row.isNull(4) ? nil : row.bytes(4), detail: row.optionalText(5),
            detailDigest: row.bytes(6))
    }
}
