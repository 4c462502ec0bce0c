import HeadroomCapacity
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

    private func refusal(_ second: Double, _ request: String, tokens: Int64) -> TelemetryRecord {
        .call(
            CallRecord(
                request: request, at: Self.start.adding(seconds: second), gateway: "gw-1", tenant: "acme",
                pool: Self.pool, outcome: .quota, inputTokens: tokens, outputTokens: 0))
    }

    private func response(
        _ second: Double, status: Int = 200, windows: [QuotaWindow] = [], exhausted: ResourceSet = [],
        request: String? = nil
    ) -> TelemetryRecord {
        .response(
            ResponseRecord(
                at: Self.start.adding(seconds: second), request: request, gateway: "gw-1", pool: Self.pool,
                status: status,
                signal: ProviderSignal(kind: status == 200 ? .ok : .quota, windows: windows, exhausted: exhausted)))
    }

    /// Read a second after it happened, as a rule.
    private mutating func fold(_ record: TelemetryRecord) {
        estimator.fold(record, at: record.at.adding(seconds: 1))
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
        fold(
            response(1, windows: [QuotaWindow(resource: .tokens, limit: 200_000, windowSeconds: 60)]))
        let found = capacity(at: 1.5)
        #expect(found.capacity == Rates(rpm: 600, tpm: 200_000))
        #expect(found.reason == .headers)
        #expect(capacity(at: 70).capacity == Rates(rpm: 600, tpm: 600_000))
    }

    @Test mutating func `a header limit above the contract does not raise it, and a daily one is not a rate`() {
        fold(
            response(
                1,
                windows: [
                    QuotaWindow(resource: .tokens, limit: 9_000_000, windowSeconds: 60),
                    QuotaWindow(resource: .requests, limit: 14, windowSeconds: 86_400),
                ]))
        #expect(capacity(at: 2).capacity == Rates(rpm: 600, tpm: 600_000))
    }

    @Test mutating func `an overload never lowers the estimate`() {
        for n in 0..<600 { fold(call(Double(n) / 10, outcome: n % 2 == 0 ? .overload : .ok, tokens: 500)) }
        let found = capacity(at: 63)
        #expect(found.capacity == Rates(rpm: 600, tpm: 600_000))
        #expect(found.calls[Outcome.overload.rawValue] == 300)
    }

    @Test mutating func `refusals say what there is`() throws {
        // 5 a second of 1,000 tokens get through, as many again are refused for tokens.
        for n in 0..<600 {
            fold(call(Double(n) / 10, outcome: n % 2 == 0 ? .ok : .quota))
            if n % 2 == 1 { fold(response(Double(n) / 10, status: 429, exhausted: ResourceSet(.tokens))) }
        }
        let found = capacity(at: 63)
        let tpm = try #require(found.capacity[.tokens])
        #expect(abs(tpm / 300_000 - 1) < 0.1, "\(tpm)")
        #expect(found.reason == .throttled)
        #expect(found.state == .throttled)
    }

    @Test mutating func `a lower limit in a header is not doubted for what the one before would have left`() throws {
        // Nine tenths of the contract, of which half is granted from second 60 on: what was saved up lasts until second 67,
        // when a header says so. All that is granted is used, and a small call is one too many.
        for second in 0..<67 {
            for n in 0..<9 { fold(call(Double(second) + Double(n) / 9)) }
            _ = capacity(at: Double(second))
        }
        let half = [QuotaWindow(resource: .tokens, limit: 300_000, windowSeconds: 60)]
        for second in 67..<80 {
            let at = Double(second)
            for n in 0..<5 { fold(call(at + Double(n) / 5)) }
            fold(response(at + 0.3, windows: half))
            if second >= 70, second < 73 {
                fold(refusal(at + 0.5, "r\(second)", tokens: 500))
                fold(response(at + 0.5, status: 429, exhausted: ResourceSet(.tokens), request: "r\(second)"))
            }
            let tpm = try #require(capacity(at: at + 1).capacity[.tokens])
            if second > 68 { #expect(abs(tpm / 300_000 - 1) < 0.1, "second \(second): \(tpm)") }
        }
    }

    @Test mutating func `a large call that found too few tokens does not speak of a small one that found no request`()
        throws
    {
        for second in 0..<60 {
            let at = Double(second)
            for n in 0..<10 { fold(call(at + Double(n) / 10, tokens: 400)) }
            fold(refusal(at + 0.9, "large\(second)", tokens: 59_000))
            fold(refusal(at + 0.95, "small\(second)", tokens: 100))
            fold(response(at + 0.9, status: 429, exhausted: ResourceSet(.tokens), request: "large\(second)"))
            fold(response(at + 0.95, status: 429, exhausted: ResourceSet(.requests), request: "small\(second)"))
        }
        let found = capacity(at: 63).capacity
        #expect(try #require(found[.tokens]) > 540_000, "\(found)")
        #expect(try #require(found[.requests]) > 540, "\(found)")
    }

    @Test mutating func `what the gateway denied or served from its cache says nothing of the upstream`() {
        for n in 0..<600 { fold(call(Double(n) / 10, outcome: n % 2 == 0 ? .denied : .cached)) }
        let found = capacity(at: 63)
        #expect(found.capacity == Rates(rpm: 600, tpm: 600_000))
        #expect(found.recentAttempts == 0)
    }

    @Test func `a refused call that is tried again at once and refused again counts once`() throws {
        func estimate(tries: Int) throws -> Double {
            var test = CapacityEstimatorTests()
            for second in 0..<60 {
                for n in 0..<5 { test.fold(test.call(Double(second) + 0.18 * Double(n))) }
                for request in 1...2 {
                    for attempt in 1...tries {
                        let at = Self.start.adding(seconds: Double(second) + 0.9 + 0.001 * Double(attempt))
                        test.fold(
                            .call(
                                CallRecord(
                                    request: "\(second).\(request)", at: at, gateway: "gw-1", tenant: "acme",
                                    pool: Self.pool, attempt: attempt, outcome: .quota, inputTokens: 1_000)))
                    }
                }
            }
            return try #require(test.capacity(at: 63).capacity[.requests])
        }
        let once = try estimate(tries: 1)
        // Five a second pass.
        #expect(abs(once / 300 - 1) < 0.1, "\(once)")
        #expect(abs(try estimate(tries: 5) / once - 1) < 0.02)
    }

    @Test mutating func `a line a minute late changes nothing, and hours of silence cost no time`() {
        fold(call(1))
        _ = capacity(at: 1_000_000)
        for n in 0..<100 { fold(call(Double(n), outcome: .quota)) }
        #expect(capacity(at: 1_000_010).state == .healthy)
    }

    @Test mutating func `a window line is spread over its seconds`() throws {
        for start in stride(from: 0.0, to: 60, by: 10) {
            fold(
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

    /// Nobody sends calls or responses: five gateways tell sums, at times of their own, by which six of ten calls a second
    /// get through. While some have told of a second and others have not, the rest is supposed and is no sign of room.
    @Test(arguments: [5.0, 10, 60]) mutating func `windows alone say what there is`(seconds: Double) throws {
        let calls = Int64(2 * seconds)
        for number in 0..<Int(5 * 240 / seconds) {
            let start = Double(number / 5) * seconds + Double(number % 5) / 5
            fold(
                .window(
                    WindowRecord(
                        start: Self.start.adding(seconds: start), seconds: seconds, gateway: "gw-1", tenant: "acme",
                        pool: Self.pool, requests: calls, ok: calls * 6 / 10, quota: calls - calls * 6 / 10,
                        inputTokens: 1_000 * (calls * 6 / 10))))
            let rpm = try #require(capacity(at: start + seconds + 1).capacity[.requests])
            if start >= 60 { #expect(abs(rpm / 360 - 1) < 0.15, "second \(start): \(rpm)") }
        }
    }

    /// Senders that keep to the estimate, calls that last for seconds and are told when they end, and a limit that drops
    /// to half at second 60.
    @Test(arguments: 1...5) mutating func `calls in flight neither hide a drop nor look like one`(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var level = 60_000.0
        var tellings: [(at: Double, record: TelemetryRecord)] = []
        var estimates = [600_000.0, 600_000]
        var firstRefusal: Double?
        var lowest = 600_000.0
        for second in 0..<120 {
            let limit = second < 60 ? 600_000.0 : 300_000
            level = min(limit / 10, level + limit / 60)
            var left = min(estimates[0], 780_000) / 60
            while left > 0 {
                let tokens = Int64(
                    200 + 3_600 * .random(in: 0..<1, using: &generator) * .random(in: 0..<1, using: &generator))
                left -= Double(tokens)
                let start = Double(second) + .random(in: 0..<1, using: &generator)
                let isServed = level >= Double(tokens)
                let latency = isServed ? 1 + 2 * .random(in: 0..<1, using: &generator) : 0.02
                if isServed { level -= Double(tokens) } else { firstRefusal = firstRefusal ?? Double(second) }
                tellings.append(
                    (
                        start + latency,
                        .call(
                            CallRecord(
                                at: Self.start.adding(seconds: start + latency), gateway: "gw-1", tenant: "acme",
                                pool: Self.pool, outcome: isServed ? .ok : .quota,
                                latencyMilliseconds: latency * 1000, inputTokens: isServed ? tokens : 0))
                    ))
                if !isServed {
                    tellings.append((start, response(start, status: 429, exhausted: ResourceSet(.tokens))))
                }
            }
            let now = Double(second) + 1
            for telling in tellings where telling.at <= now {
                estimator.fold(telling.record, at: Self.start.adding(seconds: now))
            }
            tellings.removeAll { $0.at <= now }
            let estimate = try #require(capacity(at: now).capacity[.tokens])
            if second < 60 { lowest = min(lowest, estimate) }
            if let firstRefusal, firstRefusal >= 60, now == firstRefusal + 15 {
                #expect(abs(estimate / 300_000 - 1) < 0.1, "seed \(seed): \(estimate)")
            }
            estimates = [estimates[1], estimate]
        }
        #expect(firstRefusal != nil)
        #expect(lowest > 540_000, "seed \(seed): \(lowest) before the drop")
    }

    /// 300 of 600 requests a minute are granted, and a refused call costs a request. Ten a second come from second 60 on: the
    /// bucket is empty six seconds later, and all are refused.
    @Test func `what refused calls cost is no sign of a higher limit`() throws {
        var estimator = CapacityEstimator(
            policy: PoolPolicy(pool: Self.pool, nominal: Rates(rpm: 600), countsRefused: true),
            settings: CapacityPolicy(), at: Self.start)
        var level = 30.0
        for tenth in 0..<860 {
            let at = Double(tenth) / 10
            level = min(30, level + 0.5)
            if tenth >= 600 ? tenth < 760 : tenth.isMultiple(of: 2) {
                let isServed = level >= 1
                level = max(-30, level - 1)
                estimator.fold(call(at, outcome: isServed ? .ok : .quota), at: Self.start.adding(seconds: at + 1))
            }
            if tenth % 20 == 19 { _ = estimator.estimate(at: Self.start.adding(seconds: at + 1)) }
        }
        let found = estimator.estimate(at: Self.start.adding(seconds: 87))
        #expect(!found.upstream.isBraked)
        let rpm = try #require(found.capacity[.requests])
        #expect(abs(rpm / 300 - 1) < 0.25, "\(rpm)")
    }

    /// Nine tenths of the contract's tokens pass, and one call is refused of which its gateway knew a part of the tokens only.
    @Test mutating func `one refused call that says it was small does not take a capacity down`() throws {
        var lowest = 600_000.0
        for tenth in 0..<1_200 {
            let at = Double(tenth) / 10
            fold(call(at, tokens: 900))
            if tenth == 700 { fold(refusal(at, "odd", tokens: 1_000)) }
            lowest = min(lowest, try #require(capacity(at: at).capacity[.tokens]))
        }
        withKnownIssue("at nine tenths of the contract one refusal may still mean that the limit fell to what is used")
        {
            #expect(lowest > 0.9 * 600_000, "\(lowest)")
        }
    }

    @Test func `a logarithm undoes an exponential`() {
        for step in -400...400 {
            let x = Double(step) / 20
            #expect(abs(logarithm(exponential(x)) - x) < 1e-13, "\(x)")
        }
    }
}
