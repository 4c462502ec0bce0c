import HeadroomLoop
import HeadroomModel
import Testing

/// Pools of many tenants are worked on side by side, on all cores; one pool alone is not. Both come to the same.
@Suite struct PoolsSideBySideTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let pools: [PoolID] = ["a", "b", "c"]

    /// The actors of a loop over `pools`, and what they came to after each of five ticks.
    private struct Loop {
        let classifier = TenantConsumptionClassifier()
        let engine = PriorityPolicyEngine()
        let rules: Rules

        init(_ pools: [PoolID], maxTenantsTotal: Int = 100_000) {
            let nominal = Rates(rpm: 6_000, tpm: 600_000)
            var policy = Policy(pools: pools.map { PoolPolicy(pool: $0, nominal: nominal) })
            policy.loop.maxTenantsTotal = maxTenantsTotal
            rules = Rules(policy: policy)
        }

        func tick(_ number: Int) async -> (demands: [PoolDemand], decision: PriorityPolicyEngine.Decision) {
            let now = start.adding(seconds: Double(number) * 2)
            await classifier.follow(rules, at: now)
            await classifier.fold(records(at: now), at: now)
            let capacities = rules.policy.pools.map { pool in
                PoolCapacity(
                    pool: pool.pool, capacity: pool.nominal * 0.8, nominal: pool.nominal, reason: .throttled,
                    confidence: 0.9, state: .healthy)
            }
            let classified = await classifier.estimate(capacities: capacities, at: now)
            let decision = await engine.decide(capacities: capacities, classified: classified, under: rules, at: now)
            await classifier.note(decision)
            return (classified.map(\.demand), decision)
        }

        /// One call of each of a thousand tenants in each pool, of a size that depends on the pool's name alone; the pools take turns.
        func records(at now: Timestamp) -> [TelemetryRecord] {
            (0..<1_000).flatMap { number in
                rules.policy.pools.map(\.pool).map { pool in
                    let name = pool.text.utf8.reduce(0) { $0 + Int($1) }
                    let tokens = 10 + (number * 31 + name * 17 + Int(now.milliseconds / 1000) * 13) % 900
                    return .call(
                        CallRecord(
                            at: now.adding(seconds: -1), gateway: "gw", tenant: TenantID(unchecked: "t\(number)"),
                            pool: pool, outcome: .ok, queuedMilliseconds: Double(tokens), inputTokens: Int64(tokens),
                            outputTokens: 20))
                }
            }
        }
    }

    @Test func `three pools together come to what each comes to alone, in demand, decision and checkpoint`() async {
        let together = Loop(Self.pools)
        let alone = Self.pools.map { Loop([$0]) }
        for number in 1...5 {
            let all = await together.tick(number)
            for (index, loop) in alone.enumerated() {
                let one = await loop.tick(number)
                #expect(one.demands == [all.demands[index]])
                #expect(one.decision.pools == [all.decision.pools[index]])
            }
        }
        // A checkpoint has a version, and a count, then each pool.
        let bytes = await together.classifier.checkpoint()
        var rest = bytes[...]
        for loop in alone {
            let state = await loop.classifier.checkpoint().dropFirst(8)
            let found = rest.firstRange(of: state)
            #expect(found != nil)
            rest = rest[(found?.upperBound ?? rest.startIndex)...]
        }
        #expect(rest.isEmpty)
    }

    @Test(arguments: [1_500, 2_999, 3_000, 3_001, 4_500])
    func `where the bound on all tables is near, the tenants that came first are in them`(_ bound: Int) async {
        let atOnce = Loop(Self.pools, maxTenantsTotal: bound)
        let inOrder = Loop(Self.pools, maxTenantsTotal: bound)
        for loop in [atOnce, inOrder] { await loop.classifier.follow(loop.rules, at: Self.start) }
        for _ in 0..<2 {
            await atOnce.classifier.fold(atOnce.records(at: Self.start), at: Self.start)
            for record in inOrder.records(at: Self.start) { await inOrder.classifier.fold([record], at: Self.start) }
        }
        let same = await atOnce.classifier.checkpoint() == inOrder.classifier.checkpoint()
        #expect(same)
        let capacities = Self.pools.map {
            PoolCapacity(
                pool: $0, capacity: Rates(rpm: 6_000), nominal: Rates(rpm: 6_000), reason: .contract, confidence: 0.9,
                state: .healthy)
        }
        let tables = await atOnce.classifier.estimate(capacities: capacities, at: Self.start)
        #expect(tables.reduce(0) { $0 + $1.demand.tenants.count } == min(bound, 3_000))
    }
}
