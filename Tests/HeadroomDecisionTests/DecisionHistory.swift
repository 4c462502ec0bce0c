import HeadroomDecision
import HeadroomModel

/// A drawn history of one pool, tick by tick: tenants that join, leave and change their needs and shapes; capacity that
/// steps and trembles; contracts, overrides, freezes, roll-backs and modes; people who approve and deny; restarts.
struct DecisionHistory {
    let seed: UInt64
    private(set) var story: DecisionStory
    private(set) var tick = 0
    private let modes: [PoolMode]
    private var random: SplitMix64
    private var learnsUntil = 0
    private var lastQuestion: Int64 = 0

    /// - Parameter modes: those that the pool is in by turns.
    init(seed: UInt64, modes: [PoolMode] = PoolMode.allCases) {
        self.seed = seed
        self.modes = modes
        random = SplitMix64(seed: seed)
        story = DecisionStory.drawn(using: &random)
        for tenant in story.needs.keys.sorted() { story.needs[tenant] = drawnNeeds() }
    }

    /// What a failure prints.
    var context: String { "seed \(seed), tick \(tick)" }

    mutating func step() -> PoolDecision {
        tick += 1
        if tick == learnsUntil { story.lastKnown = nil }
        for _ in 0..<Int.random(in: 0..<3, using: &random) { disturb() }
        let decision = story.tick(afterSeconds: [0.5, 2, 2, 2, 5].randomElement(using: &random)!)
        answer(decision)
        return decision
    }

    private mutating func disturb() {
        switch Int.random(in: 0..<25, using: &random) {
        case 0...7: story.needs[drawnTenant()] = drawnNeeds()
        case 8...9: story.needs[drawnTenant()] = nil
        case 10: story.capacity = DecisionStory.nominal * .random(in: 0.05...1, using: &random)
        case 11: story.capacity = story.capacity * .random(in: 0.98...1, using: &random)
        case 12: story.capacity = DecisionStory.nominal
        case 13: story.policy.mode = modes.randomElement(using: &random)!
        case 14:
            story.rules.steering.freezes = [
                Freeze(
                    id: story.now.milliseconds, generation: Bool.random(using: &random) ? 7 : nil,
                    numbers: story.last.map { [$0.allocation] } ?? [], authorship: authorship(seconds: 20))
            ]
        case 15...16:
            story.rules.steering.overrides = [
                Override(
                    id: story.now.milliseconds, tenant: drawnTenant(),
                    tier: Bool.random(using: &random) ? "critical" : nil, weight: .random(in: 1...16, using: &random),
                    authorship: authorship(seconds: 40))
            ]
        case 17: story.state = PoolState.allCases.randomElement(using: &random)!
        case 18...19: story.state = .healthy
        case 20:
            story.promise(
                drawnTenant(), tier: story.rules.policy.tiers.randomElement(using: &random)!.name,
                floor: .random(in: 1e4...2e5, using: &random))
        case 21: story.promise(drawnTenant(), tier: "critical")
        case 23: story.rules.allowances[drawnTenant()] = drawnAllowance()
        case 22:
            guard tick % 7 == 0 else { return }
            story.restart()
            learnsUntil = tick + 5
        default: break
        }
    }

    /// A desk with people behind it: it keeps one pending question per kind and tenant.
    private mutating func answer(_ decision: PoolDecision) {
        var proposals = story.rules.steering.proposals.filter { !decision.withdrawn.contains($0.id) }
        for question in decision.questions {
            proposals.removeAll {
                $0.state == .pending && $0.kind == question.kind && $0.tenant == question.tenant
            }
            lastQuestion += 1
            proposals.append(question)
            proposals[proposals.count - 1].id = lastQuestion
        }
        if let index = proposals.indices.randomElement(using: &random), proposals[index].state == .pending,
            Int.random(in: 0..<4, using: &random) == 0
        {
            proposals[index].state = Bool.random(using: &random) ? .approved : .denied
            proposals[index].decision = authorship(seconds: 60)
        }
        story.rules.steering.proposals = proposals.filter { ($0.decision ?? $0.authorship).holds(at: story.now) }
    }

    // MARK: Draws

    private mutating func drawnTenant() -> TenantID {
        TenantID(unchecked: "t\(Int.random(in: 10..<30, using: &random))")
    }

    private mutating func drawnNeeds() -> DecisionStory.Needs {
        var needs = DecisionStory.needs(using: &random)
        needs.tokensPerRequest = .random(in: 50...8_000, using: &random)
        needs.consumed = (needs.interactive + needs.batch) * .random(in: 0...1, using: &random)
        if Bool.random(using: &random) { needs.confidence = .random(in: 0...1, using: &random) }
        needs.isDiscounted = Int.random(in: 0..<10, using: &random) == 0
        needs.repayment = .random(in: 0...1, using: &random)
        if Bool.random(using: &random) { needs.usual = .random(in: 0...3e6, using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 {
            needs.midTask = Work(requests: 50, tokens: .random(in: 1e3...2e5, using: &random))
        }
        return needs
    }

    /// From nothing to more than anybody can spend; or none.
    private mutating func drawnAllowance() -> CostAllowance? {
        guard Int.random(in: 0..<3, using: &random) > 0 else { return nil }
        let size = Double.random(in: -0.2...1, using: &random)
        return CostAllowance(
            terms: CostTerms(
                currency: "EUR", period: .day, most: 1_000_000_000,
                prices: [
                    CostTerms.Price(
                        perMillionInputTokens: .random(in: 0...5_000_000, using: &random),
                        perRequest: .random(in: 0...20_000, using: &random))
                ]), spent: 1e9 * (1 - max(0, size * size * size)), until: story.now.adding(seconds: 3600),
            minutesLeft: 60)
    }

    private func authorship(seconds: Double) -> Authorship {
        Authorship(author: "sre", reason: "drawn", at: story.now, until: story.now.adding(seconds: seconds))
    }
}
