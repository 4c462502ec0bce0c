import HeadroomModel

/// Bursts that are paid from credit, on top of the assured rates (Model §5.6).
extension PoolAllocator {
    /// One tenant's burst: its activity, and how it is published.
    struct Burst {
        var activity: Double
        var published: TenantAllocation.Burst
    }

    /// Bursts by member; empty without any. They take what is not assured: the room that the assured rates leave.
    mutating func grantBursts(
        _ demand: [TenantDemand], _ step: Step, besides assured: [SIMD4<Double>], _ turn: PoolTurn
    ) -> [Int: Burst] {
        let resources = turn.pool.nominal.resources
        let unit = BurstCredit.unit(of: resources)
        var claims: [BurstCredit.Claim] = []
        claims.reserveCapacity(members.count)
        let seen = demand.span
        for index in members.indices {
            // Short by more than rounding.
            var claim = BurstCredit.Claim(
                tenant: tenants[index], weight: fill[index].weight,
                assured: (fill[index].cost * unit).sum() * step.before[index],
                isShort: members[index].credibleDemand > members[index].share * (1 + 1e-9))
            if let place = members[index].demandIndex {
                claim.consumed = (seen[place].consumed.perMinute * unit).sum()
                claim.repayment = seen[place].repayment
                // Of a flagged one no claim is believed, and what it draws at the moment ends.
                if let left = seen[place].midTask, !seen[place].isDiscounted {
                    claim.needed = (left.amounts * unit).sum()
                }
            }
            claims.append(claim)
        }
        let grants = credit.decide(claims, budget: turn.budget, policy: turn.rules.policy.credit, at: turn.now)
        guard !grants.isEmpty else { return [:] }

        var granted: [Int] = []
        for index in members.indices where granted.count < grants.count {
            if grants[granted.count].tenant == tenants[index] { granted.append(index) }
        }
        let room = turn.whole.map { resource, most in
            max(0, most - assured.reduce(0) { $0 + $1[resource.rawValue] })
        }
        let guardrail = (turn.pool.nominal * turn.guardrails.mostOfNominal).orUnlimited
        let rows = zip(granted, grants).map { index, grant -> FillRow in
            var row = FillRow()
            (row.weight, row.cost) = (fill[index].weight, fill[index].cost)
            let most = fill[index].ceilings.lowered(to: guardrail)
            row.ceilings = (most - assured[index]).raised(to: .zero)
            row.ceiling = (row.ceilings / row.cost).least
            row.burst = grant.perMinute / (fill[index].cost * unit).sum()
            return row
        }
        let outcome = engine.solve(rows, [FillRaise(FillBand(.burst), tiers: [])], in: room)
        var bursts: [Int: Burst] = [:]
        for (position, (index, grant)) in zip(granted, grants).enumerated() {
            let (activity, _) = outcome.stop.of(rows[position], at: outcome.activities[position])
            let rates = rates(activity, of: index).map { $1.rounded(.down) }
            credit.lower(grant.tenant, toPerMinute: BurstCredit.amount(rates))
            guard rates.perMinute != .zero else { continue }
            bursts[index] = Burst(
                activity: activity,
                published: TenantAllocation.Burst(
                    rates: rates, secondsLeft: max(0, grant.until.seconds(since: turn.now))))
        }
        return bursts
    }
}
