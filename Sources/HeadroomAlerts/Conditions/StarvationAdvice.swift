import HeadroomModel

/// What a person can do for a tenant that gets too little: one call where a call helps, else where to look.
struct StarvationAdvice {
    let tenant: TenantReport
    let pool: PoolReport
    let seen: AlertObservation

    /// Long enough to find the cause, short enough to end by itself.
    private static let seconds = 3600.0
    /// Where more tenants than these get too little together, a raise of one takes from its equals. Also the bound on raises
    /// that are tried, a fill of the pool each.
    private static let fewTenants = 3
    /// A gateway is behind when it has not applied the newest limits for longer than polls take.
    private static let lateSeconds = 30.0

    private var rules: Rules { seen.rules }

    /// A question that waits for a person comes first: Headroom has worked out what it would do. Then whatever another tier
    /// does not mend; and then the next tier up, or twice the weight in the highest one, if that changes anything.
    var recommendation: AlertRecommendation {
        question ?? doubt ?? outage ?? delivery ?? content ?? crowd ?? raise
    }

    private var question: AlertRecommendation? {
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
        return nil
    }

    private var doubt: AlertRecommendation? {
        guard let flag = tenant.profile?.flags.first else { return nil }
        return AlertRecommendation(
            "Do not raise it: it looks as if it claimed more than it needs (\(flag.evidence)). Talk to them first.")
    }

    private var outage: AlertRecommendation? {
        guard pool.capacityReason == .overload || pool.state == .open else { return nil }
        return AlertRecommendation(
            "The provider of \(pool.pool) is overloaded, which no tier or weight changes: let the pool fail over, or wait."
        )
    }

    /// The pool has enough for it, and it was given enough.
    private var delivery: AlertRecommendation? {
        guard tenant.starvation == .delivery else { return nil }
        let late = seen.gateways.max { $0.driftSeconds < $1.driftSeconds }
        guard let late, late.driftSeconds > Self.lateSeconds else {
            return AlertRecommendation(
                "It was given enough, so look at the gateways that its calls go through: one holds budget that it does not use, "
                    + "sends others first, or its clients' retries wait. GET /v1/gateways says what each gets and wastes."
            )
        }
        return AlertRecommendation(
            "It was given enough, but \(late.presence.gateway) has not applied the newest limits for "
                + "\(GroupedNumber.duration(seconds: late.driftSeconds)): look at that gateway.")
    }

    /// What it missed is past, or one large call waits.
    private var content: AlertRecommendation? {
        guard tenant.starvation == nil, tenant.underservedSeconds <= 0 else { return nil }
        return AlertRecommendation(
            "It gets what is due to it just now. What held it: headroom explain --tenant \(tenant.tenant) --pool \(pool.pool)."
        )
    }

    /// Names no other tenant: a reader of this one sees it.
    private var crowd: AlertRecommendation? {
        let short = pool.tenants.count { $0.underservedSeconds > 0 }
        guard short > Self.fewTenants else { return nil }
        return AlertRecommendation(
            "\(short) tenants of \(pool.pool) get too little, and a raise of one takes from the others. The provider grants "
                + "\(RateText.sentence(pool.estimated)) of \(RateText.sentence(pool.nominal)): ask it for more, or move work to "
                + "another pool. Who takes the most: headroom tenants.")
    }

    private var raise: AlertRecommendation {
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

    /// Tried before it is said.
    private func raise(_ sentence: String, tier: String?, weight: Double?) -> AlertRecommendation {
        if let policy = rules.policy.pool(pool.pool) {
            let until = seen.at.adding(seconds: Self.seconds)
            let override = Override(
                tenant: tenant.tenant, pool: pool.pool, tier: tier, weight: weight,
                authorship: Authorship(author: Authorship.automation, reason: "", at: seen.at, until: until))
            if let bound = seen.preview(override, pool, policy, rules, seen.at).unmoved {
                return AlertRecommendation("Another tier or weight does not help: \(bound.text(of: tenant.tenant)).")
            }
        }
        return AlertRecommendation(
            "\(sentence); the others of \(pool.pool) get less meanwhile.",
            .override(tenant.tenant, pool: pool.pool, tier: tier, weight: weight, seconds: Self.seconds))
    }
}
