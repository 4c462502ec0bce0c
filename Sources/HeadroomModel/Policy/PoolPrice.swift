/// The provider's price for a pool's tokens, for a time. All money is in whole millionths of the currency's unit.
public struct PoolPrice: Equatable, Sendable {
    /// `nil`: since ever.
    public var from: Timestamp?
    /// The first moment at which it does not hold any more; `nil`: until another one follows.
    public var until: Timestamp?
    /// ISO 4217, as `USD`.
    public var currency: String
    /// Of input that was not cached.
    public var perMillionInputTokens: Int64
    public var perMillionCachedInputTokens: Int64
    public var perMillionOutputTokens: Int64
    public var perRequest: Int64

    public init(
        from: Timestamp? = nil, until: Timestamp? = nil, currency: String, perMillionInputTokens: Int64 = 0,
        perMillionCachedInputTokens: Int64 = 0, perMillionOutputTokens: Int64 = 0, perRequest: Int64 = 0
    ) {
        self.from = from
        self.until = until
        self.currency = currency
        self.perMillionInputTokens = perMillionInputTokens
        self.perMillionCachedInputTokens = perMillionCachedInputTokens
        self.perMillionOutputTokens = perMillionOutputTokens
        self.perRequest = perRequest
    }

    public func holds(at instant: Timestamp) -> Bool {
        (from.map { $0 <= instant } ?? true) && (until.map { instant < $0 } ?? true)
    }

    public func overlaps(_ other: PoolPrice) -> Bool {
        let startsBefore = other.until.map { end in from.map { $0 < end } ?? true } ?? true
        let endsAfter = until.map { end in other.from.map { $0 < end } ?? true } ?? true
        return startsBefore && endsAfter
    }

    /// In millionths.
    public func cost(of sums: RollupSums) -> Double {
        func product(_ amount: Int64, _ price: Int64) -> Double { Double(amount) * Double(price) }
        let input = product(max(0, sums.inputTokens - sums.cachedInputTokens), perMillionInputTokens)
        let cached = product(sums.cachedInputTokens, perMillionCachedInputTokens)
        let output = product(sums.outputTokens, perMillionOutputTokens)
        return product(sums.ok, perRequest) + (input + cached + output) / 1e6
    }
}
