import HeadroomModel
import Testing

/// The parts of the fallback: what each tenant has once the lease has run out.
@Suite struct SafeRateTests {
    private var story = DecisionStory()

    private func safe(_ tenant: TenantID) -> Double {
        story.last?.allocation.tenants.first { $0.tenant == tenant }?.safe[.tokens] ?? 0
    }

    @Test mutating func `they follow what tenants do as a rule and not the last minute`() {
        story.needs = [
            "burst": DecisionStory.Needs(interactive: 5e6, usual: 1e6),
            "quiet": DecisionStory.Needs(interactive: 1e5, usual: 4e6),
        ]
        story.run(seconds: 120)
        #expect(story.assured("burst") > story.assured("quiet"))
        // The ceiling of its tier.
        #expect(safe("quiet") == 3e6)
        #expect(safe("burst") >= 1e6)
    }

    @Test mutating func `a newcomer has one within seconds`() {
        story.needs = ["a": DecisionStory.Needs(interactive: 1e6, usual: 1e6)]
        story.run(seconds: 60)
        story.needs["b"] = DecisionStory.Needs(interactive: 1e6, usual: 1e6)
        story.run(seconds: 12)
        #expect(safe("b") >= 1e6)
    }

    @Test mutating func `small movements change none of them, and a loss of capacity does at once`() {
        for number in 0..<9 {
            story.needs[TenantID(unchecked: "t\(number)")] = DecisionStory.Needs(interactive: 1e6, usual: 6e5)
        }
        story.run(seconds: 120)
        let before = story.last?.allocation.tenants.map(\.safe)
        for name in story.needs.keys.sorted() { story.needs[name]?.usual = 6.2e5 }
        story.run(seconds: 120)
        #expect(story.last?.allocation.tenants.map(\.safe) == before)
        story.capacity = DecisionStory.nominal * 0.5
        story.tick()
        let sum = story.needs.keys.reduce(0) { $0 + safe($1) }
        #expect(sum > 0 && sum <= 0.95 * 3e6)
    }

    @Test(arguments: [PoolMode.recommend, .full])
    mutating func `where nothing moves by itself they are the assured rates in proportion`(mode: PoolMode) {
        story.policy.mode = mode
        story.needs = [
            "a": DecisionStory.Needs(interactive: 2e6, usual: 1e5),
            "b": DecisionStory.Needs(interactive: 1e6, usual: 3e6),
        ]
        story.run(seconds: 60)
        if mode == .full {
            story.rules.steering.freezes = [
                Freeze(
                    id: 1, generation: nil, numbers: [],
                    authorship: Authorship(
                        author: "sre", reason: "test", at: story.now, until: story.now.adding(seconds: 600)))
            ]
        }
        story.run(seconds: 90)
        for tenant in story.last?.allocation.tenants ?? [] {
            let (assured, safe) = (tenant.assured[.tokens] ?? 0, tenant.safe[.tokens] ?? 0)
            #expect(abs(safe - 0.95 * assured) <= 0.05 * assured + 1, "\(tenant)")
        }
    }
}
