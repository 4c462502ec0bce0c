import HeadroomModel

/// What is kept of generations that were replaced, so that a poll can be answered with what changed since.
///
/// A gateway's part is kept of those generations only in which the gateway polled, since it was sent no other, and from the
/// one on that all its members have in force: of a gateway that polls and acknowledges, one or two. The whole, which
/// readers see, is kept of each, within an eighth of the bytes. Bounded in generations and in bytes; what is gone is
/// answered in full.
struct PastGenerations {
    /// Generations that `since` may name.
    static let most = 32

    private let maxBytes: Int
    /// Oldest first, the last ``most``.
    private var versions: [SnapshotVersion] = []
    /// Oldest first, of the newest of them.
    private var wholes: [Snapshot] = []
    /// Oldest first each.
    private var parts: [GatewayID: [Snapshot]] = [:]
    private(set) var byteCount = 0

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// What is kept of the version for the view, before its pools and tenants are chosen; `nil` when nothing is.
    func snapshot(_ version: SnapshotVersion, for view: SnapshotView) -> Snapshot? {
        if case .of(let gateway) = view.part, let part = parts[gateway]?.last(where: { $0.version == version }) {
            return part
        }
        let whole = wholes.last { $0.version == version }
        guard case .of = view.part else { return whole }
        // Without pools there is nothing to divide.
        return whole?.pools.isEmpty == true ? whole : nil
    }

    /// - Parameter uses: of all gateways that take part.
    mutating func add(_ replaced: PublishedGeneration, _ uses: [GatewayID: GatewayRegister.Use]) {
        let version = replaced.version
        versions.append(version)
        if versions.count > Self.most { versions.removeFirst(versions.count - Self.most) }
        wholes.append(replaced.whole)
        var kept: [GatewayID: [Snapshot]] = [:]
        for (gateway, use) in uses {
            let oldest = max(versions[0], use.oldest ?? versions[0])
            var own = parts[gateway]?.filter { $0.version >= oldest } ?? []
            if use.newest == version, version >= oldest, let part = replaced.part(of: gateway) { own.append(part) }
            if !own.isEmpty { kept[gateway] = own }
        }
        parts = kept
        wholes.removeAll { $0.version < versions[0] }
        // A reader seldom reads more than the newest few, and can do without a difference.
        var wholeBytes = wholes.reduce(0) { $0 + $1.memoryBytes }
        while wholeBytes > maxBytes / 8, !wholes.isEmpty { wholeBytes -= wholes.removeFirst().memoryBytes }
        count()
        while byteCount > maxBytes, !versions.isEmpty {
            versions.removeFirst()
            let oldest = versions.first
            wholes.removeAll { whole in oldest.map { whole.version < $0 } ?? true }
            parts = parts.compactMapValues { own in
                let left = oldest.map { oldest in own.filter { $0.version >= oldest } } ?? []
                return left.isEmpty ? nil : left
            }
            count()
        }
    }

    private mutating func count() {
        byteCount = wholes.reduce(0) { $0 + $1.memoryBytes }
        for own in parts.values { byteCount += own.reduce(0) { $0 + $1.memoryBytes } }
    }
}

extension Snapshot {
    /// About what its own copy of each pool and tenant takes; names and flags are shared.
    var memoryBytes: Int {
        pools.reduce(0) {
            $0 + MemoryLayout<PoolAllocation>.stride + $1.tenants.count * MemoryLayout<TenantAllocation>.stride
        }
    }
}
