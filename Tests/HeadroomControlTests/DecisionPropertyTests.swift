import HeadroomControl
import HeadroomModel
import Testing

/// What must hold of every decision in any history: joins, leaves, changes of demand and capacity, silent gateways,
/// freezes, modes and restarts.
@Suite struct DecisionPropertyTests {
    @Test func `sums fit, floors hold, numbers are whole, and every number is explained`() {
        for seed in 1...5 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            var story = DecisionStory.drawn(using: &random)
            for tick in 0..<400 {
                disturb(&story, using: &random)
                let before = story.last?.allocation
                let isHeld = story.held != nil
                let decision = story.tick()
                let context = "seed \(seed), tick \(tick)"
                checkSums(decision, story, context)
                checkFloors(decision, story, context)
                if !isHeld { checkExplanations(decision, before, context) }
                if tick % 97 == 96 { story.restart() }
                if tick % 97 == 4 { story.held = nil }
            }
        }
    }

    private func disturb(_ story: inout DecisionStory, using random: inout SplitMix64) {
        switch Int.random(in: 0..<12, using: &random) {
        case 0...3:
            let id = TenantID(unchecked: "t\(Int.random(in: 10..<26, using: &random))")
            story.needs[id] = DecisionStory.needs(using: &random)
        case 4:
            story.needs[TenantID(unchecked: "t\(Int.random(in: 10..<26, using: &random))")] = nil
        case 5:
            story.capacity = DecisionStory.nominal * .random(in: 0.1...1, using: &random)
        case 6: break
        case 7:
            story.policy.mode = PoolMode.allCases.randomElement(using: &random)!
        case 8:
            let author = Authorship(
                author: "sre", reason: "test", at: story.now, until: story.now.adding(seconds: 20))
            story.rules.steering.freezes = [Freeze(id: story.now.milliseconds, authorship: author)]
        case 9:
            let id = TenantID(unchecked: "t\(Int.random(in: 10..<26, using: &random))")
            story.needs[id]?.confidence = .random(in: 0...1, using: &random)
            story.needs[id]?.isDiscounted = Bool.random(using: &random)
            story.needs[id]?.midTask = Bool.random(using: &random) ? Work(requests: 50, tokens: 50_000) : nil
        case 10:
            story.state = PoolState.allCases.randomElement(using: &random)!
        default: break
        }
    }

    private func checkSums(_ decision: PoolDecision, _ story: DecisionStory, _ context: String) {
        let pool = decision.allocation
        for resource in [Resource.requests, .tokens] {
            let rates = pool.tenants.map { $0.assured[resource] ?? -1 }
            #expect(rates.allSatisfy { $0 >= 0 && $0 == $0.rounded() }, "\(context)")
            guard story.held == nil else { continue }
            let most = (story.capacity[resource] ?? 0)
            #expect(rates.reduce(0, +) <= max(0, most), "\(context): \(resource.name)")
            for tenant in pool.tenants {
                #expect(
                    tenant.assured[resource]! <= tenant.ceiling[resource] ?? .infinity, "\(context): \(tenant.tenant)")
                let parts = Criticality.allCases.reduce(0) { $0 + (tenant.criticality[$1][resource] ?? 0) }
                #expect(parts == tenant.assured[resource], "\(context): \(tenant.tenant)")
            }
        }
    }

    /// In modes that move by themselves, whatever came before; also for a tenant that idled.
    private func checkFloors(_ decision: PoolDecision, _ story: DecisionStory, _ context: String) {
        let moves = story.policy.mode != .recommend && story.state != .open
        guard story.held == nil, moves, story.rules.holding(at: story.now).steering.freezes.isEmpty else { return }
        let floors = story.rules.contracts.values.map { ($0.tenant, $0.terms[0].floor[.tokens] ?? 0) }
        let room = story.capacity[.tokens]!
        guard floors.reduce(0, { $0 + $1.1 }) <= room - 1000 else { return }
        for (tenant, floor) in floors.sorted(by: { $0.0 < $1.0 }) {
            #expect(story.assured(tenant) >= floor - 1000, "\(context): \(tenant) of \(floor)")
        }
    }

    /// The chain is one from what was in force to what is published, and what binds lies on it.
    private func checkExplanations(_ decision: PoolDecision, _ before: PoolAllocation?, _ context: String) {
        let old = Dictionary(uniqueKeysWithValues: (before?.tenants ?? []).map { ($0.tenant, $0) })
        let explained = Dictionary(uniqueKeysWithValues: decision.changes.map { ($0.tenant, $0) })
        for tenant in decision.allocation.tenants {
            guard let facts = explained[tenant.tenant] else {
                #expect(old[tenant.tenant]?.assured == tenant.assured, "\(context): \(tenant.tenant) has no chain")
                #expect(old[tenant.tenant]?.constraint == tenant.constraint, "\(context): \(tenant.tenant)")
                continue
            }
            #expect(facts.assured == tenant.assured && facts.constraint == tenant.constraint, "\(context)")
            #expect(
                facts.least <= facts.fill * (1 + 1e-9) && facts.fill <= facts.most * (1 + 1e-9), "\(context): \(facts)")
            // The fill and the burst, in work of the tenant's direction, are what is published.
            let activity = facts.fill + facts.burst
            let published = facts.assured.resources.members.map { resource in
                facts.assured[resource]! / facts.direction[resource]!
            }.min()!
            let unit = facts.direction.resources.members.map { 1 / facts.direction[$0]! }.max()!
            #expect(
                abs(published - activity) <= 2 * unit || published > activity, "\(context): \(facts)")
            switch facts.constraint {
            case .slew:
                #expect(facts.fill == facts.most && facts.most < facts.mean, "\(context): \(facts)")
            case .deadband:
                #expect(
                    facts.fill == facts.before && abs(facts.mean - facts.before) <= 0.3 * facts.before, "\(context)")
            case .observationWindow:
                #expect(facts.fill == facts.mean || facts.fill == facts.before, "\(context): \(facts)")
            case .demand:
                let wanted = facts.direction.resources.members.map {
                    facts.credibleDemand[$0]! / facts.direction[$0]!
                }.min()!
                #expect(abs(facts.fill - wanted) <= 1e-6 * wanted, "\(context): \(facts)")
            default: break
            }
        }
    }

    @Test func `a shortage takes from the last band first`() {
        for seed in 1...12 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            var story = DecisionStory.drawn(using: &random)
            story.capacity = DecisionStory.nominal
            story.run(seconds: 140)
            let before = Dictionary(
                uniqueKeysWithValues: story.last!.allocation.tenants.map { ($0.tenant, $0.assuredWork) })
            story.capacity = DecisionStory.nominal * .random(in: 0.05...0.5, using: &random)
            story.tick()
            func floor(_ tenant: TenantID) -> Double {
                story.rules.contracts[tenant]?.terms[0].floor[.tokens] ?? 0
            }
            // Who wants interactive work, and had more than it has now, shows how far that band came.
            let isShort = story.needs.contains { tenant, needs in
                story.assured(tenant) + 2000 < min(needs.interactive, before[tenant]!)
            }
            guard isShort else { continue }
            for (tenant, needs) in story.needs {
                #expect(
                    story.assured(tenant) <= max(floor(tenant), needs.interactive, 24_000) + 2000,
                    "seed \(seed): \(tenant) keeps \(story.assured(tenant)) of \(needs) while others are short")
            }
        }
    }

    @Test func `overstating demand gains no useful throughput`() {
        for seed in 1...4 as ClosedRange<UInt64> {
            var random = SplitMix64(seed: seed)
            let story = DecisionStory.drawn(using: &random)
            for tenant in story.needs.keys.sorted().prefix(2) {
                // Calling batch work interactive is another lie, and costs only other tenants' batch work.
                let truth = story.needs[tenant]!.interactive
                var useful: [Double] = []
                for factor in [1.0, 4] {
                    var told = story
                    told.needs[tenant] = DecisionStory.Needs(interactive: truth * factor)
                    told.run(seconds: 150)
                    useful.append(min(truth, told.assured(tenant)))
                }
                #expect(useful.max()! <= useful[0] * 1.01 + 2000, "seed \(seed): \(tenant) \(useful)")
            }
        }
    }

    @Test func `the same history gives the same decisions`() {
        let runs = (0..<2).map { _ -> [PoolAllocation] in
            var random = SplitMix64(seed: 3)
            var story = DecisionStory.drawn(using: &random)
            return (0..<60).map { _ in
                disturb(&story, using: &random)
                return story.tick().allocation
            }
        }
        #expect(runs[0] == runs[1])
    }
}

extension Rates {
    fileprivate subscript(resource: Resource, default fallback: Double) -> Double { self[resource] ?? fallback }
}
