import HeadroomControl
import HeadroomModel
import Testing

@Suite struct CapacityEstimatorTests {
    private static let pool: PoolID = "demo:pool"
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    private var estimator = CapacityEstimator(
        policy: PoolPolicy(pool: pool, nominal: Rates(rpm: 600, tpm: 600_000)), settings: CapacityPolicy(), at: start)

    private func call(_ second: Double, outcome: Outcome = .ok, tokens: Int64 = 1_000) -> TelemetryRecord {
        .call(
            CallRecord(
                at: Self.start.adding(seconds: second), gateway: "gw-1", tenant: "acme", pool: Self.pool,
                outcome: outcome, inputTokens: outcome == .ok ? tokens : 0, outputTokens: 0))
    }

    private func response(
        _ second: Double, status: Int = 200, windows: [QuotaWindow] = [], exhausted: ResourceSet = []
    ) -> TelemetryRecord {
        .response(
            ResponseRecord(
                at: Self.start.adding(seconds: second), gateway: "gw-1", pool: Self.pool, status: status,
                signal: ProviderSignal(kind: status == 200 ? .ok : .quota, windows: windows, exhausted: exhausted)))
    }

    private mutating func capacity(at second: Double) -> PoolCapacity {
        estimator.estimate(at: Self.start.adding(seconds: second))
    }

    @Test mutating func `without evidence the contract holds`() {
        let found = capacity(at: 100)
        #expect(found.capacity == Rates(rpm: 600, tpm: 600_000))
        #expect(found.reason == .contract)
        #expect(found.state == .healthy)
    }

    @Test mutating func `a header limit below the contract is believed at once, and for a minute`() {
        estimator.fold(
            response(1, windows: [QuotaWindow(resource: .tokens, limit: 200_000, windowSeconds: 60)]))
        let found = capacity(at: 1.5)
        #expect(found.capacity == Rates(rpm: 600, tpm: 200_000))
        #expect(found.reason == .headers)
        #expect(capacity(at: 70).capacity == Rates(rpm: 600, tpm: 600_000))
    }

    @Test mutating func `a header limit above the contract does not raise it, and a daily one is not a rate`() {
        estimator.fold(
            response(
                1,
                windows: [
                    QuotaWindow(resource: .tokens, limit: 9_000_000, windowSeconds: 60),
                    QuotaWindow(resource: .requests, limit: 14, windowSeconds: 86_400),
                ]))
        #expect(capacity(at: 2).capacity == Rates(rpm: 600, tpm: 600_000))
    }

    @Test mutating func `an overload never lowers the estimate`() {
        for n in 0..<600 { estimator.fold(call(Double(n) / 10, outcome: n % 2 == 0 ? .overload : .ok, tokens: 500)) }
        let found = capacity(at: 63)
        #expect(found.capacity == Rates(rpm: 600, tpm: 600_000))
        #expect(found.calls[Outcome.overload.rawValue] == 300)
    }

    @Test mutating func `refusals say what there is`() throws {
        // 5 a second of 1,000 tokens get through, as many again are refused for tokens.
        for n in 0..<600 {
            estimator.fold(call(Double(n) / 10, outcome: n % 2 == 0 ? .ok : .quota))
            if n % 2 == 1 { estimator.fold(response(Double(n) / 10, status: 429, exhausted: ResourceSet(.tokens))) }
        }
        let found = capacity(at: 63)
        let tpm = try #require(found.capacity[.tokens])
        #expect(abs(tpm / 300_000 - 1) < 0.1, "\(tpm)")
        #expect(found.reason == .throttled)
        #expect(found.state == .throttled)
    }

    @Test mutating func `what the gateway denied or served from its cache says nothing of the upstream`() {
        for n in 0..<600 { estimator.fold(call(Double(n) / 10, outcome: n % 2 == 0 ? .denied : .cached)) }
        let found = capacity(at: 63)
        #expect(found.capacity == Rates(rpm: 600, tpm: 600_000))
        #expect(found.recentAttempts == 0)
    }

    @Test mutating func `a line a minute late changes nothing, and hours of silence cost no time`() {
        estimator.fold(call(1))
        _ = capacity(at: 1_000_000)
        for n in 0..<100 { estimator.fold(call(Double(n), outcome: .quota)) }
        #expect(capacity(at: 1_000_010).state == .healthy)
    }

    @Test mutating func `a window line is spread over its seconds`() throws {
        for start in stride(from: 0.0, to: 60, by: 10) {
            estimator.fold(
                .window(
                    WindowRecord(
                        start: Self.start.adding(seconds: start), seconds: 10, gateway: "gw-1", tenant: "acme",
                        pool: Self.pool, requests: 100, ok: 90, quota: 10, inputTokens: 90_000)))
        }
        let found = capacity(at: 63)
        #expect(found.calls[Outcome.ok.rawValue] == 540)
        #expect(found.calls[Outcome.quota.rawValue] == 60)
        // 9 a second are 540 a minute.
        #expect(abs(try #require(found.capacity[.requests]) / 540 - 1) < 0.15)
    }
}
