import HeadroomModel

/// The query of `GET /v1/allocations` (WireFormat §2). Unknown names are ignored, as in all calls of gateways.
struct AllocationQuery {
    /// `nil`: a reader, who sees the whole and holds no lease.
    var visitor: GatewayRegister.Visitor?
    var view: SnapshotView
    var since: SnapshotVersion?
    var waitSeconds: Double

    static let maxWaitSeconds = 60.0

    init(_ target: RequestTarget, _ grant: AccessGrant) throws(HTTPError) {
        let gateway: GatewayID? = try Self.identifier("gateway", try target.value("gateway"))
        let member = try Self.member(gateway, try target.value("member"))
        let applied = try Self.version("applied", try target.value("applied"))
        // A word by the same rule as names.
        let boot: GatewayID? = try Self.identifier("boot", try target.value("boot"))
        let succeeds: GatewayID? = try Self.identifier("succeeds", try target.value("succeeds"))
        visitor = member.map {
            GatewayRegister.Visitor(
                key: $0, applied: applied, boot: boot?.text, succeeds: succeeds?.text,
                owner: grant.isOpen ? nil : grant.name)
        }
        since = try Self.version("since", try target.value("since"))
        waitSeconds = try Self.seconds(try target.value("wait"))
        var pools: Set<PoolID> = []
        for text in target.values("pool") {
            if let pool: PoolID = try Self.identifier("pool", text) { pools.insert(pool) }
        }
        let wanted = pools.isEmpty ? grant.scope.pools : grant.scope.pools?.intersection(pools) ?? pools
        view = SnapshotView(part: gateway.map { .of($0) } ?? .whole, pools: wanted, tenants: grant.scope.tenants)
        if let gateway {
            guard grant.maySpeak(for: gateway) else { throw Self.mayNotSpeak(grant, gateway) }
        } else if grant.role == .gateway {
            throw HTTPError(
                .forbidden, "the token \"\(grant.name)\" has the role gateway: add gateway=NAME with one of its names")
        } else if applied != nil {
            throw HTTPError(.badRequest, "applied is for gateways: add gateway=NAME, or leave it out to only read")
        }
    }

    private static func mayNotSpeak(_ grant: AccessGrant, _ gateway: GatewayID) -> HTTPError {
        guard let names = grant.gateways, grant.role == .gateway else {
            return HTTPError(
                .forbidden,
                "the token \"\(grant.name)\" has the role \(grant.role.rawValue); only one of role gateway may poll as "
                    + "\(gateway). Leave gateway out to only read")
        }
        let list = names.texts.joined(separator: ", ")
        return HTTPError(.forbidden, "the token \"\(grant.name)\" speaks for \(list), not for \(gateway)")
    }

    private static func identifier<Kind>(_ name: String, _ text: String?) throws(HTTPError) -> Identifier<Kind>? {
        guard let text else { return nil }
        guard let identifier = Identifier<Kind>(text) else {
            throw HTTPError(.badRequest, "\(name)=\(text) is no name; one is \(Identifier<Kind>.rule)")
        }
        return identifier
    }

    private static func member(_ gateway: GatewayID?, _ text: String?) throws(HTTPError) -> GatewayRegister.Key? {
        guard let gateway else {
            if text != nil {
                throw HTTPError(.badRequest, "member tells processes of one gateway apart: add gateway=NAME")
            }
            return nil
        }
        // A member is named by the same rule as its gateway.
        let member: GatewayID? = try identifier("member", text)
        return GatewayRegister.Key(gateway: gateway, member: member?.text)
    }

    private static func version(_ name: String, _ text: String?) throws(HTTPError) -> SnapshotVersion? {
        guard let text else { return nil }
        guard let version = SnapshotVersion(text) else {
            throw HTTPError(
                .badRequest, "\(name)=\(text) is no version; one is EPOCH.GENERATION, for example 1793000000.1842")
        }
        return version
    }

    private static func seconds(_ text: String?) throws(HTTPError) -> Double {
        guard let text else { return 0 }
        // Digits and a point: Double alone reads hexadecimal and "nan" as well.
        let isDecimal = text.utf8.allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".")
        }
        guard isDecimal, let seconds = Double(text), (0...maxWaitSeconds).contains(seconds) else {
            throw HTTPError(.badRequest, "wait=\(text) is no wait; one is 0 to \(Int(maxWaitSeconds)) seconds")
        }
        return seconds
    }
}
