import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct CallSizeTests {
    private func excess(_ gate: PoolGate, _ tokens: Double, of tenant: TenantID = "a") -> PoolGate.Excess? {
        gate.excess(of: Work(requests: 1, tokens: tokens), tenant: tenant)
    }

    @Test func `a call is too large when a minute of the pool or two of its tenant's ceiling are less`() {
        let ceiling = Rates(rpm: nil, tpm: 30_000)
        let gate = gate(allocation(tpm: 600_000, tenants: [tenant("a", ceiling: ceiling), tenant("b")]))
        #expect(excess(gate, 60_000) == nil)
        let ofTenant = excess(gate, 60_001)
        #expect(ofTenant?.resource == .tokens && ofTenant?.perMinute == 30_000 && ofTenant?.isOfTenant == true)
        #expect(excess(gate, 600_000, of: "b") == nil)
        let ofPool = excess(gate, 600_001, of: "b")
        #expect(ofPool?.perMinute == 600_000 && ofPool?.isOfTenant == false)
        #expect(excess(gate, 600_000, of: "unlisted") == nil)
    }

    @Test func `a small ceiling refuses no call that the pool takes in its stride`() {
        // 50,000 tokens are the burst.
        let gate = gate(allocation(tpm: 600_000, tenants: [tenant("a", ceiling: Rates(rpm: nil, tpm: 100))]))
        #expect(excess(gate, 50_000) == nil && excess(gate, 50_001) != nil)
    }

    @Test func `a gateway's part of a ceiling is taken for the whole`() {
        var part = allocation(tpm: 600_000, tenants: [tenant("a", ceiling: Rates(rpm: nil, tpm: 30_000))])
        part.budget = Rates(rpm: 300, tpm: 300_000)
        #expect(excess(gate(part), 120_000) == nil)
        #expect(excess(gate(part), 120_001)?.perMinute == 60_000)
    }

    @Test func `a pool whose estimate has fallen takes what its contract says`() {
        var low = allocation(tpm: 1000)
        low.nominal = Rates(rpm: 600, tpm: 600_000)
        #expect(excess(gate(low), 600_000) == nil && excess(gate(low), 600_001) != nil)
        #expect(excess(gate(allocation(tpm: 1000, enforce: false)), 1e9) == nil)
        #expect(excess(gate(nil), 1e9) == nil)
    }

    @Test func `calls of any size add up to no more than a line may name`() {
        var gate = gate(allocation(tpm: 600, tenants: [tenant("a")]))
        let sizes = [9e18, 9e18, .infinity, 1e300, 5]
        gate.enqueue(sizes.enumerated().map { call($0.offset, of: "a", tokens: $0.element) })
        #expect(gate.queues(at: start).map(\.tokens) == [1_000_000_000_000])
    }

    @Test func `while the float answers, a debt of the own bucket foretells no wait`() throws {
        var gate = gate(allocation(rpm: 600, tpm: 60_000, tenants: [tenant("a", rpm: 600, tpm: 60_000)]))
        gate.startDrawing(boot: "1", at: start)
        // Forty seconds of the budget go at once.
        gate.enqueue([call(1, of: "a", tokens: 40_000), call(2, of: "a", tokens: 500)])
        #expect(gate.dispatch(at: start).map(\.call.id) == [1])
        let asked = gate.nextDraw(epoch: 7, at: start)
        _ = gate.receive(
            DrawAnswer(sequence: try #require(asked).sequence, granted: [], waitMilliseconds: 100), at: after(0.01))
        let forecast = gate.forecast(
            of: 2, tenant: "a", criticality: .interactive, estimate: Work(requests: 1, tokens: 500), at: after(0.02))
        let seconds = try #require(forecast.at).seconds(since: start)
        #expect((0.1...2).contains(seconds), "\(seconds)")
    }
}
