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

        init(_ pools: [PoolID]) {
            let nominal = Rates(rpm: 6_000, tpm: 600_000)
            rules = Rules(policy: Policy(pools: pools.map { PoolPolicy(pool: $0, nominal: nominal) }))
        }

        func tick(_ number: Int) async -> (demands: [PoolDemand], decision: PriorityPolicyEngine.Decision) {
            let now = start.adding(seconds: Double(number) * 2)
            await classifier.follow(rules, at: now)
            for (index, pool) in rules.policy.pools.map(\.pool).enumerated() {
                await classifier.fold(records(of: pool, seed: number * 7 + index, at: now), at: now)
            }
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

        /// One call of each of a thousand tenants, of a size that depends on the pool's name alone.
        private func records(of pool: PoolID, seed: Int, at now: Timestamp) -> [TelemetryRecord] {
            let name = pool.text.utf8.reduce(0) { $0 + Int($1) }
            return (0..<1_000).map { number in
                let tokens = 10 + (number * 31 + name * 17 + Int(now.milliseconds / 1000) * 13) % 900
                return .call(
                    CallRecord(
                        at: now.adding(seconds: -1), gateway: "gw", tenant: TenantID(unchecked: "t\(number)"),
                        pool: pool,
                        outcome: .ok, inputTokens: Int64(tokens), outputTokens: 20))
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
}
