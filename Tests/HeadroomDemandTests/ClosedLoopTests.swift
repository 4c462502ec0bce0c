import HeadroomModel
import Testing

/// What a tenant gains by what it says, through telemetry, classifier and decision together.
@Suite struct ClosedLoopTests {
    /// Alone, in balance and in shortage: the other three want one and a half times what there is.
    private static let truths = [1.0, 2, 4]
    private static let seeds = 1...3 as ClosedRange<UInt64>

    private struct Run {
        /// Calls of its own that the tenant was served in each of the times.
        var served: [Double] = []
        var isFlagged = false
    }

    private func run(_ tenant: ClosedLoop.Tenant, seed: UInt64, until times: [Double] = [1800]) -> Run {
        var loop = ClosedLoop(
            ["a": tenant, "b": .init(calls: 5), "c": .init(calls: 4), "d": .init(calls: 6)], seed: seed)
        var run = Run()
        for time in times {
            loop.run(seconds: time)
            run.served.append(loop.served["a"]!)
        }
        run.isFlagged = loop.flagged.contains("a")
        return run
    }

    /// From the cold start on, and long before anything could be flagged. Within a hundredth, or two calls: what waits
    /// since the start may go a little sooner.
    @Test(arguments: [1.5, 4, 10])
    func `who says that more waits than does is served no more`(_ times: Double) {
        let ends: [Double] = [120, 300, 600, 1800]
        for (seed, truth) in Self.seeds.flatMap({ seed in Self.truths.map { (seed, $0) } }) {
            let honest = run(ClosedLoop.Tenant(calls: truth), seed: seed, until: ends).served
            let lying = run(ClosedLoop.Tenant(calls: truth, claimed: times), seed: seed, until: ends).served
            for (end, (lying, honest)) in zip(ends, zip(lying, honest)) {
                #expect(honest > end / 4, "seed \(seed), \(truth) calls/s: the test tells nothing")
                #expect(
                    lying <= max(honest * 1.01, honest + 2),
                    "seed \(seed), \(truth) calls/s: \(lying) for \(honest) in \(end) s")
            }
        }
    }

    @Test func `who says that its tasks never end is flagged, and served no more`() {
        for (seed, truth) in Self.seeds.flatMap({ seed in Self.truths.map { (seed, $0) } }) {
            let honest = run(ClosedLoop.Tenant(calls: truth), seed: seed)
            let lying = run(ClosedLoop.Tenant(calls: truth, tasks: .endless), seed: seed)
            #expect(!honest.isFlagged)
            #expect(lying.isFlagged, "seed \(seed), \(truth) calls/s")
            let (lies, truths) = (lying.served[0], honest.served[0])
            #expect(lies <= truths * 1.002, "seed \(seed), \(truth) calls/s: \(lies) for \(truths)")
        }
    }

    /// Credit that is saved between bursts pays for them, for as long as the tenant is believed.
    @Test(arguments: [1.0, 1.5, 2, 3])
    func `who tells truly of its tasks is served more, and who misuses that is served less`(_ calls: Double) {
        for seed in Self.seeds {
            let silent = run(.init(calls: calls, worksInBursts: true), seed: seed)
            let honest = run(.init(calls: calls, worksInBursts: true, tasks: .honest(calls: 20)), seed: seed)
            let lying = run(.init(calls: calls, worksInBursts: true, tasks: .endless), seed: seed)
            #expect(!honest.isFlagged, "seed \(seed)")
            #expect(lying.isFlagged, "seed \(seed)")
            #expect(honest.served[0] > silent.served[0], "seed \(seed): \(honest) beside \(silent)")
            #expect(lying.served[0] < silent.served[0] * 0.95, "seed \(seed): \(lying) beside \(silent)")
        }
    }
}
