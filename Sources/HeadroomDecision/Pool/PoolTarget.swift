import HeadroomModel

/// The undampened fill's result: each member's rate if nothing were dampened.
struct PoolTarget: Sendable {
    let outcome: FillOutcome
    /// At nominal capacity, in activity, one a member.
    let entitled: [Double]

    /// One a member.
    var activities: [Double] { outcome.activities }

    /// All demand above what its tenants are entitled to, as a share of nominal capacity; 0 while all demand finds room.
    func excess(_ input: DecisionInput) -> Double {
        let isShort = zip(outcome.stop.bands, outcome.bands).contains { raise, result in
            (raise.bound == .demand || raise.bound == .floor) && result.saturated != nil
        }
        return isShort ? input.members.indices.reduce(0) { $0 + excess(of: $1, input) } : 0
    }

    /// One member's part of it.
    func excess(of index: Int, _ input: DecisionInput) -> Double {
        max(0, input.demand.rows[index].claimed - entitled[index] * input.members.members[index].nominalCost)
    }
}

/// Runs the undampened fills of a pool. What it keeps makes the next one faster and does not change its result.
struct TargetFill: Sendable {
    private var present = FillEngine()
    private var nominal = FillEngine()

    mutating func solve(_ input: DecisionInput) -> PoolTarget {
        let conditions = input.conditions
        let outcome = present.solve(
            input.members.rows, input.demand.fill, within: input.guardrails, conditions.bands, in: input.assurable,
            findsSlack: false)
        // While nothing is lost, the fill of what there is tells what nominal capacity would give.
        let entitled =
            conditions.capacity.isBelowContract
            ? nominal.solve(
                input.members.rows, input.demand.fill, within: input.guardrails, conditions.bands,
                in: conditions.pool.nominal, findsSlack: false
            ).activities : outcome.activities
        return PoolTarget(outcome: outcome, entitled: entitled)
    }
}
