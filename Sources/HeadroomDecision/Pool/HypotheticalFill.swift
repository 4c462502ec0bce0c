import HeadroomModel

/// Fills that answer what would be: with one bound changed, or in a pool that does not move by itself. One activity a
/// member; nothing of them is in force.
struct HypotheticalFill {
    private let input: DecisionInput

    init(_ input: DecisionInput) {
        self.input = input
    }

    /// Each member's rate in a pool that does not move by itself (`recommend`): a number that a person applied; for the
    /// others their contract, that is the fill of nominal capacity by floors and weights alone.
    /// - Parameter change: as if this had been applied besides.
    func applied(changing change: (index: Int, to: Double)? = nil) -> [Double] {
        let conditions = input.conditions
        var intervals = input.guardrails
        for index in intervals.indices {
            intervals[index].least = 0
            if !conditions.applied.isEmpty, let applied = conditions.applied[input.members.tenants[index]] {
                intervals[index].pin(to: input.members.activity(within: applied.to, of: index))
            }
            if let change, change.index == index { intervals[index].pin(to: change.to) }
        }
        let nominal = conditions.pool.nominal * (1 - conditions.rules.policy.loop.unlistedShare)
        let nothing = Array(repeating: FillDemand(), count: intervals.count)
        return solve(nothing, intervals, in: nominal * conditions.rules.policy.dampening.assuredShare)
    }

    /// The target, were it not for one tenant's guardrail.
    func unguarded(_ free: Int) -> [Double] {
        var intervals = input.guardrails
        intervals[free] = FillInterval()
        return solve(input.demand.fill, intervals, in: input.assurable)
    }

    /// The result of a guarded pool by itself.
    /// - Parameters:
    ///   - inForce: as activity, one a member.
    ///   - free: a tenant that gives up all above `to`.
    func guarded(_ inForce: [Double], but free: Int? = nil, to: Double? = nil) -> [Double] {
        var intervals = input.guardrails
        for index in intervals.indices {
            let least = GuardedMode.least(of: index, current: inForce[index], input)
            intervals[index].least = min(least, intervals[index].most)
            if index == free, let to { intervals[index].pin(to: to) }
        }
        return solve(input.demand.fill, intervals, in: input.assurable)
    }

    private func solve(_ demands: [FillDemand], _ intervals: [FillInterval], in capacity: Rates) -> [Double] {
        var engine = FillEngine()
        return engine.solve(
            input.members.rows, demands, within: intervals, input.conditions.bands, in: capacity
        ).activities
    }
}

extension FillInterval {
    fileprivate mutating func pin(to activity: Double) { (least, most) = (activity, activity) }
}
