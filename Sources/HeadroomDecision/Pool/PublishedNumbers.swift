import HeadroomModel

/// The numbers of a pool that are in force: what the next decision starts from, and what is published of each member.
struct PublishedNumbers: Sendable {
    /// How far `plain` exceeds the assured rate, or what an idle tenant starts with. Gateways that take one number waste
    /// what idle tenants leave; over-booking behind a cap for the whole pool wins most of it back (ControlLaw, rule 13).
    /// <doc:Evidence> has what factors of 2, 3, 4, 6 and 8 gain.
    private static let plainOverbooking = 6.0
    /// A tenant's order of service stays as it is until demand differs by this part of its rate: it is an order and no
    /// wall, and no reason for a new generation.
    private static let partsTolerance = 0.25
    /// Unchanged numbers that one decision explains again.
    private static let maxRefreshed = 100

    /// One member's numbers in force.
    struct Row: Sendable {
        /// Of nominal capacity; without a burst.
        fileprivate(set) var share = 0.0
        fileprivate(set) var isNew = true
        /// The sign of the last move of more than a hundredth, for whatever reason; 0 before the first.
        fileprivate(set) var lastMove = 0.0
        /// Lost capacity forced it.
        fileprivate(set) var wasForced = false
        /// When its number was last explained.
        fileprivate var explainedAt: Timestamp
        /// The ``MemberTable/Member/termsRevision`` that is published.
        fileprivate var termsRevision = 0
    }

    private(set) var rows: [Row] = []
    /// As published, ascending by tenant.
    private(set) var allocations: [TenantAllocation] = []
    /// The assured rates of these: most do not change, and an allocation is long.
    private(set) var assured: [Rates] = []
    /// λ of what is published (Model §5.1).
    @Halved private(set) var slack = SIMD4<Double>(repeating: 1)
    /// How often assured rates turned back by more than a hundredth.
    private(set) var reversals = 0
    private var isFirst = true

    mutating func admit(_ origins: [Int?], _ members: MemberTable, at now: Timestamp) {
        rows = rows.moved(origins) { _ in Row(explainedAt: now) }
        assured = assured.moved(origins) { _ in .none }
        allocations = allocations.moved(origins) {
            TenantAllocation(tenant: members.tenants[$0], assured: .none, safe: members.nominal * 0)
        }
    }

    /// The numbers in force, as activity, one a member.
    func activities(of members: MemberTable) -> [Double] {
        let places = members.members
        return rows.indices.map { index in
            let cost = places[index].nominalCost
            return cost > 0 ? rows[index].share / cost : 0
        }
    }

    // MARK: Whole numbers

    /// Whole rates, one a member: what each activity uses, and what resources that are not full still have in
    /// proportion to it.
    ///
    /// Rounded one by one where the sum allows it, so that a number does not move because another one did.
    mutating func assuredRates(
        _ given: DampenedFill.Result, freeze: FreezeKeeper, _ input: DecisionInput
    ) -> [SIMD4<Double>] {
        followSlack(given, input)
        let conditions = input.conditions
        let (rows, members, slack) = (input.members.rows, input.members.members, slack)
        // The rest that no band used up lifts nobody over a guardrail.
        let guardrail = conditions.pool.nominal.perMinute * conditions.guardrails.mostOfNominal
        var exact = Array(repeating: SIMD4<Double>.zero, count: rows.count)
        for index in rows.indices {
            let activity = given.activities[index]
            guard activity > 0 else { continue }
            if freeze.isFrozen,
                let frozen = freeze.rates(of: index, share: activity * members[index].nominalCost)
            {
                exact[index] = frozen.perMinute.lowered(to: rows[index].ceilings)
            } else {
                let filled = rows[index].cost * activity
                let lifted = filled.raised(to: (filled * slack).lowered(to: guardrail))
                exact[index] = lifted.lowered(to: rows[index].ceilings)
            }
        }
        return Self.whole(exact, within: conditions.whole)
    }

    /// In whole numbers, which sum to `whole` at most as these do; none of a resource that it does not name.
    static func whole(_ exact: [SIMD4<Double>], within whole: Rates) -> [SIMD4<Double>] {
        let resources = whole.resources
        var rounded = exact
        var sum = SIMD4<Double>.zero
        for index in exact.indices {
            rounded[index] = SIMD4.zero.replacing(with: exact[index].roundedToNearest, where: resources.lanes)
            sum += rounded[index]
        }
        for resource in resources.members {
            let (lane, most) = (resource.rawValue, whole[resource] ?? 0)
            guard sum[lane] > most else { continue }
            let parts = exact.map { $0[lane] }
            // A sum of shares of 100 may end as 99.999…: that is rounding and no reason to lose a unit.
            let total = min(most, parts.reduce(0, +) * (1 + 1e-12))
            let integers = LargestRemainder.integers(of: parts, total: Int(total.rounded(.down)))
            for index in rounded.indices { rounded[index][lane] = Double(integers[index]) }
        }
        return rounded
    }

    /// Follows the fill's λ where the one in use no longer fits, or is less than half as large, and stays a quarter
    /// below it: it moves everyone at once, and what it leaves is lent.
    ///
    /// Relative to the least of all: while intervals keep everyone from filling any resource, what is left of the one
    /// that is used most is lent, and lifts nobody above its interval.
    private mutating func followSlack(_ given: DampenedFill.Result, _ input: DecisionInput) {
        let resources = input.conditions.pool.nominal.resources.members
        let least = resources.reduce(.infinity) { min($0, given.outcome.slack[$1.rawValue]) }
        for resource in resources {
            let lane = resource.rawValue
            let (now, inUse) = (least < .infinity ? given.outcome.slack[lane] / least : 1, slack[lane])
            let margin = (input.conditions.whole[resource] ?? 0) / max(given.capacity[resource] ?? 0, 1e-30)
            if isFirst || inUse > now * margin || inUse < 0.5 * now { slack[lane] = max(1, 0.75 * now) }
        }
        isFirst = false
    }

    // MARK: Explained numbers

    /// The members whose numbers are to be explained, ascending: because they change, or because of their age.
    /// Explanations are deleted by age. So a number that has stood for half of that is explained again, a few at a time, in
    /// a generation that is published anyway.
    func indicesToExplain(_ numbers: AssuredNumbers, _ conditions: PoolConditions) -> [Int] {
        let isPublished =
            numbers.bursts.isEmpty && rows.indices.contains { numbers.base[$0] != assured[$0].perMinute }
        var left = isPublished ? Self.maxRefreshed : 0
        let seconds = conditions.rules.policy.telemetry.ledgerHours * 1800
        let (rows, known) = (rows.span, assured.span)
        var indices: [Int] = []
        for index in rows.indices {
            if rows[index].isNew || numbers[index] != known[index] {
                indices.append(index)
            } else if left > 0, conditions.now.seconds(since: rows[index].explainedAt) > seconds {
                left -= 1
                indices.append(index)
            }
        }
        return indices
    }

    mutating func note(_ explanations: [Explanation.TenantFacts], of indices: [Int], at now: Timestamp) {
        let explanations = explanations.span
        for (position, index) in indices.enumerated() {
            rows[index].explainedAt = now
            allocations[index].constraint = explanations[position].constraint
        }
    }

    // MARK: Putting in force

    /// Puts the numbers in force, and writes what is published of each member where it has changed.
    /// - Parameter isForced: lost capacity moved them, so that they may come back at once.
    mutating func put(
        _ numbers: AssuredNumbers, _ activities: [Double], isForced: Bool, _ input: DecisionInput
    ) {
        let members = input.members.members
        for index in rows.indices {
            rows[index].move(to: activities[index] * members[index].nominalCost, isForced: isForced, &reversals)
            write(index, numbers[index], burst: numbers.burst(of: index)?.published ?? .none, input)
        }
    }

    private mutating func write(
        _ index: Int, _ rates: Rates, burst: TenantAllocation.Burst, _ input: DecisionInput
    ) {
        let hasMoved = rates != assured[index]
        var order = ServiceOrder(of: rates.perMinute)
        if let place = input.members.members[index].demandIndex {
            let claims = input.claims.span
            order.serve(
                claims[place].demand.interactive.perMinute, claims[place].demand.nearRealTime.perMinute,
                claims[place].demand.batch.perMinute)
            allocations[index].report(
                claims[place].serviceClock, claims[place].retryOffsetMilliseconds, claims[place].flags)
        } else {
            allocations[index].report(0, 0, [])
        }
        allocations[index].follow(order, hasMoved: hasMoved, tolerance: Self.partsTolerance, of: rates.resources)
        allocations[index].burst = burst
        let own = input.demand.fill[index].leastShare
        allocations[index].leastShare =
            own > 0 ? Rates(perMinute: input.members.rows[index].cost * own, resources: rates.resources) : .none
        allocations[index].isQuiet = input.demand.rows[index].isQuiet
        let revision = input.members.members[index].termsRevision
        guard hasMoved || rows[index].termsRevision != revision else { return }
        rows[index].termsRevision = revision
        assured[index] = rates
        allocations[index].assured = rates
        allocations[index].follow(input.members.terms.span, index)
        let least = input.conditions.pool.nominal.perMinute * input.conditions.startShare
        let plain = (rates.perMinute.raised(to: least) * Self.plainOverbooking)
            .lowered(to: input.members.rows[index].ceilings)
        allocations[index].plain = Rates(perMinute: plain.roundedDown, resources: rates.resources)
    }

    /// Each member's part of the fallback.
    mutating func put(safe parts: [SIMD4<Double>], of resources: ResourceSet) {
        for index in parts.indices { allocations[index].safe = Rates(perMinute: parts[index], resources: resources) }
    }

    /// Starts from an allocation that was published before this process began: while the loop learns, it stays in force.
    mutating func resume(_ lastKnown: PoolAllocation, _ members: MemberTable) {
        var old = TenantWalk(lastKnown.tenants)
        for index in rows.indices {
            guard let place = old.place(of: members.tenants[index]) else {
                rows[index].isNew = true
                rows[index].share = 0
                continue
            }
            let rates = lastKnown.tenants[place].assured
            rows[index].isNew = false
            rows[index].termsRevision = 0
            // Nobody knows how long ago it was explained.
            rows[index].explainedAt = Timestamp(milliseconds: 0)
            rows[index].share = members.activity(within: rates, of: index) * members.members[index].nominalCost
            allocations[index] = lastKnown.tenants[place]
            assured[index] = rates
        }
    }
}

extension PublishedNumbers.Row {
    /// Notes a new share, and whether it turns back from the last move.
    fileprivate mutating func move(to next: Double, isForced: Bool, _ reversals: inout Int) {
        let move = next - share
        if !isNew, abs(move) > 0.01 * max(next, share) {
            let direction: Double = move > 0 ? 1 : -1
            if direction * lastMove < 0 { reversals += 1 }
            lastMove = direction
            wasForced = isForced
        }
        share = next
        isNew = false
    }
}

/// The rates that one decision assures its members: whole rates, and the bursts on top of them.
struct AssuredNumbers {
    /// Without bursts, one a member.
    let base: [SIMD4<Double>]
    /// By member; empty without any.
    let bursts: [Int: BurstGrants.Burst]
    let resources: ResourceSet

    /// A member's assured rate, with its burst.
    subscript(index: Int) -> Rates {
        Rates(perMinute: base[index] + (burst(of: index)?.published.rates.perMinute ?? .zero), resources: resources)
    }

    func burst(of index: Int) -> BurstGrants.Burst? { bursts.isEmpty ? nil : bursts[index] }
}

extension TenantAllocation {
    fileprivate mutating func report(_ clock: Double, _ retryOffset: Int64, _ flags: [String]) {
        serviceClock = clock
        retryOffsetMilliseconds = retryOffset
        if !flags.isEmpty || !self.flags.isEmpty { self.flags = flags }
    }

    fileprivate mutating func follow(_ terms: borrowing Span<MemberTerms>, _ index: Int) {
        floor = terms[index].floor
        ceiling = terms[index].ceiling
        hasSoftCeiling = terms[index].hasSoftCeiling
        tier = terms[index].tier
        weight = terms[index].weight
    }

    fileprivate mutating func follow(
        _ order: ServiceOrder, hasMoved: Bool, tolerance: Double, of resources: ResourceSet
    ) {
        let before = (
            criticality.interactive.perMinute, criticality.nearRealTime.perMinute, criticality.batch.perMinute
        )
        guard hasMoved || !order.isClose(to: before, within: tolerance) else { return }
        criticality.interactive = Rates(perMinute: order.interactive, resources: resources)
        criticality.nearRealTime = Rates(perMinute: order.nearRealTime, resources: resources)
        criticality.batch = Rates(perMinute: order.batch, resources: resources)
    }
}

/// A rate divided over a tenant's flows, in bare lanes: each gets its demand in order, what is left goes to
/// `interactive`. The parts sum to the rate.
private struct ServiceOrder {
    private let whole: SIMD4<Double>
    private(set) var nearRealTime = SIMD4<Double>.zero
    private(set) var batch = SIMD4<Double>.zero

    init(of whole: SIMD4<Double>) {
        self.whole = whole
    }

    var interactive: SIMD4<Double> { whole - nearRealTime - batch }

    mutating func serve(
        _ interactive: SIMD4<Double>, _ nearRealTime: SIMD4<Double>, _ batch: SIMD4<Double>
    ) {
        let left = whole - whole.lowered(to: interactive.roundedUp)
        self.nearRealTime = left.lowered(to: nearRealTime.roundedUp)
        self.batch = (left - self.nearRealTime).lowered(to: batch.roundedUp)
    }

    /// True when no part differs by more than `tolerance` of the whole.
    func isClose(
        to other: (interactive: SIMD4<Double>, nearRealTime: SIMD4<Double>, batch: SIMD4<Double>),
        within tolerance: Double
    ) -> Bool {
        let most = whole * tolerance
        func differs(_ left: SIMD4<Double>, _ right: SIMD4<Double>) -> Bool {
            let distance = left - right
            return any((distance .> most) .| (distance .< -most))
        }
        return !differs(interactive, other.interactive)
            && !differs(nearRealTime, other.nearRealTime) && !differs(batch, other.batch)
    }
}
