/// The rights that a token's holder has.
public enum Role: String, CaseIterable, Sendable, Hashable {
    case gateway, viewer, success, sre, admin
}

/// A bearer token, without its secret.
public struct AccessToken: Equatable, Sendable {
    public var id: Int64
    /// Unique for ever, also once revoked.
    public var name: String
    public var role: Role
    /// The enforcement points that a holder of role `gateway` may speak for.
    public var gateways: GatewayNames
    /// The pools that the token is limited to; `nil`: all.
    public var pools: Set<PoolID>?
    public var tenants: Set<TenantID>?
    /// SHA-256 of the secret.
    public var secretDigest: [UInt8]
    public var created: Timestamp
    /// `nil`: it does not end.
    public var expires: Timestamp?
    public var revoked: Timestamp?
    /// When its use was last noted: to the hour.
    public var used: Timestamp?
    /// Of a share link: the name of the token whose holder made it. It ends with that one at the latest.
    public var maker: String?

    public init(
        id: Int64 = 0, name: String, role: Role, gateways: GatewayNames = [], pools: Set<PoolID>? = nil,
        tenants: Set<TenantID>? = nil, secretDigest: [UInt8], created: Timestamp = Timestamp(milliseconds: 0),
        expires: Timestamp? = nil, revoked: Timestamp? = nil, used: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.role = role
        self.gateways = gateways
        self.pools = pools
        self.tenants = tenants
        self.secretDigest = secretDigest
        self.created = created
        self.expires = expires
        self.revoked = revoked
        self.used = used
    }

    public func isValid(at now: Timestamp) -> Bool {
        revoked == nil && expires.map { now < $0 } ?? true
    }
}
