import HeadroomModel

/// Where each rate may go in this step (DESIGN §5.2, §5.4), and the fill inside these intervals.
extension PoolAllocator {
    /// What was in force before the step, as activity, and whether everything that may not fall fits.
    struct Step {
        var before: [Double]
        /// Capacity was lost: nothing holds a rate from below, and the fill degrades everyone in the order of its bands.
        var isEmergency = false
        /// What the fill runs on.
        var capacity: Rates
    }

    /// Writes the intervals into the fill.
    mutating func step(_ target: Target, _ means: [Double], _ turn: PoolTurn) -> Step {
        followFreeze(turn)
        let applied = turn.pool.mode == .recommend ? appliedNumbers(turn) : []
        var step = Step(before: members.indices.map { members[$0].activity }, capacity: turn.assurable)
        for index in members.indices {
            if freeze != nil {
                fill[index].interval = frozen(index, turn)
            } else if turn.isOpen, !members[index].isNew {
                fill[index].interval = FillInterval(exactly: step.before[index], .breaker)
            } else if turn.pool.mode == .recommend {
                fill[index].interval = FillInterval(exactly: applied[index], .mode)
                fill[index].demand = PerCriticality(
                    interactive: members[index].rates(applied[index], of: turn.pool.nominal.resources),
                    nearRealTime: .none, batch: .none)
            } else {
                let interval = turn.dampening.interval(
                    from: step.before[index], toward: means[index], target: target.activities[index],
                    dominantCost: members[index].dominantCost(in: turn.shared), course: &members[index].course)
                fill[index].interval = bounded(interval, index, target.activities[index], turn)
            }
        }
        fit(&step, turn)
        return step
    }

    /// What the fill gives inside the intervals, one a member.
    mutating func fill(_ step: Step, _ turn: PoolTurn) -> Given {
        let result = engine.solve(FillProblem(capacity: step.capacity, bands: turn.bands, tenants: fill))
        var given = Given(
            activities: activities(result, step.capacity), bands: result.bands, stop: result.tenants.stop,
            slack: result.tenants.slack)
        for index in given.activities.indices {
            // Without the rounding of the search where an end of the interval binds: who is held does not drift.
            let interval = fill[index].interval
            for end in [interval.least, interval.most] where abs(given.activities[index] - end) <= 1e-9 * end {
                given.activities[index] = end
            }
        }
        return given
    }

    struct Given {
        var activities: [Double]
        var bands: [FillResult.Band]
        var stop: FillStop
        @Halved var slack: SIMD4<Double>
    }

    // MARK: Bounds

    /// `interval` with what contracts, guardrails and the pool's mode say besides.
    private func bounded(
        _ interval: FillInterval, _ index: Int, _ target: Double, _ turn: PoolTurn
    ) -> FillInterval {
        var interval = interval
        let cost = members[index].nominalCost
        // Room to grow is kept for nobody while others want it: what lies beyond the deadband about the mean of what the
        // tenant needed. What it needs at the moment says little: a rate that gave way to that would soon turn back.
        let kept = members[index].needed * (1 + turn.rules.policy.dampening.deadband)
        interval.lowerLeast(to: max(kept / cost, fill[index].start), .level)
        // A floor is there the moment it is promised or fits again.
        let floor = turn.floor(of: members[index]) / cost
        if floor > interval.least, floor <= target * (1 + 1e-9) {
            (interval.least, interval.leastConstraint) = (floor, .floor)
            if floor > interval.most { (interval.most, interval.mostConstraint) = (floor, .floor) }
        }
        if turn.pool.mode == .guarded {
            let (current, demand) = (members[index].activity, members[index].credibleDemand / cost)
            interval.raiseLeast(to: min(current, demand), .mode)
            interval.lowerMost(to: max(current, demand, floor), .mode)
        }
        let guardrail = turn.guardrail(of: members[index])
        interval.lowerMost(to: guardrail.most, .guardrail)
        interval.raiseLeast(to: min(guardrail.least, interval.most), .guardrail)
        return interval
    }

    /// Lets everyone fall if what nobody may fall below does not fit. Up to all that tenants share it fits: the part that
    /// is lent takes the small movements of the estimate.
    private mutating func fit(_ step: inout Step, _ turn: PoolTurn) {
        var least = SIMD4<Double>.zero
        for index in members.indices { least += members[index].cost * fill[index].interval.least }
        for resource in turn.whole.resources.members {
            let needed = least[resource.rawValue]
            let most = turn.whole[resource] ?? 0
            if needed > most * (1 + 1e-9) {
                step.isEmergency = true
                // What was observed speaks of capacity that is gone: nobody rises to that any more.
                restartWindows()
                for index in fill.indices { fill[index].interval.least = 0 }
                step.capacity = turn.assurable
                return
            }
            step.capacity[resource] = min(most, max(turn.assurable[resource] ?? 0, needed * (1 + 1e-12)))
        }
    }

    // MARK: Kept numbers

    /// Notes what a freeze that begins keeps: what is in force, or an old generation's numbers.
    private mutating func followFreeze(_ turn: PoolTurn) {
        let inForce = turn.rules.steering.freezes.last { $0.pool == nil || $0.pool == turn.pool.pool }
        guard inForce?.id != freeze else { return }
        freeze = inForce?.id
        for index in members.indices { members[index].kept = nil }
        guard let inForce else { return }
        let numbers = inForce.numbers.first { $0.pool == turn.pool.pool }
        var old = (numbers?.tenants ?? [])[...]
        for index in members.indices {
            while let first = old.first, first.tenant < members[index].id { old.removeFirst() }
            if let first = old.first, first.tenant == members[index].id {
                members[index].keep(first.assured, in: turn.nominal)
            } else if !members[index].isNew {
                members[index].kept = (members[index].share, members[index].assured)
            }
        }
    }

    /// One who was not there when the freeze began may start as an idle tenant does.
    private func frozen(_ index: Int, _ turn: PoolTurn) -> FillInterval {
        let member = members[index]
        if let kept = member.kept { return FillInterval(exactly: kept.share / member.nominalCost, .frozen) }
        let start = turn.rules.policy.start.shareEach / member.dominantCost(in: turn.shared)
        return FillInterval(
            least: 0, leastConstraint: .frozen, most: max(member.activity, start), mostConstraint: .frozen)
    }

    /// While `held` stays in force, it is what the next step starts from.
    mutating func keep(_ held: PoolAllocation, _ turn: PoolTurn) {
        var old = held.tenants[...]
        for index in members.indices {
            while let first = old.first, first.tenant < members[index].id { old.removeFirst() }
            if let known = old.first, known.tenant == members[index].id {
                members[index].resume(known, in: turn.nominal)
            } else {
                members[index].isNew = true
                members[index].share = 0
            }
        }
    }
}

extension PoolMember {
    /// `activity` as rates.
    func rates(_ activity: Double, of resources: ResourceSet) -> Rates {
        Rates(perMinute: cost * activity, resources: resources)
    }

    fileprivate mutating func keep(_ rates: Rates, in nominal: FillCapacity) {
        kept = (share(within: rates, in: nominal), rates)
    }

    /// As it was published before this process began.
    fileprivate mutating func resume(_ published: TenantAllocation, in nominal: FillCapacity) {
        isNew = false
        share = share(within: published.assured, in: nominal)
        assured = published.assured
        constraint = published.constraint
        parts = published.criticality
    }
}

extension FillInterval {
    fileprivate init(exactly activity: Double, _ constraint: Constraint) {
        self.init(least: activity, leastConstraint: constraint, most: activity, mostConstraint: constraint)
    }

    fileprivate mutating func raiseLeast(to bound: Double, _ constraint: Constraint) {
        guard bound > least else { return }
        (least, leastConstraint) = (bound, constraint)
        most = max(most, least)
    }

    fileprivate mutating func lowerLeast(to bound: Double, _ constraint: Constraint) {
        if bound < least { (least, leastConstraint) = (bound, constraint) }
    }

    fileprivate mutating func lowerMost(to bound: Double, _ constraint: Constraint) {
        guard bound < most else { return }
        (most, mostConstraint) = (bound, constraint)
        if least > bound { (least, leastConstraint) = (bound, constraint) }
    }
}
