import HeadroomDecision
import HeadroomModel
import Testing

@Suite struct SpendBookTests {
    /// 2026-11-22, noon.
    private static let day: Int64 = 20_779
    private static let noon = Timestamp(day: day).adding(seconds: 43_200)

    private func contract(_ period: CostTerms.Period) -> [TenantID: Contract] {
        [
            "acme": Contract(
                tenant: "acme",
                cost: CostTerms(
                    currency: "EUR", period: period, most: 100_000_000,
                    prices: [
                        CostTerms.Price(perMillionInputTokens: 2_000_000, perMillionOutputTokens: 10_000_000),
                        CostTerms.Price(pool: "b", perRequest: 500),
                    ]))
        ]
    }

    private func use(_ pool: PoolID, _ day: Int64, requests: Int64 = 10) -> TenantUse {
        TenantUse(
            tenant: "acme", pool: pool, day: day, requests: requests, inputTokens: 1_000_000, outputTokens: 100_000)
    }

    @Test func `use costs its price, in the pool that it has one for, in the day or month that it was in`() throws {
        var book = SpendBook([
            use("a", Self.day), use("b", Self.day), use("a", Self.day - 20), use("a", Self.day - 40),
        ])
        let today = try #require(book.allowances(under: contract(.day), at: Self.noon)["acme"])
        #expect(today.spent == 3_000_000 + 5_000)
        #expect(today.until == Timestamp(day: Self.day + 1) && today.minutesLeft == 720)
        let month = try #require(book.allowances(under: contract(.month), at: Self.noon)["acme"])
        #expect(month.spent == 6_005_000 && month.until == Timestamp(day: 20_788))
    }

    @Test func `cached input costs its own price where the contract states one, and else what input costs`() throws {
        func spent(_ price: CostTerms.Price) throws -> Double {
            var cached = use("a", Self.day)
            cached.cachedInputTokens = 600_000
            var book = SpendBook([cached])
            let cost = CostTerms(currency: "EUR", period: .day, most: 100_000_000, prices: [price])
            let contracts = ["acme" as TenantID: Contract(tenant: "acme", cost: cost)]
            return try #require(book.allowances(under: contracts, at: Self.noon)["acme"]).spent
        }
        #expect(try spent(.init(perMillionInputTokens: 2_000_000)) == 2_000_000)
        #expect(
            try spent(.init(perMillionInputTokens: 2_000_000, perMillionCachedInputTokens: 500_000))
                == 800_000 + 300_000)
        #expect(try spent(.init(perMillionInputTokens: 2_000_000, perMillionCachedInputTokens: 0)) == 800_000)
    }

    @Test func `it knows which part of the input was cached in each pool, over all days that it keeps`() throws {
        func use(_ pool: PoolID, _ day: Int64, cached: Int64) -> TenantUse {
            var use = self.use(pool, day)
            use.cachedInputTokens = cached
            return use
        }
        var book = SpendBook([
            use("a", Self.day - 1, cached: 900_000), use("a", Self.day, cached: 300_000), use("b", Self.day, cached: 0),
            use("c", Self.day, cached: .max),
        ])
        let allowance = try #require(book.allowances(under: contract(.day), at: Self.noon)["acme"])
        #expect(allowance.cachedShares == ["a": 0.6, "c": 1])
    }

    @Test func `it stands still for a minute, follows what is saved, and starts again with the next period`() throws {
        var book = SpendBook()
        let contracts = contract(.day)
        #expect(book.allowances(under: contracts, at: Self.noon)["acme"]?.spent == 0)
        book.add([use("a", Self.day)])
        #expect(book.allowances(under: contracts, at: Self.noon.adding(seconds: 59))["acme"]?.spent == 0)
        #expect(book.allowances(under: contracts, at: Self.noon.adding(seconds: 60))["acme"]?.spent == 3_000_000)
        // A late line of yesterday is not today's.
        book.add([use("a", Self.day - 1)])
        #expect(book.allowances(under: contracts, at: Self.noon.adding(seconds: 120))["acme"]?.spent == 3_000_000)
        #expect(book.allowances(under: contracts, at: Self.noon.adding(seconds: 43_200))["acme"]?.spent == 0)
    }

    @Test func `what is over is nothing, and numbers that no provider would tell overflow nothing`() throws {
        var book = SpendBook([use("b", Self.day, requests: .max), use("b", Self.day, requests: .max)])
        let allowance = try #require(book.allowances(under: contract(.day), at: Self.noon)["acme"])
        #expect(allowance.spent.isFinite && allowance.spent > 1e18)
    }

    @Test func `whoever is erased has spent nothing`() {
        var book = SpendBook([use("a", Self.day)])
        _ = book.allowances(under: contract(.day), at: Self.noon)
        book.forget([("acme" as TenantID).text.fingerprint])
        #expect(book.allowances(under: contract(.day), at: Self.noon)["acme"]?.spent == 0)
    }
}
