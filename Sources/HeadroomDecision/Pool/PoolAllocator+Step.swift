import HeadroomModel

/// Where each rate may go in this step (Model §5.2, §5.4), and the fill inside these intervals.
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
        let mode = turn.pool.mode
        let dampening = turn.dampening
        let applied = mode == .recommend ? appliedNumbers(turn) : []
        var step = Step(before: members.indices.map { members[$0].activity }, capacity: turn.assurable)
        for index in members.indices {
            if freeze != nil {
                fill[index].interval = frozen(index, turn)
            } else if turn.isOpen, !members[index].isNew {
                fill[index].interval = FillInterval(exactly: step.before[index], .breaker)
            } else if mode == .recommend {
                fill[index].interval = FillInterval(exactly: applied[index], .mode)
                let demand = applied[index]
                (fill[index].interactive, fill[index].nearRealTime, fill[index].batch) = (demand, demand, demand)
            } else {
                let interval = dampening.interval(
                    from: step.before[index], toward: means[index], target: target.activities[index],
                    dominantCost: turn.shared.dominantCost(of: fill[index].cost), course: &members[index].course)
                bound(index, interval, target.activities[index], mode, turn)
            }
            // Whatever holds a rate: a ceiling that came down is a bound at once.
            if fill[index].ceiling < fill[index].interval.most {
                fill[index].interval.lowerMost(to: fill[index].ceiling, ceilingConstraint(of: index))
            }
        }
        fit(&step, turn)
        return step
    }

    /// What the fill gives inside the intervals, one a member.
    mutating func fill(_ step: Step, _ turn: PoolTurn) -> Given {
        let outcome = engine.solve(fill, turn.bands, in: step.capacity)
        var given = Given(capacity: step.capacity, outcome: outcome, activities: outcome.activities)
        for index in given.activities.indices {
            // Without the rounding of the search where an end of the interval binds: who is held does not drift.
            let (activity, interval) = (given.activities[index], fill[index].interval)
            if abs(activity - interval.most) <= 1e-9 * interval.most {
                given.activities[index] = interval.most
            } else if abs(activity - interval.least) <= 1e-9 * interval.least {
                given.activities[index] = interval.least
            }
        }
        return given
    }

    struct Given {
        /// What the fill ran on.
        var capacity: Rates
        var outcome: FillOutcome
        /// One a member; the search's, without its rounding.
        var activities: [Double]
    }

    // MARK: Bounds

    /// Writes `interval` with what contracts, guardrails and the pool's mode say besides.
    private mutating func bound(
        _ index: Int, _ interval: FillInterval, _ target: Double, _ mode: PoolMode, _ turn: PoolTurn
    ) {
        var interval = interval
        let cost = members[index].nominalCost
        // Room to grow is kept for nobody while others want it: what lies beyond the deadband about the mean of what the
        // tenant needed. What it needs at the moment says little: a rate that gave way to that would soon turn back.
        let kept = members[index].needed * (1 + turn.deadband)
        interval.lowerLeast(to: max(kept / cost, fill[index].start), .level)
        // A floor is there the moment it is promised or fits again.
        let floor = fill[index].promised
        if floor > interval.least, floor <= target * (1 + 1e-9) {
            (interval.least, interval.leastConstraint) = (floor, .floor)
            if floor > interval.most { (interval.most, interval.mostConstraint) = (floor, .floor) }
        }
        if mode == .guarded {
            let (current, demand) = (members[index].activity, members[index].credibleDemand / cost)
            interval.raiseLeast(to: heldInGuarded(index, turn), .mode)
            interval.lowerMost(to: max(current, demand, floor), .mode)
        }
        let guardrail = turn.guardrail(
            cost: cost, floor: floor, demand: members[index].credibleDemand, approved: approved(index, turn))
        interval.lowerMost(to: guardrail.most, .guardrail)
        interval.raiseLeast(to: min(guardrail.least, interval.most), .guardrail)
        fill[index].interval = interval
    }

    /// Lets everyone fall if what nobody may fall below does not fit. Up to all that tenants share it fits: the part that
    /// is lent takes the small movements of the estimate.
    private mutating func fit(_ step: inout Step, _ turn: PoolTurn) {
        var least = SIMD4<Double>.zero
        for index in fill.indices { least += fill[index].cost * fill[index].interval.least }
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
        kept = []
        guard let inForce else { return }
        kept = Array(repeating: nil, count: members.count)
        let numbers = inForce.numbers.first { $0.pool == turn.pool.pool }
        var old = (numbers?.tenants ?? [])[...]
        for index in members.indices {
            while let first = old.first, first.tenant < tenants[index] { old.removeFirst() }
            if let first = old.first, first.tenant == tenants[index] {
                let activity = activity(within: first.assured, of: index)
                kept[index] = KeptNumber(share: activity * members[index].nominalCost, rates: first.assured)
            } else if !members[index].isNew {
                kept[index] = KeptNumber(share: members[index].share, rates: assured[index])
            }
        }
    }

    /// One who was not there when the freeze began may start as an idle tenant does.
    private func frozen(_ index: Int, _ turn: PoolTurn) -> FillInterval {
        if let kept = kept[index] { return FillInterval(exactly: kept.share / members[index].nominalCost, .frozen) }
        let start = turn.startShare / turn.shared.dominantCost(of: fill[index].cost)
        return FillInterval(
            least: 0, leastConstraint: .frozen, most: max(members[index].activity, start), mostConstraint: .frozen)
    }

    /// While `held` stays in force, it is what the next step starts from.
    mutating func keep(_ held: PoolAllocation, _ turn: PoolTurn) {
        safe.at = nil
        var old = held.tenants[...]
        for index in members.indices {
            while let first = old.first, first.tenant < tenants[index] { old.removeFirst() }
            if let known = old.first, known.tenant == tenants[index] {
                resume(index, known)
            } else {
                members[index].isNew = true
                members[index].share = 0
            }
        }
    }

    /// As it was published before this process began.
    private mutating func resume(_ index: Int, _ allocation: TenantAllocation) {
        members[index].isNew = false
        members[index].isRewritten = true
        // Nobody knows how long ago it was explained.
        members[index].toldAt = Timestamp(milliseconds: 0)
        members[index].share = activity(within: allocation.assured, of: index) * members[index].nominalCost
        published[index] = allocation
        assured[index] = allocation.assured
    }
}

/// What a freeze keeps one member at.
struct KeptNumber: Sendable {
    var share: Double
    var rates: Rates
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
