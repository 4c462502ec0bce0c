/// One generation as a list of them shows it.
public struct GenerationSummary: Equatable, Sendable {
    /// Of how many tenants in a pool the number was set or explained anew.
    public struct Change: Equatable, Sendable {
        public var pool: PoolID
        public var tenants: Int

        public init(pool: PoolID, tenants: Int) {
            self.pool = pool
            self.tenants = tenants
        }
    }

    public var version: SnapshotVersion
    public var issuedAt: Timestamp
    /// Ascending by pool; empty where only budgets, states or parts of gateways changed.
    public var changes: [Change]

    public init(version: SnapshotVersion, issuedAt: Timestamp, changes: [Change] = []) {
        self.version = version
        self.issuedAt = issuedAt
        self.changes = changes
    }
}

/// What differs between two generations.
public struct GenerationDifference: Equatable, Sendable {
    public struct Pool: Equatable, Sendable {
        public var pool: PoolID
        /// `nil`: the pool is not in that generation. Without tenants.
        public var before: PoolAllocation?
        public var after: PoolAllocation?
        /// Whose terms or numbers differ, those whose assured rate moved most first.
        public var tenants: [Tenant]
    }

    public struct Tenant: Equatable, Sendable {
        public var tenant: TenantID
        /// `nil`: the tenant has no entry in that generation.
        public var before: TenantAllocation?
        public var after: TenantAllocation?

        /// The largest move over the resources, as a part of the pool's capacity.
        fileprivate func moved(of capacity: Rates) -> Double {
            capacity.resources.members.reduce(0) { most, resource in
                let move = (after?.assured[resource] ?? 0) - (before?.assured[resource] ?? 0)
                return max(most, abs(move) / max(1, capacity[resource] ?? 0))
            }
        }
    }

    /// Ascending; pools in which nothing differs are left out.
    public private(set) var pools: [Pool] = []

    public init(from before: Snapshot, to after: Snapshot) {
        let old = Dictionary(uniqueKeysWithValues: before.pools.map { ($0.pool, $0) })
        let new = Dictionary(uniqueKeysWithValues: after.pools.map { ($0.pool, $0) })
        for pool in Set(old.keys).union(new.keys).sorted() {
            let difference = Self.difference(pool, old[pool], new[pool])
            let isSame =
                difference.tenants.isEmpty && difference.before.map(Terms.init) == difference.after.map(Terms.init)
            if !isSame { pools.append(difference) }
        }
    }

    private static func difference(_ pool: PoolID, _ before: PoolAllocation?, _ after: PoolAllocation?) -> Pool {
        let old = Dictionary(uniqueKeysWithValues: (before?.tenants ?? []).map { ($0.tenant, $0) })
        let new = Dictionary(uniqueKeysWithValues: (after?.tenants ?? []).map { ($0.tenant, $0) })
        let capacity = after?.capacity ?? before?.capacity ?? .none
        let tenants = Set(old.keys).union(new.keys)
            .filter { old[$0].map(TenantTerms.init) != new[$0].map(TenantTerms.init) }
            .map { Tenant(tenant: $0, before: old[$0], after: new[$0]) }
            .map { (moved: $0.moved(of: capacity), tenant: $0) }
            .sorted { ($1.moved, $0.tenant.tenant) < ($0.moved, $1.tenant.tenant) }
        var (before, after) = (before, after)
        before?.tenants = []
        after?.tenants = []
        return Pool(pool: pool, before: before, after: after, tenants: tenants.map(\.tenant))
    }

    /// What a reader of a difference looks at; service clocks and levels ride along in every generation.
    private struct Terms: Equatable {
        var state: PoolState
        var mode: PoolMode
        var rates: [Rates]

        init(_ pool: PoolAllocation) {
            state = pool.state
            mode = pool.mode
            rates = [pool.nominal, pool.capacity, pool.budget, pool.fallback, pool.unlisted]
        }
    }

    private struct TenantTerms: Equatable {
        var tier: String
        var weight: Double
        var rates: [Rates]

        init(_ tenant: TenantAllocation) {
            tier = tenant.tier
            weight = tenant.weight
            rates = [tenant.assured, tenant.ceiling]
        }
    }
}
