/// One tenant's use of one pool in one minute, hour or day, and how it fared. Two of the same minute add up.
@dynamicMemberLookup
public struct Rollup: Equatable, Sendable {
    /// The start of the minute, the hour or the day.
    public var start: Timestamp
    public var tenant: TenantID
    public var pool: PoolID
    public var criticality: Criticality
    public var sums: RollupSums

    public init(
        start: Timestamp, tenant: TenantID, pool: PoolID, criticality: Criticality, sums: RollupSums = RollupSums()
    ) {
        self.start = start
        self.tenant = tenant
        self.pool = pool
        self.criticality = criticality
        self.sums = sums
    }

    public subscript<Value>(dynamicMember member: WritableKeyPath<RollupSums, Value>) -> Value {
        get { sums[keyPath: member] }
        set { sums[keyPath: member] = newValue }
    }
}

/// The sums of all tenants of a pool in one minute or longer, and the capacity there was. Two of the same minute add up.
public struct PoolRollup: Equatable, Sendable {
    /// The start of the minute, the hour or the day.
    public var start: Timestamp
    public var pool: PoolID
    public var sums: RollupSums
    public var capacity: CapacitySums

    public init(
        start: Timestamp, pool: PoolID, sums: RollupSums = RollupSums(), capacity: CapacitySums = CapacitySums()
    ) {
        self.start = start
        self.pool = pool
        self.sums = sums
        self.capacity = capacity
    }
}

/// A pool's capacity over some time, as sums.
public struct CapacitySums: Equatable, Sendable {
    /// Seconds for which it was looked at; of the rest, as while the service was down, nothing is known.
    public var observedSeconds = 0.0
    /// Rate × minutes of ``observedSeconds``: by contract, as estimated, and given out. Absent where the pool
    /// does not limit the resource.
    public var nominal = Rates.none
    public var estimated = Rates.none
    public var budget = Rates.none
    /// The most calls that waited at gateways at one moment.
    public var queueDepth: Int64 = 0

    public init() {}

    public mutating func add(_ other: CapacitySums) {
        observedSeconds += other.observedSeconds
        nominal = Self.sum(nominal, other.nominal)
        estimated = Self.sum(estimated, other.estimated)
        budget = Self.sum(budget, other.budget)
        queueDepth = max(queueDepth, other.queueDepth)
    }

    /// A sum as a mean rate; absent where nothing was looked at.
    public func mean(_ sum: KeyPath<CapacitySums, Rates>) -> Rates {
        observedSeconds > 0 ? self[keyPath: sum] * (60 / observedSeconds) : .none
    }

    private static func sum(_ left: Rates, _ right: Rates) -> Rates {
        Rates(perMinute: left.perMinute + right.perMinute, resources: left.resources.union(right.resources))
    }
}
