import HeadroomModel

/// Money as a bound (Model §5.7).
///
/// A tenant's cost may have an upper limit for a day or a month. What is left of that money, over what is left of the
/// period, buys a number of its mean requests a minute. That number is a ceiling like the one of its contract; the lower
/// one binds. It also binds lent work, and goes before the floor: a floor promises work that the tenant pays for, up to the cost
/// that it agreed to. In several pools each has the whole allowance, and what one pool spends the others have less of a
/// minute later: together they may spend it sooner, never more than it.
extension MemberTerms {
    /// - Parameter mean: its mean request.
    mutating func follow(_ allowance: CostAllowance?, mean: Work, in pool: PoolPolicy) {
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
