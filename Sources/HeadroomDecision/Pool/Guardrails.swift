import HeadroomModel

/// The bounds that automation may not cross without a person's approval (Model §5.4).
struct Guardrails {
    private let policy: GuardrailPolicy
    private let approved: [TenantID: Rates]

    init(_ conditions: PoolConditions) {
        policy = conditions.guardrails
        approved = conditions.approved
    }

    /// One interval a member, in activity. An approved change widens the interval to where it goes; whether there is room
    /// for it the fill decides as ever. A floor is a promise and goes before the upper bound.
    func intervals(of members: MemberTable, _ demand: CountedDemand) -> [FillInterval] {
        let (rows, places) = (members.rows, members.members)
        var intervals = Array(
            repeating: FillInterval(leastConstraint: .guardrail, mostConstraint: .guardrail), count: rows.count)
        for index in rows.indices {
            let (cost, floor) = (places[index].nominalCost, rows[index].promised)
            var most = max(policy.mostOfNominal / cost, floor)
            var least = policy.leastOfFloor * floor
            if !approved.isEmpty, let rates = approved[members.tenants[index]] {
                let activity = members.activity(within: rates, of: index)
                (least, most) = (min(least, activity), max(most, activity))
            }
            // Nothing is kept for a tenant that does not ask for it.
            if demand.rows[index].credible < least * cost { least = 0 }
            (intervals[index].least, intervals[index].most) = (least, most)
        }
        return intervals
    }
}
