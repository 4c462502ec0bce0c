import HeadroomControl
import HeadroomModel
import Testing

/// A provider's token bucket whose limit the bank does not know, and senders that keep to the bank's estimate.
private struct HiddenLimit {
    var perMinute: Double
    var level: Double
    let burstSeconds: Double
    var generator: SplitMix

    init(perMinute: Double, burstSeconds: Double, seed: UInt64) {
        self.perMinute = perMinute
        self.burstSeconds = burstSeconds
        level = perMinute / 60 * burstSeconds
        generator = SplitMix(state: seed)
    }

    /// One second in which calls of about `size` are sent until `budget` is spent.
    mutating func second(budget: Double, size: Double) -> (delivered: Double, isRefused: Bool) {
        level = min(perMinute / 60 * burstSeconds, level + perMinute / 60)
        var sent = 0.0
        var delivered = 0.0
        var isRefused = false
        while sent < budget {
            let tokens = size * (0.2 + 1.6 * generator.unit())
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

private struct SplitMix {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}

@Suite struct BucketBankTests {
    /// Runs the loop of bank and senders; the senders know the estimate of `lag` seconds ago, as gateways do.
    private func run(
        seconds: Int, demand: Double, lag: Int = 4, seed: UInt64, size: Double = 2_000,
        limit: (Int) -> Double, check: (Int, Double, BucketBank) -> Void
    ) {
        var bank = BucketBank(limit: 600_000, burstSeconds: 6, settings: CapacityPolicy())
        var hidden = HiddenLimit(perMinute: limit(0), burstSeconds: 6, seed: seed)
        var estimates = [Double](repeating: bank.estimate, count: lag + 1)
        for t in 0..<seconds {
            hidden.perMinute = limit(t)
            let budget = min(demand, estimates[0]) / 60
            let second = hidden.second(budget: budget, size: size)
            bank.fold(delivered: second.delivered, isRefused: second.isRefused, meanRequest: size)
            estimates.removeFirst()
            estimates.append(bank.estimate)
            check(t, hidden.perMinute, bank)
        }
    }

    @Test(arguments: 1...20) func `finds a silent drop to half within 15 s of the first refusal`(seed: UInt64) {
        var firstRefusal: Int?
        var wasWrong = false
        run(seconds: 120, demand: 780_000, seed: seed, limit: { $0 < 60 ? 600_000 : 300_000 }) { t, truth, bank in
            if t >= 60, firstRefusal == nil, bank.estimate < 590_000 { firstRefusal = t }
            if t == 75 { wasWrong = abs(bank.estimate / truth - 1) > 0.1 }
        }
        #expect(firstRefusal != nil, "seed \(seed)")
        #expect(!wasWrong, "seed \(seed)")
    }

    @Test(arguments: 1...20) func `comes back within 60 s of a recovery`(seed: UInt64) {
        run(seconds: 241, demand: 780_000, seed: seed, limit: { (60..<180).contains($0) ? 300_000 : 600_000 }) {
            t, truth, bank in
            if t == 240 { #expect(bank.estimate >= 0.9 * truth, "seed \(seed): \(bank.estimate)") }
        }
    }

    @Test func `never exceeds the known limit, and an idle pool says nothing`() {
        var bank = BucketBank(limit: 1_000, burstSeconds: 6, settings: CapacityPolicy())
        let before = bank.estimate
        for _ in 0..<10_000 { bank.idle() }
        #expect(bank.estimate == before)
        for _ in 0..<100 { bank.fold(delivered: 40, isRefused: false, meanRequest: 1) }
        #expect(bank.estimate <= 1_000)
    }
}
