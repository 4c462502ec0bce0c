import HeadroomModel

/// How a number came about (Model §5.7).
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
            guard let seen = members[index].demandIndex else { return .coldStart }
            return demand.span[seen].isDiscounted ? .gamingDiscount : .coldStart
        case .slew where members[index].trust < 0.5: return .coldStart
        case .ceiling: return ceilingConstraint(of: index)
        case .floor where fill[index].ceiling < fill[index].floor && activity >= fill[index].ceiling * (1 - 1e-9):
            return ceilingConstraint(of: index)
        case .level where terms[index].override != nil: return .override
        default: return binds
        }
    }

    /// Filled part by part: across modules the initializer of a generic type looks up that type every time.
    private static let nothing = PerCriticality(repeating: Rates.none)

    func facts(
        _ index: Int, _ assured: Rates, target: Target, mean: Double, before: Double, _ given: Given, burst: Double?,
        excess: Double, _ demand: [TenantDemand], _ turn: PoolTurn
    ) -> Explanation.TenantFacts {
        let (terms, fill, members) = (terms.span, fill.span, members.span)
        // Of whom nothing is known: its demand, told in the pool's resources, is none.
        var (asked, confidence) = (assured * 0, 1.0)
        if let seen = members[index].demandIndex {
            let demand = demand.span
            asked = demand[seen].demand.total
            confidence = demand[seen].confidence
        }
        var credible = Self.nothing
        credible.interactive = rates(fill[index].interactive, of: index)
        credible.nearRealTime = rates(fill[index].nearRealTime - fill[index].interactive, of: index)
        credible.batch = rates(fill[index].batch - fill[index].nearRealTime, of: index)
        return Explanation.TenantFacts(
            tenant: tenants[index], tier: terms[index].tier, weight: terms[index].weight,
            override: terms[index].override,
            demand: asked,
            credibleDemand: credible,
            start: fill[index].start, confidence: confidence, floor: terms[index].floor,
            ceiling: terms[index].ceiling, direction: rates(1, of: index),
            target: target.activities[index], mean: mean, before: before, least: fill[index].interval.least,
            leastConstraint: fill[index].interval.leastConstraint, most: fill[index].interval.most,
            mostConstraint: fill[index].interval.mostConstraint, fill: given.activities[index], assured: assured,
            constraint: burst != nil ? .burst : constraint(index, target, given, demand, turn),
            burst: burst ?? 0, excessShare: excess > 0 ? self.excess(of: index, target) / excess : 0,
            cost: terms[index].cost)
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
            isFrozen: freeze != nil, hasBillingFailure: turn.capacity.upstream.billingFailureSince != nil)
    }
}
