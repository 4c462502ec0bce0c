import Foundation
import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct PolicyFieldTests {
    /// Each documented number: its section and key, a value that is not its default, and the field that it must set.
    static let numbers: [(section: String, key: String, value: Double, field: @Sendable (Policy) -> Double)] = [
        ("start", "share_each", 0.003, { $0.start.shareEach }),
        ("start", "share_total", 0.06, { $0.start.shareTotal }),
        ("loop", "period_seconds", 1.5, { $0.loop.periodSeconds }),
        ("loop", "lease_seconds", 20, { $0.loop.leaseSeconds }),
        ("loop", "grace_seconds", 6, { $0.loop.graceSeconds }),
        ("loop", "fallback_share", 0.9, { $0.loop.fallbackShare }),
        ("loop", "max_tenants", 500, { Double($0.loop.maxTenants) }),
        ("loop", "max_tenants_total", 700, { Double($0.loop.maxTenantsTotal) }),
        ("loop", "max_new_tenants_per_gateway", 40, { Double($0.loop.maxNewTenantsPerGateway) }),
        ("loop", "unlisted_share", 0.02, { $0.loop.unlistedShare }),
        ("loop", "max_parts", 32, { Double($0.loop.maxParts) }),
        ("loop", "expected_gateways", 4, { Double($0.loop.expectedGateways) }),
        ("loop", "learning_seconds", 12, { $0.loop.learningSeconds }),
        ("loop", "float_share", 0.2, { $0.loop.floatShare }),
        ("loop", "safe_seconds", 600, { $0.loop.safeSeconds }),
        ("demand", "window_seconds", 15, { $0.demand.windowSeconds }),
        ("demand", "backlog_seconds", 10, { $0.demand.backlogSeconds }),
        ("demand", "half_life_seconds", 50, { $0.demand.halfLifeSeconds }),
        ("demand", "margin", 1.1, { $0.demand.margin }),
        ("demand", "idle_seconds", 1800, { $0.demand.idleSeconds }),
        ("capacity", "evidence_gain", 4, { $0.capacity.evidenceGain }),
        ("capacity", "forgetting_per_second", 0.06, { $0.capacity.forgettingPerSecond }),
        ("capacity", "quantile", 0.8, { $0.capacity.quantile }),
        ("capacity", "header_seconds", 30, { $0.capacity.headerSeconds }),
        ("starvation", "seconds", 10, { $0.starvation.seconds }),
        ("starvation", "share", 0.6, { $0.starvation.share }),
        ("telemetry", "dedupe_seconds", 600, { $0.telemetry.dedupeSeconds }),
        ("telemetry", "late_seconds", 200, { $0.telemetry.lateSeconds }),
        ("telemetry", "max_times_nominal", 25, { $0.telemetry.maxTimesNominal }),
        ("telemetry", "raw_hours", 24, { $0.telemetry.rawHours }),
        ("telemetry", "minute_days", 31, { $0.telemetry.minuteDays }),
        ("telemetry", "hour_days", 100, { $0.telemetry.hourDays }),
        ("telemetry", "checkpoint_seconds", 30, { $0.telemetry.checkpointSeconds }),
        ("telemetry", "ledger_hours", 12, { $0.telemetry.ledgerHours }),
        ("telemetry", "ledger_bytes", 1_000_000_000, { Double($0.telemetry.ledgerBytes) }),
        ("dampening", "observation_seconds", 90, { $0.dampening.observationSeconds }),
        ("dampening", "deadband", 0.2, { $0.dampening.deadband }),
        ("dampening", "deadband_seconds", 90, { $0.dampening.deadbandSeconds }),
        ("dampening", "slew_factor", 2, { $0.dampening.slewFactor }),
        ("dampening", "slew_seconds", 4, { $0.dampening.slewSeconds }),
        ("dampening", "slew_share", 0.05, { $0.dampening.slewShare }),
        ("dampening", "assured_share", 0.9, { $0.dampening.assuredShare }),
        ("guardrails", "least_of_floor", 0.4, { $0.guardrails.leastOfFloor }),
        ("guardrails", "most_of_nominal", 0.7, { $0.guardrails.mostOfNominal }),
        ("guardrails", "pending_hours", 2, { $0.guardrails.pendingHours }),
        ("guardrails", "approved_hours", 12, { $0.guardrails.approvedHours }),
        ("guardrails", "quiet_hours", 1, { $0.guardrails.quietHours }),
        ("guardrails", "mover_share", 0.02, { $0.guardrails.moverShare }),
        ("override_limits", "tier_steps", 2, { Double($0.overrideLimits.tierSteps) }),
        ("override_limits", "weight_factor", 3, { $0.overrideLimits.weightFactor }),
        ("override_limits", "hours", 12, { $0.overrideLimits.hours }),
        ("override_limits", "pending_hours", 2, { $0.overrideLimits.pendingHours }),
        ("credit", "accrual_share", 0.4, { $0.credit.accrualShare }),
        ("credit", "cap_seconds", 300, { $0.credit.capSeconds }),
        ("credit", "half_life_hours", 12, { $0.credit.halfLifeHours }),
        ("credit", "share_total", 0.2, { $0.credit.shareTotal }),
        ("credit", "grant_seconds", 60, { $0.credit.grantSeconds }),
        ("credit", "least_repayment", 0.6, { $0.credit.leastRepayment }),
        ("breaker", "open_share", 0.4, { $0.breaker.openShare }),
        ("breaker", "window_seconds", 20, { $0.breaker.windowSeconds }),
        ("breaker", "least_attempts", 10, { Double($0.breaker.leastAttempts) }),
        ("breaker", "open_seconds", 30, { $0.breaker.openSeconds }),
        ("breaker", "probes_per_second", 2, { $0.breaker.probesPerSecond }),
        ("breaker", "close_successes", 3, { Double($0.breaker.closeSuccesses) }),
        ("trust", "half_confidence_calls", 10, { $0.trust.halfConfidenceCalls }),
        ("trust", "flagged_demand_factor", 1.5, { $0.trust.flaggedDemandFactor }),
        ("trust", "flag_seconds", 300, { $0.trust.flagSeconds }),
    ]

    @Test func `each number sets the field that it names and no other`() throws {
        let defaults = try load(rules: "{}")
        for number in Self.numbers {
            let policy = try load(rules: "{\(number.section): {\(number.key): \(number.value)}}")
            for other in Self.numbers {
                let isNamed = other.section == number.section && other.key == number.key
                let expected = isNamed ? number.value : other.field(defaults)
                #expect(
                    other.field(policy) == expected, "\(number.section).\(number.key) and \(other.section).\(other.key)"
                )
            }
        }
    }

    @Test func `the table above knows every key of every section`() {
        for section in Set(Self.numbers.map(\.section)).sorted() {
            let known = faults(rules: "{\(section): {x: 1}}").first?.message ?? ""
            let keys = Self.numbers.filter { $0.section == section }.map(\.key).joined(separator: ", ")
            #expect(known == "unknown key: known here are \(keys)")
        }
    }

    @Test func `the keys of rules, tiers and bands set what they name`() throws {
        let policy = try load(
            rules: """
                {
                  name: "night", default_tier: "low", strategic_factor: 2,
                  tiers: [
                    {name: "high", weight: 5.5, ceiling_share: 0.5}, {name: "low", weight: 1, ceiling_share: null},
                  ],
                  bands: [
                    {fill: "floor_in_demand", tiers: ["high"]}, {fill: "demand", criticality: "near_real_time"},
                    {fill: "floor"}, {fill: "start"}, {fill: "ceiling"},
                  ],
                }
                """)
        #expect(policy.name == "night")
        #expect(policy.defaultTier == "low")
        #expect(policy.strategicFactor == 2)
        #expect(
            policy.tiers == [
                TierPolicy(name: "high", weight: 5.5, ceilingShare: 0.5), TierPolicy(name: "low", weight: 1),
            ])
        #expect(
            policy.bands == [
                Band(.floorInDemand, tiers: ["high"]), Band(.demand, criticality: .nearRealTime), Band(.floor),
                Band(.start), Band(.ceiling),
            ])
    }

    @Test func `the keys of a pool set what they name`() throws {
        let policy = try load(
            rules: "{}",
            pools: [
                "a": """
                {
                  pool: "a", provider: "openai", nominal: {rpm: 1, tpm: 2, itpm: 3, otpm: 4.5}, mode: "guarded",
                  provider_burst_seconds: 9, burst_seconds: 8, failover: ["b"], counts_refused: true,
                  closed_after_seconds: 300,
                }
                """, "b": "{pool: 'b', nominal: {otpm: 7}, provider: null}",
            ])
        var expected = PoolPolicy(
            pool: "a", provider: "openai", nominal: Rates(rpm: 1, tpm: 2, itpm: 3, otpm: 4.5), mode: .guarded,
            providerBurstSeconds: 9, burstSeconds: 8, failover: ["b"], countsRefused: true)
        expected.closedAfterSeconds = 300
        #expect(policy.pools == [expected, PoolPolicy(pool: "b", nominal: Rates(otpm: 7))])
    }

    @Test func `the files that ship state every key, with the defaults, and have no fault`() throws {
        let directory = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let policy = try PolicyDirectory(path: "/\(directory)/policies").load()
        var defaults = Policy(pools: policy.pools)
        defaults.digest = policy.digest
        #expect(policy == defaults)
        #expect(policy.pools.map(\.pool) == ["demo:sim-large", "openai:gpt-4o"])
        let rules = try String(contentsOfFile: "/\(directory)/policies/rules.json5", encoding: .utf8)
        for number in Self.numbers { #expect(rules.contains("\n    \(number.key): "), "\(number.key)") }
    }
}
