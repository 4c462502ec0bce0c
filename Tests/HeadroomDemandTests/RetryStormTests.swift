import HeadroomModel
import Testing

@Suite struct RetryStormTests {
    private static let tenants: [TenantID] = ["acme", "beta", "corp", "delta"]

    /// Four tenants with a call a second each; after the third minute all retry, when `isInStep` every ten seconds.
    private func storm(isInStep: Bool) -> ClassifiedPool {
        let pool = ClassifiedPool()
        var random = SplitMix64(seed: 9)
        for second in 0..<420 {
            for tenant in Self.tenants {
                let request = "\(tenant)-\(second)"
                guard second >= 180 else {
                    pool.call(Double(second), by: tenant)
                    continue
                }
                pool.call(Double(second), .quota, by: tenant, request: request)
                let wave =
                    isInStep ? Double((second / 10 + 1) * 10) : Double(second) + .random(in: 1...20, using: &random)
                pool.estimator.fold(
                    .call(
                        CallRecord(
                            request: request, at: ClassifiedPool.at(wave), gateway: "gw-1", tenant: tenant,
                            pool: ClassifiedPool.pool, attempt: 2, outcome: .ok, inputTokens: 900, outputTokens: 100)),
                    at: ClassifiedPool.at(wave))
            }
        }
        return pool
    }

    @Test func `retries of many tenants at the same moments are a storm, with names, period and share`() throws {
        let pool = storm(isInStep: true)
        let found = pool.demand(at: 420)
        let storm = try #require(found.retryStorm)
        #expect(storm.periodSeconds == 10)
        #expect(abs(storm.share - 0.5) < 0.1, "\(storm)")
        #expect(Set(storm.tenants) == Set(Self.tenants))
        let offsets = found.tenants.map(\.retryOffsetMilliseconds)
        #expect(Set(offsets).count == 4 && offsets.allSatisfy { (0..<10_000).contains($0) }, "\(offsets)")
        #expect(found.retry == PoolAllocation.Retry(afterMilliseconds: 1000, jitterMilliseconds: 10_000))
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `the period is that of the waves, and who only tries again now and then takes no part`(
        seed: UInt64
    ) throws {
        let pool = ClassifiedPool()
        var random = SplitMix64(seed: seed)
        func retry(_ second: Double, by tenant: TenantID) {
            pool.call(second, by: tenant, request: "\(tenant)-\(second)", attempt: 2)
        }
        for second in 0..<300 {
            for tenant in Self.tenants { pool.call(Double(second), by: tenant) }
            pool.call(Double(second), by: "lone")
            // One that tries again at any moment.
            if second % 3 == 0 { retry(Double(second) + .random(in: 0..<1, using: &random), by: "lone") }
            // Waves of different heights every ten seconds, each up to a second early or late.
            guard second % 10 == 5 else { continue }
            let wave = Double(second) + .random(in: -1...1, using: &random)
            for tenant in Self.tenants {
                for n in 0..<Int.random(in: 4...16, using: &random) { retry(wave + Double(n) / 50, by: tenant) }
            }
        }
        let storm = try #require(pool.demand(at: 300).retryStorm)
        #expect(abs(storm.periodSeconds - 10) <= 1, "seed \(seed): \(storm)")
        #expect(Set(storm.tenants) == Set(Self.tenants), "seed \(seed): \(storm)")
    }

    @Test func `as many retries at any moment are none`() {
        let pool = storm(isInStep: false)
        let found = pool.demand(at: 420)
        #expect(found.retryStorm == nil)
        #expect(found.tenants.allSatisfy { $0.retryOffsetMilliseconds == 0 })
    }

    @Test func `a storm is over a few minutes after its last wave`() {
        let pool = storm(isInStep: true)
        #expect(pool.demand(at: 420).retryStorm != nil)
        #expect(pool.demand(at: 700).retryStorm == nil)
    }
}
