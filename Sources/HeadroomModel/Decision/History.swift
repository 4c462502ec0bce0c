/// The part of the past that a plot shows.
public struct HistoryQuery: Equatable, Sendable {
    public var pool: PoolID
    /// `nil`: the pool as a whole.
    public var tenant: TenantID?
    /// Multiples of the step.
    public var from: Timestamp
    public var to: Timestamp
    public var stepSeconds: Int64
    /// The number of tenants, of those that were served most, that have series of their own.
    public var leaders: Int

    public init(
        pool: PoolID, tenant: TenantID? = nil, from: Timestamp, to: Timestamp, stepSeconds: Int64, leaders: Int = 0
    ) {
        self.pool = pool
        self.tenant = tenant
        self.from = from
        self.to = to
        self.stepSeconds = stepSeconds
        self.leaders = leaders
    }

    /// The lengths of a step, in seconds: minutes add up to each, and from an hour on hours do.
    private static let steps: [Int64] = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400]

    /// The least step that is not below `seconds`; beyond a day, whole days.
    public static func step(atLeast seconds: Int64) -> Int64 {
        steps.first { $0 >= seconds } ?? (seconds + 86_399) / 86_400 * 86_400
    }
}

/// The records that a plot of a pool or of a tenant is made of.
public struct HistoryRecords: Equatable, Sendable {
    /// One of the tenants that were served most.
    public struct Leader: Equatable, Sendable {
        public var tenant: TenantID
        /// Ascending by start; several of one start where it worked in several criticalities.
        public var rollups: [Rollup]

        public init(tenant: TenantID, rollups: [Rollup]) {
            self.tenant = tenant
            self.rollups = rollups
        }
    }

    /// Of the pool; ascending by start. Empty when a tenant was asked for.
    public var pools: [PoolRollup]
    /// Of the tenant that was asked for; ascending by start.
    public var tenant: [Rollup]
    /// Descending by what they were served.
    public var leaders: [Leader]
    /// All tenants that did something, the leaders among them; 0 where leaders were not asked for.
    public var tenantCount: Int
    /// Of the pool and of all pools; ascending by time, the newest where there are too many.
    public var events: [PoolEvent]
    /// Acts of people, on any subject; ascending by time, the newest where there are too many.
    public var acts: [AuditEntry]

    public init(
        pools: [PoolRollup] = [], tenant: [Rollup] = [], leaders: [Leader] = [], tenantCount: Int = 0,
        events: [PoolEvent] = [], acts: [AuditEntry] = []
    ) {
        self.pools = pools
        self.tenant = tenant
        self.leaders = leaders
        self.tenantCount = tenantCount
        self.events = events
        self.acts = acts
    }
}
