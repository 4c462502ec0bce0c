import HeadroomModel

/// How a number came about (DESIGN §5.7).
extension PoolAllocator {
    /// Each one's part of the demand above what it is entitled to, while there is demand that finds no room.
    struct Excess {
        var shares: [Double] = []
        var total = 0.0
    }

    func excess(_ target: Target, _ given: Given) -> Excess {
        let isShort = zip(target.stop.bands, target.bands).contains { band, result in
            (band.bound == .demand || band.bound == .floor) && result.saturated != nil
        }
        guard isShort else { return Excess() }
        var excess = Excess()
        excess.shares = members.indices.map { index in
            let entitled = target.entitled.isEmpty ? target.activities[index] : target.entitled[index]
            return max(0, members[index].demand - entitled * members[index].nominalCost)
        }
        excess.total = excess.shares.reduce(0, +)
        return excess
    }

    /// What binds one number: the arm of the clamp that it stands at, told by what lies behind it.
    func constraint(
        _ index: Int, _ target: Target, _ step: Step, _ given: Given, _ demand: [TenantDemand], _ turn: PoolTurn
    ) -> Constraint {
        let activity = given.activities[index]
        let need = FillNeed(fill, index)
        let direction = FillDirection(of: need, in: FillCapacity(step.capacity))
        var binds = given.stop.of(fill[index].tier, fill[index].interval, need, direction, at: activity).constraint
        if binds == .level, abs(activity - target.activities[index]) <= 1e-9 * activity {
            // It is where the undampened fill wants it: what stopped that is what binds.
            let guardrail = turn.guardrail(of: members[index])
            let need = FillNeed(fill, index, within: guardrail)
            binds = target.stop.of(fill[index].tier, guardrail, need, direction, at: activity).constraint
        }
        switch binds {
        case .demand where members[index].credibleDemand < members[index].demand * (1 - 1e-9):
            let isFlagged = members[index].demandIndex.map { demand[$0].isDiscounted } ?? false
            return isFlagged ? .gamingDiscount : .coldStart
        case .slew where members[index].trust < 0.5: return .coldStart
        case .level where members[index].terms.override != nil: return .override
        default: return binds
        }
    }

    func facts(
        _ index: Int, _ assured: Rates, target: Target, mean: Double, before: Double, given: Double, burst: Double,
        excess: Excess, _ demand: [TenantDemand]
    ) -> Explanation.TenantFacts {
        let member = members[index]
        let interval = fill[index].interval
        let resources = assured.resources
        let seen = member.demandIndex
        // Nothing is known of it: its demand, told in the pool's resources, is none.
        let asked = seen.map { demand[$0].total } ?? assured * 0
        return Explanation.TenantFacts(
            tenant: member.id, tier: member.terms.tier, weight: member.terms.weight, override: member.terms.override,
            demand: asked,
            credibleDemand: member.demand > 0 ? asked * (member.credibleDemand / member.demand) : asked,
            confidence: seen.map { demand[$0].confidence } ?? 1, floor: member.terms.floor,
            ceiling: member.terms.ceiling, direction: member.rates(1, of: resources),
            target: target.activities[index], mean: mean, before: before, least: interval.least,
            leastConstraint: interval.leastConstraint, most: interval.most,
            mostConstraint: interval.mostConstraint, fill: given, assured: assured, constraint: member.constraint,
            burst: burst, excessShare: excess.total > 0 ? excess.shares[index] / excess.total : 0)
    }

    func poolFacts(_ given: Given, _ turn: PoolTurn) -> Explanation.PoolFacts {
        Explanation.PoolFacts(
            pool: turn.pool.pool, mode: turn.pool.mode, state: turn.capacity.state, nominal: turn.capacity.nominal,
            capacity: turn.capacity.capacity, capacityReason: turn.capacity.reason,
            capacityChangedAt: capacityMark?.at, capacityBefore: capacityMark?.before,
            recentAttempts: turn.capacity.recentAttempts, recentRefusals: turn.capacity.recentRefusals,
            shared: turn.assurable,
            bands: zip(turn.bands, given.bands).map { band, result in
                Explanation.PoolFacts.Band(name: band.name, level: result.level, saturated: result.saturated)
            }, isFrozen: freeze != nil)
    }
}
