import HeadroomModel
import Testing

@Suite struct CostReportTests {
    private let start = Timestamp(milliseconds: 1_793_059_200_000)

    private func use(
        _ tenant: TenantID, _ pool: PoolID, _ criticality: Criticality = .batch, requests: Int64 = 1, input: Int64 = 0,
        cached: Int64 = 0, output: Int64 = 0
    ) -> Rollup {
        Rollup(
            start: start, tenant: tenant, pool: pool, criticality: criticality,
            sums: RollupSums {
                $0.ok = requests
                $0.inputTokens = input
                $0.cachedInputTokens = cached
                $0.outputTokens = output
            })
    }

    private let price = PoolPrice(
        currency: "USD", perMillionInputTokens: 2_500_000, perMillionCachedInputTokens: 1_250_000,
        perMillionOutputTokens: 10_000_000, perRequest: 100)

    @Test func `input, cached input, output and requests each have their price`() {
        var report = CostReport(by: .tenant)
        report.add(
            use("acme", "p", requests: 10, input: 1_000_000, cached: 400_000, output: 50_000), contract: nil,
            prices: [price])
        // 600,000 at 2.50, 400,000 at 1.25, 50,000 at 10, and ten requests at 0.0001: 1.50 + 0.50 + 0.50 + 0.001.
        #expect(report.lines.map(\.micros) == [2_501_000])
        #expect(report.lines.map(\.currency) == ["USD"])
    }

    @Test func `the lines add up to the same totals whatever they are grouped by`() {
        var random = SplitMix64(seed: 7)
        let tenants: [TenantID] = ["acme", "beta", "gamma"]
        let pools: [PoolID] = ["p", "q", "free"]
        let terms = CostTerms(
            currency: "EUR", period: .month, most: 1,
            prices: [CostTerms.Price(pool: "q", perMillionInputTokens: 333_333, perRequest: 7)])
        let uses = (0..<500).map { _ in
            use(
                tenants.randomElement(using: &random)!, pools.randomElement(using: &random)!,
                Criticality.allCases.randomElement(using: &random)!, requests: .random(in: 1...9, using: &random),
                input: .random(in: 0...99_999, using: &random), output: .random(in: 0...99_999, using: &random))
        }
        let reports = CostReport.Dimension.allCases.map { dimension in
            var report = CostReport(by: dimension)
            for use in uses {
                report.add(
                    use, contract: use.tenant == "acme" ? terms : nil, prices: use.pool == "free" ? [] : [price])
            }
            return report
        }
        for report in reports {
            #expect(report.totals.map(\.currency) == ["EUR", "USD"])
            #expect(report.totals.map(\.micros) == reports[0].totals.map(\.micros))
            for total in report.totals {
                let lines = report.lines.filter { $0.currency == total.currency }
                #expect(lines.reduce(0) { $0 + $1.micros } == total.micros, "\(report.dimension)")
            }
            // Nothing that was used is missing, and what has no price is not free.
            #expect(report.lines.reduce(0) { $0 + $1.sums.ok } == uses.reduce(0) { $0 + $1.ok })
            let unpriced = report.lines.filter { $0.currency == nil }
            #expect(
                unpriced.reduce(0) { $0 + $1.sums.inputTokens }
                    == uses.filter { $0.pool == "free" }.reduce(0) { $0 + $1.inputTokens })
        }
    }

    @Test func `a price holds from its first moment to the one before its end`() {
        let first = PoolPrice(until: start, currency: "USD", perRequest: 1)
        let second = PoolPrice(from: start, until: start.adding(seconds: 3_600), currency: "USD", perRequest: 2)
        #expect(!first.holds(at: start) && first.holds(at: start.adding(seconds: -1)))
        #expect(second.holds(at: start) && !second.holds(at: start.adding(seconds: 3_600)))
        #expect(!first.overlaps(second) && !second.overlaps(first))
        let ever = PoolPrice(currency: "USD")
        let later = PoolPrice(from: start.adding(seconds: 1), currency: "USD")
        #expect(ever.overlaps(first) && second.overlaps(ever) && later.overlaps(second) && !later.overlaps(first))
        var report = CostReport(by: .pool)
        report.add(use("acme", "p", requests: 3), contract: nil, prices: [first, second])
        #expect(report.totals.map(\.micros) == [6])
    }
}
