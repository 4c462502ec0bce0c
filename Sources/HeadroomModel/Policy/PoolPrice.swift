/// The provider's price for a pool's tokens, or for those of some of its models, for a time. All money is in whole millionths of the currency's unit.
public struct PoolPrice: Equatable, Sendable {
    /// A model's name, or how names begin, with `*` behind it; `nil`: every model without a price of its own.
    public var model: String?
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
        model: String? = nil, from: Timestamp? = nil, until: Timestamp? = nil, currency: String,
        perMillionInputTokens: Int64 = 0,
        perMillionCachedInputTokens: Int64 = 0, perMillionOutputTokens: Int64 = 0, perRequest: Int64 = 0
    ) {
        self.model = model
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

    /// Both hold for the same models at some time.
    public func overlaps(_ other: PoolPrice) -> Bool {
        guard model == other.model else { return false }
        let startsBefore = other.until.map { end in from.map { $0 < end } ?? true } ?? true
        let endsAfter = until.map { end in other.from.map { $0 < end } ?? true } ?? true
        return startsBefore && endsAfter
    }

    /// How closely it names the model; `nil`: it is not for it. A whole name goes before a beginning, a longer one before a
    /// shorter one.
    fileprivate func closeness(to name: String?) -> Int? {
        guard let model else { return 0 }
        guard let name else { return nil }
        if model == name { return .max }
        guard model.hasSuffix("*"), name.utf8.starts(with: model.utf8.dropLast()) else { return nil }
        return model.utf8.count
    }

    /// In millionths.
    public func cost(of sums: UseSums) -> Double {
        func product(_ amount: Int64, _ price: Int64) -> Double { Double(amount) * Double(price) }
        let input = product(max(0, sums.inputTokens - sums.cachedInputTokens), perMillionInputTokens)
        let cached = product(sums.cachedInputTokens, perMillionCachedInputTokens)
        let output = product(sums.outputTokens, perMillionOutputTokens)
        return product(sums.requests, perRequest) + (input + cached + output) / 1e6
    }
}

extension [PoolPrice] {
    /// The one that holds for `model` at `instant`.
    func price(of model: String?, at instant: Timestamp) -> PoolPrice? {
        var best: (price: PoolPrice, closeness: Int)?
        for price in self where price.holds(at: instant) {
            guard let closeness = price.closeness(to: model), closeness > best?.closeness ?? -1 else { continue }
            best = (price, closeness)
        }
        return best?.price
    }
}
