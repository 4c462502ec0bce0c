import HeadroomModel

/// The changes between two snapshots: the newer one's head, its changed pools with their changed tenants, and what is
/// gone.
package struct SnapshotDelta: Equatable, Sendable {
    package struct Removal: Equatable, Sendable {
        package var pool: PoolID
        /// Ascending.
        package var tenants: [TenantID]

        package init(pool: PoolID, tenants: [TenantID]) {
            self.pool = pool
            self.tenants = tenants
        }
    }

    /// Service clocks that have moved, of tenants that are otherwise as they were: most clocks move with every tick, and a
    /// tenant's entry is twenty times as long.
    package struct Clocks: Equatable, Sendable {
        package var pool: PoolID
        /// Ascending by tenant.
        package var clocks: [Clock]

        package init(pool: PoolID, clocks: [Clock]) {
            self.pool = pool
            self.clocks = clocks
        }
    }

    package struct Clock: Equatable, Sendable {
        package var tenant: TenantID
        package var serviceClock: Double

        package init(tenant: TenantID, serviceClock: Double) {
            self.tenant = tenant
            self.serviceClock = serviceClock
        }
    }

    /// The version that the delta is applied to.
    package var since: SnapshotVersion
    /// The newer snapshot, without what is as it was. A pool is whole but for its unchanged tenants.
    package var changed: Snapshot
    /// Ascending by pool; pools that are still there.
    package var removed: [Removal]
    /// Ascending.
    package var removedPools: [PoolID]
    /// Ascending by pool.
    package var serviceClocks: [Clocks]

    package init(
        since: SnapshotVersion, changed: Snapshot, removed: [Removal] = [], removedPools: [PoolID] = [],
        serviceClocks: [Clocks] = []
    ) {
        self.since = since
        self.changed = changed
        self.removed = removed
        self.removedPools = removedPools
        self.serviceClocks = serviceClocks
    }

    /// Linear in the sizes: both are in ascending order.
    package init(from old: Snapshot, to new: Snapshot) {
        self.init(since: old.version, changed: new)
        changed.pools = []
        pairInOrder(old.pools, new.pools, by: \.pool) { before, after in
            guard let after else {
                if let before { removedPools.append(before.pool) }
                return
            }
            guard let before else { return changed.pools.append(after) }
            var pool = after
            pool.tenants = []
            var gone: [TenantID] = []
            var moved: [Clock] = []
            pairInOrder(before.tenants, after.tenants, by: \.tenant) { was, now in
                if let now {
                    if was == now { return }
                    if was?.with(clock: now.serviceClock) == now {
                        moved.append(Clock(tenant: now.tenant, serviceClock: now.serviceClock))
                    } else {
                        pool.tenants.append(now)
                    }
                } else if let was {
                    gone.append(was.tenant)
                }
            }
            if !moved.isEmpty { serviceClocks.append(Clocks(pool: pool.pool, clocks: moved)) }
            if !gone.isEmpty { removed.append(Removal(pool: pool.pool, tenants: gone)) }
            if !pool.tenants.isEmpty || !pool.hasSameHead(as: before) { changed.pools.append(pool) }
        }
    }
}

extension Snapshot {
    /// The snapshot that `delta` leads to; `nil` when it starts from another one than this.
    package func applying(_ delta: SnapshotDelta) -> Snapshot? {
        guard delta.since == version else { return nil }
        var result = delta.changed
        result.pools = []
        var removals = delta.removed[...]
        var removedPools = delta.removedPools[...]
        var moved = delta.serviceClocks[...]
        pairInOrder(pools, delta.changed.pools, by: \.pool) { mine, changed in
            guard let mine else {
                if let changed { result.pools.append(changed) }
                return
            }
            while let gone = removedPools.first, gone < mine.pool { removedPools.removeFirst() }
            if removedPools.first == mine.pool { return }
            while let gone = removals.first, gone.pool < mine.pool { removals.removeFirst() }
            let gone = removals.first?.pool == mine.pool ? removals.removeFirst().tenants : []
            while let next = moved.first, next.pool < mine.pool { moved.removeFirst() }
            let clocks = moved.first?.pool == mine.pool ? moved.removeFirst().clocks : []
            result.pools.append(mine.replacing(with: changed, without: gone, clocks: clocks))
        }
        return result
    }
}

extension PoolAllocation {
    fileprivate func hasSameHead(as other: PoolAllocation) -> Bool {
        var head = self
        var otherHead = other
        head.tenants = []
        otherHead.tenants = []
        return head == otherHead
    }

    fileprivate func replacing(
        with changed: PoolAllocation?, without gone: [TenantID], clocks: [SnapshotDelta.Clock]
    ) -> PoolAllocation {
        var result = changed ?? self
        result.tenants = []
        result.tenants.reserveCapacity(tenants.count)
        var gone = gone[...]
        var clocks = clocks[...]
        pairInOrder(tenants, changed?.tenants ?? [], by: \.tenant) { mine, changed in
            if let changed { return result.tenants.append(changed) }
            guard let mine else { return }
            while let first = gone.first, first < mine.tenant { gone.removeFirst() }
            if gone.first == mine.tenant { return }
            while let first = clocks.first, first.tenant < mine.tenant { clocks.removeFirst() }
            let clock = clocks.first?.tenant == mine.tenant ? clocks.removeFirst().serviceClock : nil
            result.tenants.append(clock.map(mine.with) ?? mine)
        }
        return result
    }
}

extension TenantAllocation {
    fileprivate func with(clock: Double) -> TenantAllocation {
        var moved = self
        moved.serviceClock = clock
        return moved
    }
}

/// Walks over two lists in ascending order of `key` and gives each key's elements, from either list or both.
private func pairInOrder<Element, Key: Comparable>(
    _ left: [Element], _ right: [Element], by key: (Element) -> Key, _ body: (Element?, Element?) -> Void
) {
    var i = 0
    var j = 0
    while i < left.count || j < right.count {
        if j == right.count {
            body(left[i], nil)
            i += 1
        } else if i == left.count {
            body(nil, right[j])
            j += 1
        } else if key(left[i]) == key(right[j]) {
            body(left[i], right[j])
            i += 1
            j += 1
        } else if key(left[i]) < key(right[j]) {
            body(left[i], nil)
            i += 1
        } else {
            body(nil, right[j])
            j += 1
        }
    }
}
