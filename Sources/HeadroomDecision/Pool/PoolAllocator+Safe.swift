import HeadroomModel

/// How the fallback is divided over tenants: what each is sure of once the lease has run out (Model §6).
///
/// An outage of Headroom may last, and what a tenant did in the minute before says little of it: the division is the
/// fill on what each one does as a rule (``TenantProfileReport/Flow/usualDemand``), between ceilings and guardrails, of as
/// large a part of the fallback as is assured of the budget. In a pool that does not move by itself, or is frozen, it
/// is the assured rates in proportion. What lies within it is lent meanwhile.
extension PoolAllocator {
    /// What was divided last.
    struct SafeDivision: Sendable {
        /// `nil`: at the next chance.
        var at: Timestamp?
        @Halved var sum = SIMD4<Double>.zero
        var hasNewcomers = false
    }

    private static let safePeriodSeconds = 60.0
    /// A newcomer's part waits this long, so that a pool where many come and go is not divided each time.
    private static let newcomerSeconds = 10.0
    /// Parts that moved by less stay as they are, unless they no longer fit: each change is sent to every gateway.
    private static let safeTolerance = 0.05

    /// Divides the fallback anew once a minute, sooner where it has newcomers or holds less than was divided.
    mutating func divideFallback(_ demand: [TenantDemand], _ turn: PoolTurn) {
        let most = turn.whole.map { ($1 * turn.fallbackShare).rounded(.down) }
        let age = safe.at.map { turn.now.seconds(since: $0) } ?? .infinity
        let isDue = age >= (safe.hasNewcomers ? Self.newcomerSeconds : Self.safePeriodSeconds)
        guard isDue || any(safe.sum .> most.perMinute) else { return }

        let isHeld = freeze != nil || turn.pool.mode == .recommend
        let exact =
            isHeld
            ? published.map { $0.assured.perMinute * turn.fallbackShare } : usualParts(demand, turn)
        let parts = Self.whole(exact, within: most)
        let kept = parts.indices.map { index in
            let (old, new) = (published[index].safe.perMinute, parts[index])
            let isClose = pointwiseMax(old - new, new - old) .<= pointwiseMax(old, new) * Self.safeTolerance
            return all(isClose) && published[index].safe.resources == most.resources ? old : new
        }
        func sum(_ parts: [SIMD4<Double>]) -> SIMD4<Double> { parts.reduce(.zero, +) }
        let next = any(sum(kept) .> most.perMinute) ? parts : kept
        for index in next.indices {
            published[index].safe = Rates(perMinute: next[index], resources: most.resources)
        }
        safe = SafeDivision(at: turn.now, sum: sum(next))
    }

    /// One a member.
    private func usualParts(_ demand: [TenantDemand], _ turn: PoolTurn) -> [SIMD4<Double>] {
        var rows = fill
        for index in rows.indices {
            rows[index].interval = FillInterval(most: guardrail(index, turn).most)
            rows[index].burst = 0
            guard let seen = members[index].demandIndex, let flows = demand[seen].profile?.flows, !flows.isEmpty
            else { continue }
            // As far as what it claims at the moment is believed.
            let (claimed, counted) = (members[index].demand, members[index].credibleDemand)
            let trust = claimed > 0 ? min(1, counted / claimed) : members[index].trust
            var usual = PerCriticality(repeating: 0.0)
            for flow in flows {
                usual[flow.criticality] = trust * turn.nominal.dominantCost(of: flow.usualDemand.perMinute)
            }
            let cost = members[index].nominalCost
            rows[index].interactive = usual.interactive / cost
            rows[index].nearRealTime = (usual.interactive + usual.nearRealTime) / cost
            rows[index].batch = (usual.interactive + usual.nearRealTime + usual.batch) / cost
            if rows[index].batch > 0 { rows[index].start = 0 }
        }
        var engine = FillEngine()
        let outcome = engine.solve(rows, turn.bands, in: turn.assurable * turn.fallbackShare)
        let guardrail = turn.pool.nominal.perMinute * turn.guardrails.mostOfNominal
        return rows.indices.map { index in
            let filled = rows[index].cost * outcome.activities[index]
            let lifted = pointwiseMax(filled, pointwiseMin(filled * outcome.slack, guardrail))
            return pointwiseMin(lifted.replacing(with: 0, where: filled .<= 0), rows[index].ceilings)
        }
    }
}
