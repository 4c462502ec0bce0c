import HeadroomLoop
import HeadroomModel
import Testing

@Suite struct UpstreamCapacityObserverTests {
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    private static func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    private static func rules(_ pools: [PoolID], pins: [CapacityPin] = []) -> Rules {
        Rules(
            policy: Policy(pools: pools.map { PoolPolicy(pool: $0, nominal: Rates(tpm: 600_000)) }),
            steering: Steering(pins: pins))
    }

    /// Half of what is sent is refused, for a minute.
    private static func taught(_ pools: [PoolID]) async -> UpstreamCapacityObserver {
        let observer = UpstreamCapacityObserver()
        await observer.follow(rules(pools), at: start)
        for second in 0..<60 {
            var calls: [TelemetryRecord] = []
            for n in 0..<20 {
                let isServed = n % 2 == 0
                let call = CallRecord(
                    at: after(Double(second) + Double(n) / 20), gateway: "gw", tenant: "t", pool: pools[0],
                    outcome: isServed ? .ok : .quota, inputTokens: isServed ? 500 : 0)
                calls.append(.call(call))
            }
            await observer.fold(calls, at: after(Double(second) + 1))
            _ = await observer.estimate(at: after(Double(second) + 1))
        }
        return observer
    }

    @Test func `what a checkpoint knew is known after the restart, by pool`() async {
        let observer = await Self.taught(["a", "b"])
        let before = await observer.estimate(at: Self.after(64))
        #expect((before[0].capacity[.tokens] ?? 0) < 400_000)
        let fresh = UpstreamCapacityObserver()
        #expect(await fresh.restore(await observer.checkpoint()))
        await fresh.follow(Self.rules(["a", "b", "c"]), at: Self.after(64))
        let after = await fresh.estimate(at: Self.after(64))
        #expect(Array(after[..<2]) == before)
        #expect(after[2].capacity == Rates(tpm: 600_000))
    }

    @Test func `a checkpoint of another version, or a damaged one, is not read`() async {
        let bytes = await Self.taught(["a"]).checkpoint()
        for damaged in [[], Array(bytes.dropLast()), [bytes[0] &+ 1] + bytes.dropFirst()] {
            let fresh = UpstreamCapacityObserver()
            #expect(await !fresh.restore(damaged))
            await fresh.follow(Self.rules(["a"]), at: Self.after(64))
            #expect(await fresh.estimate(at: Self.after(64))[0].capacity == Rates(tpm: 600_000))
        }
    }

    @Test func `a pin holds until its end`() async {
        let observer = UpstreamCapacityObserver()
        let pin = CapacityPin(
            pool: "a", capacity: Rates(tpm: 1_000),
            authorship: Authorship(author: "sre", reason: "test", at: Self.start, until: Self.after(10)))
        await observer.follow(Self.rules(["a"], pins: [pin]), at: Self.start)
        #expect(await observer.estimate(at: Self.after(9))[0].reason == .manual)
        #expect(await observer.estimate(at: Self.after(10))[0].capacity == Rates(tpm: 600_000))
    }

    @Test func `of lines read together, a response corrects its call wherever it stands`() async {
        let observer = UpstreamCapacityObserver()
        await observer.follow(Self.rules(["a"]), at: Self.start)
        for second in 0..<20 {
            var lines: [TelemetryRecord] = []
            for n in 0..<10 {
                let at = Self.after(Double(second) + Double(n) / 10)
                let name = "r\(second).\(n)"
                let call = CallRecord(
                    request: name, at: at, gateway: "gw", tenant: "t", pool: "a", outcome: .quota, status: 429)
                let response = ResponseRecord(
                    at: at, request: name, gateway: "gw", pool: "a", status: 429,
                    signal: ProviderSignal(kind: .billing))
                lines += n % 2 == 0 ? [.call(call), .response(response)] : [.response(response), .call(call)]
            }
            await observer.fold(lines, at: Self.after(Double(second) + 1))
        }
        let found = await observer.estimate(at: Self.after(20))[0]
        #expect(found.calls[Outcome.billing.rawValue] == 200)
        #expect(found.calls[Outcome.quota.rawValue] == 0)
        #expect(found.capacity == Rates(tpm: 600_000))
        #expect(found.upstream.billingFailureSince != nil)
    }
}
