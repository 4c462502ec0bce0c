import HeadroomJSON
import HeadroomModel

/// The body of `POST /v1/overrides`: another tier or weight, for a while.
package struct OverrideRequest: Equatable, Sendable {
    package var tenant: TenantID
    /// `nil`: in all pools.
    package var pool: PoolID?
    package var tier: String?
    package var weight: Double?
    package var reason: String
    package var expiresInSeconds: Double

    package init(
        tenant: TenantID, pool: PoolID? = nil, tier: String? = nil, weight: Double? = nil, reason: String,
        expiresInSeconds: Double
    ) {
        self.tenant = tenant
        self.pool = pool
        self.tier = tier
        self.weight = weight
        self.reason = reason
        self.expiresInSeconds = expiresInSeconds
    }

    /// - Parameter policy: knows the tiers and pools that there are.
    package static func decode(_ bytes: [UInt8], policy: Policy) throws(BodyError) -> OverrideRequest {
        var body = try StrictObject(document: bytes)
        let tenant: TenantID? = body.identifier("tenant", isRequired: true)
        let pool = body.pool(of: policy)
        let tier = body.text("tier", most: 128)
        let weight = body.number("weight", in: SteeringLimits.weights, "in place of the tier's weight")
        let (reason, seconds) = body.reasonAndEnd()
        if let tier, policy.tier(named: tier) == nil {
            body.report("tier", "must be one of \(policy.tiers.map(\.name).joined(separator: ", ")), found \"\(tier)\"")
        }
        if !body.has("tier"), !body.has("weight") { body.report("tier", "say another tier, another weight, or both") }
        body.end()
        try body.check()
        guard let tenant, let reason, let seconds else { throw BodyError.unreadable }
        return OverrideRequest(
            tenant: tenant, pool: pool, tier: tier, weight: weight, reason: reason, expiresInSeconds: seconds)
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.field("tenant", tenant.text)
        writer.field("pool", pool?.text)
        writer.field("tier", tier)
        writer.field("weight", finite: weight)
        writer.reasonAndEnd(reason, expiresInSeconds)
        writer.endObject()
        return writer.bytes
    }
}

/// The body of an approval, a denial, and of what a recommendation calls apply and dismiss.
package struct DecisionRequest: Equatable, Sendable {
    package var reason: String
    /// The revision of the question that the person has read. A decision without one is refused, with the one that it is at.
    package var revision: Int64?
    /// `nil`: as long as the policy says.
    package var expiresInSeconds: Double?
    /// The tenants that it is about; `nil`: all of the question.
    package var tenants: [TenantID]?

    /// More are decided on with the whole question.
    static let maxTenants = 500

    package init(
        reason: String, revision: Int64? = nil, expiresInSeconds: Double? = nil, tenants: [TenantID]? = nil
    ) {
        self.reason = reason
        self.revision = revision
        self.expiresInSeconds = expiresInSeconds
        self.tenants = tenants
    }

    package static func decode(_ bytes: [UInt8]) throws(BodyError) -> DecisionRequest {
        var body = try StrictObject(document: bytes)
        let (reason, seconds) = body.reasonAndEnd(isEndRequired: false)
        let tenants: [TenantID]? = body.identifiers("tenants", most: maxTenants)
        let revision = body.number("revision", in: 1...1e15, "as the question has it", isWhole: true)
        body.end()
        try body.check()
        guard let reason else { throw BodyError.unreadable }
        return DecisionRequest(
            reason: reason, revision: revision.map { Int64($0) }, expiresInSeconds: seconds, tenants: tenants)
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.reasonAndEnd(reason, expiresInSeconds)
        if let revision { writer.field("revision", revision) }
        if let tenants { writer.field("tenants", tenants.map(\.text)) }
        writer.endObject()
        return writer.bytes
    }
}
