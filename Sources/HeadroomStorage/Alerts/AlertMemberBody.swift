import HeadroomModel

/// The columns of a row of `alert_member` besides its name: a version, since, severity, sentence, recommendation.
enum AlertMemberBody {
    private static let version: UInt8 = 3

    /// Of a recommendation's action.
    private enum Action: UInt8 {
        case none, override, approve, releaseGateway
    }

    static func encode(_ member: Alert.Member) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        writer.write(member.since)
        writer.write(UInt8(member.severity.rawValue))
        writer.write(member.sentence)
        writer.write(member.recommendation) { writer, recommendation in
            writer.write(recommendation.sentence)
            switch recommendation.action {
            case nil: writer.write(Action.none.rawValue)
            case .override(let tenant, let pool, let tier, let weight, let seconds):
                writer.write(Action.override.rawValue)
                writer.write(tenant.text)
                writer.write(pool.text)
                writer.write(tier) { $0.write($1) }
                writer.write(weight) { $0.write($1) }
                writer.write(seconds)
            case .approve(let id, let tenant, let revision, let isRecommendation):
                writer.write(Action.approve.rawValue)
                writer.write(id)
                writer.write(tenant.text)
                writer.write(revision)
                writer.write(isRecommendation)
            case .releaseGateway(let gateway):
                writer.write(Action.releaseGateway.rawValue)
                writer.write(gateway.text)
            }
        }
        return writer.bytes
    }

    static func decode(_ bytes: [UInt8], name: String, tenant: TenantID?) throws(ByteCodingError) -> Alert.Member {
        var reader = ByteReader(bytes)
        let written = try reader.read(UInt8.self)
        guard (1...version).contains(written) else { throw .otherVersion }
        return Alert.Member(
            name: name, tenant: tenant, since: try reader.readTimestamp(),
            severity: AlertSeverity(rawValue: Int(try reader.read(UInt8.self))) ?? .warning,
            sentence: try reader.readString(),
            recommendation: try reader.readOptional { (reader) throws(ByteCodingError) in
                AlertRecommendation(try reader.readString(), try action(&reader, of: written))
            })
    }

    /// - Parameter written: the version. Before the third an approval did not say what of its question was meant, and is none.
    private static func action(_ reader: inout ByteReader, of written: UInt8) throws(ByteCodingError)
        -> AlertRecommendation.Action?
    {
        switch Action(rawValue: try reader.read(UInt8.self)) {
        case nil, .some(.none): return nil
        case .override:
            return .override(
                try reader.readIdentifier(), pool: try reader.readIdentifier(),
                tier: try reader.readOptional { (reader) throws(ByteCodingError) in try reader.readString() },
                weight: try reader.readOptional { (reader) throws(ByteCodingError) in try reader.readDouble() },
                seconds: try reader.readDouble())
        case .approve:
            guard written > 2 else { return nil }
            return .approve(
                try reader.read(), tenant: try reader.readIdentifier(), revision: try reader.read(),
                isRecommendation: try reader.readBool())
        case .releaseGateway: return .releaseGateway(try reader.readIdentifier())
        }
    }
}
