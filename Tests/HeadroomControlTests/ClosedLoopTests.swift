import HeadroomControl
import HeadroomModel
import Testing

/// What a tenant gains by what it says, through telemetry, classifier and decision together.
@Suite struct ClosedLoopTests {
    /// Alone, in balance and in shortage: the other three want one and a half times what there is.
    private static let truths = [1.0, 2, 4]

    /// Calls of its own that a tenant is served in half an hour, and whether it was flagged.
    private func run(_ tenant: ClosedLoop.Tenant, seed: UInt64) -> (served: Double, isFlagged: Bool) {
        var loop = ClosedLoop(
            ["a": tenant, "b": .init(calls: 5), "c": .init(calls: 4), "d": .init(calls: 6)], seed: seed)
        loop.run(seconds: 1800)
        return (loop.served["a"]!, loop.flagged.contains("a"))
    }

    @Test func `who says that four times as much waits as does is served no more`() {
        for (seed, truth) in (1...3 as ClosedRange<UInt64>).flatMap({ seed in Self.truths.map { (seed, $0) } }) {
            let honest = run(ClosedLoop.Tenant(calls: truth), seed: seed).served
            let lying = run(ClosedLoop.Tenant(calls: truth, claimed: 4), seed: seed).served
            #expect(honest > 1000, "seed \(seed), \(truth) calls/s: the test tells nothing")
            #expect(lying <= honest * 1.01, "seed \(seed), \(truth) calls/s: \(lying) for \(honest)")
        }
    }

    @Test func `who says that its tasks never end is flagged, and served no more`() {
        for (seed, truth) in (1...3 as ClosedRange<UInt64>).flatMap({ seed in Self.truths.map { (seed, $0) } }) {
            let honest = run(ClosedLoop.Tenant(calls: truth), seed: seed)
            let lying = run(ClosedLoop.Tenant(calls: truth, hasEndlessTasks: true), seed: seed)
            #expect(!honest.isFlagged)
            #expect(lying.isFlagged, "seed \(seed), \(truth) calls/s")
            #expect(lying.served <= honest.served * 1.002, "seed \(seed), \(truth) calls/s: \(lying) for \(honest)")
        }
    }
}
