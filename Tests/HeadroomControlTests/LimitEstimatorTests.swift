import HeadroomControl
import HeadroomModel
import Testing

/// A provider's token bucket whose limit the bank does not know, and senders that keep to the bank's estimate.
private struct HiddenLimit {
    var perMinute: Double
    var level: Double
    let burstSeconds: Double
    var generator: SplitMix64

    init(perMinute: Double, burstSeconds: Double, seed: UInt64) {
        self.perMinute = perMinute
        self.burstSeconds = burstSeconds
        level = perMinute / 60 * burstSeconds
        generator = SplitMix64(seed: seed)
    }

    /// One second in which calls of about `size` are sent until `budget` is spent.
    mutating func second(budget: Double, size: Double) -> (delivered: Double, isRefused: Bool) {
        level = min(perMinute / 60 * burstSeconds, level + perMinute / 60)
        var sent = 0.0
        var delivered = 0.0
        var isRefused = false
        while sent < budget {
            let tokens = size * (0.2 + 1.6 * .random(in: 0..<1, using: &generator))
            sent += tokens
            if level >= tokens {
                level -= tokens
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
        seconds: Int, demand: Double, lag: Int = 4, seed: UInt64, size: Double = 2_000,
        limit: (Int) -> Double, check: (Int, Double, LimitEstimator) -> Void
    ) {
        var estimator = LimitEstimator(limits: Self.limits, burstSeconds: 6, settings: CapacityPolicy())
        var hidden = HiddenLimit(perMinute: limit(0), burstSeconds: 6, seed: seed)
        var estimates = [Double](repeating: Self.known, count: lag + 1)
        for t in 0..<seconds {
            hidden.perMinute = limit(t)
            let second = hidden.second(budget: min(demand, estimates[0]) / 60, size: size)
            estimator.fold(
                delivered: Work(requests: second.delivered / size, tokens: second.delivered),
                refused: second.isRefused ? ResourceSet(.tokens) : [], meanRequest: Work(requests: 1, tokens: size))
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
        for _ in 0..<60 {
            estimator.fold(
                delivered: Work(requests: 9.5, tokens: 5_000), refused: ResourceSet(.tokens),
                meanRequest: Work(requests: 1, tokens: 526))
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

    @Test func `never exceeds the known limits, and an idle pool says nothing`() {
        var estimator = LimitEstimator(limits: Rates(rpm: 1_000), burstSeconds: 6, settings: CapacityPolicy())
        let before = estimator.estimate
        for _ in 0..<10_000 { estimator.idle() }
        #expect(estimator.estimate == before)
        for _ in 0..<100 { estimator.fold(delivered: Work(requests: 40), refused: [], meanRequest: Work(requests: 1)) }
        #expect(estimator.estimate == Rates(rpm: 1_000))
    }
}
