import HeadroomModel

/// An act that is about to be written to the audit log.
struct AuditAct {
    /// A value of the detail, which is a JSON object.
    enum Value {
        case text(String?)
        case integer(Int64?)
        case number(Double?)
        case rates(Rates)
    }

    var author: String
    /// `override.set`, `approval.approve`, …
    var action: String
    /// Whom it is about: the row's detail goes when this tenant is erased.
    var tenant: TenantID?
    /// In the order in which they are written; the tenant goes before them.
    var detail: [(key: StaticString, value: Value)]

    init(_ action: String, by author: String, tenant: TenantID? = nil, _ detail: [(StaticString, Value)] = []) {
        self.author = author
        self.action = action
        self.tenant = tenant
        self.detail = detail.map { (key: $0.0, value: $0.1) }
    }
}

/// The audit log: rows are added and never changed, and each one's hash covers the row before it. The newest one's
/// number and hash are kept apart as well, in `audit_head`: rows that are cut off the end are missed there.
package struct AuditLog {
    /// The author of work on the database itself, where people could sign with any name.
    package static let commandLine = "command line"

    private let connection: SQLConnection

    init(connection: SQLConnection) {
        self.connection = connection
    }

    /// In the transaction of what it tells of.
    ///
    /// A head that this key has not signed stays so, whatever is appended: rows that somebody has changed get no signature
    /// by the next act.
    func append(_ act: AuditAct, at now: Timestamp) throws(StorageError) {
        let last = try head()
        if last.code != nil, connection.auditKey == nil {
            throw StorageError(
                code: .readOnly,
                message:
                    "\(connection.path): the audit log is signed: name the file with its key, by HEADROOM_AUDIT_KEY or "
                    + "by serve --audit-key")
        }
        let detail = act.json
        let row = AuditRow(
            sequence: last.sequence + 1, at: now, author: act.author, action: act.action,
            tenantDigest: act.tenant.map(AuditLog.digest), detail: detail,
            detailDigest: SHA256.digest(of: Array(detail.utf8)))
        let hash = row.hash(after: last.hash)
        try connection.statement(AuditLog.insert)
            .bind(":sequence", row.sequence)
            .bind(":at_ms", now.milliseconds)
            .bind(":author", row.author)
            .bind(":action", row.action)
            .bind(":tenant_sha256", row.tenantDigest)
            .bind(":detail", detail)
            .bind(":detail_sha256", row.detailDigest)
            .bind(":sha256", hash)
            .run()
        var code = last.code
        if let key = connection.auditKey, isSigned(last, by: key) {
            code = key.code(sequence: row.sequence, hash: hash)
        }
        try connection.statement("UPDATE audit_head SET sequence = :sequence, sha256 = :sha256, mac = :mac")
            .bind(":sequence", row.sequence).bind(":sha256", hash).bind(":mac", code).run()
    }

    func isSigned(_ head: Head, by key: AuditKey) -> Bool {
        head.code == key.code(sequence: head.sequence, hash: head.hash)
    }

    /// A log without rows is signed as it is when it is opened, so that one that is emptied later is missed.
    func signIfNew() throws(StorageError) {
        guard let key = connection.auditKey else { return }
        let head = try head()
        if head.sequence == 0, head.code == nil { try sign(with: key) }
    }

    /// Signs the head as it is; the act that says so goes before.
    func sign(with key: AuditKey) throws(StorageError) {
        let head = try head()
        try connection.statement("UPDATE audit_head SET mac = :mac")
            .bind(":mac", key.code(sequence: head.sequence, hash: head.hash)).run()
    }

    struct Head {
        /// 0 before the first row.
        var sequence: Int64
        var hash: [UInt8]
        /// The signature; `nil` where there is none.
        var code: [UInt8]?
    }

    /// The number and the hash of the newest row that was written; 0 and zeros before the first.
    func head() throws(StorageError) -> Head {
        let head = try connection.statement("SELECT sequence, sha256, mac FROM audit_head")
            .first { Head(sequence: $0.integer(0), hash: $0.bytes(1), code: $0.isNull(2) ? nil : $0.bytes(2)) }
        guard let head else {
            throw StorageError(code: .corrupt, message: "\(connection.path): the head of the audit log is missing")
        }
        return head
    }

    /// Ascending by sequence, those after `sequence`.
    func entries(after sequence: Int64, limit: Int) throws(StorageError) -> [AuditEntry] {
        var entries: [AuditEntry] = []
        try connection.statement(AuditLog.select).bind(":after", sequence).bind(":limit", Int64(limit))
            .forEachRow { entries.append(AuditRow($0).entry(hash: $0.bytes(7))) }
        return entries
    }

    /// Takes what the log says of a tenant out of it; that something was said, when and by whom, stays.
    func erase(_ tenant: TenantID) throws(StorageError) {
        try connection.statement("UPDATE audit SET detail = NULL WHERE tenant_sha256 = :tenant_sha256")
            .bind(":tenant_sha256", AuditLog.digest(tenant)).run()
    }

    static func digest(_ tenant: TenantID) -> [UInt8] { SHA256.digest(of: Array(tenant.text.utf8)) }

    private static let insert: StaticString = """
        INSERT INTO audit (sequence, at_ms, author, action, tenant_sha256, detail, detail_sha256, sha256)
        VALUES (:sequence, :at_ms, :author, :action, :tenant_sha256, :detail, :detail_sha256, :sha256)
        """
    static let select: StaticString = """
        SELECT sequence, at_ms, author, action, tenant_sha256, detail, detail_sha256, sha256 FROM audit
        WHERE sequence > :after ORDER BY sequence LIMIT :limit
        """
}
