import HeadroomModel

/// The common numbers of two publications, and the lower of both.
extension Publication {
    mutating func number(_ version: SnapshotVersion) {
        whole.version = version
        for index in parts.indices { parts[index].snapshot.version = version }
    }

    /// True when no gateway would enforce anything else: level, capacity and service clocks ride along.
    func enforcesSame(as other: Publication) -> Bool {
        parts.map(\.gateway) == other.parts.map(\.gateway) && whole.enforcesSame(as: other.whole)
            && zip(parts, other.parts).allSatisfy { $0.snapshot.enforcesSame(as: $1.snapshot) }
    }
}

extension Snapshot {
    fileprivate func enforcesSame(as other: Snapshot) -> Bool {
        leaseSeconds == other.leaseSeconds && policy == other.policy && pools.count == other.pools.count
            && zip(pools, other.pools).allSatisfy { $0.enforcesSame(as: $1) }
    }

    /// No budget and no rate above `other`'s; a pool or tenant that is not in it is left out.
    func lowered(to other: Snapshot) -> Snapshot {
        var lowered = self
        let known = Dictionary(uniqueKeysWithValues: other.pools.map { ($0.pool, $0) })
        lowered.pools = pools.compactMap { pool in known[pool.pool].map { pool.lowered(to: $0) } }
        return lowered
    }
}

extension PoolAllocation {
    fileprivate func enforcesSame(as other: PoolAllocation) -> Bool {
        // The cheap and likely differences first.
        guard budget == other.budget, tenants.count == other.tenants.count else { return false }
        let (rows, others) = (tenants.span, other.tenants.span)
        for row in rows.indices where rows[row].assured != others[row].assured { return false }
        var mine = self
        var theirs = other
        mine.tenants = []
        theirs.tenants = []
        mine.level = theirs.level
        mine.capacity = theirs.capacity
        mine.meanOutputTokens = theirs.meanOutputTokens
        guard mine == theirs else { return false }
        for row in rows.indices {
            var mine = rows[row]
            mine.serviceClock = others[row].serviceClock
            mine.leastShare = others[row].leastShare
            // No reason for a generation: the rates of a tenant that becomes quiet or loud change, too.
            mine.isQuiet = others[row].isQuiet
            guard mine == others[row] else { return false }
        }
        return true
    }

    fileprivate func lowered(to other: PoolAllocation) -> PoolAllocation {
        var lowered = self
        lowered.budget = Rates.least(budget, other.budget)
        lowered.fallback = Rates.least(fallback, other.fallback)
        lowered.unlisted = Rates.least(unlisted, other.unlisted)
        let known = Dictionary(uniqueKeysWithValues: other.tenants.map { ($0.tenant, $0) })
        lowered.tenants = tenants.compactMap { tenant in known[tenant.tenant].map { tenant.lowered(to: $0) } }
        return lowered
    }
}

extension TenantAllocation {
    fileprivate func lowered(to other: TenantAllocation) -> TenantAllocation {
        var lowered = self
        lowered.assured = Rates.least(assured, other.assured)
        lowered.plain = Rates.least(plain, other.plain)
        lowered.safe = Rates.least(safe, other.safe)
        lowered.ceiling = Rates.least(ceiling, other.ceiling)
        lowered.criticality = lowered.assured == assured ? criticality : other.criticality
        if lowered.assured != assured, lowered.assured != other.assured {
            // Between the two: an order of service that sums to the rate, all of it first.
            lowered.criticality = PerCriticality(repeating: assured.map { _, _ in 0 })
            lowered.criticality.interactive = lowered.assured
        }
        return lowered
    }
}
