import HeadroomModel

/// How a number came about (DESIGN §5.7).
extension PoolAllocator {
    /// All demand above what its tenants are entitled to; 0 while all demand finds room.
    func excess(_ target: Target) -> Double {
        let isShort = zip(target.outcome.stop.bands, target.outcome.bands).contains { raise, result in
            (raise.bound == .demand || raise.bound == .floor) && result.saturated != nil
        }
        return isShort ? members.indices.reduce(0) { $0 + excess(of: $1, target) } : 0
    }

    private func excess(of index: Int, _ target: Target) -> Double {
        max(0, members[index].demand - target.entitled[index] * members[index].nominalCost)
    }

    /// What binds one number: the arm of the clamp that it stands at, told by what lies behind it.
    func constraint(
        _ index: Int, _ target: Target, _ given: Given, _ demand: [TenantDemand], _ turn: PoolTurn
    ) -> Constraint {
        let activity = given.activities[index]
        var binds = given.outcome.stop.of(fill[index], at: activity).constraint
        if binds == .level, abs(activity - target.activities[index]) <= 1e-9 * activity {
            // It is where the undampened fill wants it: what stopped that is what binds.
            var row = fill[index]
            row.interval = guardrail(index, turn)
            binds = target.outcome.stop.of(row, at: activity).constraint
        }
        switch binds {
        case .demand where members[index].credibleDemand < members[index].demand * (1 - 1e-9):
            let isFlagged = members[index].demandIndex.map { demand[$0].isDiscounted } ?? false
            return isFlagged ? .gamingDiscount : .coldStart
        case .slew where members[index].trust < 0.5: return .coldStart
        case .level where terms[index].override != nil: return .override
        default: return binds
        }
    }

    func facts(
        _ index: Int, _ assured: Rates, target: Target, mean: Double, before: Double, given: Double, burst: Double,
        excess: Double, _ demand: [TenantDemand]
    ) -> Explanation.TenantFacts {
        let (terms, row) = (terms[index], fill[index])
        let interval = row.interval
        let seen = members[index].demandIndex
        // Nothing is known of it: its demand, told in the pool's resources, is none.
        let asked = seen.map { demand[$0].total } ?? assured * 0
        return Explanation.TenantFacts(
            tenant: tenants[index], tier: terms.tier, weight: terms.weight, override: terms.override,
            demand: asked,
            credibleDemand: PerCriticality(
                interactive: rates(row.interactive, of: index),
                nearRealTime: rates(row.nearRealTime - row.interactive, of: index),
                batch: rates(row.batch - row.nearRealTime, of: index)),
            start: row.start, confidence: seen.map { demand[$0].confidence } ?? 1, floor: terms.floor,
            ceiling: terms.ceiling, direction: rates(1, of: index),
            target: target.activities[index], mean: mean, before: before, least: interval.least,
            leastConstraint: interval.leastConstraint, most: interval.most,
            mostConstraint: interval.mostConstraint, fill: given, assured: assured,
            constraint: published[index].constraint,
            burst: burst, excessShare: excess > 0 ? self.excess(of: index, target) / excess : 0)
    }

    func poolFacts(_ target: Target, _ given: Given, _ turn: PoolTurn) -> Explanation.PoolFacts {
        func bands(_ outcome: FillOutcome) -> [Explanation.PoolFacts.Band] {
            zip(turn.bands, outcome.bands).map { raise, result in
                Explanation.PoolFacts.Band(name: raise.band.name, level: result.level, saturated: result.saturated)
            }
        }
        return Explanation.PoolFacts(
            pool: turn.pool.pool, mode: turn.pool.mode, state: turn.capacity.state, nominal: turn.capacity.nominal,
            capacity: turn.capacity.capacity, capacityReason: turn.capacity.reason,
            capacityChangedAt: capacityMark?.at, capacityBefore: capacityMark?.before,
            recentAttempts: turn.capacity.recentAttempts, recentRefusals: turn.capacity.recentRefusals,
            shared: given.capacity, slack: Rates(perMinute: slack, resources: given.capacity.resources),
            bands: bands(given.outcome), exhausted: bands(target.outcome).first { $0.saturated != nil },
            isFrozen: freeze != nil)
    }
}
