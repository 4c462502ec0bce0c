import HeadroomModel

/// Whose turn it is, over all gateways.
extension FloatLedger {
    /// So many of a tenant's waiting calls may go.
    struct Grants {
        let account: Int
        var calls: Int
        var work: Work
    }

    /// The work that `boot` may have of the float, ascending by tenant.
    ///
    /// The order of Model §5.8 covers all calls that are known to wait at any gateway: the tenant's floor is not used
    /// up; criticality; least service clock, less ``ServiceOrder/urgency(until:at:)``; arrival. Tenants at their
    /// ceiling get nothing. Budget for an earlier call at another gateway is left for that gateway, which will ask in a
    /// moment. A waiting call that its gateway has not reported for ``headSeconds`` counts as gone. If the next call is
    /// larger than what is left, everyone waits: the provider would refuse a call that puts the float in debt.
    func grants(to boot: Int, wanted: Int, at now: Timestamp) -> [Grants] {
        guard wanted > 0 else { return [] }
        let oldest = now.adding(seconds: -FloatLedger.headSeconds)
        var competitors: [Competitor] = []
        for index in backlogged {
            let competitor = Competitor(index, accounts[index], toldSince: oldest)
            if competitor.lane != nil { competitors.append(competitor) }
        }
        var turns = Heap<Turn>()
        for index in competitors.indices {
            if let turn = competitors[index].turn(at: now, index) { turns.push(turn) }
        }
        var left = level
        var wanted = wanted
        var grants: [Int: Grants] = [:]
        while wanted > 0, covers(turns.least.map(NextCall.init), with: left), let turn = turns.popLeast() {
            let served = competitors[turn.competitor].serve(capacity: capacity, at: now)
            left -= turn.head.estimate
            if served == boot {
                wanted -= 1
                let account = competitors[turn.competitor].index
                grants[account, default: Grants(account: account, calls: 0, work: .zero)].calls += 1
                grants[account]?.work += turn.head.estimate
            }
            if let next = competitors[turn.competitor].turn(at: now, turn.competitor) { turns.push(next) }
        }
        return grants.keys.sorted().compactMap { grants[$0] }
    }

    /// The next call in the order, and its cost; `nil` without one. Found without a copy of the waiting calls.
    mutating func nextCall(at now: Timestamp) -> NextCall? {
        let oldest = now.adding(seconds: -FloatLedger.headSeconds)
        var first: Turn?
        for (place, index) in backlogged.enumerated() {
            guard let turn = accounts[index].turn(competitor: place, toldSince: oldest, at: now) else { continue }
            if let first, !(turn < first) { continue }
            first = turn
        }
        return first.map(NextCall.init)
    }

    /// The next call's cost, and the reserve that it must leave.
    struct NextCall {
        let estimate: Work
        /// Beyond its tenant's ceiling, or neither interactive nor within its tenant's floor.
        let leavesReserve: Bool

        init(_ turn: Turn) {
            estimate = turn.head.estimate
            leavesReserve = turn.isBeyondCeiling || turn.isBeyondFloor && turn.head.criticality != .interactive
        }
    }

    /// Twice the longest wait, and a round trip.
    private static let headSeconds = 0.5

    /// A tenant as it would be after what has been handed out in this pass.
    private struct Competitor {
        let index: Int
        private var standing: FloatAccount.Standing
        private var lanes: [FloatAccount.GatewayQueue]
        private let oldest: Timestamp
        /// The one whose head is next; `nil` when nothing waits.
        private(set) var lane: Int?

        init(_ index: Int, _ account: FloatAccount, toldSince oldest: Timestamp) {
            self.index = index
            standing = account.standing
            lanes = account.lanes
            self.oldest = oldest
            lane = account.firstLane(toldSince: oldest)
        }

        /// `nil` when nothing of it waits, or it is at its ceiling.
        mutating func turn(at now: Timestamp, _ competitor: Int) -> Turn? {
            guard let lane else { return nil }
            return Turn(standing: &standing, head: lanes[lane].head, competitor: competitor, at: now)
        }

        /// Its next head goes. Returns the boot where it waits.
        mutating func serve(capacity: Rates, at now: Timestamp) -> Int {
            guard let served = lane else { preconditionFailure("there is no turn without a head") }
            standing.charge(lanes[served].head.estimate, capacity: capacity, at: now)
            lanes[served].removeFirst()
            lane = FloatAccount.GatewayQueue.first(of: lanes, toldSince: oldest)
            return lanes[served].boot
        }
    }

    struct Turn: Comparable {
        /// The ceiling is soft, and used up.
        let isBeyondCeiling: Bool
        let isBeyondFloor: Bool
        let clock: Double
        let head: FloatAccount.Head
        let competitor: Int

        /// `nil` at a ceiling that is not soft.
        init?(standing: inout FloatAccount.Standing, head: FloatAccount.Head, competitor: Int, at now: Timestamp) {
            isBeyondCeiling = !standing.isBelowCeiling(at: now)
            guard !isBeyondCeiling || standing.hasSoftCeiling else { return nil }
            isBeyondFloor = !standing.isWithinFloor(at: now)
            clock = standing.clock - ServiceOrder.urgency(until: head.deadline, at: now)
            self.head = head
            self.competitor = competitor
        }

        static func < (left: Turn, right: Turn) -> Bool {
            if left.isBeyondCeiling != right.isBeyondCeiling { return right.isBeyondCeiling }
            if left.isBeyondFloor != right.isBeyondFloor { return right.isBeyondFloor }
            if left.head.criticality != right.head.criticality { return left.head.criticality < right.head.criticality }
            if left.clock != right.clock { return left.clock < right.clock }
            if left.head.arrival != right.head.arrival { return left.head.arrival < right.head.arrival }
            return left.competitor < right.competitor
        }
    }
}

extension FloatAccount {
    /// The tenant's turn by its first head; `nil` when nothing waits, or it is at a hard ceiling. In place: accounts are
    /// large.
    fileprivate mutating func turn(
        competitor: Int, toldSince oldest: Timestamp, at now: Timestamp
    ) -> FloatLedger.Turn? {
        guard let lane = firstLane(toldSince: oldest) else { return nil }
        return FloatLedger.Turn(standing: &standing, head: lanes.span[lane].head, competitor: competitor, at: now)
    }
}
