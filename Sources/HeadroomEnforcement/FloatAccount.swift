import HeadroomModel

/// What the float knows of one tenant: its service over all gateways, what it is still due, and what waits.
struct FloatAccount: Sendable {
    /// A call that waits at some gateway.
    struct Head: Comparable, Sendable {
        let boot: Int
        let estimate: Work
        let criticality: Criticality
        let arrival: Timestamp
        /// In its gateway's queue.
        let place: Int
        /// When its gateway last told of it.
        let seenAt: Timestamp

        static func < (left: Head, right: Head) -> Bool {
            if left.criticality != right.criticality { return left.criticality < right.criticality }
            if left.arrival != right.arrival { return left.arrival < right.arrival }
            return left.boot != right.boot ? left.boot < right.boot : left.place < right.place
        }
    }

    let tenant: TenantID
    var weight: Double
    /// V: seconds of the pool served or granted ÷ weight.
    private(set) var clock: Double
    /// F: what is left of the assured rate's last seconds.
    private var floor: Floor
    /// How far lending may go, over all gateways.
    private var ceiling: Bucket
    /// Ascending.
    var heads: [Head] = []
    /// When work of it last waited somewhere.
    var waitedAt: Timestamp?

    /// Ten seconds of use are what a ceiling is measured by.
    private static let ceilingSeconds = 10.0

    init(_ entry: TenantAllocation, clock: Double, at now: Timestamp) {
        tenant = entry.tenant
        weight = entry.weight
        self.clock = clock
        floor = Floor(entry.assured, at: now)
        ceiling = Bucket(entry.ceiling, burstSeconds: FloatAccount.ceilingSeconds, at: now)
    }

    mutating func follow(_ entry: TenantAllocation, at now: Timestamp) {
        weight = entry.weight
        floor.rates = entry.assured
        ceiling.change(to: entry.ceiling, burstSeconds: FloatAccount.ceilingSeconds, at: now)
    }

    /// Less than nothing gives back. Clock, floor account and ceiling count all service, on whatever right.
    mutating func charge(_ work: Work, capacity: Rates, at now: Timestamp) {
        let more = Work(amounts: pointwiseMax(work.amounts, .zero))
        clock += (more.seconds(of: capacity) - (more - work).seconds(of: capacity)) / weight
        floor.charge(work, at: now)
        ceiling.charge(work, at: now)
    }

    mutating func advance(clockBy seconds: Double) { clock += seconds }

    mutating func lift(clockTo least: Double) { clock = max(clock, least) }

    mutating func isWithinFloor(at now: Timestamp) -> Bool { floor.isLeft(at: now) }

    mutating func isBelowCeiling(at now: Timestamp) -> Bool { ceiling.admits(at: now) }

    /// Debt up to half a minute of the rate is paid back first. Were it forgiven, a tenant of large calls would always
    /// be within its floor, and after a loss of capacity the rest would have what it leaves (shortfall in the drop .20
    /// instead of .15).
    private struct Floor: Sendable {
        var rates: Rates
        @Halved private var level: SIMD4<Double>
        private var filledAt: Timestamp

        private static let seconds = 10.0
        private static let debtSeconds = 30.0

        init(_ rates: Rates, at now: Timestamp) {
            self.rates = rates
            level = rates.perMinute / 60 * Floor.seconds
            filledAt = now
        }

        mutating func charge(_ work: Work, at now: Timestamp) {
            fill(at: now)
            level -= work.amounts
        }

        /// False without a rate in some resource that is limited: there is no floor then.
        mutating func isLeft(at now: Timestamp) -> Bool {
            fill(at: now)
            return !rates.isEmpty && rates.resources.members.allSatisfy { level[$0.rawValue] > 0 }
        }

        private mutating func fill(at now: Timestamp) {
            let seconds = now.seconds(since: filledAt).rounded(.down)
            guard seconds >= 1 else { return }
            filledAt = filledAt.adding(seconds: seconds)
            let perSecond = rates.perMinute / 60
            // At least one request, or a small rate would never be worth one.
            var most = perSecond * Floor.seconds
            if perSecond[Resource.requests.rawValue] > 0 { most[Resource.requests.rawValue].raise(to: 1) }
            level = pointwiseMin(pointwiseMax(level, perSecond * -Floor.debtSeconds) + perSecond * seconds, most)
        }
    }
}

extension Double {
    fileprivate mutating func raise(to least: Double) { self = Swift.max(self, least) }
}
