import HeadroomDecision
import HeadroomModel
import Testing

@Suite struct PoolAllocatorTests {
    private let pool = PoolPolicy(pool: "demo:pool", nominal: Rates(rpm: 1_000, tpm: 1_000_000))

    private func decide(
        _ tenants: [TenantDemand], contracts: [Contract] = [], capacity: Rates? = nil,
        policy: Policy = PoolAllocatorTests.undampened
    ) -> PoolDecision {
        let now = Timestamp(milliseconds: 1_793_000_000_000)
        var allocator = PoolAllocator(pool: pool.pool, at: now)
        return allocator.decide(
            pool,
            capacity: PoolCapacity(pool: pool.pool, capacity: capacity ?? pool.nominal, nominal: pool.nominal),
            demand: PoolDemand(pool: pool.pool, tenants: tenants),
            under: Rules(
                policy: policy,
                contracts: Dictionary(uniqueKeysWithValues: contracts.map { ($0.tenant, $0) })), at: now)
    }

    /// Everything is assured, and at once: one decision shows where the fill wants to go.
    static let undampened = Policy(
        loop: LoopPolicy(unlistedShare: 0), dampening: DampeningPolicy(slewShare: 100, assuredShare: 1),
        guardrails: GuardrailPolicy(mostOfNominal: 1))

    private func tenant(
        _ id: TenantID, interactive: Double = 0, batch: Double = 0, tokensPerRequest: Double = 1_000
    ) -> TenantDemand {
        TenantDemand(
            tenant: id,
            demand: PerCriticality(
                interactive: Rates(rpm: interactive / tokensPerRequest, tpm: interactive),
                nearRealTime: Rates(rpm: 0, tpm: 0), batch: Rates(rpm: batch / tokensPerRequest, tpm: batch)),
            shape: Work(requests: 1, tokens: tokensPerRequest))
    }

    @Test func `rates are whole, sum to the budget at most, and leave the unlisted their part`() throws {
        let decision = decide(
            (1...7).map { tenant(TenantID(unchecked: "t\($0)"), interactive: Double($0) * 100_000) },
            capacity: Rates(rpm: 997.7, tpm: 900_001.5), policy: Policy(dampening: DampeningPolicy(slewShare: 100)))
        let allocation = decision.allocation
        #expect(allocation.budget == Rates(rpm: 997, tpm: 900_001))
        #expect(allocation.unlisted == Rates(rpm: 9, tpm: 9_000))
        for resource in [Resource.requests, .tokens] {
            let rates = allocation.tenants.map { $0.assured[resource] ?? -1 }
            #expect(rates.allSatisfy { $0 == $0.rounded() && $0 >= 0 })
            let sum = rates.reduce(0, +) + (allocation.unlisted[resource] ?? 0)
            let budget = try #require(allocation.budget[resource])
            #expect(sum <= budget)
        }
    }

    @Test func `gateways are sent the numbers of the policy's breaker`() {
        let policy = Policy(breaker: BreakerPolicy(openSeconds: 40, probesPerSecond: 3))
        #expect(decide([tenant("a", interactive: 100)], policy: policy).allocation.breaker == policy.breaker)
    }

    @Test func `a mean answer is that of all calls, and nothing where no answer is known`() {
        var (many, few) = (tenant("a", interactive: 1000), tenant("b", interactive: 1000))
        #expect(decide([many, few]).allocation.meanOutputTokens == nil)
        many.consumed = Rates(rpm: 90, tpm: 0)
        many.shape = Work(requests: 1, tokens: 300, inputTokens: 200, outputTokens: 100)
        few.consumed = Rates(rpm: 10, tpm: 0)
        few.shape = Work(requests: 1, tokens: 2300, inputTokens: 200, outputTokens: 2100)
        #expect(decide([many, few]).allocation.meanOutputTokens == 300)
    }

    @Test func `plain is six times what is assured or what an idle tenant starts with, up to the ceiling`() throws {
        let allocation = decide(
            [tenant("a", interactive: 100_000), tenant("b", interactive: 100), tenant("c", interactive: 100_000)],
            contracts: [
                Contract(
                    tenant: "c", tier: "standard",
                    terms: [Contract.Terms(pool: pool.pool, ceiling: Rates(rpm: 500, tpm: 150_000))])
            ],
            capacity: Rates(rpm: 700, tpm: 150_100)
        ).allocation
        let rates = allocation.tenants.map { ($0.assured[.tokens] ?? 0, $0.plain[.tokens] ?? 0) }
        #expect(rates[0].0 > 0 && rates[0].1 == 6 * rates[0].0)
        // A bucket of 100 tokens a minute would never let a large call pass.
        #expect(rates[1].0 < 1000 && rates[1].1 == 6 * 0.004 * 1_000_000)
        #expect(rates[2].1 == 150_000)
    }

    @Test func `rounding takes nobody above a ceiling that is not whole`() throws {
        let decision = decide(
            [tenant("a", interactive: 5_000_000), tenant("b", interactive: 5_000_000)],
            contracts: ["a", "b"].map { id in
                Contract(
                    tenant: id,
                    terms: [Contract.Terms(pool: "demo:pool", ceiling: Rates(rpm: 30.75, tpm: 202_410.75))])
            })
        for tenant in decision.allocation.tenants {
            #expect(tenant.ceiling == Rates(rpm: 30, tpm: 202_410))
            #expect(try #require(tenant.assured[.requests]) <= 30)
            #expect(try #require(tenant.assured[.tokens]) <= 202_410)
        }
    }

    @Test func `the parts by criticality follow demand in their order and sum to the assured rate`() throws {
        let decision = decide(
            [tenant("acme", interactive: 100_000, batch: 200_000)], capacity: Rates(rpm: 1_000, tpm: 250_000))
        let acme = try #require(decision.allocation.tenants.first)
        #expect(acme.assured[.tokens] == 250_000)
        #expect(acme.criticality.interactive[.tokens] == 100_000)
        #expect(acme.criticality.batch[.tokens] == 150_000)
    }

    @Test func `beyond their own shares nobody's batch work comes before another's interactive work`() throws {
        let decision = decide(
            [tenant("a", interactive: 450_000), tenant("b", interactive: 100_000, batch: 5_000_000)],
            capacity: Rates(rpm: 1_000, tpm: 600_000))
        #expect(try #require(decision.allocation.tenants[0].assured[.tokens]) == 450_000)
    }

    @Test func `a floor holds for an idle tenant, and an idle tenant without one can begin at once`() throws {
        let decision = decide(
            [tenant("busy", interactive: 5_000_000), tenant("idle")],
            contracts: [
                Contract(tenant: "sleeper", terms: [Contract.Terms(pool: "demo:pool", floor: Rates(tpm: 300_000))])
            ])
        let byID = Dictionary(uniqueKeysWithValues: decision.allocation.tenants.map { ($0.tenant, $0) })
        #expect(try #require(byID["sleeper"]?.assured[.tokens]) >= 300_000)
        #expect(try #require(byID["idle"]?.assured[.tokens]) >= 3_990)
    }

    @Test func `a strategic account weighs half as much again`() throws {
        let decision = decide(
            [tenant("a", interactive: 2_000_000), tenant("b", interactive: 2_000_000)],
            contracts: [Contract(tenant: "a", isStrategic: true)], capacity: Rates(rpm: 1_000, tpm: 500_000))
        let rates = decision.allocation.tenants.compactMap { $0.assured[.tokens] }
        #expect(abs(rates[0] / rates[1] - 1.5) < 0.001)
        #expect(decision.allocation.tenants[0].weight == 3)
    }

    @Test func `after a loss of capacity a tenant is entitled to what nominal capacity would give`() throws {
        let decision = decide(
            [tenant("a", interactive: 500_000), tenant("b", interactive: 500_000)],
            capacity: Rates(rpm: 500, tpm: 500_000))
        #expect(try #require(decision.allocation.tenants[0].assured[.tokens]) == 250_000)
        #expect(abs(try #require(decision.entitlements.first { $0.tenant == "a" }?.rates[.tokens]) - 500_000) < 1)
    }
}
