import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct BreakerTests {
    private func allocation(_ state: PoolState, failover: [PoolID] = ["other"], part: Double = 1) -> PoolAllocation {
        var allocation = HeadroomEnforcementTests.allocation(
            unlisted: Rates(rpm: 600, tpm: 600_000), tenants: [tenant("a", rpm: 300, tpm: 300_000)])
        allocation.state = state
        allocation.failover = failover
        allocation.budget = allocation.budget * part
        return allocation
    }

    private func filled(_ allocation: PoolAllocation) -> PoolGate {
        var gate = gate(allocation)
        gate.enqueue([
            call(1, of: "a", .batch), call(2, of: "a"), call(3, of: "b", at: after(-1)),
            call(4, of: "a", at: after(-2)),
        ])
        return gate
    }

    @Test func `an open breaker lets nothing pass and hands everything over, in the order of service`() {
        var gate = filled(allocation(.open))
        #expect(gate.dispatch(at: after(1)).isEmpty)
        #expect(gate.divert(at: after(1)).map(\.id) == [4, 3, 2, 1])
        #expect(gate.divert(at: after(1)).isEmpty)
        #expect(gate.queues(at: after(1)).allSatisfy { $0.depth == 0 })
        // It could be enqueued again, once the breaker has closed.
        gate.load(allocation(.healthy), leaseUntil: never, at: after(2))
        gate.enqueue([call(2, of: "a")], at: after(2))
        #expect(gate.dispatch(at: after(2)).ids == [2])
    }

    @Test func `a half-open breaker lets one call a second pass`() {
        var gate = gate(allocation(.halfOpen))
        var passed: [Double] = []
        for tick in 0..<100 {
            let second = Double(tick) / 10
            gate.enqueue([call(tick, of: tick % 2 == 0 ? "a" : "b", at: after(second))], at: after(second))
            let dispatched = gate.dispatch(at: after(second))
            for dispatch in dispatched {
                gate.settle(dispatch.call.id, actual: dispatch.call.estimate, at: after(second))
            }
            passed += dispatched.map { _ in second }
            let diverted = gate.divert(at: after(second))
            #expect(diverted.count + dispatched.count == 1, "\(second)")
        }
        #expect(passed == (0..<10).map(Double.init))
    }

    @Test func `probes are divided over gateways as the budget is`() {
        var gate = gate(allocation(.halfOpen, part: 0.25))
        var passed = 0
        for second in 0..<40 {
            gate.enqueue([call(second, of: "a", at: after(Double(second)))], at: after(Double(second)))
            passed += gate.dispatch(at: after(Double(second))).count
            _ = gate.divert(at: after(Double(second)))
        }
        #expect(passed == 10)
    }

    @Test func `without another pool a breaker keeps nothing back`() {
        for state in [PoolState.open, .halfOpen] {
            var gate = filled(allocation(state, failover: []))
            #expect(gate.divert(at: after(0)).isEmpty)
            #expect(gate.dispatch(at: after(0)).count == 4, "\(state)")
        }
    }

    @Test func `a closed breaker diverts nothing`() {
        for state in [PoolState.healthy, .pressured, .throttled] {
            var gate = filled(allocation(state))
            #expect(gate.divert(at: after(0)).isEmpty, "\(state)")
            #expect(gate.dispatch(at: after(0)).count == 4, "\(state)")
        }
    }

    @Test func `nobody is woken for calls that cannot pass`() {
        let gate = filled(allocation(.open))
        #expect(gate.nextWake(after: after(1)) ?? never >= never)
        var probing = filled(allocation(.halfOpen))
        #expect(probing.dispatch(at: after(1)).count == 1)
        #expect(probing.nextWake(after: after(1)) == after(2))
    }
}
