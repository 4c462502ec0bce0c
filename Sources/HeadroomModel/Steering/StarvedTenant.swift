/// A tenant that was starved in a pool, and when.
public struct StarvedTenant: Equatable, Sendable {
    /// Starved minutes, or hours where minutes are no longer kept, with less than an hour between them.
    public struct Spell: Equatable, Sendable {
        /// The start of the first minute, or hour; of a spell that goes on, the first underserved second.
        public var first: Timestamp
        /// The end of the last minute, or hour; of a spell that goes on, the last tick.
        public var last: Timestamp
        public var deliverySeconds: Double
        public var shortageSeconds: Double
        public var longestWaitSeconds: Double
        /// What it asked for in the starved minutes, and was served.
        public var askedTokens: Int64
        public var countedTokens: Int64

        public var starvedSeconds: Double { deliverySeconds + shortageSeconds }

        public init(
            first: Timestamp, last: Timestamp, deliverySeconds: Double, shortageSeconds: Double,
            longestWaitSeconds: Double, askedTokens: Int64, countedTokens: Int64
        ) {
            self.first = first
            self.last = last
            self.deliverySeconds = deliverySeconds
            self.shortageSeconds = shortageSeconds
            self.longestWaitSeconds = longestWaitSeconds
            self.askedTokens = askedTokens
            self.countedTokens = countedTokens
        }
    }

    public var tenant: TenantID
    public var pool: PoolID
    /// Ascending; never empty.
    public private(set) var spells: [Spell]
    /// The first underserved second of a spell that goes on, as its alert has it; `nil` when it is over.
    public var starvedSince: Timestamp?

    public init(tenant: TenantID, pool: PoolID, spell: Spell) {
        self.tenant = tenant
        self.pool = pool
        spells = [spell]
    }

    public var first: Timestamp { spells[0].first }
    public var last: Timestamp { spells[spells.count - 1].last }
    public var starvedSeconds: Double { spells.reduce(0) { $0 + $1.starvedSeconds } }
    public var longestSpellSeconds: Double { spells.reduce(0) { max($0, $1.starvedSeconds) } }
    public var longestWaitSeconds: Double { spells.reduce(0) { max($0, $1.longestWaitSeconds) } }
    public var askedTokens: Int64 { spells.reduce(0) { $0 + $1.askedTokens } }
    public var countedTokens: Int64 { spells.reduce(0) { $0 + $1.countedTokens } }

    /// The reason of most of the time.
    public var reason: Starvation {
        spells.reduce(0) { $0 + $1.deliverySeconds - $1.shortageSeconds } >= 0 ? .delivery : .shortage
    }

    /// Less than this between two starved minutes, and they are one spell.
    private static let gapSeconds = 3600.0

    /// Adds a minute, or an hour, that begins after all others.
    public mutating func add(_ next: Spell) {
        var last = spells[spells.count - 1]
        guard next.first.seconds(since: last.last) < Self.gapSeconds else {
            spells.append(next)
            return
        }
        last.last = next.last
        last.deliverySeconds += next.deliverySeconds
        last.shortageSeconds += next.shortageSeconds
        last.longestWaitSeconds = max(last.longestWaitSeconds, next.longestWaitSeconds)
        last.askedTokens += next.askedTokens
        last.countedTokens += next.countedTokens
        spells[spells.count - 1] = last
    }

    /// The longest starved first.
    public static func isLonger(_ left: StarvedTenant, _ right: StarvedTenant) -> Bool {
        let (first, second) = (left.starvedSeconds, right.starvedSeconds)
        return first == second ? (left.tenant, left.pool) < (right.tenant, right.pool) : first > second
    }
}

/// A starved spell that goes on, as the loop's last tick saw it: roll-ups know of it only once they are stored.
public struct OngoingStarvation: Equatable, Sendable {
    public var tenant: TenantID
    public var pool: PoolID
    /// The first underserved second, and the tick.
    public var since: Timestamp
    public var until: Timestamp
    public var reason: Starvation
    /// How long its oldest queued call has waited.
    public var waitSeconds: Double

    public init(
        tenant: TenantID, pool: PoolID, since: Timestamp, until: Timestamp, reason: Starvation, waitSeconds: Double
    ) {
        self.tenant = tenant
        self.pool = pool
        self.since = since
        self.until = until
        self.reason = reason
        self.waitSeconds = waitSeconds
    }

    /// Its part in a period; `nil` where there is none.
    public func clipped(from: Timestamp, to: Timestamp) -> OngoingStarvation? {
        var part = self
        part.since = max(since, from)
        part.until = min(until, to)
        return part.since < part.until ? part : nil
    }

    /// What roll-ups do not have of it.
    ///
    /// - Parameter stored: the starved seconds that they have from the minute of ``since`` on.
    public func spell(without stored: Double) -> StarvedTenant.Spell {
        let rest = max(0, until.seconds(since: since) - stored)
        return StarvedTenant.Spell(
            first: since, last: until, deliverySeconds: reason == .delivery ? rest : 0,
            shortageSeconds: reason == .shortage ? rest : 0, longestWaitSeconds: waitSeconds, askedTokens: 0,
            countedTokens: 0)
    }
}

extension LoopReport {
    /// The spells that go on, ascending by pool, then tenant.
    public var ongoingStarvation: [OngoingStarvation] {
        pools.flatMap { pool in
            pool.tenants.compactMap { tenant in
                tenant.starvation.map { reason in
                    OngoingStarvation(
                        tenant: tenant.tenant, pool: pool.pool, since: tenant.underservedSince(at: at), until: at,
                        reason: reason,
                        waitSeconds: Criticality.allCases.map { tenant.queue[$0].oldestSeconds }.max() ?? 0)
                }
            }
        }
    }
}

extension TenantReport {
    /// The first second of the time for which it is underserved.
    ///
    /// - Parameter tick: of the report.
    public func underservedSince(at tick: Timestamp) -> Timestamp { tick.adding(seconds: -underservedSeconds) }
}
