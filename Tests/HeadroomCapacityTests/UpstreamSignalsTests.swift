import HeadroomCapacity
import HeadroomModel
import Testing

/// Outcomes, latency, models and breakers, as the estimator reports them.
@Suite struct UpstreamSignalsTests {
    private static let pool: PoolID = "pool"
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)

    private var estimator = UpstreamSignalsTests.estimator(failover: ["other"])

    private static func estimator(failover: [PoolID]) -> CapacityEstimator {
        CapacityEstimator(
            policy: PoolPolicy(pool: pool, nominal: Rates(rpm: 6_000, tpm: 6_000_000), failover: failover),
            settings: CapacityPolicy(), at: start)
    }

    private static func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    private mutating func fold(
        _ count: Int = 1, at second: Double, _ outcome: Outcome = .ok, model: String? = nil, endpoint: String? = nil,
        latency: Double? = nil
    ) {
        for _ in 0..<count {
            estimator.fold(
                .call(
                    CallRecord(
                        at: Self.after(second), gateway: "gw-1", tenant: "acme", pool: Self.pool, model: model,
                        endpoint: endpoint, outcome: outcome, latencyMilliseconds: latency, inputTokens: 100,
                        outputTokens: 20)), at: Self.after(second))
        }
    }

    private mutating func report(at second: Double) -> PoolCapacity { estimator.estimate(at: Self.after(second)) }

    @Test mutating func `outcomes and tokens are counted over the last minute`() {
        for second in 0..<120 {
            fold(3, at: Double(second))
            fold(1, at: Double(second), .quota)
            fold(2, at: Double(second), .denied)
        }
        let whole = report(at: 119.5).upstream.whole
        #expect(whole[.ok] == 180)
        #expect(whole[.quota] == 60)
        #expect(whole[.denied] == 120)
        #expect(whole.attempts == 240)
        #expect(whole.share(of: .quota) == 0.25)
        #expect(whole.servedTokens == 180 * 120)
        #expect(report(at: 300).upstream.whole.attempts == 0)
    }

    @Test mutating func `a p95 four times the usual is far over its baseline for five minutes, and usual in the end`()
        throws
    {
        /// Fifty calls in ten seconds, and then what p95 is of its baseline.
        func factor(_ estimator: inout CapacityEstimator, at second: Int, p95: Double) -> Double? {
            let latency = WindowRecord.Latency(
                count: 50, p50Milliseconds: 0.8 * p95, p95Milliseconds: p95, p99Milliseconds: p95)
            estimator.fold(
                .window(
                    WindowRecord(
                        start: Self.after(Double(second) - 10), seconds: 10, gateway: "gw-1", tenant: "acme",
                        pool: Self.pool, requests: 50, ok: 50, latency: latency)), at: Self.after(Double(second)))
            return estimator.estimate(at: Self.after(Double(second))).upstream.whole.latency.map {
                $0.p95Milliseconds / $0.baselineP95Milliseconds
            }
        }
        // Five minutes as usual, then four times as slow for an hour, and nothing refused.
        var factors: [Int: Double] = [:]
        for second in stride(from: 10, through: 3_900, by: 10) {
            factors[second] = factor(&estimator, at: second, p95: second <= 300 ? 400 : 1600)
        }
        #expect(abs(try #require(factors[300]) - 1) < 0.01)
        #expect(try #require(factors[390]) > 3.5 && #require(factors[600]) > 3)
        #expect(try #require(factors[3_900]) < 1.5)
    }

    @Test mutating func `model and endpoint are told apart, at most sixteen, and the rest are one`() {
        for n in 0..<40 { fold(n + 1, at: 1, model: "model-\(n % 20)", endpoint: n < 20 ? "chat" : "embeddings") }
        let channels = report(at: 2).upstream.channels
        #expect(channels.count == 17)
        #expect(channels.dropLast().allSatisfy { $0.model != nil && $0.endpoint == "chat" })
        #expect(channels.last?.model == nil)
        #expect(channels.reduce(0) { $0 + $1.signals[.ok] } == 820)
        // An hour later they give way to others.
        fold(7, at: 4_000, model: "fresh", endpoint: "chat")
        let later = report(at: 4_001).upstream.channels
        #expect(later.map(\.model) == ["fresh"])
        #expect(later[0].signals[.ok] == 7)
    }

    @Test mutating func `latency is told as quantiles beside its baseline`() throws {
        for second in 0..<300 { for n in 0..<10 { fold(at: Double(second), latency: 100 + 10 * Double(n)) } }
        _ = report(at: 300)
        for second in 300..<400 {
            fold(10, at: Double(second), latency: 1_000)
            _ = report(at: Double(second))
        }
        let latency = try #require(report(at: 400).upstream.whole.latency)
        #expect(abs(latency.p50Milliseconds / 1_000 - 1) < 0.04)
        #expect(latency.baselineP95Milliseconds < 1_040)
    }

    @Test mutating func `a window's quantiles come out as they went in`() throws {
        estimator.fold(
            .window(
                WindowRecord(
                    start: Self.start, seconds: 10, gateway: "gw-1", tenant: "acme", pool: Self.pool, requests: 100,
                    ok: 100,
                    latency: WindowRecord.Latency(
                        count: 100, p50Milliseconds: 700, p95Milliseconds: 1_900, p99Milliseconds: 2_500))),
            at: Self.after(10))
        let latency = try #require(report(at: 10).upstream.whole.latency)
        #expect(abs(latency.p50Milliseconds / 700 - 1) < 0.04)
        #expect(abs(latency.p95Milliseconds / 1_900 - 1) < 0.04)
        #expect(abs(latency.p99Milliseconds / 2_500 - 1) < 0.04)
    }

    /// The confidence that is left of 600 quiet seconds at full use, after `change`.
    private static func confidence(after change: (inout UpstreamSignalsTests) -> Void) -> (
        before: Double, after: Double
    ) {
        var test = UpstreamSignalsTests()
        for second in 0..<100 {
            test.fold(95, at: Double(second), model: "gpt-4o-2024-08-06", latency: 100)
            _ = test.report(at: Double(second))
        }
        let before = test.report(at: 104).confidence
        change(&test)
        return (before, test.report(at: 104).confidence)
    }

    @Test func `a new version, told or noticed, widens the estimate and starts latency over; another model does not`() {
        func told(_ version: String) -> TelemetryRecord {
            .model(ModelRecord(at: Self.after(100), pool: Self.pool, model: "gpt-4o", version: version))
        }
        let cases: [(name: String, isNews: Bool, change: (inout UpstreamSignalsTests) -> Void)] = [
            ("told", true, { $0.estimator.fold(told("gpt-4o-2026-11-01"), at: Self.after(100)) }),
            ("noticed", true, { $0.fold(at: 100, model: "gpt-4o-2024-11-20") }),
            ("the same", false, { $0.fold(at: 100, model: "gpt-4o-2024-08-06") }),
            ("another", false, { $0.fold(at: 100, model: "gpt-4o-mini-2024-07-18") }),
            ("the alias", false, { $0.fold(at: 100, model: "gpt-4o") }),
            ("nameless", false, { $0.fold(at: 100) }),
        ]
        for (name, isNews, change) in cases {
            let (before, after) = Self.confidence(after: change)
            #expect((after < before - 0.1) == isNews, "\(name): \(before) \(after)")
        }
    }

    @Test mutating func `the report says since when a model has another version, told or noticed`() {
        func changes(_ test: inout UpstreamSignalsTests, at second: Double) -> [String: Timestamp?] {
            let channels = test.report(at: second).upstream.channels
            return Dictionary(uniqueKeysWithValues: channels.map { ($0.model ?? "", $0.changedAt) })
        }
        for second in 0..<100 { fold(at: Double(second), model: "gpt-4o-2024-08-06") }
        #expect(changes(&self, at: 100) == ["gpt-4o-2024-08-06": nil])
        fold(at: 101, model: "gpt-4o-2024-11-20")
        estimator.fold(
            .model(ModelRecord(at: Self.after(102), pool: Self.pool, model: "gpt-4o-2024-08-06", version: "b")),
            at: Self.after(103))
        #expect(
            changes(&self, at: 104)
                == ["gpt-4o-2024-08-06": Self.after(102), "gpt-4o-2024-11-20": Self.after(101)])
    }

    @Test mutating func `a version that is told again is no news`() {
        let line = TelemetryRecord.model(
            ModelRecord(at: Self.start, pool: Self.pool, model: "gpt-4o", version: "gpt-4o-2026-11-01"))
        estimator.fold(line, at: Self.start)
        for second in 0..<60 {
            fold(95, at: Double(second))
            _ = report(at: Double(second))
        }
        let before = report(at: 64).confidence
        estimator.fold(line, at: Self.after(64))
        #expect(report(at: 64).confidence == before)
    }

    @Test mutating func `failures open the breaker of the model and of the pool, and overload is the reason`() {
        for second in 0..<5 {
            fold(10, at: Double(second), .overload, model: "bad")
            fold(2, at: Double(second), .ok, model: "good")
        }
        let found = report(at: 5)
        #expect(found.state == .open)
        #expect(found.reason == .overload)
        #expect(found.capacity == found.nominal)
        #expect(
            found.models == [
                PoolAllocation.Model(model: "bad", state: .open), PoolAllocation.Model(model: "good", state: .healthy),
            ])
        #expect(report(at: 21).state == .halfOpen)
        for n in 0..<5 { fold(at: 22 + Double(n), model: "bad") }
        let closed = report(at: 27)
        #expect(closed.state == .healthy)
        #expect(closed.models.allSatisfy { $0.state == .healthy })
    }

    @Test mutating func `without a pool to fail over to there is no breaker`() {
        estimator = Self.estimator(failover: [])
        fold(100, at: 1, .overload, model: "bad")
        let found = report(at: 2)
        #expect(found.state == .healthy)
        #expect(found.reason == .contract)
        #expect(found.models.isEmpty)
    }
}
