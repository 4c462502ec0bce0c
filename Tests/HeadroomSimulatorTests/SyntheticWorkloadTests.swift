import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct SyntheticWorkloadTests {
    @Test func `the same seed draws the same trace`() {
        let trace = SyntheticWorkload.trace(requests: 2000, seed: 1)
        #expect(SyntheticWorkload.trace(requests: 2000, seed: 1) == trace)
        #expect(SyntheticWorkload.trace(requests: 2000, seed: 2) != trace)
        #expect(trace.hasSyntheticTenants && trace.tenants.count == 20)
    }

    @Test func `over many seeds the rate and the shares are the published ones`() {
        var requests = 0.0
        var shares = Array(repeating: 0.0, count: 20)
        let seeds = 40
        for seed in 0..<seeds {
            let trace = SyntheticWorkload.trace(requests: 3000, seed: UInt64(seed))
            requests += Double(trace.rows.count) / Double(seeds)
            for (index, total) in trace.totals.enumerated() { shares[index] += total[.requests] / Double(seeds * 3000) }
        }
        #expect(abs(requests / 3000 - 1) < 0.15, "\(requests)")
        let zipf = ZipfDistribution(count: 20, exponent: 1.09)
        for index in 0..<20 { #expect(abs(shares[index] - zipf.share(of: index)) < 0.08, "tenant \(index): \(shares)") }
    }

    @Test func `every request has lengths, and some tenants are idle for long`() {
        let zipf = ZipfDistribution(count: 20, exponent: 1.09)
        var idle = 0
        for seed in UInt64(0)..<10 {
            let trace = SyntheticWorkload.trace(requests: 3000, seed: seed)
            #expect(trace.rows.count > 800 && trace.rows.count < 9000, "seed \(seed): \(trace.rows.count)")
            #expect(trace.rows.allSatisfy { $0.inputTokens > 0 && $0.outputTokens > 0 })
            idle += trace.totals.enumerated().count { $1[.requests] < 0.2 * zipf.share(of: $0) * 3000 }
        }
        // Four tenants in twenty send in 17 % of the time.
        #expect((10...50).contains(idle), "\(idle)")
    }
}
