import HeadroomModel

/// The rights of a token's holder.
struct AccessGrant: Sendable {
    let name: String
    let role: Role
    /// The gateways that the holder may speak for; `nil`: any.
    let gateways: GatewayNames?
    let scope: Scope
    var expiresAt: Timestamp?
    /// By a browser's cookie.
    var isSession = false
    /// While no token exists, everybody on this machine is `admin` and may speak for any gateway.
    let isOpen: Bool

    /// The part of an answer that is shown; `nil`: all.
    struct Scope: Hashable, Sendable {
        var pools: Set<PoolID>?
        var tenants: Set<TenantID>?

        var isWhole: Bool { pools == nil && tenants == nil }

        func holds(_ pool: PoolID) -> Bool { pools?.contains(pool) ?? true }
        func holds(_ tenant: TenantID) -> Bool { tenants?.contains(tenant) ?? true }
        /// Ceilings hold over all pools, and those of a kind of task over all tenants.
        func holds(_ subject: CostSubject) -> Bool { subject.tenant.map(holds) ?? (tenants == nil) }
        /// Whether something may be done there. `nil`: in all pools, which only a scope without a bound on pools holds.
        func holds(_ tenant: TenantID, in pool: PoolID?) -> Bool {
            holds(tenant) && (pool.map(holds) ?? (pools == nil))
        }
        /// Whether something is shown that is there. What is in all pools is in those of the scope too.
        func sees(_ tenant: TenantID, in pool: PoolID?) -> Bool {
            holds(tenant) && (pool.map(holds) ?? true)
        }
    }

    static let everything = AccessGrant(
        name: "anyone on this machine", role: .admin, gateways: nil, scope: Scope(), expiresAt: nil, isOpen: true)

    init(
        name: String, role: Role, gateways: GatewayNames?, scope: Scope, expiresAt: Timestamp?, isOpen: Bool = false
    ) {
        self.name = name
        self.role = role
        self.gateways = gateways
        self.scope = scope
        self.expiresAt = expiresAt
        self.isOpen = isOpen
    }

    init(_ token: AccessToken) {
        self.init(
            name: token.name, role: token.role, gateways: token.gateways,
            scope: Scope(pools: token.pools, tenants: token.tenants), expiresAt: token.expires)
    }

    /// The author that the audit log names.
    var author: String { isOpen ? "local" : name }

    func hasRole(_ roles: Set<Role>) -> Bool { isOpen || roles.contains(role) }

    /// A forged name would free room that is in use, so only a gateway's own token speaks for it.
    func maySpeak(for gateway: GatewayID) -> Bool {
        guard role == .gateway || isOpen else { return false }
        return gateways?.contains(gateway) ?? true
    }
}

/// The condition for making a call.
enum AccessRule: Sendable {
    case anyone
    case roles(Set<Role>)

    /// Those who may do all that a viewer may.
    static let viewers: Set<Role> = [.viewer, .success, .sre, .admin]
    /// Those who raise and lower tenants.
    static let overriders: Set<Role> = [.success, .sre, .admin]
    /// Those who approve, freeze, pin and roll back.
    static let operators: Set<Role> = [.sre, .admin]

    func check(_ grant: AccessGrant) throws(HTTPError) {
        guard case .roles(let roles) = self, !grant.hasRole(roles) else { return }
        let allowed = Role.allCases.filter { roles.contains($0) }.map(\.rawValue).joined(separator: ", ")
        throw HTTPError(
            .forbidden, "the token \"\(grant.name)\" has the role \(grant.role.rawValue); this call takes \(allowed)")
    }
}

/// How a call stands to a token's limits (``AccessGrant/Scope``).
///
/// Each route says it, and the router asks it before a handler is bound: a call that cannot be cut down to a token's limits is
/// refused to tokens that have some.
enum AccessReach: Sendable {
    /// No pool and no tenant is shown or changed.
    case nothing
    /// The handler shows and changes only what the grant's scope holds.
    case scope
    /// A gateway, which works for all pools and tenants: people need a token without limits. A gateway's own token speaks for
    /// its names whatever else it is limited to.
    case gateway
    /// All pools and tenants together; `what` is that in a sentence.
    case everything(_ what: String)

    func check(_ grant: AccessGrant) throws(HTTPError) {
        switch self {
        case .nothing, .scope: return
        case .gateway:
            if grant.role != .gateway { try check(grant, "a gateway, which works for all pools and tenants,") }
        case .everything(let what): try check(grant, what)
        }
    }

    private func check(_ grant: AccessGrant, _ what: String) throws(HTTPError) {
        guard !grant.scope.isWhole else { return }
        throw .outsideLimits(grant, what)
    }
}

extension HTTPError {
    /// - Parameter what: in a sentence: `the pool x`.
    static func outsideLimits(_ grant: AccessGrant, _ what: String) -> HTTPError {
        HTTPError(.forbidden, "the token \"\(grant.name)\" is limited, and \(what) lies outside its limits")
    }
}
