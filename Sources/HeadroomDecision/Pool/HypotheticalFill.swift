import HeadroomModel

/// Fills that answer what would be: with some bounds changed, or in a pool that does not move by itself. One activity a
/// member; nothing of them is in force.
struct HypotheticalFill {
    private let input: DecisionInput

    init(_ input: DecisionInput) {
        self.input = input
    }

    /// Each member's rate in a pool that does not move by itself (`recommend`): a number that a person applied; for the
    /// others their contract, that is the fill of nominal capacity by floors and weights alone.
    /// - Parameter changes: as if these had been applied besides; one a member, `nil` leaves it.
    func applied(changing changes: [Double?]? = nil) -> [Double] {
        let conditions = input.conditions
        var intervals = input.guardrails
        for index in intervals.indices {
            intervals[index].least = 0
            if !conditions.applied.isEmpty, let applied = conditions.applied[input.members.tenants[index]] {
                intervals[index].pin(to: input.members.activity(within: applied, of: index))
            }
            if let to = changes?[index] { intervals[index].pin(to: to) }
        }
        let nominal = conditions.pool.nominal * (1 - conditions.rules.policy.loop.unlistedShare)
        let nothing = Array(repeating: FillDemand(), count: intervals.count)
        return solve(nothing, intervals, in: nominal * conditions.rules.policy.dampening.assuredShare)
    }

    /// The target, were it not for the guardrails of some members.
    func unguarded(_ free: [Int]) -> [Double] {
        var intervals = input.guardrails
        for index in free { intervals[index] = FillInterval() }
        return solve(input.demand.fill, intervals, in: input.assurable)
    }

    /// The result of a guarded pool by itself.
    /// - Parameters:
    ///   - inForce: as activity, one a member.
    ///   - changes: of members that give up all above it; one a member, `nil` leaves it.
    func guarded(_ inForce: [Double], but changes: [Double?]? = nil) -> [Double] {
        var intervals = input.guardrails
        for index in intervals.indices {
            let least = GuardedMode.least(of: index, current: inForce[index], input)
            intervals[index].least = min(least, intervals[index].most)
            if let to = changes?[index] { intervals[index].pin(to: to) }
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
