import HeadroomJSON
import HeadroomModel

/// Costs in a file of contracts.
extension ContractImport {
    static let moneyRange = 0...CostTerms.largest
    static let moneyUnit = "millionths of the currency's unit"

    /// The fault of the currency; `nil` when Headroom knows it.
    static func fault(inCurrency currency: String) -> String? {
        CostTerms.currencies.contains(currency)
            ? nil
            : "must be a currency of ISO 4217 in capitals, such as EUR, found \(KeyPathText.excerpt(of: currency))"
    }
}

extension CostTerms {
    /// `nil` where it cannot be read: what is wrong is reported.
    init?(_ object: CheckedObject) {
        var object = object
        let key = object.key
        object.require("currency", "what the money is in, as EUR")
        object.require("period", "day or month: the time in which use may cost most_micros")
        object.require("most_micros", "the most that use may cost, in \(ContractImport.moneyUnit)")
        object.require("prices", "what use costs: without prices nothing is bounded")
        let currency = object.currency("currency")
        let period = object.choice("period", of: Period.allCases, named: \.name)
        let most = object.money("most_micros")
        var prices: [Price] = []
        var places: [PoolID?: String] = [:]
        for (node, key) in object.list("prices", count: 1...1000, of: "prices") ?? [] {
            guard let price = Price(node, key: key, file: object.file) else { continue }
            if let first = places.updateValue(key, forKey: price.pool) {
                object.file.report(
                    .duplicateName, key: key, offset: node.offset,
                    "\(price.pool.map { "pool \($0)" } ?? "the price of every other pool") stands at \(first) already")
            }
            prices.append(price)
        }
        object.end()
        guard let currency, let period, let most, !prices.isEmpty, !key.isEmpty else { return nil }
        self.init(currency: currency, period: period, most: most, prices: prices)
    }
}

extension CostTerms.Price {
    fileprivate init?(_ node: JSONNode, key: String, file: CheckedFile) {
        guard var object = CheckedObject(node, key: key, file: file) else { return nil }
        let pool = object.word("pool", orNull: true).map { PoolID(unchecked: $0) }
        let input = object.money("input_micros_per_million")
        let cached = object.money("cached_input_micros_per_million")
        let output = object.money("output_micros_per_million")
        let request = object.money("request_micros")
        object.end()
        self.init(
            pool: pool, perMillionInputTokens: input ?? 0, perMillionCachedInputTokens: cached,
            perMillionOutputTokens: output ?? 0, perRequest: request ?? 0)
    }
}

extension CheckedObject {
    mutating func money(_ name: String) -> Int64? {
        number(name, in: ContractImport.moneyRange, unit: ContractImport.moneyUnit, isWhole: true).map { Int64($0) }
    }

    mutating func currency(_ name: String) -> String? {
        guard let (node, key) = value(name) else { return nil }
        let text = node.string ?? ""
        guard let fault = ContractImport.fault(inCurrency: text) else { return text }
        file.report(.outOfRange, key: key, offset: node.offset, fault)
        return nil
    }
}
