import HeadroomModel

/// Divides the fallback over tenants: what each is sure of once the lease has run out (Model §6).
///
/// An outage of Headroom may last, and what a tenant did in the minute before says little of it. So the division is the
/// fill on each tenant's usual demand (``TenantProfileReport/Flow/usualDemand``), between ceilings and guardrails, of as
/// large a part of the fallback as is assured of the budget. In a pool that does not move by itself, or is frozen, it is
/// the assured rates in proportion. What is not divided is lent meanwhile.
struct FallbackDivision: Sendable {
    private static let periodSeconds = 60.0
    /// A newcomer's part waits this long, so that a pool where many come and go is not divided each time.
    private static let newcomerSeconds = 10.0
    /// Parts that moved by less stay as they are, unless they no longer fit: each change is sent to every gateway.
    private static let tolerance = 0.05

    /// When it was divided last; `nil`: at the next chance.
    private var dividedAt: Timestamp?
    /// The sum that was divided last.
    @Halved private var sum = SIMD4<Double>.zero
    private var hasNewcomers = false

    mutating func admit(_ admission: MemberTable.Admission) {
        if admission.hasNewRules { dividedAt = nil }
        if admission.hasNewcomers { hasNewcomers = true }
    }

    /// Divides at the next chance, whatever was divided before.
    mutating func restart() { dividedAt = nil }

    /// Divides the fallback anew once a minute, sooner where it has newcomers or holds less than was divided. Returns
    /// `nil` while the parts stay as they are.
    /// - Parameters:
    ///   - isFollowing: the parts are those of the assured rates.
    mutating func divide(
        isFollowing: Bool, inForce: PublishedNumbers, _ input: DecisionInput
    ) -> (parts: [SIMD4<Double>], resources: ResourceSet)? {
        let conditions = input.conditions
        let most = conditions.whole.map { ($1 * conditions.fallbackShare).rounded(.down) }
        let age = dividedAt.map { conditions.now.seconds(since: $0) } ?? .infinity
        let isDue = age >= (hasNewcomers ? Self.newcomerSeconds : Self.periodSeconds)
        guard isDue || any(sum .> most.perMinute) else { return nil }

        let exact =
            isFollowing
            ? inForce.allocations.map { $0.assured.perMinute * conditions.fallbackShare } : usualParts(input)
        let parts = PublishedNumbers.whole(exact, within: most)
        let old = inForce.allocations
        let close = parts.indices.map { index in
            let (old, new, resources) = (old[index].safe.perMinute, parts[index], old[index].safe.resources)
            let isClose = pointwiseMax(old - new, new - old) .<= pointwiseMax(old, new) * Self.tolerance
            return all(isClose) && resources == most.resources ? old : new
        }
        func total(_ parts: [SIMD4<Double>]) -> SIMD4<Double> { parts.reduce(.zero, +) }
        let next = any(total(close) .> most.perMinute) ? parts : close
        (dividedAt, sum, hasNewcomers) = (conditions.now, total(next), false)
        return (next, most.resources)
    }

    /// By the usual demand; one a member.
    private func usualParts(_ input: DecisionInput) -> [SIMD4<Double>] {
        let (conditions, members, rows) = (input.conditions, input.members.members, input.members.rows)
        var demands = input.demand.fill
        for index in rows.indices {
            guard let place = members[index].demandIndex, let flows = input.claims[place].profile?.flows,
                !flows.isEmpty
            else { continue }
            // As far as what it claims at the moment is believed.
            let counted = input.demand.rows[index]
            let trust = counted.claimed > 0 ? min(1, counted.credible / counted.claimed) : counted.trust
            var usual = PerCriticality(repeating: 0.0)
            for flow in flows {
                usual[flow.criticality] = trust * conditions.nominal.dominantCost(of: flow.usualDemand.perMinute)
            }
            let cost = members[index].nominalCost
            demands[index].interactive = usual.interactive / cost
            demands[index].nearRealTime = (usual.interactive + usual.nearRealTime) / cost
            demands[index].batch = (usual.interactive + usual.nearRealTime + usual.batch) / cost
            if demands[index].batch > 0 { demands[index].start = 0 }
        }
        let capacity = input.assurable * conditions.fallbackShare
        if conditions.hasLeastShares {
            var leastShare = LeastShare()
            _ = leastShare.give(to: &demands, asking: demands.map(\.batch), rows, in: capacity)
        }
        var engine = FillEngine()
        let outcome = engine.solve(
            rows, demands, within: input.guardrails.map { FillInterval(most: $0.most) }, conditions.bands,
            in: capacity)
        let guardrail = conditions.pool.nominal.perMinute * conditions.guardrails.mostOfNominal
        return rows.indices.map { index in
            let filled = rows[index].cost * outcome.activities[index]
            let lifted = pointwiseMax(filled, pointwiseMin(filled * outcome.slack, guardrail))
            return pointwiseMin(lifted.replacing(with: 0, where: filled .<= 0), rows[index].ceilings)
        }
    }
}
