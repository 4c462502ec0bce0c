/// The cost of recorded use, in groups. Each part is rounded to whole millionths before it is added, so that the sums are the
/// same however they are grouped.
///
/// There are two costs: what the use is charged to its tenant at (the contract's price, or else the provider's), and what the
/// provider bills for it.
public struct CostReport: Equatable, Sendable {
    public enum Dimension: String, CaseIterable, Sendable {
        case tenant, pool, model, criticality
        case taskKind = "task-kind"
    }

    /// An amount of one currency; `nil`: the use has no price.
    public struct Cost: Equatable, Sendable {
        public var currency: String?
        public var micros: Int64 = 0
    }

    /// The use and the cost of one group in one currency.
    public struct Line: Equatable, Sendable {
        /// `nil`: the use was reported without one.
        public var key: String?
        /// What it is charged at.
        public var cost: Cost
        /// The provider's bill for it.
        public var provider: Cost
        public var sums = UseSums()
        /// What gateways' own caches answered in place of calls, and what it would have cost: in ``cost``'s currency, and not
        /// among it.
        public var saved = UseSums()
        public var savedMicros: Int64 = 0
    }

    private struct Key: Hashable {
        var key: String?
        var currency: String?
        var providerCurrency: String?
    }

    public let dimension: Dimension
    private var groups: [Key: Line] = [:]

    public init(by dimension: Dimension) {
        self.dimension = dimension
    }

    /// Descending by cost within a currency; those without a price last, descending by tokens.
    public var lines: [Line] {
        groups.values.sorted { left, right in
            if (left.cost.currency == nil) != (right.cost.currency == nil) { return left.cost.currency != nil }
            if left.cost.currency != right.cost.currency {
                return (left.cost.currency ?? "") < (right.cost.currency ?? "")
            }
            if left.cost.micros != right.cost.micros { return left.cost.micros > right.cost.micros }
            let tokens = (
                left.sums.inputTokens + left.sums.outputTokens, right.sums.inputTokens + right.sums.outputTokens
            )
            if tokens.0 != tokens.1 { return tokens.0 > tokens.1 }
            return (left.key ?? "", left.provider.currency ?? "") < (right.key ?? "", right.provider.currency ?? "")
        }
    }

    /// By currency, ascending.
    public var totals: [(currency: String, micros: Int64)] { totals(\.cost) }
    /// The provider's bills, by currency, ascending: also for what contracts have prices of their own for.
    public var providerTotals: [(currency: String, micros: Int64)] { totals(\.provider) }
    /// What caches saved, by currency, ascending.
    public var savedTotals: [(currency: String, micros: Int64)] {
        var totals: [String: Int64] = [:]
        for line in groups.values {
            guard let currency = line.cost.currency, line.savedMicros > 0 else { continue }
            totals[currency, default: 0].addSaturating(line.savedMicros)
        }
        return totals.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private func totals(_ cost: KeyPath<Line, Cost>) -> [(currency: String, micros: Int64)] {
        var totals: [String: Int64] = [:]
        for line in groups.values {
            guard let currency = line[keyPath: cost].currency else { continue }
            totals[currency, default: 0].addSaturating(line[keyPath: cost].micros)
        }
        return totals.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Adds use under the prices that held when it began.
    /// - Parameters:
    ///   - contract: of the tenant, with prices of its own.
    ///   - prices: of the pool.
    public mutating func add(_ use: ModelUse, contract: CostTerms?, prices: [PoolPrice]) {
        let provider = Self.bill(use.sums, model: use.model, at: use.start, prices: prices)
        let cost = Self.charge(
            use.sums, in: use.pool, model: use.model, at: use.start, contract: contract, prices: prices)
        let key: String? =
            switch dimension {
            case .tenant: use.tenant.text
            case .pool: use.pool.text
            case .model: use.model
            case .criticality: use.criticality.name
            case .taskKind: use.taskKind
            }
        let place = Key(key: key, currency: cost.currency, providerCurrency: provider.currency)
        var line =
            groups[place]
            ?? Line(key: key, cost: Cost(currency: cost.currency), provider: Cost(currency: provider.currency))
        line.cost.micros.addSaturating(cost.micros)
        line.provider.micros.addSaturating(provider.micros)
        line.sums.add(use.sums)
        line.saved.add(use.saved)
        line.savedMicros.addSaturating(
            Self.charge(
                use.saved, in: use.pool, model: use.model, at: use.start, contract: contract, prices: prices
            ).micros)
        groups[place] = line
    }

    /// What the provider bills for use that began at `instant`.
    private static func bill(
        _ sums: UseSums, model: String?, at instant: Timestamp, prices: [PoolPrice]
    ) -> Cost {
        guard let price = prices.price(of: model, at: instant) else { return Cost() }
        return Cost(currency: price.currency, micros: whole(price.cost(of: sums)))
    }

    /// What use is charged to its tenant at: by the contract's price in the pool, or else by the provider's.
    /// - Parameters:
    ///   - contract: of the tenant.
    ///   - prices: of the pool.
    public static func charge(
        _ sums: UseSums, in pool: PoolID, model: String?, at instant: Timestamp, contract: CostTerms?,
        prices: [PoolPrice]
    ) -> Cost {
        guard let contract, let price = contract.price(in: pool) else {
            return bill(sums, model: model, at: instant, prices: prices)
        }
        let amount = price.cost(
            requests: Double(sums.requests), inputTokens: Double(sums.inputTokens),
            cachedInputTokens: Double(sums.cachedInputTokens), outputTokens: Double(sums.outputTokens))
        return Cost(currency: contract.currency, micros: whole(amount))
    }

    private static func whole(_ micros: Double) -> Int64 { Int64(min(max(0, micros.rounded()), 9e18)) }
}
