import HeadroomModel

/// One call by which a person can help a tenant that gets too little.
struct StarvationAdvice {
    let tenant: TenantReport
    let pool: PoolReport
    let rules: Rules

    /// Long enough to find the cause, short enough to end by itself.
    private static let seconds = 3600.0

    /// A question that waits for a person comes first: Headroom has worked out what it would do. Then the next tier up,
    /// or twice the weight in the highest one.
    var recommendation: AlertRecommendation {
        for question in rules.steering.proposals where question.state == .pending && question.pool == pool.pool {
            guard let change = question.changes.first(where: { $0.tenant == tenant.tenant }) else { continue }
            let isRecommendation = question.kind == .recommendation
            return AlertRecommendation(
                "\(isRecommendation ? "Apply recommendation" : "Approve") \(question.id) for \(tenant.tenant): it takes "
                    + "\(tenant.tenant) from \(RateText.sentence(change.from)) to \(RateText.sentence(change.to)).",
                .approve(
                    question.id, tenant: tenant.tenant, revision: question.revision, isRecommendation: isRecommendation)
            )
        }
        let tiers = rules.policy.tiers
        if let place = tiers.firstIndex(where: { $0.name == tenant.tier }), place > 0 {
            let tier = tiers[place - 1].name
            return raise("Raise \(tenant.tenant) to the tier \(tier) for an hour", tier: tier, weight: nil)
        }
        let weight = rules.weight(of: tenant.tenant, in: pool.pool) * 2
        guard SteeringLimits.weights.contains(weight) else {
            return AlertRecommendation("\(tenant.tenant) already has the largest weight: the pool needs more capacity.")
        }
        return raise("Double the weight of \(tenant.tenant) for an hour", tier: nil, weight: weight)
    }

    private func raise(_ sentence: String, tier: String?, weight: Double?) -> AlertRecommendation {
        AlertRecommendation(
            "\(sentence); the others of \(pool.pool) get less meanwhile.",
            .override(tenant.tenant, pool: pool.pool, tier: tier, weight: weight, seconds: Self.seconds))
    }
}
