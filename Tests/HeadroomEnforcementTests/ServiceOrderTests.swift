import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct ServiceOrderTests {
    @Test func `assured work goes before lent work, whatever its criticality`() {
        var gate = gate(allocation(rpm: 12, tenants: [tenant("a"), tenant("b", rpm: 12, tpm: 600_000)]))
        gate.enqueue([call(1, of: "a"), call(2, of: "b", .batch)])
        // A burst of one request: the pool admits a single call.
        let dispatched = gate.dispatch(at: start)
        #expect(dispatched.map(\.call.id) == [2])
        #expect(dispatched.map(\.grant) == [.assured])
    }

    @Test func `the more urgent goes first, in a tenant and between tenants, assured and lent`() {
        // By clock or stride alone all of a's would go before most of b's.
        for assured in [0.0, 60_000] {
            var gate = gate(
                allocation(
                    rpm: 1200, burstSeconds: 0.1,
                    tenants: [
                        tenant("a", rpm: assured, tpm: assured * 500),
                        tenant("b", rpm: assured / 10, tpm: assured * 50, clock: 50),
                    ]))
            gate.enqueue([
                call(1, of: "a", .batch), call(2, of: "b", .nearRealTime), call(3, of: "b", .interactive),
                call(4, of: "a", .interactive), call(5, of: "a", .nearRealTime), call(6, of: "b", .batch),
            ])
            var served: [Criticality] = []
            for tick in 0..<20 { served += gate.dispatch(at: after(Double(tick) * 0.1)).map(\.call.criticality) }
            #expect(served == [.interactive, .interactive, .nearRealTime, .nearRealTime, .batch, .batch], "\(assured)")
        }
    }

    @Test func `the tenant with the least service clock is lent to first`() {
        var gate = gate(
            allocation(
                rpm: 12, tenants: [tenant("a", clock: 3), tenant("b", clock: 1), tenant("c", clock: 2)]))
        gate.enqueue([call(1, of: "a"), call(2, of: "b"), call(3, of: "c")])
        #expect(gate.dispatch(at: start).map(\.call.tenant) == ["b"])
        gate.update(serviceClocks: ["c": 5, "a": 4], at: after(1))
        #expect(gate.dispatch(at: after(6)).map(\.call.tenant) == ["a"])
    }

    @Test func `with the same clock the earlier arrival goes first`() {
        var gate = gate(allocation(rpm: 12, tenants: [tenant("a"), tenant("b")]))
        gate.enqueue([call(1, of: "a", at: after(-1)), call(2, of: "b", at: after(-2))])
        #expect(gate.dispatch(at: start).ids == [2])
    }

    @Test func `two tenants of weights 1 and 3 that always wait are lent to as 1 to 3`() {
        for tokens in [100.0, 1000, 5000] {
            var gate = gate(allocation(tenants: [tenant("one", weight: 1), tenant("three", weight: 3)]))
            var ids = 0
            let served = gate.run(seconds: 120, busy: ["one", "three"], tokens: tokens, ids: &ids)
            let ratio = Double(served.count(of: "three")) / Double(served.count(of: "one"))
            #expect(abs(ratio - 3) < 0.1, "\(tokens) tokens a call: \(ratio)")
        }
    }

    @Test func `assured service is by assured rate when the provider delivers half of it`() {
        var gate = gate(
            allocation(
                rpm: 1200,
                tenants: [tenant("small", rpm: 300, tpm: 150_000), tenant("large", rpm: 900, tpm: 450_000)]))
        let half = ProviderSignal(kind: .ok, windows: [QuotaWindow(resource: .requests, limit: 600, windowSeconds: 60)])
        var ids = 0
        var served: [Dispatch] = []
        for second in 0..<60 {
            gate.observe(half, at: after(Double(second)))
            served += gate.run(from: Double(second), seconds: 1, busy: ["small", "large"], tokens: 100, ids: &ids)
        }
        #expect(abs(served.count - 650) < 60)
        let ratio = Double(served.count(of: "large")) / Double(served.count(of: "small"))
        #expect(abs(ratio - 3) < 0.3, "\(ratio)")
    }

    @Test func `a tenant that was idle comes back with five seconds of claim, not an hour's`() {
        var gate = gate(allocation(tenants: [tenant("idler"), tenant("worker")]))
        var ids = 0
        _ = gate.run(seconds: 600, busy: ["worker"], ids: &ids)
        let served = gate.run(from: 600, seconds: 60, busy: ["idler", "worker"], ids: &ids)
        // 600 calls: half each, and 2.5 s of the pool's ten calls a second either way.
        #expect(abs(served.count(of: "idler") - 325) <= 15)
    }

    @Test func `nobody is lent to above the ceiling, and others get what that leaves`() {
        var gate = gate(
            allocation(tenants: [tenant("capped", ceiling: Rates(rpm: 60), weight: 100), tenant("open")]))
        var ids = 0
        let served = gate.run(seconds: 120, busy: ["capped", "open"], ids: &ids)
        #expect((119...126).contains(served.count(of: "capped")))
        #expect((1198...1251).contains(served.count))
    }

    @Test func `an hour-old queue of many tenants is served by clock in little time`() {
        let tenants = (0..<300).map { tenant(TenantID(unchecked: "t\(1000 + $0)"), weight: Double(1 + $0 % 4)) }
        var gate = gate(allocation(rpm: 1_200_000, tpm: nil, unlisted: Rates(rpm: 0), tenants: tenants))
        var ids = 0
        for entry in tenants {
            for _ in 0..<20 {
                ids += 1
                gate.enqueue([call(ids, of: entry.tenant)])
            }
        }
        let served = gate.dispatch(at: start)
        #expect(served.count == 6000)
        #expect(served.prefix(300).map(\.call.tenant) == tenants.map(\.tenant))
    }
}
