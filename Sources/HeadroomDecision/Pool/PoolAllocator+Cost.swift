import HeadroomModel

/// Money as a bound (Model §5.7).
///
/// What is left of the most that a tenant's use may cost, over what is left of the day or month, buys so many of its mean
/// requests a minute: a ceiling like that of its contract, the lower one binds. It binds lent work too, and goes before
/// the floor: a floor is what the tenant is promised, and no promise that it pays for more than it said. Of a tenant in
/// several pools each pool has the whole of it, and what one spends the others have less of a minute later: together
/// they may spend it sooner, never more than it.
extension PoolAllocator {
    /// When what may be spent is another amount, once a minute; and for newcomers.
    mutating func boundByCost(_ demand: [TenantDemand], _ turn: PoolTurn) {
        let new = turn.rules.allowances
        guard new != allowances else { return }
        allowances = new
        for index in members.indices {
            let allowance = new[tenants[index]]
            guard allowance != nil || terms[index].cost != nil else { continue }
            let mean = members[index].demandIndex.flatMap { demand[$0].shape } ?? FillDirection.defaultRequest
            terms[index].follow(allowance, mean: mean, in: turn.pool)
            follow(termsOf: index, turn)
        }
    }

    /// Which of the tenant's ceilings its work meets first.
    func ceilingConstraint(of index: Int) -> Constraint {
        guard let cost = terms[index].costCeiling else { return .ceiling }
        let contract = terms[index].contractCeiling
        let isCost = contract.isEmpty || activity(within: cost, of: index) <= activity(within: contract, of: index)
        return isCost ? .costCeiling : .ceiling
    }
}

extension MemberTerms {
    /// - Parameter mean: its mean request.
    fileprivate mutating func follow(_ allowance: CostAllowance?, mean: Work, in pool: PoolPolicy) {
        (cost, costCeiling, ceiling) = (nil, nil, contractCeiling)
        guard let allowance, let price = allowance.terms.price(in: pool.pool), mean[.requests] > 0 else { return }
        let request = mean * (1 / mean[.requests])
        let perRequest = price.cost(
            requests: 1, inputTokens: request[.inputTokens], outputTokens: request[.outputTokens])
        guard perRequest > 0 else { return }
        let facts = Explanation.CostFacts(
            currency: allowance.terms.currency, period: allowance.terms.period, most: Double(allowance.terms.most),
            spent: allowance.spent, until: allowance.until, minutesLeft: allowance.minutesLeft, perRequest: perRequest)
        // As long as there is money, one that can afford less than a request a minute may send one now and then.
        let requests = facts.affordable > 0 ? max(1, facts.affordable) : 0
        let rates = request.rates(overSeconds: 60, of: pool.nominal.resources).map { ($1 * requests).rounded(.down) }
        cost = facts
        costCeiling = rates
        ceiling = Rates.least(contractCeiling, rates)
    }
}
