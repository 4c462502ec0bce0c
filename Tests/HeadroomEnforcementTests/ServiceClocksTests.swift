import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct ServiceClocksTests {
    private let capacity = Rates(rpm: 60, tpm: 60_000)

    private func activity(
        _ tenant: TenantID, requests: Double = 0, tokens: Double = 0, weight: Double = 1,
        waiting: Criticality? = .interactive
    ) -> ServiceClocks.Activity {
        ServiceClocks.Activity(
            tenant: tenant, served: Work(requests: requests, tokens: tokens), weight: weight, waiting: waiting)
    }

    @Test func `a clock is seconds of the scarcer resource over weight`() {
        var clocks = ServiceClocks()
        clocks.advance(
            [activity("a", requests: 4, tokens: 2000, weight: 2), activity("b", requests: 1, tokens: 3000)],
            seconds: 2, capacity: capacity)
        #expect(clocks["a"] == 2)
        #expect(clocks["b"] == 3)
    }

    @Test func `a tenant that begins to wait is lifted to the least clock that waits, less the credit`() {
        var clocks = ServiceClocks(["worker": 1000, "other": 1200, "idler": 3, "ahead": 1100])
        clocks.advance([activity("worker"), activity("other")], seconds: 0, capacity: capacity)
        clocks.advance(
            [activity("worker"), activity("other"), activity("idler", weight: 2), activity("ahead")], seconds: 0,
            capacity: capacity)
        // Five seconds of the pool, shared by weights that sum to 5.
        #expect(clocks["idler"] == 999)
        #expect(clocks["ahead"] == 1100)
        #expect(clocks["worker"] == 1000)
    }

    @Test func `each criticality has its own time`() {
        var clocks = ServiceClocks(["batch": 10, "worker": 1000])
        let both = [activity("batch", waiting: .batch), activity("worker")]
        clocks.advance(both, seconds: 0, capacity: capacity)
        clocks.advance(both, seconds: 0, capacity: capacity)
        clocks.advance(both + [activity("idler")], seconds: 0, capacity: capacity)
        #expect(clocks["idler"] == 997.5)
        // One that waits with batch work besides is lifted when its interactive work comes.
        clocks.advance([activity("batch"), activity("worker")], seconds: 0, capacity: capacity)
        #expect(clocks["batch"] == 997.5)
    }

    @Test func `the clocks of those who wait fade towards their weighted mean by half in twenty seconds`() {
        var clocks = ServiceClocks(["a": 0, "b": 100, "idle": 7])
        let waiting = [activity("a"), activity("b", weight: 3)]
        clocks.advance(waiting, seconds: 0, capacity: capacity)
        clocks.advance(waiting, seconds: 20, capacity: capacity)
        #expect(abs(clocks["a"] - 37.5) < 1e-9)
        #expect(abs(clocks["b"] - 87.5) < 1e-9)
        #expect(clocks["idle"] == 7)
    }

    @Test func `a newcomer and a removed tenant begin where those stand who wait`() {
        var clocks = ServiceClocks(["a": 700])
        for _ in 0..<2 { clocks.advance([activity("a")], seconds: 0, capacity: capacity) }
        clocks.advance([activity("a"), activity("new")], seconds: 0, capacity: capacity)
        #expect(clocks["new"] == 697.5)
        clocks.remove(["a"])
        clocks.advance([activity("new")], seconds: 0, capacity: capacity)
        clocks.advance([activity("a"), activity("new")], seconds: 0, capacity: capacity)
        #expect(clocks["a"] >= 695)
    }

    @Test func `one line of a million million tokens moves a clock by a minute, and is forgotten in another`() {
        var clocks = ServiceClocks()
        let others = [activity("b"), activity("c")]
        clocks.advance([activity("a")] + others, seconds: 2, capacity: capacity)
        clocks.advance([activity("a", tokens: 1e12)] + others, seconds: 2, capacity: capacity)
        #expect(clocks["a"] == 62)
        for _ in 0..<60 {
            let served = [activity("b", tokens: 1000), activity("c", tokens: 1000)]
            clocks.advance([activity("a")] + served, seconds: 2, capacity: capacity)
        }
        #expect(clocks["a"] < clocks["b"])
    }
}
