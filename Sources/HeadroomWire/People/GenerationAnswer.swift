import HeadroomJSON
import HeadroomModel

/// Answers about generations: a list of them, and what differs between two.
package enum GenerationAnswer {
    /// - Parameters:
    ///   - next: `to` of the rest, which is older; `nil` on the last page.
    ///   - scope: the pools that the reader may see.
    package static func list(
        _ generations: [GenerationSummary], next: Timestamp?, showing scope: (PoolID) -> Bool
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 256 + generations.count * 160)
        writer.beginObject()
        writer.field("generations", each: generations) { writer, generation in
            writer.beginObject()
            writer.version(generation.version, generation.issuedAt)
            writer.field("pools", each: generation.changes.filter { scope($0.pool) }) { writer, change in
                writer.beginObject()
                writer.field("pool", change.pool.text)
                writer.field("tenants", change.tenants)
                writer.endObject()
            }
            writer.endObject()
        }
        writer.field("next", next)
        writer.endObject()
        return writer.bytes
    }

    /// - Parameters:
    ///   - pools: those of the difference that the reader may see, with the tenants that the reader may see.
    ///   - limit: the tenants that are shown of each pool.
    package static func difference(
        from before: Snapshot, to after: Snapshot, _ pools: [GenerationDifference.Pool], limit: Int
    ) -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        for (name, snapshot) in [("from", before), ("to", after)] {
            writer.key(name)
            writer.beginObject()
            writer.version(snapshot.version, snapshot.issuedAt)
            writer.field("policy", snapshot.policy)
            writer.endObject()
        }
        writer.field("pools", each: pools) { writer, pool in
            writer.beginObject()
            writer.field("pool", pool.pool.text)
            writer.key("before")
            writer.terms(pool.before)
            writer.key("after")
            writer.terms(pool.after)
            writer.field("tenants_changed", pool.tenants.count)
            writer.field("tenants", each: pool.tenants.prefix(limit)) { writer, tenant in
                writer.beginObject()
                writer.field("tenant", tenant.tenant.text)
                writer.key("before")
                writer.terms(tenant.before)
                writer.key("after")
                writer.terms(tenant.after)
                writer.endObject()
            }
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func version(_ version: SnapshotVersion, _ issuedAt: Timestamp) {
        field("epoch", version.epoch)
        field("generation", version.generation)
        field("issued_at", issuedAt)
    }

    fileprivate mutating func terms(_ pool: PoolAllocation?) {
        guard let pool else { return null() }
        beginObject()
        field("state", pool.state.name)
        field("mode", pool.mode.name)
        field("nominal", pool.nominal)
        field("capacity", pool.capacity)
        field("capacity_reason", pool.capacityReason.name)
        field("budget", pool.budget)
        endObject()
    }

    fileprivate mutating func terms(_ tenant: TenantAllocation?) {
        guard let tenant else { return null() }
        beginObject()
        field("tier", tenant.tier)
        field("weight", finite: tenant.weight)
        field("assured", tenant.assured)
        field("ceiling", tenant.ceiling)
        field("constraint", tenant.constraint.name)
        endObject()
    }
}
