import HeadroomModel

/// From activities to whole numbers.
extension PoolAllocator {
    /// How far `plain` exceeds the assured rate. Gateways that take one number waste what idle tenants leave;
    /// over-booking by 2 behind a cap for the whole pool wins most of it back (control-law, rule 13).
    private static let plainOverbooking = 2.0
    /// A tenant's order of service stays as it is until demand says otherwise by this part of its rate: it is an order
    /// and no wall, and no reason for a new generation.
    private static let partsTolerance = 0.25
    /// Numbers that are explained again in one decision though they have not changed.
    private static let mostRetold = 100

    /// Whole rates, one a member: what each activity uses, and what resources that are not full still have in
    /// proportion to it.
    ///
    /// Rounded one by one where the sum allows it, so that a number does not move because another one did.
    func assuredRates(_ given: Given, _ turn: PoolTurn) -> [SIMD4<Double>] {
        let resources = turn.pool.nominal.resources
        let slack = slack
        // What no band used up lifts nobody over a guardrail.
        let guardrail = turn.pool.nominal.perMinute * turn.guardrails.mostOfNominal
        var exact = Array(repeating: SIMD4<Double>.zero, count: members.count)
        for index in members.indices {
            let activity = given.activities[index]
            guard activity > 0 else { continue }
            if let kept = kept[index],
                abs(activity * members[index].nominalCost - kept.share) <= 1e-9 * kept.share
            {
                exact[index] = kept.rates.perMinute.lowered(to: fill[index].ceilings)
            } else {
                let filled = fill[index].cost * activity
                let lifted = filled.raised(to: (filled * slack).lowered(to: guardrail))
                exact[index] = lifted.lowered(to: fill[index].ceilings)
            }
        }
        var rounded = exact
        var sum = SIMD4<Double>.zero
        for index in exact.indices {
            rounded[index] = SIMD4.zero.replacing(with: exact[index].roundedToNearest, where: resources.lanes)
            sum += rounded[index]
        }
        for resource in resources.members {
            let (lane, most) = (resource.rawValue, turn.whole[resource] ?? 0)
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
        var entitlements: [PoolDecision.Entitlement] = []
        entitlements.reserveCapacity(members.count)
        var changes: [Explanation.TenantFacts] = []
        changes.reserveCapacity(members.count / 4)
        // A chain goes by age: what has stood for half of that is told again, a few at a time, in a generation that is
        // published anyway.
        let retellingSeconds = turn.rules.policy.telemetry.ledgerHours * 1800
        var retold = isPublished(base, bursts) ? Self.mostRetold : 0

        for index in members.indices {
            let burst = bursts.isEmpty ? nil : bursts[index]
            let assured = Rates(
                perMinute: base[index] + (burst?.published.rates.perMinute ?? .zero), resources: resources)
            if assured != published[index].assured || members[index].isNew {
                tell(index)
            } else if retold > 0, turn.now.seconds(since: members[index].toldAt) > retellingSeconds {
                retold -= 1
                tell(index)
            }
            func tell(_ index: Int) {
                members[index].toldAt = turn.now
                published[index].constraint =
                    burst != nil ? .burst : constraint(index, target, given, demand, turn)
                changes.append(
                    facts(
                        index, assured, target: target, mean: means[index], before: step.before[index],
                        given: given.activities[index], burst: burst?.activity ?? 0, excess: excess, demand))
            }
            settle(index, at: given.activities[index], isForced: step.isEmergency)
            write(index, assured, burst: burst?.published ?? .none, demand, turn)
            let promised = assured.perMinute.raised(to: terms[index].floor.perMinute)
            entitlements.append(
                PoolDecision.Entitlement(
                    tenant: tenants[index],
                    rates: Rates(
                        perMinute: promised.raised(to: fill[index].cost * target.entitled[index]),
                        resources: resources)))
        }
        return PoolDecision(
            allocation: allocation(given, turn), entitlements: entitlements, facts: poolFacts(target, given, turn),
            changes: changes, questions: [], withdrawn: [], credits: credit.takeChanges(at: turn.now),
            reversals: reversals)
    }

    /// True when somebody's rate is another one than before.
    private func isPublished(_ base: [SIMD4<Double>], _ bursts: [Int: Burst]) -> Bool {
        bursts.isEmpty && members.indices.contains { base[$0] != published[$0].assured.perMinute }
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
        _ index: Int, _ assured: Rates, burst: TenantAllocation.Burst, _ demand: [TenantDemand], _ turn: PoolTurn
    ) {
        let hasMoved = assured != published[index].assured
        var parts = ServiceOrder(of: assured.perMinute)
        if let seen = members[index].demandIndex {
            let demand = demand.span
            published[index].serviceClock = demand[seen].serviceClock
            if !demand[seen].flags.isEmpty || !published[index].flags.isEmpty {
                published[index].flags = demand[seen].flags
            }
            published[index].retryOffsetMilliseconds = demand[seen].retryOffsetMilliseconds
            parts.serve(demand[seen].demand)
        } else {
            published[index].serviceClock = 0
            published[index].flags = []
            published[index].retryOffsetMilliseconds = 0
        }
        if hasMoved || !parts.isClose(to: published[index].criticality, within: Self.partsTolerance) {
            published[index].criticality = parts.rates(of: assured.resources)
        }
        published[index].burst = burst
        guard hasMoved || members[index].isRewritten else { return }
        members[index].isRewritten = false
        published[index].assured = assured
        published[index].ceiling = terms[index].ceiling
        published[index].tier = terms[index].tier
        published[index].weight = terms[index].weight
        let plain = (assured.perMinute * Self.plainOverbooking).lowered(to: fill[index].ceilings)
        published[index].plain = Rates(perMinute: plain.roundedDown, resources: assured.resources)
        let safe = assured.perMinute * turn.fallbackShare
        published[index].safe = Rates(perMinute: safe.roundedDown, resources: assured.resources)
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
    private var nearRealTime = SIMD4<Double>.zero
    private var batch = SIMD4<Double>.zero

    init(of whole: SIMD4<Double>) {
        self.whole = whole
    }

    private var interactive: SIMD4<Double> { whole - nearRealTime - batch }

    mutating func serve(_ demand: PerCriticality<Rates>) {
        let left = whole - whole.lowered(to: demand.interactive.perMinute.roundedUp)
        nearRealTime = left.lowered(to: demand.nearRealTime.perMinute.roundedUp)
        batch = (left - nearRealTime).lowered(to: demand.batch.perMinute.roundedUp)
    }

    /// True when no part differs by more than `tolerance` of the whole.
    func isClose(to other: PerCriticality<Rates>, within tolerance: Double) -> Bool {
        let most = whole * tolerance
        func differs(_ left: SIMD4<Double>, _ right: SIMD4<Double>) -> Bool {
            let distance = left - right
            return any((distance .> most) .| (distance .< -most))
        }
        return !differs(interactive, other.interactive.perMinute)
            && !differs(nearRealTime, other.nearRealTime.perMinute) && !differs(batch, other.batch.perMinute)
    }

    func rates(of resources: ResourceSet) -> PerCriticality<Rates> {
        PerCriticality(
            interactive: Rates(perMinute: interactive, resources: resources),
            nearRealTime: Rates(perMinute: nearRealTime, resources: resources),
            batch: Rates(perMinute: batch, resources: resources))
    }
}
