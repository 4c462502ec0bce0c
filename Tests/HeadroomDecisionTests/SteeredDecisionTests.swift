import HeadroomModel
import Testing

/// What people say, and what they are asked: guardrails, modes, freezes, overrides.
@Suite struct SteeredDecisionTests {
    /// A tenant without a ceiling that wants more than the guardrail's 60 % of the contract, and two others.
    private func story(mode: PoolMode = .full) -> DecisionStory {
        var story = DecisionStory(mode: mode)
        story.promise("big", tier: "critical")
        story.needs["big"] = DecisionStory.Needs(interactive: 8e6)
        story.needs["small"] = DecisionStory.Needs(interactive: 2.5e6)
        story.needs["other"] = DecisionStory.Needs(interactive: 2.5e6)
        return story
    }

    private func sum(_ story: DecisionStory) -> Double {
        story.last!.allocation.tenants.reduce(0) { $0 + $1.assuredWork }
    }

    private func proposal(
        _ asked: Proposal, id: Int64 = 1, _ state: Proposal.State, forSeconds seconds: Double = 3600, at now: Timestamp
    ) -> Proposal {
        var proposal = asked
        proposal.id = id
        proposal.state = state
        if state != .pending {
            proposal.decision = Authorship(
                author: "sre", reason: "seen", at: now, until: now.adding(seconds: seconds))
        }
        return proposal
    }

    @Test func `nobody is assured more than the guardrail without an approval, and one question asks for it`() throws {
        var story = story()
        var questions: [Proposal] = []
        for _ in 0..<200 {
            let decision = story.tick()
            #expect(story.assured("big") <= 3_600_000)
            questions += decision.questions
            // The desk keeps one pending per pool.
            if let last = decision.questions.last {
                story.rules.steering.proposals = [proposal(last, .pending, at: story.now)]
            }
        }
        let question = try #require(questions.last)
        #expect(questions.count == 1)
        #expect(question.kind == .guardrail && question.state == .pending)
        #expect(question.changes.map(\.tenant) == ["big"] && question.movers == 1)
        #expect(question.changes[0].from[.tokens] == 3_600_000)
        #expect(question.changes[0].to[.tokens]! > 3_700_000)
        #expect(question.effects.map(\.tenant) == ["other", "small"])
        #expect(question.effects.allSatisfy { $0.to[.tokens]! < $0.from[.tokens]! })
        #expect(question.evidence.count >= 3 && question.evidence[0].contains("3,600,000"))
        let constraint = story.last!.allocation.tenants.first { $0.tenant == "big" }?.constraint
        #expect(constraint == .guardrail)
    }

    @Test func `nobody is asked about what is left over, where nobody asks for it`() {
        var story = DecisionStory()
        story.promise("big", tier: "critical")
        story.needs["big"] = DecisionStory.Needs(interactive: 1e6)
        story.needs["small"] = DecisionStory.Needs(interactive: 5e5)
        var questions = 0
        for _ in 0..<200 { questions += story.tick().questions.count }
        #expect(story.assured("big") > 3_500_000, "all that the guardrail lets it have")
        #expect(questions == 0)
        // It does now.
        story.needs["big"] = DecisionStory.Needs(interactive: 8e6)
        for _ in 0..<100 { questions += story.tick().questions.count }
        #expect(questions > 0)
    }

    @Test(arguments: [(share: 0.01, named: 3, of: "none of them by 1 %"), (0.00001, 100, "150 of them by under 0.1 %")])
    func `a question names the tenants that it changes by the policy's share, a hundred at most, and counts all`(
        share: Double, named: Int, of movers: String
    ) throws {
        var story = DecisionStory()
        story.rules.policy.guardrails.moverShare = share
        story.promise("big", tier: "critical")
        story.needs["big"] = DecisionStory.Needs(interactive: 8e6)
        for number in 100..<250 {
            story.needs[TenantID(unchecked: "t\(number)")] = .init(interactive: Double(number) * 10)
        }
        var question: Proposal?
        for _ in 0..<100 { question = story.tick().questions.last ?? question }
        let effects = try #require(question).effects
        #expect(effects.count == named)
        let losses = effects.map { $0.from[.tokens]! - $0.to[.tokens]! }
        #expect(losses == losses.sorted(by: >))
        let counted = "It changes 150 other tenants, \(movers) of the pool or more."
        #expect(try #require(question).evidence.contains(counted), "\(question?.evidence ?? [])")
    }

    @Test func `an approved change holds until it ends, within the room there is`() {
        var story = story()
        var question: Proposal?
        for _ in 0..<200 { question = story.tick().questions.last ?? question }
        story.rules.steering.proposals = [proposal(question!, .approved, forSeconds: 600, at: story.now)]
        story.run(seconds: 400)
        #expect(story.assured("big") > 3_700_000)
        #expect(sum(story) <= 0.95 * 6_000_000 + 1000)
        story.run(seconds: 300)
        #expect(story.assured("big") <= 3_600_000)
    }

    @Test func `a denied change is not asked for while the answer holds`() {
        var story = story()
        var question: Proposal?
        for _ in 0..<100 { question = story.tick().questions.last ?? question }
        story.rules.steering.proposals = [proposal(question!, .denied, forSeconds: 600, at: story.now)]
        var quiet = 0
        for _ in 0..<299 { quiet += story.tick().questions.count }
        #expect(quiet == 0)
        var again = 0
        for _ in 0..<20 { again += story.tick().questions.count }
        #expect(again > 0)
    }

    @Test func `one question names all tenants that would move, and leaves out those that a person denied`() throws {
        var story = DecisionStory(mode: .recommend)
        for number in 100..<140 {
            let tenant = TenantID(unchecked: "t\(number)")
            story.needs[tenant] = .init(interactive: number.isMultiple(of: 2) ? 400_000 : 1_000)
        }
        var question: Proposal?
        for _ in 0..<100 { question = story.tick().questions.last ?? question }
        let asked = try #require(question)
        #expect(asked.tenant == Proposal.allTenants && asked.changes.count == 40)
        let sizes = asked.changes.map { abs($0.to[.tokens]! - $0.from[.tokens]!) }
        #expect(sizes == sizes.sorted(by: >))
        #expect(asked.evidence[0].contains("40 tenants") && asked.evidence[0].contains("20 more and 20 less"))
        #expect(asked.evidence.allSatisfy { !$0.contains("t1") }, "no names: \(asked.evidence)")
        let denied = try #require(asked.limited(to: ["t100", "t101"]))
        story.rules.steering.proposals = [proposal(denied, id: 3, .denied, at: story.now)]
        question = nil
        for _ in 0..<20 { question = story.tick().questions.last ?? question }
        let again = try #require(question)
        #expect(again.changes.count == 38 && !again.changes.contains { ["t100", "t101"].contains($0.tenant) })
    }

    @Test func `a pending question keeps its numbers until they differ clearly, and is updated once a minute`() throws {
        var story = DecisionStory(mode: .recommend)
        story.needs = ["a": .init(interactive: 5e6), "b": .init(interactive: 2.6e6), "c": .init(interactive: 300_000)]
        var asked: [(at: Timestamp, question: Proposal)] = []
        func run(_ ticks: Int) {
            for _ in 0..<ticks {
                guard let question = story.tick().questions.last else { continue }
                asked.append((story.now, question))
                story.rules.steering.proposals = [proposal(question, .pending, at: story.now)]
            }
        }
        run(100)
        let first = try #require(asked.last?.question)
        asked = []
        story.needs["c"] = .init(interactive: 306_000)
        run(100)
        #expect(asked.isEmpty, "2 % more is no other question")
        story.needs["c"] = .init(interactive: 420_000)
        run(200)
        let last = try #require(asked.last?.question)
        func change(_ tenant: TenantID, _ question: Proposal) -> Proposal.Change? {
            question.changes.first { $0.tenant == tenant }
        }
        #expect(change("c", last) != change("c", first))
        #expect(change("a", last) == change("a", first) && change("b", last) == change("b", first))
        #expect(zip(asked, asked.dropFirst()).allSatisfy { $1.at.seconds(since: $0.at) >= 60 })
    }

    @Test func `of two decisions on a tenant the newer one counts, whichever question it was about`() {
        var story = DecisionStory(mode: .recommend)
        for tenant in ["a", "b"] as [TenantID] { story.needs[tenant] = .init(interactive: 3e6) }
        story.tick()
        func decided(_ id: Int64, tpm: Double, at seconds: Double) -> Proposal {
            let question = Proposal(
                kind: .recommendation, pool: story.policy.pool,
                changes: [Proposal.Change(tenant: "a", from: .none, to: Rates(tpm: tpm))],
                authorship: Authorship(
                    author: "headroom", reason: "r", at: story.now, until: story.now.adding(seconds: 9000)))
            return proposal(question, id: id, .approved, at: story.now.adding(seconds: seconds))
        }
        // A part of question 4 was applied as 9, and later the whole of 4.
        story.rules.steering.proposals = [decided(4, tpm: 900_000, at: 1), decided(9, tpm: 500_000, at: 0)]
        story.run(seconds: 4)
        #expect(abs(story.assured("a") - 900_000) <= 1000)
    }

    @Test func `a question that no longer stands is withdrawn`() {
        var story = story()
        var question: Proposal?
        for _ in 0..<100 { question = story.tick().questions.last ?? question }
        story.rules.steering.proposals = [proposal(question!, id: 7, .pending, at: story.now)]
        story.needs["big"] = DecisionStory.Needs(interactive: 1e6)
        story.needs["small"] = DecisionStory.Needs(interactive: 9e6)
        var withdrawn: [Int64] = []
        for _ in 0..<60 { withdrawn += story.tick().withdrawn }
        #expect(withdrawn.contains(7))
    }

    @Test func `a recommending pool stays by contract, asks, and applies what was approved`() throws {
        var story = story(mode: .recommend)
        var question: Proposal?
        for _ in 0..<60 { question = question ?? story.tick().questions.first }
        // Weights 8, 2 and 2, within 60 % of the contract.
        #expect(abs(story.assured("big") - 3_600_000) <= 1000)
        #expect(abs(story.assured("small") - 1_050_000) <= 1000)
        story.needs["big"] = DecisionStory.Needs(interactive: 500_000)
        for _ in 0..<60 { question = story.tick().questions.first ?? question }
        #expect(abs(story.assured("big") - 3_600_000) <= 1000)
        let asked = try #require(question)
        #expect(asked.kind == .recommendation)
        let wanted = try #require(asked.changes.first { $0.tenant == "big" }?.to[.tokens])
        #expect(wanted < 3_000_000)
        story.rules.steering.proposals = [proposal(asked, .approved, at: story.now)]
        story.tick()
        #expect(abs(story.assured("big") - wanted) <= 1000)
        #expect(story.last!.allocation.tenants.first { $0.tenant == "big" }?.constraint == .mode)
        // Lost capacity asks nobody, and gives back what it took.
        story.capacity = DecisionStory.nominal * 0.3
        story.tick()
        #expect(sum(story) <= 0.95 * 1_800_000 + 1000)
        story.capacity = DecisionStory.nominal
        story.tick()
        #expect(abs(story.assured("big") - wanted) <= 1000)
    }

    @Test func `a recommending pool explains the demand that counts, and not what is applied`() throws {
        var story = story(mode: .recommend)
        story.needs["big"] = DecisionStory.Needs(interactive: 500_000)
        let facts = try #require(story.tick().changes.first { $0.tenant == "big" })
        #expect(facts.constraint == .mode)
        #expect(abs(facts.credibleDemand.total[.tokens]! - 500_000) < 1)
        #expect(facts.assured[.tokens]! > 3_000_000)
    }

    @Test func `a tenant that comes to an empty frozen pool starts as an idle one does`() {
        var story = DecisionStory()
        story.rules.steering.freezes = [
            Freeze(
                id: 1,
                authorship: Authorship(
                    author: "sre", reason: "audit", at: story.now, until: story.now.adding(seconds: 600)))
        ]
        story.tick()
        story.needs["late"] = DecisionStory.Needs(interactive: 1e6)
        story.run(seconds: 60)
        #expect(story.assured("late") > 0)
        #expect(story.assured("late") <= 0.004 * 6_000_000 + 1000)
    }

    @Test func `a guarded pool moves only what its holder has not wanted for a window`() {
        var story = DecisionStory(mode: .guarded)
        for tenant in ["a", "b", "c"] as [TenantID] { story.needs[tenant] = DecisionStory.Needs(interactive: 3e6) }
        story.run(seconds: 300)
        let before = story.assured("a")
        // More weight for b would take from others what they want.
        story.rules.steering.overrides = [
            Override(
                id: 5, tenant: "b", weight: 8,
                authorship: Authorship(
                    author: "cs", reason: "launch", at: story.now, until: story.now.adding(seconds: 3600)))
        ]
        story.run(seconds: 200)
        #expect(abs(story.assured("a") - before) <= 1000)
        story.needs["c"] = DecisionStory.Needs(interactive: 100_000)
        story.run(seconds: 200)
        #expect(story.assured("b") > before + 500_000)
        #expect(story.assured("a") >= before - 1000)
    }

    @Test func `a guarded pool asks before it takes what its holder wants, and takes it when told to`() throws {
        var story = DecisionStory(mode: .guarded)
        for tenant in ["a", "b", "c", "d"] as [TenantID] { story.needs[tenant] = .init(interactive: 4e6) }
        story.run(seconds: 300)
        let before = story.assured("a")
        story.rules.steering.overrides = [
            Override(
                id: 5, tenant: "b", weight: 16,
                authorship: Authorship(
                    author: "cs", reason: "launch", at: story.now, until: story.now.adding(seconds: 7200)))
        ]
        var questions: [Proposal] = []
        for _ in 0..<60 { questions += story.tick().questions }
        let question = try #require(questions.first)
        #expect(question.kind == .recommendation)
        #expect(question.changes.map(\.tenant).sorted() == ["a", "c", "d"])
        #expect(question.changes.allSatisfy { $0.from[.tokens]! > $0.to[.tokens]! })
        #expect(question.effects.contains { $0.tenant == "b" && $0.to[.tokens]! > $0.from[.tokens]! })
        #expect(abs(story.assured("a") - before) <= 1000)
        // A person agrees for one of the three.
        let part = try #require(questions.last?.limited(to: ["a"]))
        story.rules.steering.proposals = [proposal(part, .approved, at: story.now)]
        story.run(seconds: 200)
        #expect(abs(story.assured("a") - part.changes[0].to[.tokens]!) <= 0.02 * before)
        #expect(abs(story.assured("c") - before) <= 1000)
    }

    @Test func `observing decides as in full, and gateways only count`() {
        var (observed, full) = (story(mode: .observe), story())
        for _ in 0..<50 {
            var seen = observed.tick().allocation
            #expect(!seen.enforce && seen.mode == .observe)
            (seen.enforce, seen.mode) = (true, .full)
            #expect(seen == full.tick().allocation)
        }
    }

    @Test func `a freeze keeps every number, but for lost capacity`() {
        var story = story()
        story.run(seconds: 100)
        let before = story.last!.allocation.tenants.map(\.assured)
        let author = Authorship(
            author: "sre", reason: "incident", at: story.now, until: story.now.adding(seconds: 400))
        story.rules.steering.freezes = [Freeze(id: 1, pool: story.policy.pool, authorship: author)]
        story.needs["big"] = DecisionStory.Needs(interactive: 1e5)
        story.run(seconds: 100)
        #expect(story.last!.allocation.tenants.map(\.assured) == before)
        #expect(story.last!.facts.isFrozen)
        story.capacity = DecisionStory.nominal * 0.5
        story.tick()
        #expect(sum(story) <= 3_000_000)
        story.capacity = DecisionStory.nominal
        story.tick()
        #expect(story.last!.allocation.tenants.map(\.assured) == before)
        story.run(seconds: 500)
        #expect(story.assured("big") < before[0][.tokens]!, "\(story.assured("big"))")
    }

    @Test func `a roll-back publishes an old generation's numbers at once`() {
        var story = story()
        story.run(seconds: 100)
        let old = story.last!.allocation
        story.needs["big"] = DecisionStory.Needs(interactive: 1e5)
        story.run(seconds: 400)
        #expect(story.last!.allocation.tenants.map(\.assured) != old.tenants.map(\.assured))
        let author = Authorship(
            author: "sre", reason: "bad policy", at: story.now, until: story.now.adding(seconds: 400))
        story.rules.steering.freezes = [Freeze(id: 1, generation: 12, numbers: [old], authorship: author)]
        story.tick()
        #expect(story.last!.allocation.tenants.map(\.assured) == old.tenants.map(\.assured))
        #expect(story.last!.allocation.tenants[0].constraint == .frozen)
    }

    @Test func `an override of the weight is what binds, and ends by itself`() {
        var story = DecisionStory()
        for tenant in ["a", "b", "c"] as [TenantID] { story.needs[tenant] = DecisionStory.Needs(interactive: 3e6) }
        story.run(seconds: 200)
        let before = story.assured("a")
        story.rules.steering.overrides = [
            Override(
                id: 5, tenant: "a", weight: 4,
                authorship: Authorship(
                    author: "cs", reason: "launch", at: story.now, until: story.now.adding(seconds: 300)))
        ]
        story.run(seconds: 200)
        let overridden = story.last!.allocation.tenants[0]
        #expect(overridden.weight == 4 && overridden.constraint == .override)
        #expect(story.assured("a") > 1.4 * before)
        story.run(seconds: 400)
        #expect(abs(story.assured("a") - before) <= 0.01 * before)
    }

    @Test func `a few points of data never move a quota far`() {
        var story = DecisionStory()
        for number in 1...5 { story.needs[TenantID(unchecked: "b\(number)")] = .init(interactive: 3e6) }
        story.run(seconds: 100)
        story.needs["new"] = DecisionStory.Needs(interactive: 4e6, consumed: 50_000, confidence: 0.05)
        story.run(seconds: 200)
        // What it consumed and what an idle tenant may start with, rounded up by certainty; whatever it claims.
        let given = story.assured("new")
        #expect(given > 50_000 && given <= (50_000 + 24_000) * 1.06)
        #expect(story.last!.allocation.tenants.last?.constraint == .coldStart)
        story.needs["new"]!.interactive = 40e6
        story.run(seconds: 200)
        #expect(story.assured("new") == given)
    }

    @Test func `a flagged claim counts as a factor of what was used, and never below the floor`() {
        var story = DecisionStory()
        for number in 1...5 { story.needs[TenantID(unchecked: "b\(number)")] = .init(interactive: 3e6) }
        story.promise("gamer")
        story.promise("floored", floor: 600_000)
        let claim = DecisionStory.Needs(interactive: 3e6, consumed: 200_000, isDiscounted: true)
        (story.needs["gamer"], story.needs["floored"]) = (claim, claim)
        story.run(seconds: 200)
        #expect(abs(story.assured("gamer") - 240_000) <= 1000)
        #expect(story.assured("floored") >= 599_000)
        #expect(story.last!.allocation.tenants.first { $0.tenant == "gamer" }?.constraint == .gamingDiscount)
    }

    @Test func `an open pool keeps its numbers for when its work comes back`() {
        var story = story()
        story.run(seconds: 200)
        let before = story.last!.allocation.tenants.map(\.assured)
        story.state = .open
        for tenant in story.needs.keys { story.needs[tenant] = DecisionStory.Needs() }
        story.run(seconds: 100)
        #expect(story.last!.allocation.tenants.map(\.assured) == before)
    }

    @Test func `an open pool keeps floors, also those that its work's new size or a contract makes`() {
        var story = story()
        story.promise("floored", floor: 300_000)
        story.needs["floored"] = .init(interactive: 10_000)
        story.run(seconds: 200)
        let before = story.last!.allocation.tenants.first { $0.tenant == "floored" }?.assured
        story.state = .open
        story.needs["floored"]?.tokensPerRequest = 4000
        story.tick()
        #expect(story.last!.allocation.tenants.first { $0.tenant == "floored" }?.assured == before)
        story.promise("floored", floor: 400_000)
        story.tick()
        #expect(story.assured("floored") >= 399_000)
    }

    @Test func `work in the middle of a task bursts on credit, besides what is assured`() throws {
        var story = DecisionStory()
        for number in 1...4 { story.needs[TenantID(unchecked: "b\(number)")] = .init(interactive: 3e6) }
        story.promise("saver", floor: 500_000)
        story.needs["saver"] = DecisionStory.Needs(interactive: 1_000)
        story.run(seconds: 600)
        story.needs["saver"] = DecisionStory.Needs(
            interactive: 3e6, midTask: Work(requests: 200, tokens: 200_000))
        var best = 0.0
        for _ in 0..<80 {
            let allocation = story.tick().allocation
            let saver = try #require(allocation.tenants.last)
            best = max(best, saver.burst.rates[.tokens] ?? 0)
            if let burst = saver.burst.rates[.tokens] {
                #expect(saver.constraint == .burst && saver.assured[.tokens]! >= burst)
            }
            #expect(allocation.tenants.reduce(0) { $0 + $1.assured[.tokens]! } <= 6_000_000)
        }
        #expect(best > 0)
        #expect(story.last!.allocation.tenants.last?.burst == TenantAllocation.Burst.none)
    }
}
