import HeadroomModel

/// Whose turn it is, over all gateways.
extension FloatLedger {
    /// So many of a tenant's waiting calls may go.
    struct Grants {
        let account: Int
        var calls: Int
        var work: Work
    }

    /// What `boot` may have of the float, ascending by tenant.
    ///
    /// The one order of DESIGN §5.8 runs over all that is known to wait anywhere: floor account not used up;
    /// criticality; least service clock; arrival; up to the ceilings. What comes before in it and waits at another
    /// gateway is left for that one, which asks within a batch or two; a head that was not told of again for so long
    /// does not wait any more. Whose turn it is may be too large for what is left: then everyone waits until it is not,
    /// since a call in debt of the float is one that the provider refuses.
    func grants(to boot: Int, wanted: Int, at now: Timestamp) -> [Grants] {
        guard wanted > 0 else { return [] }
        let oldest = now.adding(seconds: -FloatLedger.headSeconds)
        var competitors: [Competitor] = []
        for index in backlogged {
            let heads = accounts[index].heads.filter { $0.seenAt >= oldest }
            if !heads.isEmpty { competitors.append(Competitor(index, accounts[index], heads)) }
        }
        var turns = Heap<Turn>()
        for index in competitors.indices {
            if let turn = competitors[index].turn(at: now, index) { turns.push(turn) }
        }
        var left = level
        var wanted = wanted
        var grants: [Int: Grants] = [:]
        while wanted > 0, covers(turns.least?.head.estimate, with: left), let turn = turns.popLeast() {
            let head = competitors[turn.competitor].serve(capacity: capacity, at: now)
            left -= head.estimate
            if head.boot == boot {
                wanted -= 1
                let account = competitors[turn.competitor].index
                grants[account, default: Grants(account: account, calls: 0, work: .zero)].calls += 1
                grants[account]?.work += head.estimate
            }
            if let next = competitors[turn.competitor].turn(at: now, turn.competitor) { turns.push(next) }
        }
        return grants.keys.sorted().compactMap { grants[$0] }
    }

    /// Two batches and a round trip.
    private static let headSeconds = 0.5

    /// A tenant as it would be after what has been handed out in this pass.
    private struct Competitor {
        let index: Int
        private var account: FloatAccount
        private let heads: [FloatAccount.Head]
        private var next = 0

        init(_ index: Int, _ account: FloatAccount, _ heads: [FloatAccount.Head]) {
            self.index = index
            self.account = account
            self.heads = heads
        }

        /// `nil` when nothing of it waits, or it is at its ceiling.
        mutating func turn(at now: Timestamp, _ competitor: Int) -> Turn? {
            guard next < heads.count, account.isBelowCeiling(at: now) else { return nil }
            return Turn(
                isBeyondFloor: !account.isWithinFloor(at: now), clock: account.clock, head: heads[next],
                competitor: competitor)
        }

        mutating func serve(capacity: Rates, at now: Timestamp) -> FloatAccount.Head {
            let head = heads[next]
            next += 1
            account.charge(head.estimate, capacity: capacity, at: now)
            return head
        }
    }

    private struct Turn: Comparable {
        let isBeyondFloor: Bool
        let clock: Double
        let head: FloatAccount.Head
        let competitor: Int

        static func < (left: Turn, right: Turn) -> Bool {
            if left.isBeyondFloor != right.isBeyondFloor { return right.isBeyondFloor }
            if left.head.criticality != right.head.criticality { return left.head.criticality < right.head.criticality }
            if left.clock != right.clock { return left.clock < right.clock }
            if left.head.arrival != right.head.arrival { return left.head.arrival < right.head.arrival }
            return left.competitor < right.competitor
        }
    }
}
