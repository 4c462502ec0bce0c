import HeadroomModel
import HeadroomStorage
import Testing

@Suite struct DecisionStoreTests {
    private let database: TemporaryDatabase
    private let store: DecisionStore
    private let pool: PoolID = "openai:gpt-4o"

    init() throws {
        database = try TemporaryDatabase()
        store = try DecisionStore(connection: database.writer)
    }

    /// Chains of one generation; what `tenants` names, in any order of their numbers.
    private func explanation(
        _ generation: Int64, _ tenants: [TenantID], pool: PoolID = "openai:gpt-4o", tpm: Double = 100
    ) -> PoolExplanation {
        PoolExplanation(
            version: SnapshotVersion(epoch: 3, generation: generation), at: start.adding(seconds: Double(generation)),
            pool: Explanation.PoolFacts(
                pool: pool, mode: .guarded, state: .throttled, nominal: Rates(rpm: 10, tpm: 2e6),
                capacity: Rates(rpm: 10, tpm: 1.1e6), capacityReason: .throttled, capacityChangedAt: start,
                capacityBefore: Rates(rpm: 10, tpm: 2e6), recentAttempts: 50, recentRefusals: 4,
                shared: Rates(rpm: 9.9, tpm: 1e6),
                bands: [
                    Explanation.PoolFacts.Band(name: "floor", level: 0.1, saturated: nil),
                    Explanation.PoolFacts.Band(name: "demand", level: 0.25, saturated: .tokens),
                ], isFrozen: true),
            tenants: tenants.map { tenant in
                var facts = Explanation.TenantFacts(
                    tenant: tenant, tier: tenant < "m" ? "premium" : "free", weight: 4,
                    override: tenant == "acme" ? 12 : nil, demand: Rates(rpm: 1, tpm: 4.1e5),
                    credibleDemand: PerCriticality(
                        interactive: Rates(tpm: 3e5), nearRealTime: .none, batch: Rates(tpm: 1e5)), start: 0.5,
                    confidence: 0.9, floor: Rates(tpm: 1e5),
                    ceiling: Rates(rpm: 1, tpm: 2, itpm: 3, otpm: 4), direction: Rates(rpm: 1, tpm: 1_000),
                    target: 400, mean: 390.5, before: 300, least: 0, leastConstraint: .demand, most: .infinity,
                    mostConstraint: .slew, fill: 268, assured: Rates(rpm: 268, tpm: tpm), constraint: .level,
                    burst: 1, excessShare: 1 / 3,
                    cost: tenant == "acme"
                        ? Explanation.CostFacts(
                            currency: "EUR", period: .month, most: 5e8, spent: 2.1e8, until: start, minutesLeft: 99.5,
                            perRequest: 1250.25) : nil,
                    breaker: tenant == "acme"
                        ? CostBreak(
                            subject: .tenant("acme"), state: .pausing, since: start, due: start.adding(seconds: 5),
                            currency: "EUR", ceiling: 6e7, spent: 5e7, perMinute: 1e6, projected: 7e7,
                            projectedLeast: 6.5e7, projectedMost: 8e7, until: start.adding(seconds: 60),
                            limits: [CostBreak.Limit(pool: pool, requestsPerMinute: 12.25)]) : nil)
                if tenant == "acme" {
                    facts.asked = Rates(rpm: 30, tpm: 30_000)
                    facts.waiting = Work(requests: 5, tokens: 5000)
                    facts.waitingSeconds = 20
                    facts.flags = [
                        GamingFlag(kind: .unfinishedTasks, since: start, evidence: "9 claims came to nothing")
                    ]
                }
                return facts
            })
    }

    @Test func `credits come back whole, ascending by pool and tenant, the newest of each`() async throws {
        let credits = [
            CreditBalance(tenant: "zeta", pool: pool, accrued: 10, spent: 3, expired: 2, aboveCap: 1),
            CreditBalance(tenant: "acme", pool: pool, accrued: .max, spent: .max),
            CreditBalance(tenant: "acme", pool: "azure:gpt-4o", accrued: 5),
        ]
        try await store.record(DecisionOutcome(credits: credits), at: start)
        #expect(try await store.credits() == credits.reversed())
        let more = CreditBalance(tenant: "zeta", pool: pool, accrued: 20, spent: 3, expired: 2, aboveCap: 1)
        try await store.record(DecisionOutcome(credits: [more]), at: start)
        #expect(try await DecisionStore(connection: database.writer).credits() == [credits[2], credits[1], more])
    }

    @Test func `a number is explained by the generation that set it`() async throws {
        // Numbered in this order, so that the order of numbers is not the order of names.
        let first = explanation(10, ["zeta", "acme", "mid"])
        let other = explanation(10, ["acme"], pool: "azure:gpt-4o", tpm: 5)
        let second = explanation(12, ["mid"], tpm: 7)
        try await store.record(DecisionOutcome(explanations: [first, other]), at: start)
        try await store.record(DecisionOutcome(explanations: [second]), at: start)
        let records = try database.records()
        func found(_ tenant: TenantID, _ generation: Int64?) async throws -> Explanation? {
            try await records.explanation(of: tenant, in: pool, generation: generation)
        }
        for (tenant, generation, source, place) in [
            ("acme", 10, first, 1), ("acme", 11, first, 1), ("acme", nil, first, 1), ("zeta", 99, first, 0),
            ("mid", 11, first, 2), ("mid", 12, second, 0), ("mid", nil, second, 0),
        ] as [(TenantID, Int64?, PoolExplanation, Int)] {
            let expected = Explanation(
                version: source.version, at: source.at, pool: source.pool, tenant: source.tenants[place])
            #expect(try await found(tenant, generation) == expected, "\(tenant) \(String(describing: generation))")
        }
        #expect(try await found("acme", 9) == nil)
        #expect(try await found("nobody", nil) == nil)
        #expect(try await records.explanation(of: "zeta", in: "azure:gpt-4o", generation: nil) == nil)
        #expect(try await records.explanation(of: "acme", in: "no:pool", generation: nil) == nil)
    }

    @Test func `explanations are found as the definition says, over random generations`() async throws {
        for seed in 1...3 as ClosedRange<UInt64> {
            let database = try TemporaryDatabase()
            let store = try DecisionStore(connection: database.writer)
            var random = SplitMix64(seed: seed)
            let tenants = (0..<12).map { TenantID(unchecked: "t\($0)") }
            var setBy: [[TenantID: Int64]] = [[:]]
            for generation in 1...40 as ClosedRange<Int64> {
                let changed = tenants.filter { _ in Int.random(in: 0..<5, using: &random) == 0 }.shuffled(
                    using: &random)
                var state = setBy[setBy.count - 1]
                for tenant in changed { state[tenant] = generation }
                setBy.append(state)
                if changed.isEmpty { continue }
                try await store.record(DecisionOutcome(explanations: [explanation(generation, changed)]), at: start)
            }
            let records = try database.records()
            for generation in 0...40 {
                for tenant in tenants {
                    let found = try await records.explanation(of: tenant, in: pool, generation: Int64(generation))
                    #expect(
                        found?.version.generation == setBy[generation][tenant], "seed \(seed): \(tenant), \(generation)"
                    )
                    #expect(found == nil || found?.tenant.tenant == tenant)
                }
            }
        }
    }

    @Test func `explanations go by age and by size, in steps, and the newest stays`() async throws {
        for generation in 1...20 as ClosedRange<Int64> {
            try await store.record(DecisionOutcome(explanations: [explanation(generation, ["acme"])]), at: start)
        }
        func oldest() throws -> Int64 { try database.number("SELECT min(generation) FROM explanation") }
        #expect(try await store.prune(keepingSeconds: 11, maxBytes: .max, limit: 5) == 5)
        #expect(try await store.prune(keepingSeconds: 11, maxBytes: .max, limit: 5) == 3)
        #expect(try await store.prune(keepingSeconds: 11, maxBytes: .max, limit: 5) == 0)
        #expect(try oldest() == 9)
        let each = try database.number("SELECT length(tenant_ids) + length(body) FROM explanation")
        #expect(try await store.prune(keepingSeconds: 1e6, maxBytes: 3 * each) == 9)
        #expect(try oldest() == 18)
        #expect(try await store.prune(keepingSeconds: 1e6, maxBytes: 0) == 2)
        #expect(try oldest() == 20)
        // What is written after that is measured against what is kept.
        try await store.record(DecisionOutcome(explanations: [explanation(21, ["acme"])]), at: start)
        #expect(try await store.prune(keepingSeconds: 1e6, maxBytes: 2 * each) == 0)
    }

    @Test func `an outcome that cannot be stored whole is not stored at all`() async throws {
        try database.execute("DROP TABLE explanation")
        let question = Proposal(kind: .guardrail, tenant: "acme", pool: pool, authorship: authorship())
        let outcome = DecisionOutcome(
            questions: [question], credits: [CreditBalance(tenant: "acme", pool: pool, accrued: 1)],
            explanations: [explanation(1, ["acme"])])
        await #expect(throws: StorageError.self) { try await store.record(outcome, at: start) }
        #expect(try await store.credits() == [])
        #expect(try database.number("SELECT count(*) FROM proposal") == 0)
        #expect(try database.number("SELECT count(*) FROM name") == 0)
    }

    @Test func `a body that was damaged is an error and not a number`() async throws {
        try await store.record(DecisionOutcome(explanations: [explanation(1, ["acme"])]), at: start)
        try database.execute("UPDATE explanation SET body = substr(body, 1, length(body) - 1)")
        let error = await #expect(throws: StorageError.self) {
            try await database.records().explanation(of: "acme", in: pool, generation: nil)
        }
        #expect(error?.code == .corrupt)
    }
}
