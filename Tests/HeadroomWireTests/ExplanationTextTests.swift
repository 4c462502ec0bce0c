import HeadroomModel
import HeadroomWire
import Testing

@Suite struct ExplanationTextTests {
    private static let at = Timestamp(milliseconds: 1_793_000_000_000)

    private func explanation(
        room: (given: Rates, assured: Rates)? = nil, strategicFactor: Double? = nil,
        _ change: (inout Explanation.PoolFacts, inout Explanation.TenantFacts) -> Void = { _, _ in }
    ) -> [String] {
        var pool = Explanation.PoolFacts(
            pool: "openai:gpt-4o", nominal: Rates(rpm: 10000, tpm: 2_000_000),
            capacity: Rates(rpm: 10000, tpm: 1_100_000), capacityReason: .throttled,
            capacityChangedAt: Self.at.adding(seconds: -40), capacityBefore: Rates(rpm: 10000, tpm: 2_000_000),
            recentAttempts: 1200, recentRefusals: 96, shared: Rates(rpm: 9500, tpm: 1_045_000),
            exhausted: .init(name: "demand:interactive", level: 0.1, saturated: .tokens))
        var tenant = Explanation.TenantFacts(
            tenant: "acme", tier: "premium", weight: 4, demand: Rates(rpm: 410, tpm: 410_000),
            credibleDemand: PerCriticality(
                interactive: Rates(rpm: 410, tpm: 410_000), nearRealTime: .none, batch: .none),
            floor: Rates(tpm: 100_000),
            direction: Rates(rpm: 1, tpm: 1000), target: 268, mean: 320, before: 160, least: 100,
            leastConstraint: .slew, most: 240, mostConstraint: .slew, fill: 240, assured: Rates(rpm: 240, tpm: 240_000),
            constraint: .slew, excessShare: 0.31)
        change(&pool, &tenant)
        let told = Explanation(
            version: SnapshotVersion(epoch: 1, generation: 1842), at: Self.at, pool: pool, tenant: tenant)
        return ExplanationAnswer(
            told, room: room, strategicFactor: strategicFactor, now: Self.at.adding(seconds: 12)
        ).sentences
    }

    @Test func `a chain of numbers is told as a person would`() {
        #expect(
            explanation() == [
                "acme asked for 410,000 tokens a minute.",
                "The pool openai:gpt-4o has 1,100,000 tokens a minute since it fell from 2,000,000 52 s ago "
                    + "(429s for quota on 8 % of the calls of 10 s).",
                "At weight 4 (tier premium) its share is 268,000 tokens a minute, and was 320,000 on average of late.",
                "It has a floor of 100,000.",
                "The slew limit lets it rise to 240,000 tokens a minute for now.",
                "So it is assured 240,000 tokens a minute, 50 % more than before (generation 1842, 12 s ago).",
                "It causes 31 % of what all tenants want above their entitlements.",
            ])
    }

    @Test func `a discount, little evidence, a burst and an override are named`() {
        let told = explanation { _, tenant in
            tenant.credibleDemand.interactive = Rates(tpm: 300_000)
            tenant.confidence = 0.2
            tenant.override = 17
            tenant.burst = 20
        }
        #expect(
            told[0]
                == "acme asked for 410,000 tokens a minute, of which 300,000 count, since little is known of it yet "
                + "(confidence 20 %).")
        #expect(told[2].hasPrefix("At weight 4 (tier premium, override 17) its share is"))
        #expect(told[5].contains("; 20,000 of it is a burst paid from credit"))
        let strategic = explanation(strategicFactor: 1.5)
        #expect(strategic[2].hasPrefix("At weight 4 (tier premium, times 1.5 as a strategic account) its share is"))
    }

    @Test func `why more is planned than was asked for, or less, is told`() {
        func first(asked: Double, waiting: Double = 0, credible: Double? = nil) -> String {
            explanation { _, tenant in
                tenant.asked = Rates(rpm: asked / 1000, tpm: asked)
                tenant.waiting = Work(requests: waiting / 1000, tokens: waiting)
                tenant.waitingSeconds = 20
                if let credible { tenant.credibleDemand.interactive = Rates(tpm: credible) }
            }[0]
        }
        #expect(
            first(asked: 30_000, waiting: 120_000)
                == "acme asked for 30,000 tokens a minute, and 120,000 wait; 410,000 a minute are planned for it, to serve these "
                + "within 20 s.")
        #expect(
            first(asked: 60_000)
                == "acme asked for 60,000 tokens a minute; 410,000 are planned for it, as it wanted more a moment ago.")
        #expect(
            first(asked: 900_000)
                == "acme asked for 900,000 tokens a minute; 410,000 are planned for it, as it wants less by now.")
        #expect(first(asked: 405_000) == "acme asked for 405,000 tokens a minute.")
        #expect(
            first(asked: 60_000, credible: 100_000).contains("a moment ago; of these 100,000 count"))
    }

    @Test func `a pool that limits requests only is told in requests`() {
        let told = explanation { pool, tenant in
            pool.nominal = Rates(rpm: 10000)
            pool.capacity = Rates(rpm: 10000)
            pool.capacityBefore = nil
            pool.capacityReason = .contract
            pool.exhausted = nil
            tenant.assured = Rates(rpm: 160)
            tenant.fill = 110
            tenant.before = 110
            tenant.mean = tenant.target
            tenant.excessShare = 0
        }
        #expect(
            told == [
                "acme asked for 410 requests a minute.",
                "The pool openai:gpt-4o has 10,000 requests a minute (by contract).",
                "At weight 4 (tier premium) its share is 268 requests a minute.",
                "The slew limit lets it fall to 100 requests a minute for now.",
                "So it is assured 160 requests a minute, as before (generation 1842, 12 s ago).",
            ])
    }

    @Test func `the story is told in what ran out`() {
        let told = explanation { pool, tenant in
            pool.exhausted = .init(name: "ceiling", level: 0.2, saturated: .requests)
            tenant.constraint = .level
        }
        #expect(told[0] == "acme asked for 410 requests a minute.")
        #expect(
            told.contains(
                "The level binds: the pool's requests ran out while what is left was given out as room to grow."))
    }

    @Test func `a floor is told in the resource that binds, and whether it fits`() {
        let told = explanation { _, tenant in
            tenant.floor = Rates(rpm: 50, tpm: 300_000)
            (tenant.constraint, tenant.fill) = (.floor, 40)
        }
        #expect(told[0] == "acme asked for 410 requests a minute.")
        #expect(told.contains("Its floor binds, and not all floors fit: they are cut by weight."))
    }

    @Test func `what gateways do not have yet is told`() {
        let told = explanation(room: (Rates(rpm: 180, tpm: 180_000), Rates(rpm: 240, tpm: 240_000)))
        #expect(
            told.last
                == "Now, gateways have 180,000 of its 240,000 tokens a minute: the rest awaits room until those that had more "
                + "acknowledge less.")
    }

    @Test(arguments: [
        (
            spent: 212.5e6,
            told:
                "Its cost ceiling binds: 212.5 of the 500 EUR that its use may cost in a month are spent, and what is "
                + "left buys 300,000 tokens a minute for the 8 days until the next."
        ),
        (
            495e6,
            "Its cost ceiling binds: 495 of the 500 EUR that its use may cost in a month are spent, and what is left buys "
                + "less than a request a minute for the 8 days until the next: one may pass now and then."
        ),
        (
            500.01e6,
            "Its cost ceiling binds: 500.01 of the 500 EUR that its use may cost in a month are spent, and nothing is "
                + "left for the 8 days until the next."
        ),
    ])
    func `a cost ceiling is told in money`(spent: Double, told: String) {
        let sentences = explanation { _, tenant in
            tenant.constraint = .costCeiling
            tenant.ceiling = Rates(tpm: 300_000)
            tenant.cost = Explanation.CostFacts(
                currency: "EUR", period: .month, most: 500e6, spent: spent, until: Self.at, minutesLeft: 8 * 1440,
                perRequest: 1_000)
        }
        #expect(sentences.contains(told), "\(sentences)")
    }

    @Test func `which claim is doubted is told, since when, and what was seen`() {
        let sentences = explanation { _, tenant in
            tenant.confidence = 1
            tenant.constraint = .gamingDiscount
            tenant.flags = [
                GamingFlag(
                    kind: .resentDenials, since: Self.at.adding(seconds: -600),
                    evidence: "40 of 50 denied calls came again at once as new work; by chance it would have been 3")
            ]
        }
        #expect(
            sentences[1]
                == "It is doubted that the calls it sends after a denial are new work (flag resent_denials, for 10 min): "
                + "40 of 50 denied calls came again at once as new work; by chance it would have been 3.",
            "\(sentences)")
        #expect(sentences.contains { $0.hasPrefix("A discount binds: of claims that are doubted") }, "\(sentences)")
    }

    @Test(arguments: [
        (CostBreak.State.slowed, "so it is slowed to 300,000 tokens a minute, which what is left pays for."),
        (.paused, "so it is paused until then."),
    ])
    func `the cost breaker is told in money`(state: CostBreak.State, end: String) {
        let sentences = explanation { _, tenant in
            tenant.constraint = .costBreaker
            tenant.ceiling = Rates(tpm: 300_000)
            tenant.breaker = CostBreak(
                subject: .tenant("acme"), state: state, since: Self.at, ceiling: 60e6, spent: 34.5e6, projected: 90e6,
                projectedLeast: 80e6, projectedMost: 100e6, until: Timestamp(milliseconds: 1_793_005_500_000))
        }
        let told =
            "The cost breaker binds: acme has spent 34.50 of the 60.00 USD that it may until 09:05 UTC; as it goes, it "
            + "will have spent 90.00 (80.00 to 100.00), " + end
        #expect(sentences.contains(told), "\(sentences)")
    }

    @Test func `every constraint has a sentence of its own, that ends as one`() {
        var seen: Set<String> = []
        for constraint in Constraint.allCases {
            let told = explanation { _, tenant in
                tenant.constraint = constraint
                tenant.ceiling = Rates(tpm: 300_000)
                tenant.excessShare = 0
            }
            #expect(told[4].hasSuffix(".") == true)
            #expect(seen.insert(told[4]).inserted, "\(constraint)")
        }
        for reason in CapacityReason.allCases {
            let told = explanation { pool, _ in pool.capacityReason = reason }
            #expect(seen.insert(told[1]).inserted, "\(reason)")
        }
    }
}
