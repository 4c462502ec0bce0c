/// A tenant that was starved in a pool, and when.
public struct StarvedTenant: Equatable, Sendable {
    /// Starved minutes, or hours where minutes are no longer kept, with less than an hour between them.
    public struct Spell: Equatable, Sendable {
        public var first: Timestamp
        /// The end of the last minute, or hour.
        public var last: Timestamp
        public var deliverySeconds: Double
        public var shortageSeconds: Double
        public var longestWaitSeconds: Double
        /// Its demand in the starved minutes, and its service.
        public var demandTokens: Double
        public var countedTokens: Int64

        public var starvedSeconds: Double { deliverySeconds + shortageSeconds }

        public init(
            first: Timestamp, last: Timestamp, deliverySeconds: Double, shortageSeconds: Double,
            longestWaitSeconds: Double, demandTokens: Double, countedTokens: Int64
        ) {
            self.first = first
            self.last = last
            self.deliverySeconds = deliverySeconds
            self.shortageSeconds = shortageSeconds
            self.longestWaitSeconds = longestWaitSeconds
            self.demandTokens = demandTokens
            self.countedTokens = countedTokens
        }
    }

    public var tenant: TenantID
    public var pool: PoolID
    /// Ascending; never empty.
    public var spells: [Spell]

    public init(tenant: TenantID, pool: PoolID, spells: [Spell]) {
        self.tenant = tenant
        self.pool = pool
        self.spells = spells
    }

    public var first: Timestamp { spells[0].first }
    public var last: Timestamp { spells[spells.count - 1].last }
    public var starvedSeconds: Double { spells.reduce(0) { $0 + $1.starvedSeconds } }
    public var longestSpellSeconds: Double { spells.reduce(0) { max($0, $1.starvedSeconds) } }
    public var longestWaitSeconds: Double { spells.reduce(0) { max($0, $1.longestWaitSeconds) } }
    public var demandTokens: Double { spells.reduce(0) { $0 + $1.demandTokens } }
    public var countedTokens: Int64 { spells.reduce(0) { $0 + $1.countedTokens } }

    /// The resource or reason that starved it most of the time.
    public var reason: Starvation {
        spells.reduce(0) { $0 + $1.deliverySeconds - $1.shortageSeconds } >= 0 ? .delivery : .shortage
    }
}
