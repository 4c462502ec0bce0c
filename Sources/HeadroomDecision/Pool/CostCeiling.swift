import HeadroomModel

/// Money as a bound (Model §5.7).
///
/// A tenant's cost may have an upper limit for a day or a month. What is left of that money, over what is left of the
/// period, buys a number of its mean requests a minute. That number is a ceiling like the one of its contract; the lower
/// one binds. It also binds lent work, and goes before the floor: a floor promises work that the tenant pays for, up to the cost
/// that it agreed to. In several pools each has the whole allowance, and what one pool spends the others have less of a
/// minute later: together they may spend it sooner, never more than it. The cost breaker's limit is a third such ceiling.
extension MemberTerms {
    /// - Parameters:
    ///   - stands: what the cost breaker makes of the tenant; `nil`: it does not hold it.
    ///   - mean: its mean request.
    mutating func follow(_ allowance: CostAllowance?, _ stands: CostBreak?, mean: Work, in pool: PoolPolicy) {
        (cost, costCeiling, ceiling) = (nil, nil, contractCeiling)
        (breaker, breakerCeiling) = (nil, nil)
        guard mean[.requests] > 0 else { return }
        let request = mean * (1 / mean[.requests])
        if let stands, let limit = stands.limit(in: pool.pool) {
            breaker = stands
            bound(by: \.breakerCeiling, limit, request, in: pool)
        }
        guard let allowance, let price = allowance.terms.price(in: pool.pool) else { return }
        let input = request[.inputTokens]
        let perRequest = price.cost(
            requests: 1, inputTokens: input,
            cachedInputTokens: input * (allowance.cachedShares[pool.pool] ?? 0), outputTokens: request[.outputTokens])
        guard perRequest > 0 else { return }
        let facts = Explanation.CostFacts(
            currency: allowance.terms.currency, period: allowance.terms.period, most: Double(allowance.terms.most),
            spent: allowance.spent, until: allowance.until, minutesLeft: allowance.minutesLeft, perRequest: perRequest)
        cost = facts
        bound(by: \.costCeiling, facts.affordable, request, in: pool)
    }

    /// As long as there is money, one that can afford less than a request a minute may send one now and then.
    private mutating func bound(
        by field: WritableKeyPath<MemberTerms, Rates?>, _ affordable: Double, _ request: Work, in pool: PoolPolicy
    ) {
        let requests = affordable > 0 ? max(1, affordable) : 0
        let rates = request.rates(overSeconds: 60, of: pool.nominal.resources).map { ($1 * requests).rounded(.down) }
        self[keyPath: field] = rates
        ceiling = Rates.least(ceiling, rates)
    }
}
