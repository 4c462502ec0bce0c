import HeadroomDecision
import HeadroomModel
import Testing

@Suite struct FailoverTests {
    private func pool(_ id: PoolID, to failover: [PoolID] = []) -> PoolPolicy {
        PoolPolicy(pool: id, nominal: Rates(rpm: 100, tpm: 100_000), failover: failover)
    }

    private func demand(_ pool: PoolID, _ tokens: [TenantID: Double]) -> PoolDemand {
        PoolDemand(
            pool: pool,
            tenants: tokens.keys.sorted().map { id in
                TenantDemand(
                    tenant: id,
                    demand: PerCriticality(
                        interactive: Rates(rpm: tokens[id]! / 1000, tpm: tokens[id]!), nearRealTime: .none,
                        batch: .none))
            })
    }

    @Test func `an open pool hands over to the first of its list that is not open`() {
        let pools = [pool("a", to: ["b", "c"]), pool("b"), pool("c"), pool("d", to: ["c"])]
        let failover = Failover(pools, states: ["a": .open, "b": .open, "c": .halfOpen, "d": .open])
        #expect(failover.sources == ["c": ["a", "d"]])
        #expect(Failover(pools, states: ["a": .open, "b": .open, "c": .open]).sources.isEmpty)
        #expect(Failover(pools, states: ["a": .throttled, "b": .healthy]).sources.isEmpty)
    }

    @Test func `of what is seen and what is handed over the greater counts`() {
        let failover = Failover([pool("a", to: ["b"]), pool("b")], states: ["a": .open, "b": .healthy])
        let demands =
            [
                "a": demand("a", ["m": 1_000, "x": 8_000, "z": 5_000]),
                "b": demand("b", ["k": 7_000, "x": 3_000, "z": 6_000]),
            ] as [PoolID: PoolDemand]
        let merged = failover.demand(of: demands["b"]!, in: demands, limiting: [ResourceSet(.tokens)])
        #expect(merged.tenants.map(\.tenant) == ["k", "m", "x", "z"])
        #expect(merged.tenants.map { $0.demand.interactive[.tokens] } == [7_000, 1_000, 8_000, 6_000])
        #expect(failover.demand(of: demands["a"]!, in: demands, limiting: []) == demands["a"]!)
    }
}
