import HeadroomModel

/// A proposal's content besides the columns that are searched: a version, from, to, evidence, effects, override.
enum ProposalBody {
    private static let version: UInt8 = 1

    static func encode(_ proposal: Proposal) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(version)
        writer.write(proposal.from)
        writer.write(proposal.to)
        writer.write(proposal.evidence) { $0.write($1) }
        writer.write(proposal.effects) { writer, effect in
            writer.write(effect.tenant.text)
            writer.write(effect.from)
            writer.write(effect.to)
        }
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
        guard try reader.read(UInt8.self) == version else { throw .otherVersion }
        proposal.from = try reader.readRates()
        proposal.to = try reader.readRates()
        proposal.evidence = try reader.readArray { try $0.readString() }
        proposal.effects = try reader.readArray { reader in
            Proposal.Effect(
                tenant: try reader.readIdentifier(), from: try reader.readRates(), to: try reader.readRates())
        }
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
}
