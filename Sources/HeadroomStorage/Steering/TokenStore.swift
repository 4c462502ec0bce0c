import HeadroomModel

/// The tokens that Headroom accepts. That they come, are used and go is in the audit log.
package actor TokenStore {
    /// A token's use is noted at most once in this time.
    private static let useSeconds = 3600.0

    private let connection: SQLConnection
    private let audit: AuditLog
    /// Names that are remembered as noted; more are looked up again.
    private static let maxNoted = 10_000

    /// When the use of each token was last noted, by name.
    private var noted: [String: Timestamp] = [:]

    package nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    package init(connection: SQLConnection) {
        self.connection = connection
        audit = AuditLog(connection: connection)
    }

    /// Enters a token for `secret`, of which only the SHA-256 is kept. The secret must come from the system's random
    /// source with at least 128 bits: a plain hash of anything that can be guessed can be guessed too.
    package func create(
        name: String, role: Role, secret: String, gateways: GatewayNames = [], pools: Set<PoolID>? = nil,
        tenants: Set<TenantID>? = nil, expires: Timestamp? = nil, by author: String = AuditLog.commandLine,
        at now: Timestamp
    ) throws(StorageError) -> AccessToken {
        let token = AccessToken(
            name: name, role: role, gateways: gateways, pools: pools, tenants: tenants,
            secretDigest: SHA256.digest(of: Array(secret.utf8)), created: now, expires: expires)
        return try connection.transaction { () throws(StorageError) -> AccessToken in
            try insert(token, by: author, at: now)
        }
    }

    /// Share links that are in force at once: of one maker, and of all together.
    package static let maxLinksOfOne: Int64 = 100
    package static let maxLinks: Int64 = 1_000

    /// Enters a viewer's token for a link to one tenant's page. It ends at `end`, or with the token of `maker` where that
    /// ends before; ``revoke(name:by:at:)`` of that one revokes it too.
    package func createLink(
        name: String, secret: String, tenant: TenantID, pools: Set<PoolID>?, until end: Timestamp, by maker: String,
        at now: Timestamp
    ) throws(SteeringError) -> AccessToken {
        let outcome: Result<AccessToken, SteeringError>
        do throws(StorageError) {
            outcome = try connection.transaction { () throws(StorageError) -> Result<AccessToken, SteeringError> in
                let own = try connection.statement(TokenStore.selectMaker).bind(":name", maker)
                    .bind(":now", now.milliseconds).first { $0.optionalInteger(0) ?? .max }
                guard let own else {
                    return .failure(SteeringError(.conflict, "the token \(maker) has ended, and its links with it"))
                }
                func count(_ maker: String?) throws(StorageError) -> Int64 {
                    try connection.statement(TokenStore.countLinks).bind(":maker", maker)
                        .bind(":now", now.milliseconds).first { $0.integer(0) } ?? 0
                }
                let (most, all) = (TokenStore.maxLinksOfOne, TokenStore.maxLinks)
                guard try count(maker) < most, try count(nil) < all else {
                    return .failure(
                        SteeringError(
                            .conflict,
                            "\(most) links of one person, and \(all) in all, may be in force at once: let some end, or "
                                + "revoke some with \"headroom token revoke\""))
                }
                var token = AccessToken(
                    name: name, role: .viewer, pools: pools, tenants: [tenant],
                    secretDigest: SHA256.digest(of: Array(secret.utf8)), created: now,
                    expires: Timestamp(milliseconds: min(end.milliseconds, own)))
                token.maker = maker
                return .success(try insert(token, by: maker, at: now))
            }
        } catch {
            throw SteeringError(error)
        }
        return try outcome.get()
    }

    /// Inside a transaction.
    private func insert(_ new: AccessToken, by author: String, at now: Timestamp) throws(StorageError) -> AccessToken {
        var token = new
        let (name, role, expires) = (token.name, token.role, token.expires)
        let taken = try connection.statement("SELECT 1 FROM api_token WHERE name = :name")
            .bind(":name", name).first { _ in true }
        guard taken == nil else {
            throw StorageError(
                code: .constraint, message: "there is or was a token named \(name); choose another name")
        }
        let id = try connection.statement(TokenStore.insertToken)
            .bind(":name", name)
            .bind(":role", role.rawValue)
            .bind(":secret_sha256", token.secretDigest)
            .bind(":created_at_ms", now.milliseconds)
            .bind(":expires_at_ms", expires?.milliseconds)
            .bind(":maker", token.maker)
            .runForID()
        for gateway in token.gateways.texts { try limit(id, to: gateway, kind: "gateway") }
        for pool in token.pools?.sorted() ?? [] { try limit(id, to: pool.text, kind: "pool") }
        for tenant in token.tenants?.sorted() ?? [] { try limit(id, to: tenant.text, kind: "tenant") }
        try audit.append(
            AuditAct(
                "token.create", by: author,
                [
                    ("name", .text(name)), ("role", .text(role.rawValue)),
                    ("expires_at_ms", .integer(expires?.milliseconds)),
                ]),
            at: now)
        token.id = id
        return token
    }

    /// Ends the token now, and the links that its holder made. False when there is none of that name, or it was revoked
    /// before.
    package func revoke(
        name: String, by author: String = AuditLog.commandLine, at now: Timestamp
    ) throws(StorageError) -> Bool {
        try connection.transaction {
            try connection.statement(TokenStore.revokeToken)
                .bind(":name", name).bind(":revoked_at_ms", now.milliseconds).run()
            guard connection.changedRows == 1 else { return false }
            try audit.append(AuditAct("token.revoke", by: author, [("name", .text(name))]), at: now)
            var links: [String] = []
            try connection.statement(TokenStore.selectLinks).bind(":maker", name).forEachRow {
                links.append($0.text(0))
            }
            for link in links {
                try connection.statement(TokenStore.revokeToken)
                    .bind(":name", link).bind(":revoked_at_ms", now.milliseconds).run()
                try audit.append(
                    AuditAct("token.revoke", by: author, [("name", .text(link)), ("maker", .text(name))]), at: now)
            }
            return true
        }
    }

    /// Notes that the tokens of these names were used: for each that is a row in the audit log once an hour, and no work
    /// at all in between.
    package func noteUse(of names: some Sequence<String> & Sendable, at now: Timestamp) throws(StorageError) {
        let due = Set(names).filter { name in
            noted[name].map { now.seconds(since: $0) >= TokenStore.useSeconds } ?? true
        }
        guard !due.isEmpty else { return }
        try connection.transaction {
            for name in due.sorted() {
                // After a start, or beside another process, the row knows better.
                try connection.statement(TokenStore.updateUse)
                    .bind(":name", name).bind(":used_at_ms", now.milliseconds)
                    .bind(":before_ms", now.adding(seconds: -TokenStore.useSeconds).milliseconds).run()
                guard connection.changedRows == 1 else { continue }
                try audit.append(AuditAct("token.use", by: name, [("name", .text(name))]), at: now)
            }
        }
        if noted.count > TokenStore.maxNoted { noted.removeAll() }
        for name in due { noted[name] = now }
    }

    /// Every token that ever was, in the order of creation.
    package func all() throws(StorageError) -> [AccessToken] {
        var tokens: [AccessToken] = []
        try connection.statement(TokenStore.selectAll).forEachRow { row in
            guard let role = Role(rawValue: row.text(2)) else {
                throw StorageError(
                    code: .corrupt, message: "token \(row.text(1)) has the role \(row.text(2)), which does not exist")
            }
            var token = AccessToken(
                id: row.integer(0), name: row.text(1), role: role, secretDigest: row.bytes(3),
                created: Timestamp(milliseconds: row.integer(4)),
                expires: row.optionalInteger(5).map(Timestamp.init(milliseconds:)),
                revoked: row.optionalInteger(6).map(Timestamp.init(milliseconds:)),
                used: row.optionalInteger(7).map(Timestamp.init(milliseconds:)))
            token.maker = row.optionalText(8)
            tokens.append(token)
        }
        for index in tokens.indices { try readScope(&tokens[index]) }
        return tokens
    }

    /// Differs from an earlier value if another process has changed the database since: read ``all()`` again then.
    package func foreignChangeCounter() throws(StorageError) -> Int64 {
        try connection.foreignChangeCounter()
    }

    private func limit(_ id: Int64, to name: String, kind: String) throws(StorageError) {
        try connection.statement(TokenStore.insertScope)
            .bind(":api_token_id", id).bind(":kind", kind).bind(":name", name).run()
    }

    private func readScope(_ token: inout AccessToken) throws(StorageError) {
        var scope: [String: [String]] = [:]
        try connection.statement(TokenStore.selectScope).bind(":api_token_id", token.id).forEachRow { row in
            scope[row.text(0), default: []].append(row.text(1))
        }
        do {
            token.gateways = try GatewayNames(parsing: scope["gateway", default: []])
        } catch {
            throw StorageError(code: .corrupt, message: "token \(token.name): \(error)")
        }
        token.pools = scope["pool"].map { Set($0.map(PoolID.init(unchecked:))) }
        token.tenants = scope["tenant"].map { Set($0.map(TenantID.init(unchecked:))) }
    }

    private static let insertToken: StaticString = """
        INSERT INTO api_token (name, role, secret_sha256, created_at_ms, expires_at_ms, maker)
        VALUES (:name, :role, :secret_sha256, :created_at_ms, :expires_at_ms, :maker)
        RETURNING id
        """
    /// A name given twice limits the token once.
    private static let insertScope: StaticString = """
        INSERT INTO api_token_scope (api_token_id, kind, name) VALUES (:api_token_id, :kind, :name) ON CONFLICT DO NOTHING
        """
    private static let revokeToken: StaticString = """
        UPDATE api_token SET revoked_at_ms = :revoked_at_ms WHERE name = :name AND revoked_at_ms IS NULL
        """
    private static let selectMaker: StaticString = """
        SELECT expires_at_ms FROM api_token
        WHERE name = :name AND revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > :now)
        """
    private static let countLinks: StaticString = """
        SELECT count(*) FROM api_token
        WHERE maker IS NOT NULL AND (:maker IS NULL OR maker = :maker) AND revoked_at_ms IS NULL
            AND expires_at_ms > :now
        """
    private static let selectLinks: StaticString =
        "SELECT name FROM api_token WHERE maker = :maker AND revoked_at_ms IS NULL ORDER BY id"
    private static let updateUse: StaticString = """
        UPDATE api_token SET used_at_ms = :used_at_ms WHERE name = :name AND coalesce(used_at_ms, :before_ms) <= :before_ms
        """
    private static let selectAll: StaticString = """
        SELECT id, name, role, secret_sha256, created_at_ms, expires_at_ms, revoked_at_ms, used_at_ms, maker FROM api_token
        ORDER BY id
        """
    private static let selectScope: StaticString = """
        SELECT kind, name FROM api_token_scope WHERE api_token_id = :api_token_id ORDER BY kind, name
        """
}
