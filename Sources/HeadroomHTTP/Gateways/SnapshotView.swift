import HeadroomModel

/// Which part of a generation a reader gets to see.
struct SnapshotView: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        /// Not divided.
        case whole
        /// The whole, to look at and not to enforce: for a gateway that takes no part in the division yet.
        case unenforced
        case of(GatewayID)
    }

    var part: Part
    /// `nil`: all pools.
    let pools: Set<PoolID>?
    /// `nil`: all tenants.
    let tenants: Set<TenantID>?

    /// A short hash that tells this view's bodies from other views' of the same generation.
    var variant: String {
        // The sets are sorted, or the hash would differ from run to run.
        var text =
            switch part {
            case .whole: "*"
            case .unenforced: "?"
            case .of(let gateway): gateway.text
            }
        for pool in pools?.sorted() ?? [] { text += "\npool " + pool.text }
        for tenant in tenants?.sorted() ?? [] { text += "\ntenant " + tenant.text }
        // FNV-1a with its published constants, folded to 32 bits; a collision would only confuse two views of a reader
        // that asks for one with the other's tag.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        let folded = String(UInt32(truncatingIfNeeded: hash ^ (hash >> 32)), radix: 16)
        return String(repeating: "0", count: 8 - folded.count) + folded
    }

    func filter(_ snapshot: Snapshot) -> Snapshot {
        if pools == nil, tenants == nil, part != .unenforced { return snapshot }
        var filtered = snapshot
        if part == .unenforced {
            for index in filtered.pools.indices { filtered.pools[index].enforce = false }
        }
        if let pools { filtered.pools.removeAll { !pools.contains($0.pool) } }
        if let tenants {
            for index in filtered.pools.indices {
                filtered.pools[index].tenants.removeAll { !tenants.contains($0.tenant) }
                filtered.pools[index].tasks = filtered.pools[index].tasks.limited(to: tenants)
            }
        }
        return filtered
    }
}
