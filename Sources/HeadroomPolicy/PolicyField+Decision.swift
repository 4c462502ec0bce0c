import HeadroomModel

extension DampeningPolicy {
    static let fields: [PolicyField<DampeningPolicy>] = [
        PolicyField("observation_seconds", \.observationSeconds, 1...600, "seconds"),
        PolicyField("deadband", \.deadband, 0...0.9, "part of the rate"),
        PolicyField("deadband_seconds", \.deadbandSeconds, 1...3600, "seconds"),
        PolicyField("slew_factor", \.slewFactor, 1.01...100, "factor"),
        PolicyField("slew_seconds", \.slewSeconds, 0.1...600, "seconds"),
        PolicyField("slew_share", \.slewShare, 0.001...1, "part of capacity"),
        PolicyField("assured_share", \.assuredShare, 0.1...1, "part of what tenants share"),
    ]
}

extension GuardrailPolicy {
    static let fields: [PolicyField<GuardrailPolicy>] = [
        PolicyField("least_of_floor", \.leastOfFloor, 0...1, "part of the floor"),
        PolicyField("most_of_nominal", \.mostOfNominal, 0.001...1, "part of nominal capacity"),
        PolicyField("pending_hours", \.pendingHours, 0.01...720, "hours"),
        PolicyField("approved_hours", \.approvedHours, 0.01...SteeringLimits.maxHours, "hours"),
        PolicyField("quiet_hours", \.quietHours, 0...720, "hours"),
        PolicyField("mover_share", \.moverShare, 0...1, "part of nominal capacity"),
    ]
}

extension OverrideLimits {
    static let fields: [PolicyField<OverrideLimits>] = [
        PolicyField("tier_steps", whole: \.tierSteps, 0...32, "tiers"),
        PolicyField("weight_factor", \.weightFactor, 1...1000, "factor"),
        PolicyField("hours", \.hours, 0.01...SteeringLimits.maxHours, "hours"),
        PolicyField("pending_hours", \.pendingHours, 0.01...720, "hours"),
    ]
}

extension CreditPolicy {
    static let fields: [PolicyField<CreditPolicy>] = [
        PolicyField("accrual_share", \.accrualShare, 0...1, "part of unused entitlement"),
        PolicyField("cap_seconds", \.capSeconds, 0...86_400, "seconds"),
        PolicyField("half_life_hours", \.halfLifeHours, 0.01...8760, "hours"),
        PolicyField("share_total", \.shareTotal, 0...0.5, "part of the budget"),
        PolicyField("grant_seconds", \.grantSeconds, 1...3600, "seconds"),
        PolicyField("least_repayment", \.leastRepayment, 0...1, "score"),
    ]
}

extension BreakerPolicy {
    static let fields: [PolicyField<BreakerPolicy>] = [
        PolicyField("open_share", \.openShare, BreakerPolicy.openShares, "part of attempts"),
        PolicyField("window_seconds", \.windowSeconds, BreakerPolicy.windows, "seconds"),
        PolicyField("least_attempts", whole: \.leastAttempts, BreakerPolicy.attempts, "attempts"),
        PolicyField("open_seconds", \.openSeconds, BreakerPolicy.openTimes, "seconds"),
        PolicyField("probes_per_second", \.probesPerSecond, BreakerPolicy.probes, "attempts per second"),
        PolicyField("close_successes", whole: \.closeSuccesses, BreakerPolicy.successes, "successes"),
    ]
}

extension TrustPolicy {
    static let fields: [PolicyField<TrustPolicy>] = [
        PolicyField("half_confidence_calls", \.halfConfidenceCalls, 0...10_000, "calls"),
        PolicyField("flagged_demand_factor", \.flaggedDemandFactor, 1...10, "factor"),
        PolicyField("flag_seconds", \.flagSeconds, 60...86_400, "seconds"),
    ]
}

extension AlertPolicy {
    static let fields: [PolicyField<AlertPolicy>] = [
        PolicyField("close_seconds", \.closeSeconds, 0...86_400, "seconds"),
        PolicyField("capacity_share", \.capacityShare, 0...1, "part of nominal capacity"),
        PolicyField("latency_factor", \.latencyFactor, 1.1...100, "factor"),
        PolicyField("cost_share", \.costShare, 0.01...1, "part of the contract's bound on cost"),
        PolicyField("waiting_seconds", \.waitingSeconds, 1...604_800, "seconds"),
        PolicyField("ending_seconds", \.endingSeconds, 1...604_800, "seconds"),
        PolicyField("reversals_per_hour", \.reversalsPerHour, 1...3600, "turns of a tenant's rate"),
        PolicyField("top_tiers", whole: \.topTiers, 0...32, "tiers"),
        PolicyField("silent_seconds", \.silentSeconds, 1...86_400, "seconds"),
        PolicyField("disk_share", \.diskShare, 0...0.9, "part of the disk"),
        PolicyField("certificate_days", \.certificateDays, 0...365, "days"),
        PolicyField("fast_burn", \.fastBurn, 1...10_000, "times as fast as may be"),
        PolicyField("slow_burn", \.slowBurn, 1...10_000, "times as fast as may be"),
        PolicyField("least_missed_seconds", \.leastMissedSeconds, 0...3600, "seconds"),
    ]
}

extension ServiceLevelPolicy {
    static let fields: [PolicyField<ServiceLevelPolicy>] = [
        PolicyField("published_seconds", \.publishedSeconds, 0.1...3600, "seconds"),
        PolicyField("decision_seconds", \.decisionSeconds, 0.1...3600, "seconds"),
        PolicyField("ingest_seconds", \.ingestSeconds, 0.1...3600, "seconds"),
        PolicyField("share", \.share, 0.01...0.99999, "part of the time"),
    ]
}
