import HeadroomModel
import Testing

/// How long a rate waits before it turns back (ControlLaw, rule 25).
@Suite struct TurnWaitTests {
    /// `tenant`, which rose from 300,000 to 600,000 tokens a minute, among others that want more than there is.
    private func risen(_ tenant: TenantID) -> DecisionStory {
        var story = DecisionStory()
        story.needs[tenant] = DecisionStory.Needs(interactive: 300_000)
        for number in 1...5 { story.needs[TenantID(unchecked: "b\(number)")] = .init(interactive: 2e6) }
        story.run(seconds: 100)
        story.needs[tenant]!.interactive = 600_000
        story.run(seconds: 300)
        return story
    }

    @Test func `a fall waits for three windows while needs keep moving`() {
        var story = risen("a")
        let before = story.assured("a")
        story.swing("a", about: 200_000, seconds: 170)
        #expect(story.assured("a") == before)
        story.swing("a", about: 200_000, seconds: 60)
        #expect(story.assured("a") < 0.5 * before)
    }

    @Test func `a need that comes back within three windows finds its rate as it was`() {
        var story = risen("a")
        let before = story.assured("a")
        for _ in 0..<5 {
            story.swing("a", about: 100_000, seconds: 120)
            #expect(story.assured("a") == before)
            story.swing("a", about: 600_000, seconds: 60)
        }
    }

    @Test func `a tenant that is flagged does not wait to fall`() {
        var story = risen("a")
        let before = story.assured("a")
        (story.needs["a"]!.isDiscounted, story.needs["a"]!.consumed) = (true, 200_000)
        story.swing("a", about: 200_000, seconds: 70)
        #expect(story.assured("a") < 0.5 * before)
    }

    @Test func `a rise that is needed waits for one window`() {
        var story = risen("a")
        story.needs["a"]!.interactive = 200_000
        story.run(seconds: 300)
        let before = story.assured("a")
        story.swing("a", about: 500_000, seconds: 50)
        #expect(story.assured("a") == before)
        story.swing("a", about: 500_000, seconds: 40)
        #expect(story.assured("a") > 2 * before)
    }

    @Test func `a rise that is only room to grow waits for four windows`() {
        var story = DecisionStory()
        for tenant in ["a", "b", "c", "d"] as [TenantID] { story.needs[tenant] = .init(interactive: 200_000) }
        story.run(seconds: 100)
        story.needs["large"] = DecisionStory.Needs(interactive: 2.5e6)
        story.run(seconds: 300)
        story.needs["large"]!.interactive = 3.6e6
        story.run(seconds: 50)
        let before = story.assured("a")
        story.swing("large", about: 2.5e6, seconds: 220)
        #expect(story.assured("a") == before)
        story.swing("large", about: 2.5e6, seconds: 100)
        #expect(story.assured("a") > 1.1 * before)
    }

    @Test func `after a loss of capacity rates return after three windows, or at once with the contract's capacity`() {
        var story = DecisionStory()
        for number in 1...5 { story.needs[TenantID(unchecked: "b\(number)")] = .init(interactive: 2e6) }
        story.run(seconds: 300)
        let before = story.assured("b1")
        story.capacity = DecisionStory.nominal * 0.5
        story.run(seconds: 10)
        var returned = story
        returned.capacity = DecisionStory.nominal
        returned.run(seconds: 60)
        #expect(returned.assured("b1") > 0.9 * before)
        story.capacity = DecisionStory.nominal * 0.8
        story.run(seconds: 160)
        #expect(story.assured("b1") < 0.51 * before)
        story.run(seconds: 60)
        #expect(story.assured("b1") > 0.79 * before)
    }

    @Test func `an override acts within two windows on rates that rose a moment ago`() {
        var story = DecisionStory()
        for tenant in ["a", "b", "c", "leaves"] as [TenantID] { story.needs[tenant] = .init(interactive: 3e6) }
        story.needs["swings"] = DecisionStory.Needs(interactive: 1e6)
        story.swing("swings", about: 1e6, seconds: 200)
        story.needs["leaves"] = nil
        story.swing("swings", about: 1e6, seconds: 200)
        let before = story.assured("a")
        story.rules.steering.overrides = [
            Override(
                id: 5, tenant: "a", weight: 4,
                authorship: Authorship(
                    author: "cs", reason: "launch", at: story.now, until: story.now.adding(seconds: 3600)))
        ]
        story.swing("swings", about: 1e6, seconds: 120)
        #expect(story.assured("a") > 1.4 * before)
    }
}

extension DecisionStory {
    /// Needs that change by a fifth every ten seconds, so that no target stands still.
    fileprivate mutating func swing(_ tenant: TenantID, about mean: Double, seconds: Double) {
        for tick in 0..<Int(seconds / 2) {
            needs[tenant]!.interactive = mean * (tick / 5 % 2 == 0 ? 1.1 : 0.9)
            self.tick()
        }
    }
}
