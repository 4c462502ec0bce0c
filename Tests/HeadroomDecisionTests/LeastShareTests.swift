import HeadroomDecision
import HeadroomModel
import Testing

/// Who is quiet, and what is its own (Model §5.1, band `least_share`).
@Suite struct LeastShareTests {
    private let pool = PoolPolicy(pool: "demo:pool", nominal: Rates(rpm: 1_000, tpm: 1_000_000))
    private let now = Timestamp(milliseconds: 1_793_000_000_000)

    /// Tokens a minute, in calls of 1,000.
    private func tenant(_ id: TenantID, _ tokens: Double, _ criticality: Criticality, arrivals: Double? = nil)
        -> TenantDemand
    {
        var demand = PerCriticality(repeating: Rates(rpm: 0, tpm: 0))
        demand[criticality] = Rates(rpm: tokens / 1_000, tpm: tokens)
        var tenant = TenantDemand(tenant: id, demand: demand, shape: Work(requests: 1, tokens: 1_000))
        let arrivals = arrivals ?? tokens
        tenant.arrivals = Rates(rpm: arrivals / 1_000, tpm: arrivals)
        return tenant
    }

    private func decide(
        _ tenants: [TenantDemand], contracts: [Contract] = [], bands: [Band] = Band.standardBands,
        keepsCeilings: Bool = false
    ) -> PoolDecision {
        var policy = PoolAllocatorTests.undampened
        policy.bands = bands
        for index in policy.tiers.indices where !keepsCeilings { policy.tiers[index].ceilingShare = nil }
        var allocator = PoolAllocator(pool: pool.pool, at: now)
        return allocator.decide(
            pool, capacity: PoolCapacity(pool: pool.pool, capacity: pool.nominal, nominal: pool.nominal),
            demand: PoolDemand(pool: pool.pool, tenants: tenants),
            under: Rules(
                policy: policy, contracts: Dictionary(uniqueKeysWithValues: contracts.map { ($0.tenant, $0) })),
            at: now)
    }

    private func assured(_ decision: PoolDecision) -> [Double] {
        decision.allocation.tenants.map { $0.assured[.tokens] ?? 0 }
    }

    @Test func `a quiet tenant's batch work goes before the interactive work of a loud one`() {
        let tenants = [tenant("loud", 2_000_000, .interactive), tenant("quiet", 200_000, .batch)]
        let decision = decide(tenants)
        #expect(assured(decision) == [800_000, 200_000])
        #expect(decision.allocation.tenants.map(\.isQuiet) == [false, true])
        let without = decide(tenants, bands: Band.standardBands.filter { $0.bound != .leastShare })
        #expect(assured(without)[1] < 10_000)
        #expect(without.allocation.tenants.allSatisfy { !$0.isQuiet })
    }

    @Test func `with enough for all everybody is quiet`() {
        let decision = decide([tenant("a", 600_000, .interactive), tenant("b", 300_000, .batch)])
        #expect(decision.allocation.tenants.allSatisfy { $0.isQuiet })
    }

    /// Two of weight 2: the fair share of each is half of the pool while the other wants more.
    @Test(arguments: [(500_000.0, 500_000.0), (600_000, 400_000), (750_000, 250_000), (1_000_000, 0), (3_000_000, 0)])
    func `who asks for more than its fair share loses as much of it as it asks for more`(
        asked: Double, own: Double
    ) {
        let decision = decide([tenant("batch", asked, .batch), tenant("urgent", 5_000_000, .interactive)])
        let share = assured(decision)[0]
        #expect(abs(share - own) <= 1_000 || own == 0 && share < 10_000, "\(share)")
    }

    @Test func `a burst that the last five minutes even out makes nobody loud`() {
        let decision = decide([
            tenant("loud", 2_000_000, .interactive), tenant("lumpy", 800_000, .batch, arrivals: 160_000),
        ])
        #expect(decision.allocation.tenants[1].isQuiet)
        #expect(assured(decision)[1] == 800_000)
    }

    @Test func `what is doubted makes nobody's own share larger`() {
        var liar = tenant("liar", 400_000, .batch)
        liar.isDiscounted = true
        liar.flags = [GamingFlag.Kind.resentDenials.rawValue]
        liar.consumed = Rates(rpm: 50, tpm: 50_000)
        let decision = decide([liar, tenant("urgent", 5_000_000, .interactive)])
        #expect(assured(decision)[0] < 200_000)
    }

    @Test func `the shares that are tenants' own fit into the capacity, floors of idle ones and all`() {
        var random = SplitMix64(seed: 26)
        for _ in 0..<200 {
            let count = Int.random(in: 2...12, using: &random)
            let ids = (0..<count).map { TenantID(unchecked: "t\(10 + $0)") }
            let tenants = ids.map { id in
                tenant(
                    id, Double(Int.random(in: 1...600_000, using: &random)),
                    Criticality.allCases.randomElement(using: &random)!)
            }
            let contracts = ids.filter { _ in Bool.random(using: &random) }.map { id in
                Contract(
                    tenant: id, tier: ["premium", "standard", "free"].randomElement(using: &random)!,
                    terms: [
                        Contract.Terms(
                            pool: pool.pool, floor: Rates(tpm: Double.random(in: 0...60_000, using: &random)))
                    ])
            }
            let allocation = decide(tenants, contracts: contracts).allocation
            // Those who ask for a fiftieth more than their share are quiet, too.
            let own = allocation.tenants.reduce(0) { $0 + ($1.leastShare[.tokens] ?? 0) }
            #expect(own <= 1_000_000 * 1.02, "\(own)")
            for entry in allocation.tenants where !entry.isQuiet {
                let assured = entry.assured[.tokens] ?? 0
                #expect(assured + 1 >= entry.leastShare[.tokens] ?? 0, "\(entry.tenant)")
            }
        }
    }

    @Test func `a ceiling of the tier alone is soft, one of a contract is not`() {
        let contracts = [
            Contract(
                tenant: "contract", tier: "free", terms: [Contract.Terms(pool: pool.pool, ceiling: Rates(tpm: 50_000))]),
            Contract(tenant: "tier", tier: "free", terms: []),
            Contract(tenant: "top", tier: "critical", terms: []),
        ]
        let decision = decide(
            contracts.map { tenant($0.tenant, 100_000, .interactive) }, contracts: contracts, keepsCeilings: true)
        #expect(decision.allocation.tenants.map(\.hasSoftCeiling) == [false, true, false])
        #expect(decision.allocation.tenants[1].ceiling[.tokens] == 250_000)
    }
}
