import HeadroomModel
import HeadroomWire
import Testing

@Suite struct ExplanationTextTests {
    private static let at = Timestamp(milliseconds: 1_793_000_000_000)

    private func explanation(
        _ change: (inout Explanation.PoolFacts, inout Explanation.TenantFacts) -> Void = { _, _ in }
    ) -> [String] {
        var pool = Explanation.PoolFacts(
            pool: "openai:gpt-4o", nominal: Rates(rpm: 10000, tpm: 2_000_000),
            capacity: Rates(rpm: 10000, tpm: 1_100_000), capacityReason: .throttled,
            capacityChangedAt: Self.at.adding(seconds: -40), capacityBefore: Rates(rpm: 10000, tpm: 2_000_000),
            recentAttempts: 1200, recentRefusals: 96, shared: Rates(rpm: 9500, tpm: 1_045_000),
            bands: [.init(name: "demand", level: 0.1, saturated: .tokens)])
        var tenant = Explanation.TenantFacts(
            tenant: "acme", tier: "premium", weight: 4, demand: Rates(rpm: 410, tpm: 410_000),
            credibleDemand: Rates(rpm: 410, tpm: 410_000), floor: Rates(tpm: 100_000),
            direction: Rates(rpm: 1, tpm: 1000), target: 268, mean: 320, before: 160, least: 100,
            leastConstraint: .slew, most: 240, mostConstraint: .slew, fill: 240, assured: Rates(rpm: 240, tpm: 240_000),
            constraint: .slew, excessShare: 0.31)
        change(&pool, &tenant)
        let told = Explanation(
            version: SnapshotVersion(epoch: 1, generation: 1842), at: Self.at, pool: pool, tenant: tenant)
        return ExplanationText(told, now: Self.at.adding(seconds: 12)).sentences
    }

    @Test func `a chain of numbers is told as a person would`() {
        #expect(
            explanation() == [
                "acme asked for 410,000 TPM.",
                "The pool openai:gpt-4o has 1,100,000 TPM after it fell from 2,000,000 40 s earlier "
                    + "(quota refusals on 8 % of calls).",
                "acme is in the tier premium with the weight 4, and has a floor of 100,000.",
                "Its share of the level is 268,000 TPM, 320,000 on average over the observation window.",
                "Generation 1842 assures it 240,000 TPM, 50 % more than before (12 s ago).",
                "What binds is the slew limit: this generation may raise it to 240,000 TPM and no further.",
                "It causes 31 % of what all tenants want above their entitlements.",
            ])
    }

    @Test func `a discount, little evidence, a burst and an override are named`() {
        let told = explanation { _, tenant in
            tenant.credibleDemand = Rates(tpm: 300_000)
            tenant.confidence = 0.2
            tenant.override = 17
            tenant.burst = 20
        }
        #expect(
            told[0]
                == "acme asked for 410,000 TPM, of which 300,000 count; little is known of it yet (confidence 20 %).")
        #expect(told[2].contains("the weight 4, set by the override 17, and has"))
        #expect(told[4].contains("; 20,000 of it is a burst paid from credit"))
    }

    @Test func `a pool that limits requests only is told in requests`() {
        let told = explanation { pool, tenant in
            pool.nominal = Rates(rpm: 10000)
            pool.capacity = Rates(rpm: 10000)
            pool.capacityBefore = nil
            pool.capacityReason = .contract
            tenant.assured = Rates(rpm: 160)
            tenant.fill = 110
            tenant.before = 110
            tenant.mean = tenant.target
            tenant.excessShare = 0
        }
        #expect(
            told == [
                "acme asked for 410 RPM.", "The pool openai:gpt-4o has 10,000 RPM (by contract).",
                "acme is in the tier premium with the weight 4.", "Its share of the level is 268 RPM.",
                "Generation 1842 assures it 160 RPM, as before (12 s ago).",
                "What binds is the slew limit: this generation may lower it to 100 RPM and no further.",
            ])
    }

    @Test func `the story is told in what ran out`() {
        let told = explanation { pool, tenant in
            pool.bands.append(.init(name: "ceiling", level: 0.2, saturated: .requests))
            tenant.constraint = .level
        }
        #expect(told[0] == "acme asked for 410 RPM." && told[3].hasPrefix("Its share of the level is 268 RPM"))
        #expect(told[5] == "What binds is the level: the pool's requests are given out.")
    }

    @Test func `every constraint has a sentence of its own, that ends as one`() {
        var seen: Set<String> = []
        for constraint in Constraint.allCases {
            let told = explanation { _, tenant in
                tenant.constraint = constraint
                tenant.excessShare = 0
            }
            #expect(told.last?.hasSuffix(".") == true)
            #expect(seen.insert(told.last ?? "").inserted, "\(constraint)")
        }
        for reason in CapacityReason.allCases {
            let told = explanation { pool, _ in pool.capacityReason = reason }
            #expect(seen.insert(told[1]).inserted, "\(reason)")
        }
    }
}
