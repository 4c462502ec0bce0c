import HeadroomCapacity
import HeadroomModel
import Testing

/// What bounds the estimate besides the bank: pins, headers, long windows, other consumers, latency, ramp, the brake.
@Suite struct CapacityBoundsTests {
    private static let pool: PoolID = "openai:gpt-4o"
    private static let start = Timestamp(milliseconds: 1_793_000_000_000)
    private static let nominal = Rates(rpm: 600, tpm: 600_000)

    private static func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

    private static func estimator(
        countsRefused: Bool = false, acceptsAbove: Bool = false, at begin: Timestamp = start
    ) -> CapacityEstimator {
        CapacityEstimator(
            policy: PoolPolicy(
                pool: pool, nominal: nominal, countsRefused: countsRefused, acceptAboveContract: acceptsAbove),
            settings: CapacityPolicy(), at: begin)
    }

    private static func call(
        _ second: Double, _ outcome: Outcome = .ok, tokens: Int64 = 1_000, latency: Double = 0, model: String? = nil
    ) -> TelemetryRecord {
        .call(
            CallRecord(
                at: after(second), gateway: "gw-1", tenant: "acme", pool: pool, model: model, outcome: outcome,
                latencyMilliseconds: latency, inputTokens: outcome == .ok ? tokens : 0, outputTokens: 0))
    }

    private static func response(
        _ second: Double, _ windows: [QuotaWindow], kind: ResponseKind = .ok
    ) -> TelemetryRecord {
        .response(
            ResponseRecord(
                at: after(second), gateway: "gw-1", pool: pool, status: kind == .ok ? 200 : 429,
                signal: ProviderSignal(kind: kind, windows: windows)))
    }

    @Test func `a pinned capacity goes before everything until its end, and only in what it names`() {
        var estimator = Self.estimator()
        estimator.fold(
            Self.response(
                0, [QuotaWindow(resource: .tokens, limit: 100_000), QuotaWindow(resource: .requests, limit: 300)]),
            at: Self.start)
        let pin = CapacityPin(
            pool: Self.pool, capacity: Rates(tpm: 900_000),
            authorship: Authorship(author: "sre", reason: "told", at: Self.start, until: Self.after(20)))
        let pinned = estimator.estimate(at: Self.after(1), pin: pin)
        #expect(pinned.capacity == Rates(rpm: 300, tpm: 900_000))
        #expect(pinned.reason == .manual)
        #expect(pinned.confidence == 1)
        let after = estimator.estimate(at: Self.after(20), pin: pin)
        #expect(after.capacity == Rates(rpm: 300, tpm: 100_000))
        #expect(after.reason == .headers)
    }

    @Test func `a limit above the contract is believed when it has held for a minute and the policy allows it`() {
        for accepts in [true, false] {
            var estimator = Self.estimator(acceptsAbove: accepts)
            var believed: [Double] = []
            for second in 0...90 {
                // It wavers at first.
                let limit = second == 10 ? 700_000.0 : 800_000
                estimator.fold(
                    Self.response(Double(second), [QuotaWindow(resource: .tokens, limit: limit)]),
                    at: Self.after(Double(second)))
                believed.append(estimator.estimate(at: Self.after(Double(second))).capacity[.tokens] ?? 0)
            }
            #expect(believed[70] == 600_000, "\(accepts)")
            #expect(believed[71] == (accepts ? 800_000 : 600_000), "\(accepts)")
        }
    }

    @Test func `what is left of a day is spread over the time until its end`() throws {
        var estimator = Self.estimator()
        estimator.fold(
            Self.response(
                0,
                [
                    QuotaWindow(
                        resource: .requests, limit: 14_400, remaining: 1_200, resetMilliseconds: 3_600_000,
                        windowSeconds: 86_400)
                ]), at: Self.start)
        let found = estimator.estimate(at: Self.after(1))
        #expect(abs(try #require(found.capacity[.requests]) - 20) < 0.1)
        #expect(found.capacity[.tokens] == 600_000)
        #expect(found.reason == .headers)
        #expect(found.upstream.longWindows.count == 1)
        // The next day.
        #expect(estimator.estimate(at: Self.after(3_601)).capacity == Self.nominal)
    }

    @Test func `a daily limit that refills steadily grants its refill`() throws {
        var estimator = Self.estimator()
        // Groq: 14,400 a day, one each 6 s; nearly used up, and full again in almost a day.
        estimator.fold(
            Self.response(
                0,
                [
                    QuotaWindow(
                        resource: .requests, limit: 14_400, remaining: 14, resetMilliseconds: 86_316_000,
                        windowSeconds: 86_400)
                ]), at: Self.start)
        #expect(abs(try #require(estimator.estimate(at: Self.after(1)).capacity[.requests]) - 10) < 0.1)
    }

    /// A second in which ten calls use `own` tokens and a header tells what remains of 600,000 a minute.
    private static func play(
        _ second: Int, own: Double, remaining: Double, resetMilliseconds: Double,
        in estimator: inout CapacityEstimator
    ) -> PoolCapacity {
        let end = after(Double(second) + 1)
        for n in 0..<10 {
            estimator.fold(call(Double(second) + Double(n) / 10, tokens: Int64(own / 10)), at: end)
        }
        let window = QuotaWindow(
            resource: .tokens, limit: 600_000, remaining: remaining, resetMilliseconds: resetMilliseconds,
            windowSeconds: 60)
        estimator.fold(response(Double(second) + 0.95, [window]), at: end)
        return estimator.estimate(at: end)
    }

    /// A minute's bucket that refills steadily, at full load: others take `others` of every second from 60 to 180.
    @Test(arguments: [0.0, 0.3, 0.5]) func `what others take of the account is not ours to give`(others: Double) throws
    {
        var estimator = Self.estimator()
        var level = 300_000.0
        var found: [Double] = []
        for second in 0..<300 {
            let taken = (60..<180).contains(second) ? others * 10_000 : 0
            // We take what the bucket grants at a third full, as a pool at its limit does.
            let own = level > 200_000 ? 10_000 : 10_000 - taken
            level = min(600_000, level + 10_000 - own - taken)
            let estimate = Self.play(
                second, own: own, remaining: level, resetMilliseconds: (600_000 - level) / 10, in: &estimator)
            found.append(try #require(estimate.capacity[.tokens]) / 600_000)
        }
        #expect(found[..<60].allSatisfy { $0 == 1 })
        #expect(found[140..<178].allSatisfy { abs($0 - (1 - others)) < 0.1 }, "\(found[170])")
        #expect(found[280...].allSatisfy { $0 == 1 }, "\(found[299])")
    }

    /// The last sixty seconds count, and we are alone: what we leave unused is nobody's use.
    @Test(arguments: [0.5, 0.9, 0.99]) func `what is left of a sliding window is not others' use`(part: Double) throws {
        var estimator = Self.estimator()
        var used: [Double] = []
        for second in 0..<300 {
            // Up and down with a period of 20 s, so that most spans end where they began.
            let own = (part * (1 + 0.2 * (second % 20 < 10 ? 1 : -1)) * 1_000).rounded() * 10
            used.append(own)
            let found = Self.play(
                second, own: own, remaining: 600_000 - used.suffix(60).reduce(0, +), resetMilliseconds: 60_000,
                in: &estimator)
            #expect(found.capacity[.tokens] == 600_000, "second \(second)")
            #expect(found.upstream.otherConsumers[.tokens] == nil)
        }
    }

    @Test func `latency far over its baseline keeps the estimate from rising`() throws {
        var estimator = Self.estimator(at: Self.after(-1_501))
        // Half an hour of usual latencies, then a limit of half that goes while latency is ten times as high.
        for second in stride(from: -1_500.0, to: 120, by: 1) {
            for n in 0..<8 {
                estimator.fold(Self.call(second + Double(n) / 8, latency: 500), at: Self.after(second + 1))
            }
            if second >= 60 || Int(second) % 30 == 0 { _ = estimator.estimate(at: Self.after(second + 1)) }
        }
        func run(_ seconds: Range<Int>, latency: Double, limit: Double) -> PoolCapacity {
            var found = estimator.estimate(at: Self.after(Double(seconds.lowerBound)))
            for second in seconds {
                estimator.fold(
                    Self.response(Double(second), [QuotaWindow(resource: .tokens, limit: limit)]),
                    at: Self.after(Double(second)))
                for n in 0..<8 {
                    estimator.fold(
                        Self.call(Double(second) + Double(n) / 8, latency: latency), at: Self.after(Double(second) + 1))
                }
                found = estimator.estimate(at: Self.after(Double(second) + 1))
            }
            return found
        }
        #expect(run(120..<180, latency: 5_000, limit: 300_000).capacity[.tokens] == 300_000)
        let held = run(180..<200, latency: 5_000, limit: 600_000)
        #expect(held.capacity[.tokens] == 300_000)
        #expect(held.reason == .latency)
        let latency = try #require(held.upstream.whole.latency)
        #expect(latency.p95Milliseconds > 3 * latency.baselineP95Milliseconds)
        #expect(run(200..<300, latency: 500, limit: 600_000).capacity[.tokens] == 600_000)
    }

    @Test func `a provider that says we grow too fast slows the slew, for a while`() {
        var estimator = Self.estimator()
        #expect(estimator.estimate(at: Self.after(1)).growth == 1)
        estimator.fold(Self.call(1, .ramp), at: Self.after(1))
        #expect(estimator.estimate(at: Self.after(2)).growth < 0.26)
        for second in 2..<200 { estimator.fold(Self.call(Double(second), .ramp), at: Self.after(Double(second))) }
        let least = estimator.estimate(at: Self.after(200)).growth
        #expect(least > 0 && least < 0.01)
        #expect(estimator.estimate(at: Self.after(1_000)).growth == 1)
        #expect(estimator.estimate(at: Self.after(1_000)).capacity == Self.nominal)
    }

    @Test func `where refused attempts count, many refusals brake, and say nothing of the limit by it`() throws {
        for counts in [true, false] {
            var estimator = Self.estimator(countsRefused: counts)
            for n in 0..<40 {
                estimator.fold(Self.call(Double(n) / 10, n % 2 == 0 ? .ok : .quota), at: Self.after(4))
            }
            let found = estimator.estimate(at: Self.after(4))
            #expect(found.upstream.isBraked == counts)
            if counts {
                #expect(found.capacity == found.estimated * 0.25)
            } else {
                #expect(found.capacity == found.estimated)
            }
            #expect(!estimator.estimate(at: Self.after(8)).upstream.isBraked)
        }
    }

    /// 600 requests a minute, six seconds of them at once. Of forty a second for four seconds a hundred pass. The others leave a
    /// full bucket in debt, which takes six seconds to pay.
    @Test func `the brake holds until what refused calls cost is paid`() {
        var estimator = CapacityEstimator(
            policy: PoolPolicy(pool: Self.pool, nominal: Rates(rpm: 600), countsRefused: true),
            settings: CapacityPolicy(), at: Self.start)
        var level = 60.0
        var isBraked: [Int: Bool] = [:]
        for second in 0..<30 {
            for n in 0..<40 where second < 4 {
                let at = Double(second) + Double(n) / 40
                level = min(60, level + 0.25)
                estimator.fold(Self.call(at, level >= 1 ? .ok : .quota), at: Self.after(at))
                level = max(-60, level - 1)
            }
            let found = estimator.estimate(at: Self.after(Double(second + 1)))
            isBraked[second + 1] = found.upstream.isBraked
        }
        #expect(isBraked[2] == false)
        for second in 4...8 { #expect(isBraked[second] == true, "second \(second)") }
        for second in 13...30 { #expect(isBraked[second] == false, "second \(second)") }
    }

    @Test func `a pool of overloads leaves the estimate where it was`() throws {
        var estimator = Self.estimator()
        // Half of the limit is granted: what is refused says so.
        for n in 0..<1_200 {
            estimator.fold(
                Self.call(Double(n) / 20, n % 2 == 0 ? .ok : .quota, tokens: 500), at: Self.after(Double(n) / 20 + 1))
            if n % 20 == 19 { _ = estimator.estimate(at: Self.after(Double(n) / 20 + 1)) }
        }
        let before = try #require(estimator.estimate(at: Self.after(64)).capacity[.tokens])
        #expect(before < 0.6 * 600_000)
        // Two minutes in which half of all calls are overloaded, and nobody is refused.
        for n in 1_280..<3_680 {
            estimator.fold(
                Self.call(Double(n) / 20, n % 2 == 0 ? .ok : .overload, tokens: 500), at: Self.after(Double(n) / 20 + 1)
            )
            if n % 20 == 19 { _ = estimator.estimate(at: Self.after(Double(n) / 20 + 1)) }
        }
        let after = try #require(estimator.estimate(at: Self.after(186)).capacity[.tokens])
        #expect(abs(after / before - 1) < 0.02, "\(before) \(after)")
    }

    @Test func `a pool that is hardly used does not probe`() throws {
        var estimator = Self.estimator()
        for n in 0..<1_200 {
            estimator.fold(
                Self.call(Double(n) / 20, n % 2 == 0 ? .ok : .quota, tokens: 500), at: Self.after(Double(n) / 20 + 1))
            if n % 20 == 19 { _ = estimator.estimate(at: Self.after(Double(n) / 20 + 1)) }
        }
        let before = try #require(estimator.estimate(at: Self.after(64)).capacity[.tokens])
        for second in 64..<400 {
            estimator.fold(Self.call(Double(second), tokens: 500), at: Self.after(Double(second) + 1))
            _ = estimator.estimate(at: Self.after(Double(second) + 1))
        }
        let after = try #require(estimator.estimate(at: Self.after(401)).capacity[.tokens])
        #expect(abs(after / before - 1) < 0.02, "\(before) \(after)")
    }

    @Test func `other terms restart what is known of the limits only when the limits are others`() {
        var estimator = Self.estimator()
        for n in 0..<1_200 {
            estimator.fold(
                Self.call(Double(n) / 20, n % 2 == 0 ? .ok : .quota, tokens: 500), at: Self.after(Double(n) / 20 + 1))
        }
        let before = estimator.estimate(at: Self.after(64)).capacity
        var policy = PoolPolicy(pool: Self.pool, nominal: Self.nominal, mode: .observe, failover: ["other"])
        estimator.follow(policy, settings: CapacityPolicy(), breakers: BreakerPolicy())
        #expect(estimator.estimate(at: Self.after(64)).capacity == before)
        policy.nominal = Rates(rpm: 1_200, tpm: 1_200_000)
        estimator.follow(policy, settings: CapacityPolicy(), breakers: BreakerPolicy())
        #expect(estimator.estimate(at: Self.after(64)).capacity == policy.nominal)
    }
}
