import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct RivalLiteLLMTests {
    private let start = Timestamp(milliseconds: 60_000_000)
    private let tiers = TierPolicy.standardTiers

    private func v3(
        rpm: Double? = 100, tpm: Double? = nil, _ reservations: [String: Double],
        change: (inout LiteLLMv3.Settings) -> Void = { _ in }
    ) -> LiteLLMv3 {
        var settings = LiteLLMv3.Settings(reservations: reservations)
        change(&settings)
        var limiter = LiteLLMv3(settings)
        limiter.begin(capacity: Rates(rpm: rpm, tpm: tpm), tiers: tiers)
        return limiter
    }

    /// How many of so many calls in a row are admitted, each of which costs so many tokens as soon as it is.
    private func admitted(
        _ limiter: inout some CallAdmitter, _ calls: Int, tenant: TenantID = "a", tier: String, tokens: Double = 0,
        at seconds: Double = 0
    ) -> Int {
        let now = start.adding(seconds: seconds)
        let cost = Work(requests: 1, tokens: tokens)
        return (0..<calls).count { _ in
            guard limiter.admits(tenant: tenant, tier: tier, estimate: cost, at: now) else { return false }
            limiter.settle(tenant: tenant, tier: tier, estimate: cost, actual: cost, at: now)
            return true
        }
    }

    @Test func `v1 tells ten active keys a tenth each and lets one of them take 91`() {
        var limiter = LiteLLMv1()
        limiter.begin(capacity: Rates(rpm: 100), tiers: tiers)
        #expect(limiter.available(.requests, tier: "free") == 100)
        for key in 0..<9 {
            #expect(admitted(&limiter, 1, tenant: TenantID(unchecked: "k\(key)"), tier: "free") == 1)
        }
        #expect(admitted(&limiter, 1, tenant: "heavy", tier: "free") == 1)
        #expect(limiter.available(.requests, tier: "free") == 9)
        // int(9 / 10) is 0: the minute ends at 91 of 100.
        #expect(admitted(&limiter, 1000, tenant: "heavy", tier: "free") == 81)
        #expect(admitted(&limiter, 10, tenant: "k0", tier: "free") == 0)
        #expect(admitted(&limiter, 10, tenant: "k0", tier: "free", at: 59.9) == 0)
        // The next clock minute.
        #expect(admitted(&limiter, 1000, tenant: "k0", tier: "free", at: 60) == 100)
    }

    @Test func `v1 goes by weight and by tokens of calls that have ended`() {
        var limiter = LiteLLMv1(weights: ["free": 0.25])
        limiter.begin(capacity: Rates(rpm: 100, tpm: 1000), tiers: tiers)
        #expect(limiter.available(.tokens, tier: "free") == 250)
        #expect(admitted(&limiter, 100, tier: "free", tokens: 300) == 4)
        #expect(limiter.available(.tokens, tier: "critical") == 0)
    }

    @Test func `v3 is first come first served below the threshold and strict above it`() {
        // Below half of the model anyone goes; from there on a priority that is over its part stops.
        var limiter = v3(["prod": 0.75, "dev": 0.25])
        #expect(admitted(&limiter, 200, tier: "dev") == 50)
        #expect(limiter.saturation(at: start) == 0.5)
        // Nothing borrowed comes back within the window: 50 are left of the 75 that are reserved.
        #expect(admitted(&limiter, 200, tier: "prod") == 50)
        #expect(admitted(&limiter, 200, tier: "prod", at: 59.9) == 0)
        // The window ends 60 s after its first call.
        #expect(admitted(&limiter, 200, tier: "prod", at: 60) == 75)
    }

    @Test func `v3 never lets a lone priority have the whole model`() {
        for (reserved, threshold, most) in [(0.3, 0.5, 50), (0.75, 0.5, 75), (0.3, 0.8, 80)] {
            var limiter = v3(["only": reserved]) { $0.saturationThreshold = threshold }
            #expect(admitted(&limiter, 300, tier: "only") == most, "\(reserved) \(threshold)")
        }
    }

    @Test func `v3 normalises what is over-allocated and truncates`() {
        var limiter = v3(rpm: 1000, ["a": 0.6, "b": 0.8]) { $0.saturationThreshold = 0 }
        // 0.6 / 1.4 and 0.8 / 1.4.
        #expect(admitted(&limiter, 2000, tier: "a") == 428)
        #expect(admitted(&limiter, 2000, tier: "b") == 571)
    }

    @Test func `v3 puts everyone without a reservation into one default pool outside the normalisation`() {
        var limiter = v3(["prod": 0.9]) { $0.saturationThreshold = 0 }
        #expect(admitted(&limiter, 20, tenant: "a", tier: "unknown") == 20)
        #expect(admitted(&limiter, 20, tenant: "b", tier: "other") == 5)
        // 0.9 and 0.25: more than there is. The model's own limit holds.
        #expect(admitted(&limiter, 200, tier: "prod") == 75)
    }

    @Test func `v3 counts tokens of calls that succeeded and only after they ended`() {
        var limiter = v3(rpm: nil, tpm: 1000, ["prod": 1])
        let cost = Work(requests: 1, tokens: 400)
        func admits(at seconds: Double) -> Bool {
            limiter.admits(tenant: "a", tier: "prod", estimate: cost, at: start.adding(seconds: seconds))
        }
        // Ten at once: none of them has ended when the next one comes.
        let atOnce = (0..<10).count { _ in admits(at: 0) }
        #expect(atOnce == 10)
        let later = start.adding(seconds: 5)
        limiter.settle(tenant: "a", tier: "prod", estimate: cost, actual: .zero, at: later)
        for _ in 0..<2 { limiter.settle(tenant: "a", tier: "prod", estimate: cost, actual: cost, at: later) }
        let afterTwo = admits(at: 5)
        limiter.settle(tenant: "a", tier: "prod", estimate: cost, actual: cost, at: later)
        let afterThree = admits(at: 59.9)
        // In the next window they are forgotten.
        let afterWindow = admits(at: 60)
        #expect([afterTwo, afterThree, afterWindow] == [true, false, true])
    }

    @Test func `v3 sees saturation as the last admitted call left it`() {
        for (cacheSeconds, unseen, seen) in [(60.0, 0, 49), (0, 50, 0)] {
            var limiter = v3(["dev": 0.25, "prod": 0.75]) { $0.saturationCacheSeconds = cacheSeconds }
            #expect(admitted(&limiter, 1, tier: "prod") == 1)
            #expect(admitted(&limiter, 30, tier: "dev", at: 30) == 30)
            #expect(admitted(&limiter, 30, tier: "prod", at: 50) == 30)
            // The model's window is over, the one of dev is not: it stays shut out by what was seen at second 50.
            #expect(admitted(&limiter, 100, tier: "dev", at: 61) == unseen, "cached for \(cacheSeconds) s")
            _ = admitted(&limiter, 1, tier: "prod", at: 61)
            #expect(admitted(&limiter, 100, tier: "dev", at: 61) == seen, "cached for \(cacheSeconds) s")
        }
    }
}
