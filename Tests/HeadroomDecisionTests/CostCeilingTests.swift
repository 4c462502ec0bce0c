import HeadroomModel
import Testing

/// Money as a ceiling. A request of the story has 1,000 tokens, which cost 2 ¢ each.
@Suite struct CostCeilingTests {
    private var story = DecisionStory()

    init() {
        story.needs = ["acme": DecisionStory.Needs(interactive: 1e6), "beta": DecisionStory.Needs(interactive: 1e6)]
    }

    /// Cents that are left for an hour, of 1,000 a day.
    private mutating func leave(_ cents: Double) {
        let terms = CostTerms(
            currency: "EUR", period: .day, most: 10_000_000, prices: [CostTerms.Price(perRequest: 20_000)])
        story.rules.allowances["acme"] = CostAllowance(
            terms: terms, spent: 10_000_000 - cents * 10_000, until: story.now.adding(seconds: 3600), minutesLeft: 60)
    }

    private func allocation(_ tenant: TenantID) -> TenantAllocation? {
        story.last?.allocation.tenants.first { $0.tenant == tenant }
    }

    @Test(arguments: [(cents: 12_000.0, requests: 100.0), (1_200, 10), (60, 1), (1, 1), (0, 0), (-50, 0)])
    mutating func `what is left over the time that is left buys so many requests`(cents: Double, requests: Double) {
        leave(cents)
        story.run(seconds: 120)
        #expect(allocation("acme")?.ceiling[.requests] == requests)
        #expect(allocation("acme")?.assured[.requests] == requests)
        #expect(allocation("acme")?.constraint == .costCeiling)
        #expect(story.assured("beta") >= 1e6)
    }

    @Test mutating func `input that the provider has cached costs its own price here too`() throws {
        func requests(cached share: Double) throws -> Double {
            // Input costs 20 € a million tokens, and a tenth of it where it was cached; a tenth of 100 € an hour is left.
            let terms = CostTerms(
                currency: "EUR", period: .day, most: 1_000_000_000,
                prices: [CostTerms.Price(perMillionInputTokens: 20_000_000, perMillionCachedInputTokens: 2_000_000)])
            story.rules.allowances["acme"] = CostAllowance(
                terms: terms, spent: 900_000_000, until: story.now.adding(seconds: 3600), minutesLeft: 60,
                cachedShares: ["demo:pool": share])
            // Its number moves within a few ticks, and bears the price that moved it.
            var cost: Explanation.CostFacts?
            for _ in 0..<30 where cost == nil {
                story.tick()
                cost = story.last?.changes.first { $0.tenant == "acme" }?.cost
            }
            return try #require(cost).perRequest
        }
        story.needs["acme"]?.inputTokensPerRequest = 800
        let full = try requests(cached: 0)
        let half = try requests(cached: 0.5)
        let all = try requests(cached: 1)
        #expect(full > 0 && abs(half / full - 0.55) < 0.001 && abs(all / full - 0.1) < 0.001, "\(full) \(half) \(all)")
    }

    @Test mutating func `it goes before the floor, and makes nobody starve who has spent its money`() {
        story.promise("acme", floor: 5e5)
        leave(1_200)
        story.run(seconds: 120)
        #expect(allocation("acme")?.assured[.requests] == 10)
        let entitlement = story.last?.entitlements.first { $0.tenant == "acme" }?.rates
        #expect(entitlement?[.requests] == 10)
        // Nothing of it is held back from others.
        story.needs["beta"] = DecisionStory.Needs(interactive: 5.5e6)
        story.run(seconds: 120)
        #expect(story.assured("beta") > 2.9e6)
    }

    @Test mutating func `the lower one of two ceilings binds, and is named`() {
        story.promise("acme", ceiling: 50_000)
        leave(12_000)
        story.run(seconds: 120)
        #expect(allocation("acme")?.ceiling[.requests] == 50)
        #expect(allocation("acme")?.constraint == .ceiling)
        leave(1_200)
        story.run(seconds: 60)
        #expect(allocation("acme")?.constraint == .costCeiling)
    }

    @Test mutating func `it follows the money up and down, and ends with the cost`() {
        for (cents, requests) in [(12_000.0, 100.0), (6_000, 50), (24_000, 200)] {
            leave(cents)
            story.run(seconds: 180)
            #expect(allocation("acme")?.assured[.requests] == requests)
        }
        story.rules.allowances = [:]
        story.run(seconds: 180)
        #expect(allocation("acme")?.ceiling[.requests] == 3_000)
        #expect(story.assured("acme") >= 1e6)
    }

    @Test mutating func `its numbers are in the chain`() throws {
        leave(1_200)
        story.tick()
        let facts = try #require(story.last?.changes.first { $0.tenant == "acme" })
        let cost = try #require(facts.cost)
        #expect(cost.perRequest == 20_000 && cost.minutesLeft == 60 && cost.affordable == 10)
        #expect(Recomputation(pool: story.last!.facts, tenant: facts).fault == nil)
    }
}
