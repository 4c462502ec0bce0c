import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct ServiceClocksTests {
    private let capacity = Rates(rpm: 60, tpm: 60_000)

    private func activity(
        _ tenant: TenantID, requests: Double = 0, tokens: Double = 0, weight: Double = 1, backlogged: Bool = true
    ) -> ServiceClocks.Activity {
        ServiceClocks.Activity(
            tenant: tenant, served: Work(requests: requests, tokens: tokens), weight: weight, isBacklogged: backlogged)
    }

    @Test func `a clock is seconds of the scarcer resource over weight`() {
        var clocks = ServiceClocks()
        clocks.advance(
            [activity("a", requests: 4, tokens: 2000, weight: 2), activity("b", requests: 1, tokens: 3000)],
            capacity: capacity)
        #expect(clocks["a"] == 2)
        #expect(clocks["b"] == 3)
    }

    @Test func `whoever becomes backlogged is lifted to the least clock that waits, less the credit`() {
        var clocks = ServiceClocks(["worker": 1000, "other": 1200, "idler": 3, "ahead": 1100])
        clocks.advance([activity("worker"), activity("other")], capacity: capacity)
        clocks.advance(
            [activity("worker"), activity("other"), activity("idler", weight: 2), activity("ahead")],
            capacity: capacity)
        // Five seconds of the pool, shared by weights that sum to 5.
        #expect(clocks["idler"] == 999)
        #expect(clocks["ahead"] == 1100)
        #expect(clocks["worker"] == 1000)
    }

    @Test func `one that keeps waiting is not lifted`() {
        var clocks = ServiceClocks(["behind": 10, "ahead": 500])
        for _ in 0..<3 { clocks.advance([activity("behind"), activity("ahead", requests: 1)], capacity: capacity) }
        #expect(clocks["behind"] == 10)
    }

    @Test func `a newcomer and a removed tenant start where the others are`() {
        var clocks = ServiceClocks(["a": 700])
        clocks.advance([activity("a")], capacity: capacity)
        clocks.advance([activity("a")], capacity: capacity)
        #expect(clocks["new"] == 700)
        clocks.remove(["a"])
        #expect(clocks["a"] == 700)
        #expect(clocks.clocks.isEmpty)
    }
}
