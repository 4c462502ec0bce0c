/// The cost of recorded use: of each tenant, pool or criticality. Each part is rounded to whole millionths before it is
/// added, so that the sums are the same however they are grouped.
public struct CostReport: Equatable, Sendable {
    public enum Dimension: String, CaseIterable, Sendable {
        case tenant, pool, criticality
    }

    /// The use and the cost of one group in one currency.
    public struct Line: Equatable, Sendable {
        public var key: String
        /// `nil`: the use has no price.
        public var currency: String?
        public var micros: Int64 = 0
        public var sums = RollupSums()
    }

    private struct Key: Hashable {
        var key: String
        var currency: String?
    }

    public let dimension: Dimension
    private var groups: [Key: Line] = [:]

    public init(by dimension: Dimension) {
        self.dimension = dimension
    }

    /// Descending by cost within a currency; those without a price last, descending by tokens.
    public var lines: [Line] {
        groups.values.sorted { left, right in
            if (left.currency == nil) != (right.currency == nil) { return left.currency != nil }
            if left.currency != right.currency { return (left.currency ?? "") < (right.currency ?? "") }
            if left.micros != right.micros { return left.micros > right.micros }
            let tokens = (
                left.sums.inputTokens + left.sums.outputTokens, right.sums.inputTokens + right.sums.outputTokens
            )
            return tokens.0 == tokens.1 ? left.key < right.key : tokens.0 > tokens.1
        }
    }

    /// By currency, ascending.
    public var totals: [(currency: String, micros: Int64)] {
        var totals: [String: Int64] = [:]
        for line in groups.values { if let currency = line.currency { totals[currency, default: 0] += line.micros } }
        return totals.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Adds use under the price that held when it began: the tenant's contract's, or else the pool's.
    public mutating func add(_ use: Rollup, contract: CostTerms?, prices: [PoolPrice]) {
        var currency: String?
        var cost = 0.0
        if let contract, let price = contract.price(in: use.pool) {
            currency = contract.currency
            cost = price.cost(
                requests: Double(use.ok), inputTokens: Double(use.inputTokens), outputTokens: Double(use.outputTokens))
        } else if let price = prices.first(where: { $0.holds(at: use.start) }) {
            currency = price.currency
            cost = price.cost(of: use.sums)
        }
        let key =
            switch dimension {
            case .tenant: use.tenant.text
            case .pool: use.pool.text
            case .criticality: use.criticality.name
            }
        var line = groups[Key(key: key, currency: currency)] ?? Line(key: key, currency: currency)
        line.micros.addSaturating(Int64(min(max(0, cost.rounded()), 9e18)))
        line.sums.add(use.sums)
        groups[Key(key: key, currency: currency)] = line
    }
}
