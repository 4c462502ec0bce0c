import HeadroomModel

/// Bursts that are paid from credit, on top of the assured rates (DESIGN §5.6).
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
        let claims = members.indices.map { index -> BurstCredit.Claim in
            let assured = Rates(perMinute: members[index].cost * step.before[index], resources: resources)
            var claim = BurstCredit.Claim(
                tenant: members[index].id, weight: members[index].terms.weight, assured: assured,
                isShort: members[index].credibleDemand > members[index].share, repayment: 0)
            if let seen = members[index].demandIndex {
                claim.consumed = BurstCredit.amount(demand[seen].consumed)
                claim.repayment = demand[seen].repayment
                claim.needed = demand[seen].midTask.map {
                    BurstCredit.amount($0.rates(overSeconds: 60, of: resources))
                }
            }
            return claim
        }
        let grants = credit.decide(claims, budget: turn.budget, policy: turn.rules.policy.credit, at: turn.now)
        guard !grants.isEmpty else { return [:] }

        var granted: [Int] = []
        for index in members.indices where granted.count < grants.count {
            if grants[granted.count].tenant == members[index].id { granted.append(index) }
        }
        let room = turn.whole.map { resource, most in
            max(0, most - assured.reduce(0) { $0 + $1[resource.rawValue] })
        }
        let result = engine.solve(
            FillProblem(
                capacity: room, bands: [FillBand(.burst)],
                tenants: zip(granted, grants).map { index, grant in
                    let member = members[index]
                    let unit = BurstCredit.amount(member.rates(1, of: resources))
                    let ceiling = member.terms.ceiling.map { resource, most in
                        max(0, most - assured[index][resource.rawValue])
                    }
                    return FillTenant(
                        id: member.id, tier: member.terms.tier, weight: member.terms.weight, demand: Rates.none,
                        ceiling: ceiling, shape: member.rates(1, of: resources), burst: grant.perMinute / unit)
                }))
        var bursts: [Int: Burst] = [:]
        for (position, (index, grant)) in zip(granted, grants).enumerated() {
            let activity = result.tenants[position].activity
            let rates = members[index].rates(activity, of: resources).map { $1.rounded(.down) }
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
