import HeadroomModel

/// A proposal's content besides the columns that are searched: a version, changes, movers, evidence, effects, override.
///
/// Version 1 was about one tenant: from, to, evidence, effects, override.
enum ProposalBody {
    private static let version: UInt8 = 2

    static func encode(_ proposal: Proposal) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        write(proposal.changes, to: &writer)
        writer.write(UInt32(proposal.movers))
        writer.write(proposal.evidence) { $0.write($1) }
        write(proposal.effects, to: &writer)
        writer.write(proposal.override) { writer, override in
            writer.write(override.id)
            writer.write(override.tier) { $0.write($1) }
            writer.write(override.weight) { $0.write($1) }
            writer.write(override.authorship.author)
            writer.write(override.authorship.reason)
            writer.write(override.authorship.at)
            writer.write(override.authorship.until)
        }
        return writer.bytes
    }

    /// The tenant and the pool of the override are the proposal's own.
    static func decode(_ bytes: [UInt8], into proposal: inout Proposal) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        switch try reader.read(UInt8.self) {
        case 1:
            let change = Proposal.Change(
                tenant: proposal.tenant, from: try reader.readRates(), to: try reader.readRates())
            if proposal.kind == .guardrail || proposal.kind == .recommendation {
                (proposal.changes, proposal.movers) = ([change], 1)
            }
        case version:
            proposal.changes = try changes(&reader)
            proposal.movers = Int(try reader.read(UInt32.self))
        default: throw .otherVersion
        }
        proposal.evidence = try reader.readArray { try $0.readString() }
        proposal.effects = try changes(&reader)
        let (tenant, pool) = (proposal.tenant, proposal.pool)
        proposal.override = try reader.readOptional { reader in
            Override(
                id: try reader.read(), tenant: tenant, pool: pool,
                tier: try reader.readOptional { try $0.readString() },
                weight: try reader.readOptional { try $0.readDouble() },
                authorship: Authorship(
                    author: try reader.readString(), reason: try reader.readString(), at: try reader.readTimestamp(),
                    until: try reader.readTimestamp()))
        }
    }

    private static func write(_ changes: [Proposal.Change], to writer: inout ByteWriter) {
        writer.write(changes) { writer, change in
            writer.write(change.tenant.text)
            writer.write(change.from)
            writer.write(change.to)
        }
    }

    private static func changes(_ reader: inout ByteReader) throws(ByteCodingError) -> [Proposal.Change] {
        try reader.readArray { reader in
            Proposal.Change(
                tenant: try reader.readIdentifier(), from: try reader.readRates(), to: try reader.readRates())
        }
    }
}
