import HeadroomModel

/// From activities to whole numbers.
extension PoolAllocator {
    /// How far `plain` exceeds the assured rate. Gateways that take one number waste what idle tenants leave;
    /// over-booking by 2 behind a cap for the whole pool wins most of it back (control-law, rule 13).
    private static let plainOverbooking = 2.0
    /// A tenant's order of service stays as it is until demand says otherwise by this part of its rate: it is an order
    /// and no wall, and no reason for a new generation.
    private static let partsTolerance = 0.25

    /// Whole rates, one a member: what each activity uses, and what resources that are not full still have in
    /// proportion to it.
    ///
    /// Rounded one by one where the sum allows it, so that a number does not move because another one did.
    func assuredRates(_ given: Given, _ step: Step, _ turn: PoolTurn) -> [SIMD4<Double>] {
        let resources = turn.pool.nominal.resources
        var exact = members.indices.map { index -> SIMD4<Double> in
            let activity = given.activities[index]
            guard activity > 0 else { return .zero }
            let most = members[index].terms.most
            if let kept = members[index].kept,
                abs(activity * members[index].nominalCost - kept.share) <= 1e-9 * kept.share
            {
                return pointwiseMin(kept.rates.perMinute, most)
            }
            return pointwiseMin(members[index].cost * activity * slack, most)
        }
        var sum = SIMD4<Double>.zero
        for index in exact.indices { sum += exact[index].rounded(.toNearestOrAwayFromZero) }
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard resources.contains(resource) else {
                for index in exact.indices { exact[index][lane] = 0 }
                continue
            }
            let most = turn.whole[resource] ?? 0
            if sum[lane] <= most {
                for index in exact.indices { exact[index][lane].round() }
            } else {
                let parts = exact.map { $0[lane] }
                // A sum of shares of 100 may end as 99.999…: that is rounding and no reason to lose a unit.
                let total = min(most, parts.reduce(0, +) * (1 + 1e-12))
                let integers = LargestRemainder.integers(of: parts, total: Int(total.rounded(.down)))
                for index in exact.indices { exact[index][lane] = Double(integers[index]) }
            }
        }
        return exact
    }

    /// Follows the fill's λ where the one in use no longer fits, or is not half as large: it moves everyone at once, and
    /// what it leaves is lent.
    ///
    /// Relative to the least of all: while intervals keep everyone from filling any resource, what is left of the one
    /// that is used most is lent, and lifts nobody above its interval.
    mutating func followSlack(_ given: Given, _ step: Step, _ turn: PoolTurn) {
        let resources = turn.pool.nominal.resources.members
        let least = resources.reduce(.infinity) { min($0, given.slack[$1.rawValue]) }
        for resource in resources {
            let lane = resource.rawValue
            let (now, kept) = (least < .infinity ? given.slack[lane] / least : 1, slack[lane])
            let margin = (turn.whole[resource] ?? 0) / max(step.capacity[resource] ?? 0, 1e-30)
            if isFirst || kept > now * margin || kept < 0.5 * now { slack[lane] = now }
        }
    }

    mutating func publish(
        _ demand: [TenantDemand], target: Target, means: [Double], step: Step, given: Given,
        _ turn: PoolTurn
    ) -> PoolDecision {
        followSlack(given, step, turn)
        let base = assuredRates(given, step, turn)
        let bursts = grantBursts(demand, step, besides: base, turn)
        let excess = excess(target, given)
        let loop = turn.rules.policy.loop
        let resources = turn.pool.nominal.resources
        var allocation = PoolAllocation(
            pool: turn.pool.pool, state: turn.capacity.state, models: turn.capacity.models, mode: turn.pool.mode,
            enforce: turn.pool.mode != .observe, level: given.bands.last?.level ?? 0, capacity: turn.capacity.whole,
            nominal: turn.capacity.nominal, capacityReason: turn.capacity.reason, budget: turn.budget,
            float: turn.float, fallback: turn.capacity.whole.map { ($1 * loop.fallbackShare).rounded(.down) },
            burstSeconds: turn.pool.burstSeconds, failover: turn.pool.failover,
            probesPerSecond: turn.rules.policy.breaker.probesPerSecond, unlisted: turn.unlisted)
        allocation.tenants.reserveCapacity(members.count)
        var entitlements: [PoolDecision.Entitlement] = []
        entitlements.reserveCapacity(members.count)
        var changes: [Explanation.TenantFacts] = []

        for index in members.indices {
            let burst = bursts.isEmpty ? nil : bursts[index]
            let assured = Rates(
                perMinute: base[index] + (burst?.published.rates.perMinute ?? .zero), resources: resources)
            if assured != members[index].assured || members[index].isNew {
                members[index].constraint =
                    burst != nil ? .burst : constraint(index, target, step, given, demand, turn)
                changes.append(
                    facts(
                        index, assured, target: target, mean: means[index], before: step.before[index],
                        given: given.activities[index], burst: burst?.activity ?? 0, excess: excess, demand))
            }
            settle(index, at: given.activities[index], assured, demand)
            let seen = members[index].demandIndex
            allocation.tenants.append(
                TenantAllocation(
                    tenant: members[index].id, assured: assured, ceiling: members[index].terms.ceiling,
                    plain: Rates(
                        perMinute: pointwiseMin(
                            assured.perMinute * Self.plainOverbooking, members[index].terms.most
                        ).rounded(.down), resources: resources),
                    safe: Rates(
                        perMinute: (assured.perMinute * loop.fallbackShare).rounded(.down), resources: resources),
                    burst: burst?.published ?? .none, weight: members[index].terms.weight,
                    serviceClock: seen.map { demand[$0].serviceClock } ?? 0, tier: members[index].terms.tier,
                    constraint: members[index].constraint, flags: seen.map { demand[$0].flags } ?? [],
                    retryOffsetMilliseconds: seen.map { demand[$0].retryOffsetMilliseconds } ?? 0,
                    criticality: members[index].parts))
            let entitled = target.entitled.isEmpty ? target.activities[index] : target.entitled[index]
            let promised = pointwiseMax(assured.perMinute, members[index].terms.floor.perMinute)
            entitlements.append(
                PoolDecision.Entitlement(
                    tenant: members[index].id,
                    rates: Rates(
                        perMinute: pointwiseMax(promised, members[index].cost * entitled), resources: resources)))
        }
        return PoolDecision(
            allocation: allocation, entitlements: entitlements, facts: poolFacts(given, turn), changes: changes,
            questions: [], withdrawn: [], credits: credit.takeChanges(), reversals: reversals)
    }

    /// Notes what was given: what the next step starts from.
    private mutating func settle(
        _ index: Int, at activity: Double, _ assured: Rates, _ demand: [TenantDemand]
    ) {
        let share = activity * members[index].nominalCost
        let move = share - members[index].share
        if !members[index].isNew, abs(move) > 0.01 * max(share, members[index].share) {
            let direction: Double = move > 0 ? 1 : -1
            if direction * members[index].lastMove < 0 { reversals += 1 }
            members[index].lastMove = direction
        }
        members[index].share = share
        members[index].isNew = false

        var parts = PerCriticality<Rates>(repeating: assured * 0)
        if let seen = members[index].demandIndex {
            parts = assured.inOrderOfService(demand[seen].demand)
        } else {
            parts.interactive = assured
        }
        if assured != members[index].assured || !members[index].parts.isClose(to: parts, within: Self.partsTolerance) {
            members[index].parts = parts
        }
        members[index].assured = assured
    }
}

extension MemberTerms {
    /// The ceiling in every lane.
    fileprivate var most: SIMD4<Double> {
        SIMD4(repeating: .infinity).replacing(with: ceiling.perMinute, where: ceiling.resources.lanes)
    }
}

extension PoolCapacity {
    /// In whole numbers.
    fileprivate var whole: Rates { capacity.map { $1.rounded(.down) } }
}

extension Rates {
    /// Divided over a tenant's flows: each gets its demand in order, what is left goes to `interactive`. The parts sum to
    /// the rate.
    fileprivate func inOrderOfService(_ demand: PerCriticality<Rates>) -> PerCriticality<Rates> {
        let wanted = demand.nearRealTime.perMinute.rounded(.up)
        let interactive = pointwiseMin(perMinute, demand.interactive.perMinute.rounded(.up))
        let nearRealTime = pointwiseMin(perMinute - interactive, wanted)
        let batch = pointwiseMin(perMinute - interactive - nearRealTime, demand.batch.perMinute.rounded(.up))
        return PerCriticality(
            interactive: Rates(perMinute: perMinute - nearRealTime - batch, resources: resources),
            nearRealTime: Rates(perMinute: nearRealTime, resources: resources),
            batch: Rates(perMinute: batch, resources: resources))
    }
}

extension PerCriticality<Rates> {
    /// True when no part differs by more than `tolerance` of the whole.
    fileprivate func isClose(to other: PerCriticality<Rates>, within tolerance: Double) -> Bool {
        let whole = other.interactive.perMinute + other.nearRealTime.perMinute + other.batch.perMinute
        func differs(_ left: Rates, _ right: Rates) -> Bool {
            let distance = left.perMinute - right.perMinute
            let most = whole * tolerance
            return any((distance .> most) .| (distance .< -most)) || left.resources != right.resources
        }
        return !differs(interactive, other.interactive) && !differs(nearRealTime, other.nearRealTime)
            && !differs(batch, other.batch)
    }
}
