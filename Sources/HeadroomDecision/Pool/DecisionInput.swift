import HeadroomModel

/// The facts that all steps of one decision read and none of them changes.
struct DecisionInput: Sendable {
    let conditions: PoolConditions
    let members: MemberTable
    /// As claimed: those heard of, ascending by tenant (``MemberTable/Member/demandIndex``).
    let claims: [TenantDemand]
    /// The part of the claims that counts, one row a member.
    let demand: CountedDemand
    /// Between these automation may move each member by itself.
    let guardrails: [FillInterval]
    /// The rates that the undampened fill divides.
    let assurable: Rates

    init(
        _ conditions: PoolConditions, _ members: MemberTable, claims: [TenantDemand], counted: CountedDemand
    ) {
        self.conditions = conditions
        self.members = members
        self.claims = claims
        demand = counted
        guardrails = Guardrails(conditions).intervals(of: members, counted)
        assurable = conditions.assurable(covering: members.floors)
    }
}
