import HeadroomModel

/// The float's account of one tenant: its service over all gateways, its floor debt, and its waiting calls.
struct FloatAccount: Sendable {
    /// The calls that wait at one gateway, by its last draw: the next to be granted first.
    struct GatewayQueue: Sendable {
        let boot: Int
        let toldAt: Timestamp
        private let heads: [DrawRequest.Head]
        /// Of each head, when its boot first told of it; empty where all say how long they have waited.
        private let firstTold: [Timestamp]
        private var next = 0
        /// Of the head, as far as there is one: queues are compared far more often than they change.
        private var criticality = Criticality.interactive
        private var arrival: Timestamp

        /// - Parameter previous: What the boot told before.
        init(boot: Int, _ heads: [DrawRequest.Head], toldAt: Timestamp, after previous: GatewayQueue?) {
            self.boot = boot
            self.toldAt = toldAt
            self.heads = heads
            firstTold = GatewayQueue.firstTold(of: heads.prefix(DrawRequest.maxHeads), after: previous, at: toldAt)
            arrival = toldAt
            readHead()
        }

        /// A queue is served from its front: of fewer heads than there were the last are left, of more the first are known.
        private static func firstTold(
            of heads: ArraySlice<DrawRequest.Head>, after previous: GatewayQueue?, at now: Timestamp
        ) -> [Timestamp] {
            guard heads.contains(where: { $0.waitedSeconds == nil }) else { return [] }
            var known = PerCriticality<[Timestamp]>(repeating: [])
            if let previous, !previous.firstTold.isEmpty {
                for place in previous.next..<max(previous.next, previous.firstTold.count)
                where previous.heads[place].waitedSeconds == nil {
                    known[previous.heads[place].criticality].append(previous.firstTold[place])
                }
            }
            for criticality in Criticality.allCases {
                let count = heads.count { $0.waitedSeconds == nil && $0.criticality == criticality }
                known[criticality] = known[criticality].suffix(count).reversed()
            }
            return heads.map { head in
                head.waitedSeconds == nil ? known[head.criticality].popLast() ?? now : now
            }
        }

        /// Some head does not say how long it has waited.
        var isUntimed: Bool { !firstTold.isEmpty }
        var isEmpty: Bool { next >= min(heads.count, DrawRequest.maxHeads) }

        var head: Head {
            Head(
                estimate: heads[next].estimate, criticality: criticality, arrival: arrival,
                deadline: heads[next].patienceSeconds < .infinity
                    ? toldAt.adding(seconds: heads[next].patienceSeconds) : nil)
        }

        mutating func removeFirst() {
            next += 1
            readHead()
        }

        private mutating func readHead() {
            if isEmpty { return }
            criticality = heads[next].criticality
            arrival = heads[next].waitedSeconds.map { toldAt.adding(seconds: -$0) } ?? firstTold[next]
        }

        /// Of those that were reported since, the one whose head goes first; `nil` when nothing waits.
        static func first(of lanes: [GatewayQueue], toldSince oldest: Timestamp) -> Int? {
            let lanes = lanes.span
            var first: Int?
            for index in lanes.indices where lanes[index].toldAt >= oldest && !lanes[index].isEmpty {
                if let first, !lanes[index].isEarlier(than: lanes[first]) { continue }
                first = index
            }
            return first
        }

        /// Both have a head.
        func isEarlier(than other: GatewayQueue) -> Bool {
            if criticality != other.criticality { return criticality < other.criticality }
            return arrival != other.arrival ? arrival < other.arrival : boot < other.boot
        }
    }

    /// A call that waits.
    struct Head: Equatable, Sendable {
        let estimate: Work
        let criticality: Criticality
        let arrival: Timestamp
        /// When its caller gives up, if ever.
        let deadline: Timestamp?
    }

    /// The terms that decide a tenant's place in the order: its clock, its floor and its ceiling.
    struct Standing: Sendable {
        var weight: Double
        /// The service clock: seconds of the pool's capacity served or granted, divided by the weight.
        fileprivate(set) var clock: Double
        /// The rest of the floor of the last ten seconds.
        fileprivate var floor: Floor
        /// How far lending may go, over all gateways.
        fileprivate var ceiling: Bucket
        /// Beyond it the tenant may have what nobody else waits for.
        var hasSoftCeiling: Bool

        /// Charges work to clock, floor and ceiling, by whatever right it was served; negative work gives back.
        mutating func charge(_ work: Work, capacity: Rates, at now: Timestamp) {
            let more = Work(amounts: pointwiseMax(work.amounts, .zero))
            clock += (more.seconds(of: capacity) - (more - work).seconds(of: capacity)) / weight
            floor.charge(work, at: now)
            // Who is granted beyond a soft ceiling is not held below it later for that.
            if !hasSoftCeiling || ceiling.admits(at: now) { ceiling.charge(work, at: now) }
        }

        mutating func isWithinFloor(at now: Timestamp) -> Bool { floor.isLeft(at: now) }

        mutating func isBelowCeiling(at now: Timestamp) -> Bool { ceiling.rates.isEmpty || ceiling.admits(at: now) }
    }

    let tenant: TenantID
    var standing: Standing
    /// One for each queue that a gateway reported.
    private(set) var lanes: [GatewayQueue] = []
    /// The place of the lane whose head goes first, however long ago it was reported; `nil` when nothing waits. Thousands of
    /// lanes wait while a thousand gateways draw, and each draw asks for the first of every tenant.
    private var firstLane: Int?
    /// When a call of the tenant last waited at some gateway, and the most urgent criticality then.
    var waitedAt: Timestamp?
    var waitingAs = Criticality.interactive

    /// A ceiling is a bucket of this many seconds.
    private static let ceilingSeconds = 10.0

    /// - Parameter past: What the term before knew of the tenant.
    init(_ entry: TenantAllocation, _ past: Past?, at now: Timestamp) {
        tenant = entry.tenant
        var floor = Floor(entry.floor, at: now)
        if let past { floor.goOn(from: past.floorLevel, at: min(past.at, now)) }
        standing = Standing(
            weight: entry.weight, clock: past?.clock ?? entry.serviceClock, floor: floor,
            ceiling: Bucket(entry.ceiling, burstSeconds: FloatAccount.ceilingSeconds, at: now),
            hasSoftCeiling: entry.hasSoftCeiling)
    }

    /// - Parameter promised: what fills its account.
    mutating func follow(_ entry: TenantAllocation, promised: Rates, at now: Timestamp) {
        standing.weight = entry.weight
        follow(promised: promised)
        standing.hasSoftCeiling = entry.hasSoftCeiling
        standing.ceiling.change(to: entry.ceiling, burstSeconds: FloatAccount.ceilingSeconds, at: now)
    }

    mutating func follow(promised: Rates) { standing.floor.rates = promised }

    mutating func add(_ lane: GatewayQueue) {
        lanes.append(lane)
        if lane.isEmpty { return }
        if let first = firstLane, !lane.isEarlier(than: lanes[first]) { return }
        firstLane = lanes.count - 1
    }

    /// Removes one of the boot's lanes, if there is one.
    @discardableResult mutating func removeLane(of boot: Int) -> GatewayQueue? {
        var place = 0
        while place < lanes.count, lanes.span[place].boot != boot { place += 1 }
        guard place < lanes.count else { return nil }
        let lane = lanes.remove(at: place)
        guard let first = firstLane, first >= place else { return lane }
        if first > place { firstLane = first - 1 } else { findFirstLane() }
        return lane
    }

    mutating func removeLanes() {
        lanes = []
        firstLane = nil
    }

    /// The next `calls` of a boot go.
    mutating func removeFirst(_ calls: Int, of boot: Int) {
        var left = calls
        for place in lanes.indices where lanes[place].boot == boot {
            while left > 0, !lanes[place].isEmpty {
                lanes[place].removeFirst()
                left -= 1
            }
        }
        findFirstLane()
    }

    private mutating func findFirstLane() {
        firstLane = GatewayQueue.first(of: lanes, toldSince: Timestamp(milliseconds: .min))
    }

    /// Of those that were reported since, the lane whose head goes first; `nil` when nothing waits.
    func firstLane(toldSince oldest: Timestamp) -> Int? {
        guard let firstLane, lanes.span[firstLane].toldAt < oldest else { return firstLane }
        return GatewayQueue.first(of: lanes, toldSince: oldest)
    }

    mutating func lift(clockTo least: Double) { standing.clock = max(standing.clock, least) }

    mutating func move(clockTo clock: Double) { standing.clock = clock }

    /// The most urgent work of it that waits, as far as is known.
    var mostUrgent: Criticality? { firstLane.map { lanes[$0].head.criticality } }

    /// The floor of the last ten seconds, less what was served. It may go into debt by up to half a minute of the rate,
    /// and the debt is paid back first. Without debt a tenant with large calls would always be within its floor, and
    /// after a loss of capacity all others would get only what it leaves (shortfall 0.20 and not 0.15).
    fileprivate struct Floor: Sendable {
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

        /// The level at `instant`, which is not ahead; the inflow since then comes on top.
        mutating func goOn(from level: Work, at instant: Timestamp) {
            self.level = level.amounts
            filledAt = instant
        }

        func write(to writer: inout ByteWriter) {
            writer.write(Work(amounts: level))
            writer.write(filledAt)
        }

        /// False without a rate in some resource that is limited: there is no floor then.
        mutating func isLeft(at now: Timestamp) -> Bool {
            if rates.isEmpty { return false }
            fill(at: now)
            return rates.resources.members.allSatisfy { level[$0.rawValue] > 0 }
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

extension FloatAccount {
    /// A tenant's account in a checkpoint.
    struct Past: Sendable {
        let tenant: TenantID
        let clock: Double
        let floorLevel: Work
        let at: Timestamp

        init(from reader: inout ByteReader) throws(ByteCodingError) {
            tenant = try reader.readIdentifier(TenantID.self)
            clock = try reader.readFinite()
            // Below 0 in debt.
            var level = SIMD4<Double>.zero
            for lane in 0..<4 { level[lane] = try reader.readFinite() }
            floorLevel = Work(amounts: level)
            at = try reader.readTimestamp()
        }
    }

    func write(to writer: inout ByteWriter) {
        writer.write(tenant.text)
        writer.write(standing.clock)
        standing.floor.write(to: &writer)
    }
}

extension Double {
    fileprivate mutating func raise(to least: Double) { self = Swift.max(self, least) }
}
