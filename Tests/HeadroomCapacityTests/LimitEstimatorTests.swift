import HeadroomCapacity
import HeadroomModel
import Testing

/// A provider's meter whose limit the bank does not know, and senders that keep to the bank's estimate.
private struct HiddenLimit {
    enum Meter: CaseIterable { case bucket, clockMinute, slidingMinute }

    let meter: Meter
    var perMinute: Double
    /// Of a bucket of six seconds.
    private var level: Double
    /// Of the last minute, by second modulo 60.
    private var used = [Double](repeating: 0, count: 60)
    private var t = 0
    private var generator: SplitMix64

    init(_ meter: Meter, perMinute: Double, seed: UInt64) {
        self.meter = meter
        self.perMinute = perMinute
        level = perMinute / 10
        generator = SplitMix64(seed: seed)
    }

    private mutating func advance() {
        t += 1
        level = min(perMinute / 10, level + perMinute / 60)
        if meter == .clockMinute, t % 60 == 0 { used = used.map { _ in 0 } }
        if meter == .slidingMinute { used[t % 60] = 0 }
    }

    private var left: Double { meter == .bucket ? level : perMinute - used.reduce(0, +) }

    /// One second in which calls of about `size` are sent until `budget` is spent.
    mutating func second(budget: Double, size: Double) -> (delivered: Double, isRefused: Bool) {
        advance()
        var sent = 0.0
        var delivered = 0.0
        var isRefused = false
        while sent < budget {
            let tokens = size * (0.2 + 1.6 * .random(in: 0..<1, using: &generator))
            sent += tokens
            if left >= tokens {
                level -= tokens
                used[t % 60] += tokens
                delivered += tokens
            } else {
                isRefused = true
            }
        }
        return (delivered, isRefused)
    }
}

@Suite struct LimitEstimatorTests {
    private static let known = 600_000.0
    /// Requests do not bind in these runs: there are twice as many as tokens allow.
    private static let limits = Rates(rpm: 600, tpm: known)

    /// Runs the loop of estimator and senders; the senders know the estimate of `lag` seconds ago, as gateways do.
    private func run(
        _ meter: HiddenLimit.Meter = .bucket, seconds: Int, demand: Double, lag: Int = 4, seed: UInt64,
        size: Double = 2_000, countsRefused: Bool = false, limit: (Int) -> Double,
        check: (Int, Double, LimitEstimator) -> Void
    ) {
        var estimator = LimitEstimator(
            limits: Self.limits, burstSeconds: 6, countsRefused: countsRefused, settings: CapacityPolicy())
        var hidden = HiddenLimit(meter, perMinute: limit(0), seed: seed)
        var estimates = [Double](repeating: Self.known, count: lag + 1)
        for t in 0..<seconds {
            hidden.perMinute = limit(t)
            let second = hidden.second(budget: min(demand, estimates[0]) / 60, size: size)
            estimator.fold(
                MeteredLimits.Second(
                    second: Int64(t + 1), delivered: Work(requests: second.delivered / size, tokens: second.delivered),
                    refused: second.isRefused ? ResourceSet(.tokens) : [],
                    meanRequest: Work(requests: 1, tokens: size)))
            estimates.removeFirst()
            estimates.append(estimator.estimate[.tokens] ?? 0)
            check(t, hidden.perMinute, estimator)
        }
    }

    @Test(arguments: 1...10) func `finds a silent drop to half within 15 s of the first refusal`(seed: UInt64) throws {
        var error = Double.infinity
        run(
            seconds: 76, demand: 780_000, seed: seed, limit: { $0 < 60 ? 600_000 : 300_000 },
            check: { t, truth, estimator in
                error = abs((estimator.estimate[.tokens] ?? 0) / truth - 1)
            })
        #expect(error < 0.1, "seed \(seed)")
    }

    @Test(arguments: [HiddenLimit.Meter.clockMinute, .slidingMinute], 1...5)
    fileprivate func `a provider that counts by the minute is found out, and a drop to half starts no spiral`(
        meter: HiddenLimit.Meter, seed: UInt64
    ) throws {
        // It hears of a limit only at the end of its minutes, and tries for more in between.
        var sum = 0.0
        run(
            meter, seconds: 400, demand: 780_000, seed: seed, limit: { $0 < 220 ? 600_000 : 300_000 },
            check: { t, truth, estimator in
                let ratio = (estimator.estimate[.tokens] ?? 0) / truth
                if (60..<220).contains(t) { #expect(ratio > 0.9, "\(meter), seed \(seed), second \(t)") }
                if t >= 280 { sum += ratio / 120 }
            })
        #expect((0.9...1.3).contains(sum), "\(meter), seed \(seed): \(sum)")
    }

    @Test(arguments: 1...10) func `a cut that shows in one resource is believed of the other`(seed: UInt64) throws {
        var error = Double.infinity
        run(
            seconds: 80, demand: 780_000, seed: seed, limit: { $0 < 60 ? 600_000 : 300_000 },
            check: { t, truth, estimator in
                error = abs((estimator.estimate[.requests] ?? 0) / 300 - 1)
            })
        #expect(error < 0.1, "seed \(seed)")
    }

    @Test func `a resource that delivers more than a common cut allows was not cut`() throws {
        var estimator = LimitEstimator(limits: Self.limits, burstSeconds: 6, settings: CapacityPolicy())
        // Tokens are refused at half of their limit while the small requests go through at nearly all of theirs.
        for t in 0..<60 {
            estimator.fold(
                MeteredLimits.Second(
                    second: Int64(t), delivered: Work(requests: 9.5, tokens: 5_000), refused: ResourceSet(.tokens),
                    meanRequest: Work(requests: 1, tokens: 526)))
        }
        #expect(abs(try #require(estimator.estimate[.tokens]) / 300_000 - 1) < 0.1)
        #expect(try #require(estimator.estimate[.requests]) > 0.9 * 600)
    }

    @Test(arguments: 1...10) func `comes back within 60 s of a recovery`(seed: UInt64) {
        run(
            seconds: 241, demand: 780_000, seed: seed, limit: { (60..<180).contains($0) ? 300_000 : 600_000 },
            check: { t, truth, estimator in
                if t == 240 { #expect((estimator.estimate[.tokens] ?? 0) >= 0.9 * truth, "seed \(seed)") }
            })
    }

    /// Seven tenths of what the estimate allows are sent, whatever is granted.
    @Test func `where gateways leave a part unused, it comes back sooner while work waits`() throws {
        func seconds(workWaits: Bool) throws -> Int {
            var estimator = LimitEstimator(limits: Self.limits, burstSeconds: 6, settings: CapacityPolicy())
            func second(_ t: Int, isRefused: Bool) {
                let tokens = 0.7 * (estimator.estimate[.tokens] ?? 0) / 60
                estimator.fold(
                    MeteredLimits.Second(
                        second: Int64(t), delivered: Work(requests: tokens / 2_000, tokens: tokens),
                        refused: isRefused ? ResourceSet(.tokens) : [], meanRequest: Work(requests: 1, tokens: 2_000)),
                    workWaits: workWaits)
            }
            for t in 0..<60 { second(t, isRefused: t > 40) }
            try #require((estimator.estimate[.tokens] ?? 0) < 0.6 * Self.known)
            var t = 60
            while (estimator.estimate[.tokens] ?? 0) < 0.9 * Self.known, t < 1_000 {
                second(t, isRefused: false)
                t += 1
            }
            return t - 60
        }
        #expect(try seconds(workWaits: true) * 3 < seconds(workWaits: false) * 2)
    }

    /// Halved for two minutes; all that the estimate allows is sent, in calls of which ten a second are granted.
    @Test func `many calls find a return sooner, but not where refused calls count`() {
        func seconds(countsRefused: Bool) -> Int {
            var sum = 0
            for seed in 1...8 as ClosedRange<UInt64> {
                var back: Int?
                run(
                    seconds: 300, demand: 780_000, seed: seed, size: 500, countsRefused: countsRefused,
                    limit: { (60..<180).contains($0) ? 300_000 : 600_000 },
                    check: { t, truth, estimator in
                        if back == nil, t >= 180, (estimator.estimate[.tokens] ?? 0) >= 0.9 * truth { back = t - 180 }
                    })
                sum += back ?? 120
            }
            return sum
        }
        let (sooner, later) = (seconds(countsRefused: false), seconds(countsRefused: true))
        #expect(Double(sooner) < 0.8 * Double(later), "\(sooner), \(later)")
    }

    @Test func `never exceeds the known limits, and an idle pool says nothing`() {
        var estimator = LimitEstimator(limits: Rates(rpm: 1_000), burstSeconds: 6, settings: CapacityPolicy())
        let before = estimator.estimate
        for t in 0..<10_000 { estimator.idle(Int64(t)) }
        #expect(estimator.estimate == before)
        for t in 10_000..<10_100 {
            estimator.fold(
                MeteredLimits.Second(
                    second: Int64(t), delivered: Work(requests: 40), refused: [], meanRequest: Work(requests: 1)))
        }
        #expect(estimator.estimate == Rates(rpm: 1_000))
    }
}
