import HeadroomModel

/// From activities to whole numbers.
extension PoolAllocator {
    /// How far `plain` exceeds the assured rate, or what an idle tenant starts with. Gateways that take one number waste
    /// what idle tenants leave; over-booking behind a cap for the whole pool wins most of it back (ControlLaw, rule 13).
    /// What it gains by a factor of 2, 3, 4, 6, 8 is told in <doc:ControlLaw>.
    private static let plainOverbooking = 6.0
    /// A tenant's order of service stays as it is until demand says otherwise by this part of its rate: it is an order
    /// and no wall, and no reason for a new generation.
    private static let partsTolerance = 0.25
    /// Numbers that are explained again in one decision though they have not changed.
    private static let maxRetold = 100

    /// Whole rates, one a member: what each activity uses, and what resources that are not full still have in
    /// proportion to it.
    ///
    /// Rounded one by one where the sum allows it, so that a number does not move because another one did.
    func assuredRates(_ given: Given, _ turn: PoolTurn) -> [SIMD4<Double>] {
        let slack = slack
        // What no band used up lifts nobody over a guardrail.
        let guardrail = turn.pool.nominal.perMinute * turn.guardrails.mostOfNominal
        var exact = Array(repeating: SIMD4<Double>.zero, count: members.count)
        for index in members.indices {
            let activity = given.activities[index]
            guard activity > 0 else { continue }
            if !kept.isEmpty, let kept = kept[index],
                abs(activity * members[index].nominalCost - kept.share) <= 1e-9 * kept.share
            {
                exact[index] = kept.rates.perMinute.lowered(to: fill[index].ceilings)
            } else {
                let filled = fill[index].cost * activity
                let lifted = filled.raised(to: (filled * slack).lowered(to: guardrail))
                exact[index] = lifted.lowered(to: fill[index].ceilings)
            }
        }
        return Self.whole(exact, within: turn.whole)
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

    /// Follows the fill's λ where the one in use no longer fits, or is not half as large, and keeps a quarter below it: it
    /// moves everyone at once, and what it leaves is lent.
    ///
    /// Relative to the least of all: while intervals keep everyone from filling any resource, what is left of the one
    /// that is used most is lent, and lifts nobody above its interval.
    mutating func followSlack(_ given: Given, _ step: Step, _ turn: PoolTurn) {
        let resources = turn.pool.nominal.resources.members
        let least = resources.reduce(.infinity) { min($0, given.outcome.slack[$1.rawValue]) }
        for resource in resources {
            let lane = resource.rawValue
            let (now, kept) = (least < .infinity ? given.outcome.slack[lane] / least : 1, slack[lane])
            let margin = (turn.whole[resource] ?? 0) / max(step.capacity[resource] ?? 0, 1e-30)
            if isFirst || kept > now * margin || kept < 0.5 * now { slack[lane] = max(1, 0.75 * now) }
        }
    }

    mutating func publish(
        _ demand: [TenantDemand], target: Target, means: [Double], step: Step, given: Given,
        _ turn: PoolTurn
    ) -> PoolDecision {
        followSlack(given, step, turn)
        let base = assuredRates(given, turn)
        let bursts = grantBursts(demand, step, besides: base, turn)
        let excess = excess(target)
        let resources = turn.pool.nominal.resources
        var entitlements: [Entitlement] = []
        entitlements.reserveCapacity(members.count)
        let told = told(base, bursts, turn)
        let changes = told.map { index in
            facts(
                index, assured(index, base, bursts), target: target, mean: means[index], before: step.before[index],
                given, burst: bursts[index]?.activity, excess: excess, demand, turn)
        }
        let explained = changes.span
        for (position, index) in told.enumerated() {
            members[index].toldAt = turn.now
            published[index].constraint = explained[position].constraint
        }
        let terms = terms
        for index in members.indices {
            let burst = bursts.isEmpty ? nil : bursts[index]?.published
            let assured = Rates(perMinute: base[index] + (burst?.rates.perMinute ?? .zero), resources: resources)
            settle(index, at: given.activities[index], isForced: step.isEmergency)
            write(index, assured, burst: burst ?? .none, demand, turn)
            let promised = assured.perMinute.raised(
                to: terms.span[index].floor.perMinute.lowered(to: fill[index].ceilings))
            entitlements.append(
                Entitlement(
                    tenant: tenants[index],
                    rates: Rates(
                        perMinute: promised.raised(to: fill[index].cost * target.entitled[index]),
                        resources: resources)))
        }
        divideFallback(demand, turn)
        return PoolDecision(
            allocation: allocation(given, turn), entitlements: entitlements, facts: poolFacts(target, given, turn),
            changes: changes, questions: [], withdrawn: [], credits: credit.takeChanges(at: turn.now),
            reversals: reversals)
    }

    /// What one is assured, with its burst.
    private func assured(_ index: Int, _ base: [SIMD4<Double>], _ bursts: [Int: Burst]) -> Rates {
        let burst = bursts.isEmpty ? nil : bursts[index]?.published.rates.perMinute
        return Rates(perMinute: base[index] + (burst ?? .zero), resources: nominal.resources)
    }

    /// Those whose numbers are to be explained: because they change, or because of their age. A chain goes by age: what
    /// has stood for half of that is told again, a few at a time, in a generation that is published anyway.
    private func told(_ base: [SIMD4<Double>], _ bursts: [Int: Burst], _ turn: PoolTurn) -> [Int] {
        let isPublished = bursts.isEmpty && members.indices.contains { base[$0] != assured[$0].perMinute }
        var left = isPublished ? Self.maxRetold : 0
        let seconds = turn.rules.policy.telemetry.ledgerHours * 1800
        let (members, known) = (members.span, assured.span)
        var told: [Int] = []
        for index in members.indices {
            if members[index].isNew || assured(index, base, bursts) != known[index] {
                told.append(index)
            } else if left > 0, turn.now.seconds(since: members[index].toldAt) > seconds {
                left -= 1
                told.append(index)
            }
        }
        return told
    }

    private func allocation(_ given: Given, _ turn: PoolTurn) -> PoolAllocation {
        let fallbackShare = turn.fallbackShare
        return PoolAllocation(
            pool: turn.pool.pool, state: turn.capacity.state, models: turn.capacity.models, mode: turn.pool.mode,
            enforce: turn.pool.mode != .observe, level: given.outcome.bands.last?.level ?? 0,
            capacity: turn.capacity.whole, nominal: turn.capacity.nominal, capacityReason: turn.capacity.reason,
            budget: turn.budget, float: turn.float,
            fallback: turn.capacity.whole.map { ($1 * fallbackShare).rounded(.down) },
            burstSeconds: turn.pool.burstSeconds, failover: turn.pool.failover,
            probesPerSecond: turn.rules.policy.breaker.probesPerSecond, tenants: published, unlisted: turn.unlisted)
    }

    /// Notes what was given: what the next step starts from.
    /// - Parameter isForced: lost capacity moved it, so that it may come back at once.
    private mutating func settle(_ index: Int, at activity: Double, isForced: Bool) {
        let share = activity * members[index].nominalCost
        let move = share - members[index].share
        if !members[index].isNew, abs(move) > 0.01 * max(share, members[index].share) {
            let direction: Double = move > 0 ? 1 : -1
            if direction * members[index].lastMove < 0 { reversals += 1 }
            members[index].lastMove = direction
            members[index].course.moved = isForced ? 0 : direction
        }
        members[index].share = share
        members[index].isNew = false
    }

    /// What is published of one tenant: as it was, but for what has changed.
    private mutating func write(
        _ index: Int, _ rates: Rates, burst: TenantAllocation.Burst, _ demand: [TenantDemand], _ turn: PoolTurn
    ) {
        let hasMoved = rates != assured[index]
        var order = ServiceOrder(of: rates.perMinute)
        if let seen = members[index].demandIndex {
            let demand = demand.span
            order.serve(
                demand[seen].demand.interactive.perMinute, demand[seen].demand.nearRealTime.perMinute,
                demand[seen].demand.batch.perMinute)
            published[index].report(demand[seen].serviceClock, demand[seen].retryOffsetMilliseconds, demand[seen].flags)
        } else {
            published[index].report(0, 0, [])
        }
        published[index].follow(order, hasMoved: hasMoved, tolerance: Self.partsTolerance, of: rates.resources)
        published[index].burst = burst
        guard hasMoved || members[index].isRewritten else { return }
        members[index].isRewritten = false
        assured[index] = rates
        published[index].assured = rates
        published[index].floor = terms[index].floor
        published[index].ceiling = terms[index].ceiling
        published[index].tier = terms[index].tier
        published[index].weight = terms[index].weight
        let least = turn.pool.nominal.perMinute * turn.startShare
        let plain = (rates.perMinute.raised(to: least) * Self.plainOverbooking).lowered(to: fill[index].ceilings)
        published[index].plain = Rates(perMinute: plain.roundedDown, resources: rates.resources)
    }
}

/// Of a row that is too long to be copied to read one number.
extension TenantAllocation {
    fileprivate mutating func report(_ clock: Double, _ retryOffset: Int64, _ flags: [String]) {
        serviceClock = clock
        retryOffsetMilliseconds = retryOffset
        if !flags.isEmpty || !self.flags.isEmpty { self.flags = flags }
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

extension PoolCapacity {
    /// In whole numbers.
    fileprivate var whole: Rates { capacity.map { $1.rounded(.down) } }
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
