import HeadroomModel

/// A proposal's content besides the columns that are searched: a version, changes, movers, evidence, effects, override,
/// revision, revisions.
///
/// Version 1 was about one tenant: from, to, evidence, effects, override. Version 2 knew no revisions.
enum ProposalBody {
    private static let version: UInt8 = 3

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
        writer.write(proposal.revision)
        writer.write(proposal.revisions) { writer, revision in
            writer.write(revision.number)
            writer.write(revision.at)
            writer.write(revision.notes) { writer, note in
                writer.write(note.tenant.text)
                writer.write(note.sentence)
            }
            writer.write(UInt32(clamping: revision.unnamedCount))
        }
        return writer.bytes
    }

    /// The tenant and the pool of the override are the proposal's own.
    static func decode(_ bytes: [UInt8], into proposal: inout Proposal) throws(ByteCodingError) {
        var reader = ByteReader(bytes)
        let written = try reader.read(UInt8.self)
        switch written {
        case 1:
            let change = Proposal.Change(
                tenant: proposal.tenant, from: try reader.readRates(), to: try reader.readRates())
            if proposal.kind == .guardrail || proposal.kind == .recommendation {
                (proposal.changes, proposal.movers) = ([change], 1)
            }
        case 2...version:
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
        guard written > 2 else { return }
        proposal.revision = try reader.read()
        proposal.revisions = try reader.readArray { reader in
            Proposal.Revision(
                number: try reader.read(), at: try reader.readTimestamp(),
                notes: try reader.readArray { reader in
                    // In place of a tenant a note may have a star.
                    Proposal.Note(TenantID(unchecked: try reader.readString()), try reader.readString())
                }, unnamedCount: Int(try reader.read(UInt32.self)))
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
