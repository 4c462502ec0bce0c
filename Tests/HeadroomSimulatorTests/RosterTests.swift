import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct RosterTests {
    private let trace = SyntheticWorkload.trace(requests: 5400, seed: 4)
    private let seconds = 1350.0

    private func roster(capacityFactor: Double = 1, seed: UInt64 = 1) -> (roster: Roster, capacity: Rates) {
        let mean = trace.total.rates(overSeconds: seconds, of: [ResourceSet(.requests), ResourceSet(.tokens)])
        let capacity = mean * capacityFactor
        return (Roster(trace: trace, seconds: seconds, capacity: capacity, seed: seed), capacity)
    }

    @Test func `each ten tenants by rank have one critical two premium four standard and three free`() {
        let entries = roster().roster.entries
        for (tier, count) in [("critical", 2), ("premium", 4), ("standard", 8), ("free", 6)] {
            #expect(entries.count { $0.tier == tier } == count, "\(tier)")
        }
        #expect(entries.count { $0.criticality == .interactive } == 14)
        #expect(entries.count { $0.criticality == .batch } == 6)
    }

    @Test func `floors are a share of own demand and together at most three fifths of the pool`() {
        let shares: [String: Double] = ["critical": 0.8, "premium": 0.6, "standard": 0.3, "free": 0]
        for (factor, isScaled) in [(1.0, false), (0.3, true)] {
            let (roster, capacity) = roster(capacityFactor: factor)
            for resource in capacity.resources.members {
                let floors = roster.entries.reduce(0) { $0 + ($1.floor[resource] ?? 0) }
                #expect(floors <= 0.6 * (capacity[resource] ?? 0))
            }
            for entry in roster.entries {
                let share = shares[entry.tier] ?? -1
                let most = (entry.demand[.tokens] ?? 0) * share
                let floor = entry.floor[.tokens] ?? -1
                #expect(floor <= most && (isScaled || floor > most * 0.5 - 1), "\(entry.tenant)")
            }
        }
    }

    @Test func `the same seed gives the same roster and contracts ascend by tenant`() {
        let first = roster().roster.contracts(pool: "openai:gpt-4o")
        #expect(first == roster().roster.contracts(pool: "openai:gpt-4o"))
        #expect(first != roster(seed: 2).roster.contracts(pool: "openai:gpt-4o"))
        #expect(first.map(\.tenant) == first.map(\.tenant).sorted())
        #expect(first.count == 20)
    }
    @Test func `a tenant under another name keeps its role`() {
        let dealt = roster().roster
        // In another order than before: who ranks where by name no longer matters.
        let names = dealt.entries.indices.map { TenantID(unchecked: "\(dealt.entries[$0].tier)-\(99 - $0)") }
        let named = dealt.named(names)
        #expect(named.entries.map(\.tenant) == names)
        #expect(named.entries.map(\.tier) == dealt.entries.map(\.tier))
        #expect(named.entries.map(\.floor) == dealt.entries.map(\.floor))
    }
}
