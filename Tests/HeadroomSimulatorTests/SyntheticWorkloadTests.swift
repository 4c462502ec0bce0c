import HeadroomModel
import Testing

import HeadroomSimulator

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
        let seeds = 60
        for seed in 0..<seeds {
            let trace = SyntheticWorkload.trace(requests: 3000, seed: UInt64(seed))
            requests += Double(trace.rows.count) / Double(seeds)
            for (index, total) in trace.totals.enumerated() { shares[index] += total[.requests] / Double(seeds * 3000) }
        }
        #expect(abs(requests / 3000 - 1) < 0.15, "\(requests)")
        let zipf = ZipfDistribution(count: 20, exponent: 1.09)
        for index in 0..<20 { #expect(abs(shares[index] - zipf.share(of: index)) < 0.08, "tenant \(index): \(shares)") }
    }

    @Test func `every seed has steady and bursty and idle tenants`() {
        for seed in UInt64(0)..<10 {
            let trace = SyntheticWorkload.trace(requests: 5400, seed: seed)
            #expect(trace.rows.count > 1500 && trace.rows.count < 15000, "seed \(seed): \(trace.rows.count)")
            #expect(trace.rows.allSatisfy { $0.inputTokens > 0 && $0.outputTokens > 0 })
            var halves = Array(repeating: [0, 0], count: 20)
            for row in trace.rows { halves[row.tenant][row.seconds < 675 ? 0 : 1] += 1 }
            #expect(halves.contains { $0[0] > 5 * max(1, $0[1]) || $0[1] > 5 * max(1, $0[0]) }, "seed \(seed)")
        }
    }
}
