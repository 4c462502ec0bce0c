import HeadroomModel

/// Bounds where each rate may go in this step (Model §5.2, §5.4): by dampening, guardrails, the pool's mode, a freeze or
/// an open breaker. It gives intervals, and the fill runs inside them.
struct StepBounds: Sendable {
    /// One per member.
    private var courses: [Course] = []
    /// As of the step before; `nil` before the first.
    private var terms: Terms?
    /// When the members' terms or the pool's changed last, and when capacity was lost last; `nil` for never.
    private var rulesChangedAt: Timestamp?
    private var capacityLostAt: Timestamp?

    /// What people said of the pool, besides the members' terms, that moves rates.
    private struct Terms: Equatable, Sendable {
        var mode: PoolMode
        var isFrozen: Bool
        var approved: [TenantID: Rates]
    }

    mutating func admit(_ admission: MemberTable.Admission, at now: Timestamp) {
        // The first rules of all are no change.
        if admission.hasNewRules, !courses.isEmpty { rulesChangedAt = now }
        if let origins = admission.origins { courses = courses.moved(origins) { _ in Course(at: now) } }
    }

    private mutating func follow(_ next: Terms, at now: Timestamp) {
        if let terms, terms != next { rulesChangedAt = now }
        terms = next
    }

    /// The input of the dampened fill. One of each a member.
    struct Step: Sendable {
        /// In force before the step, as activity.
        var before: [Double]
        var intervals: [FillInterval]
        var demands: [FillDemand]
        /// Capacity was lost: no lower end holds, and the fill takes from everyone in the order of its bands.
        var isEmergency = false
        var capacity: Rates
    }

    mutating func bound(
        _ target: PoolTarget, _ means: Observation.Means, inForce: PublishedNumbers, freeze: FreezeKeeper,
        _ input: DecisionInput
    ) -> Step {
        let conditions = input.conditions
        let (members, rows) = (input.members.members, input.members.rows)
        let (mode, dampening) = (conditions.pool.mode, conditions.dampening)
        let now = conditions.now
        follow(Terms(mode: mode, isFrozen: freeze.isFrozen, approved: conditions.approved), at: now)
        let waits = TurnWaits(
            window: conditions.rules.policy.dampening.observationSeconds,
            secondsSinceRules: rulesChangedAt.map { now.seconds(since: $0) },
            secondsSinceLoss: capacityLostAt.map { now.seconds(since: $0) },
            isBelowContract: conditions.capacity.isBelowContract)
        let isRecommending = mode == .recommend
        let applied = isRecommending ? HypotheticalFill(input).applied() : []
        var step = Step(
            before: inForce.activities(of: input.members),
            intervals: Array(repeating: FillInterval(), count: rows.count), demands: input.demand.fill,
            capacity: input.assurable)
        for index in rows.indices {
            var interval: FillInterval
            if freeze.isFrozen {
                interval = freeze.interval(of: index, current: step.before[index], input)
            } else if conditions.isOpen, !inForce.rows[index].isNew {
                interval = FillInterval(exactly: step.before[index], .breaker)
                raise(&interval, toFloorOf: index, target.activities[index], input)
            } else if isRecommending {
                interval = FillInterval(exactly: applied[index], .mode)
            } else {
                let cost = members[index].nominalCost
                let move = LastMove(
                    direction: inForce.rows[index].lastMove, isForced: inForce.rows[index].wasForced,
                    isFlagged: input.demand.rows[index].isFlagged)
                interval = dampening.interval(
                    from: step.before[index], toward: means.targets[index], target: target.activities[index],
                    need: means.needs[index] / cost,
                    dominantCost: conditions.shared.dominantCost(of: rows[index].cost), after: move, waits,
                    course: &courses[index])
                // A rate above the mean need plus the deadband is room to grow, and is not kept while others want it.
                // The mean and not the present need: a rate that followed the present need would soon turn back.
                let kept = dampening.keptNeed(means.needs[index], after: move, waits, course: &courses[index])
                let needed = kept * (1 + conditions.deadband)
                interval.lowerLeast(to: max(needed / cost, input.demand.fill[index].start), .level)
                bound(&interval, of: index, target.activities[index], current: step.before[index], input)
            }
            // A ceiling that was lowered holds at once, even where a freeze or the mode would keep the rate.
            if rows[index].ceiling < interval.most {
                interval.lowerMost(to: rows[index].ceiling, input.members.ceilingConstraint(of: index))
            }
            step.intervals[index] = interval
        }
        // In `recommend` mode demand does not count: a shortage is taken from the applied rates.
        if isRecommending {
            for index in rows.indices { step.demands[index].raise(to: step.intervals[index].most) }
        }
        fit(&step, input)
        if step.isEmergency { capacityLostAt = now }
        return step
    }

    /// The bounds of contracts, guardrails and the pool's mode.
    private func bound(
        _ interval: inout FillInterval, of index: Int, _ target: Double, current: Double, _ input: DecisionInput
    ) {
        let floor = raise(&interval, toFloorOf: index, target, input)
        if input.conditions.pool.mode == .guarded {
            let demand = input.demand.rows[index].credible / input.members.members[index].nominalCost
            interval.raiseLeast(to: GuardedMode.least(of: index, current: current, input), .mode)
            interval.lowerMost(to: max(current, demand, floor), .mode)
        }
        let guardrail = input.guardrails[index]
        interval.lowerMost(to: guardrail.most, .guardrail)
        interval.raiseLeast(to: min(guardrail.least, interval.most), .guardrail)
    }

    /// A floor needs no slew: it holds from the tick in which the contract states it, or in which it fits again, and in a pool
    /// whose breaker is open as well. Returns it.
    @discardableResult
    private func raise(
        _ interval: inout FillInterval, toFloorOf index: Int, _ target: Double, _ input: DecisionInput
    ) -> Double {
        let floor = input.members.rows[index].promised
        if floor > interval.least, floor <= target * (1 + 1e-9) {
            (interval.least, interval.leastConstraint) = (floor, .floor)
            if floor > interval.most { (interval.most, interval.mostConstraint) = (floor, .floor) }
        }
        return floor
    }

    /// Sets all lower ends to 0 if they do not fit. They may use all that listed tenants share, not only the assured
    /// part of it: so a small fall of the estimate is taken from the part that is lent.
    private func fit(_ step: inout Step, _ input: DecisionInput) {
        let (rows, whole) = (input.members.rows, input.conditions.whole)
        var least = SIMD4<Double>.zero
        for index in rows.indices { least += rows[index].cost * step.intervals[index].least }
        for resource in whole.resources.members {
            let needed = least[resource.rawValue]
            let most = whole[resource] ?? 0
            if needed > most * (1 + 1e-9) {
                step.isEmergency = true
                for index in rows.indices { step.intervals[index].least = 0 }
                step.capacity = input.assurable
                return
            }
            step.capacity[resource] = min(most, max(input.assurable[resource] ?? 0, needed * (1 + 1e-12)))
        }
    }
}

/// The fill inside the intervals of a step.
struct DampenedFill: Sendable {
    private var engine = FillEngine()

    struct Result: Sendable {
        /// The capacity that the fill divided.
        let capacity: Rates
        let outcome: FillOutcome
        /// One a member; the search's, without its rounding.
        let activities: [Double]
    }

    mutating func solve(_ step: StepBounds.Step, _ input: DecisionInput) -> Result {
        let outcome = engine.solve(
            input.members.rows, step.demands, within: step.intervals, input.conditions.bands, in: step.capacity)
        var activities = outcome.activities
        for index in activities.indices {
            // Without the rounding of the search where an end of the interval binds: who is held does not drift.
            let (activity, interval) = (activities[index], step.intervals[index])
            if abs(activity - interval.most) <= 1e-9 * interval.most {
                activities[index] = interval.most
            } else if abs(activity - interval.least) <= 1e-9 * interval.least {
                activities[index] = interval.least
            }
        }
        return Result(capacity: step.capacity, outcome: outcome, activities: activities)
    }
}

/// Pools in `guarded` mode: Headroom moves only that part of an assured rate that its tenant does not want.
enum GuardedMode {
    /// A tenant's lower bound, as activity: the lower of its assured rate and what it wants; less where a person
    /// applied a lower one.
    static func least(of index: Int, current: Double, _ input: DecisionInput) -> Double {
        let wanted = input.demand.rows[index].credible / input.members.members[index].nominalCost
        let least = min(current, wanted)
        guard !input.conditions.applied.isEmpty,
            let applied = input.conditions.applied[input.members.tenants[index]]
        else { return least }
        return min(least, input.members.activity(within: applied, of: index))
    }
}

extension FillInterval {
    init(exactly activity: Double, _ constraint: Constraint) {
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

extension FillDemand {
    /// Raises the demand to `activity`, all of it interactive.
    fileprivate mutating func raise(to activity: Double) {
        (interactive, nearRealTime, batch) = (activity, activity, activity)
    }
}
