import HeadroomModel

/// Grants bursts that are paid from credit, on top of the assured rates (Model §5.6).
struct BurstGrants: Sendable {
    private var credit: BurstCredit
    private var engine = FillEngine()

    init(_ credit: BurstCredit) {
        self.credit = credit
    }

    /// One tenant's burst: its activity, and how it is published.
    struct Burst: Sendable {
        var activity: Double
        var published: TenantAllocation.Burst
    }

    /// Bursts by member; empty without any. They take what is not assured: the room that the assured rates leave.
    /// - Parameter before: what was in force until now, as activity, one a member.
    mutating func grant(
        besides assured: [SIMD4<Double>], before: [Double], inForce: PublishedNumbers, _ input: DecisionInput
    ) -> [Int: Burst] {
        let conditions = input.conditions
        let (tenants, rows) = (input.members.tenants, input.members.rows)
        let unit = BurstCredit.unit(of: conditions.pool.nominal.resources)
        let grants = credit.decide(
            claims(unit, before: before, inForce: inForce, input), budget: conditions.budget,
            policy: conditions.rules.policy.credit, at: conditions.now)
        guard !grants.isEmpty else { return [:] }

        var granted: [Int] = []
        for index in rows.indices where granted.count < grants.count {
            if grants[granted.count].tenant == tenants[index] { granted.append(index) }
        }
        let room = conditions.whole.map { resource, most in
            max(0, most - assured.reduce(0) { $0 + $1[resource.rawValue] })
        }
        let guardrail = (conditions.pool.nominal * conditions.guardrails.mostOfNominal).orUnlimited
        let bursting = granted.map { index -> FillRow in
            var row = FillRow()
            (row.weight, row.cost) = (rows[index].weight, rows[index].cost)
            let most = rows[index].ceilings.lowered(to: guardrail)
            row.ceilings = (most - assured[index]).raised(to: .zero)
            row.ceiling = (row.ceilings / row.cost).least
            return row
        }
        let demands = zip(granted, grants).map { index, grant -> FillDemand in
            var demand = FillDemand()
            demand.burst = grant.perMinute / (rows[index].cost * unit).sum()
            return demand
        }
        let interval = FillInterval()
        let outcome = engine.solve(
            bursting, demands, within: Array(repeating: interval, count: bursting.count),
            [FillRaise(FillBand(.burst), tiers: [])], in: room)
        var bursts: [Int: Burst] = [:]
        for (position, (index, grant)) in zip(granted, grants).enumerated() {
            let (activity, _) = outcome.stop.of(
                bursting[position], demands[position], interval, at: outcome.activities[position])
            let rates = input.members.rates(activity, of: index).map { $1.rounded(.down) }
            credit.lower(grant.tenant, toPerMinute: BurstCredit.amount(rates))
            guard rates.perMinute != .zero else { continue }
            bursts[index] = Burst(
                activity: activity,
                published: TenantAllocation.Burst(
                    rates: rates, secondsLeft: max(0, grant.until.seconds(since: conditions.now))))
        }
        return bursts
    }

    private func claims(
        _ unit: SIMD4<Double>, before: [Double], inForce: PublishedNumbers, _ input: DecisionInput
    ) -> [BurstCredit.Claim] {
        let (tenants, members, rows) = (input.members.tenants, input.members.members, input.members.rows)
        var claims: [BurstCredit.Claim] = []
        claims.reserveCapacity(rows.count)
        let seen = input.claims.span
        for index in rows.indices {
            // Short by more than rounding.
            var claim = BurstCredit.Claim(
                tenant: tenants[index], weight: rows[index].weight,
                assured: (rows[index].cost * unit).sum() * before[index],
                isShort: input.demand.rows[index].credible > inForce.rows[index].share * (1 + 1e-9))
            if let place = members[index].demandIndex {
                claim.consumed = (seen[place].consumed.perMinute * unit).sum()
                claim.repayment = seen[place].repayment
                // Of a flagged tenant no claim is believed, and what it draws at the moment ends.
                if let left = seen[place].midTask, !seen[place].isDiscounted {
                    claim.needed = (left.amounts * unit).sum()
                }
            }
            claims.append(claim)
        }
        return claims
    }

    /// As ``BurstCredit/balances``.
    var balances: [CreditBalance] { credit.balances }

    /// As ``BurstCredit/takeChanges(at:)``.
    mutating func takeChanges(at now: Timestamp) -> [CreditBalance] { credit.takeChanges(at: now) }

    /// Takes balances as they were stored, in place of what was counted without them.
    mutating func restore(_ balances: [CreditBalance], at now: Timestamp) {
        credit = BurstCredit(pool: credit.pool, balances: balances, at: now)
    }
}
