import HeadroomModel
import Testing

@Suite struct CostReportTests {
    private let start = Timestamp(milliseconds: 1_793_059_200_000)

    private func use(
        _ tenant: TenantID, _ pool: PoolID, _ criticality: Criticality = .batch, model: String? = nil,
        kind: String? = nil, requests: Int64 = 1, input: Int64 = 0, cached: Int64 = 0, output: Int64 = 0
    ) -> ModelUse {
        ModelUse(
            start: start, tenant: tenant, pool: pool, criticality: criticality, model: model, taskKind: kind,
            sums: UseSums(requests: requests, inputTokens: input, cachedInputTokens: cached, outputTokens: output))
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
        #expect(report.lines.map(\.cost.micros) == [2_501_000])
        #expect(report.lines.map(\.cost.currency) == ["USD"])
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
                Criticality.allCases.randomElement(using: &random)!,
                model: ["a", "b", nil].randomElement(using: &random)!,
                kind: ["review", nil].randomElement(using: &random)!, requests: .random(in: 1...9, using: &random),
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
            // The provider's bill is of all that has a price there, whatever the contract says.
            #expect(report.providerTotals.map(\.currency) == ["USD"])
            #expect(report.providerTotals.map(\.micros) == reports[0].providerTotals.map(\.micros))
            #expect(report.providerTotals[0].micros > report.totals[1].micros)
            for total in report.totals {
                let lines = report.lines.filter { $0.cost.currency == total.currency }
                #expect(lines.reduce(0) { $0 + $1.cost.micros } == total.micros, "\(report.dimension)")
            }
            // Nothing that was used is missing, and what has no price is not free.
            #expect(report.lines.reduce(0) { $0 + $1.sums.requests } == uses.reduce(0) { $0 + $1.sums.requests })
            let unpriced = report.lines.filter { $0.cost.currency == nil }
            #expect(
                unpriced.reduce(0) { $0 + $1.sums.inputTokens }
                    == uses.filter { $0.pool == "free" }.reduce(0) { $0 + $1.sums.inputTokens })
        }
    }

    @Test func `what caches answered is saved at the price of a call, and is in no other sum`() {
        var report = CostReport(by: .tenant)
        var cached = use("acme", "p", requests: 0)
        cached.saved = UseSums(requests: 3, inputTokens: 1_000_000, outputTokens: 100_000)
        report.add(cached, contract: nil, prices: [price])
        report.add(use("acme", "p", requests: 5), contract: nil, prices: [price])
        report.add(cached, contract: nil, prices: [])
        #expect(report.lines.map(\.cost.micros) == [500, 0] && report.lines.map(\.sums.requests) == [5, 0])
        // 1,000,000 at 2.50, 100,000 at 10, and three requests at 0.0001.
        #expect(report.lines.map(\.savedMicros) == [3_500_300, 0] && report.lines.map(\.saved.requests) == [3, 3])
        #expect(report.savedTotals.map(\.micros) == [3_500_300] && report.totals.map(\.micros) == [500])
    }

    @Test func `a model's own price goes before a beginning's, and that before the pool's`() {
        let prices = [
            PoolPrice(currency: "USD", perRequest: 1), PoolPrice(model: "gpt-4o*", currency: "USD", perRequest: 10),
            PoolPrice(model: "gpt-4o-mini*", currency: "USD", perRequest: 100),
            PoolPrice(model: "gpt-4o-mini-2", currency: "USD", perRequest: 1_000),
            PoolPrice(model: "gpt-4o-mini-2", until: start, currency: "USD", perRequest: 9),
        ]
        let expected: [(String?, Int64)] = [
            (nil, 1), ("o3", 1), ("gpt-4o", 10), ("gpt-4o-2024", 10), ("gpt-4o-mini", 100), ("gpt-4o-mini-2", 1_000),
            ("gpt-4o-mini-22", 100),
        ]
        for (model, micros) in expected {
            var report = CostReport(by: .model)
            report.add(use("acme", "p", model: model), contract: nil, prices: prices.shuffled())
            #expect(report.lines.map(\.key) == [model] && report.totals.map(\.micros) == [micros], "\(model ?? "-")")
        }
        #expect(!prices[0].overlaps(prices[1]) && prices[1].overlaps(prices[1]))
        // A pool in which only some models have a price: the others have none.
        var report = CostReport(by: .model)
        for model in ["gpt-4o", "o3"] { report.add(use("acme", "p", model: model), contract: nil, prices: [prices[1]]) }
        #expect(report.lines.map(\.cost.currency) == ["USD", nil] && report.lines[1].key == "o3")
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
