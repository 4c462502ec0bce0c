/// Rates as people read and write them, everywhere the same: whole numbers with thousands apart. In a sentence
/// `900,000 tokens a minute`, in a table `tpm 900,000`.
package enum RateText {
    /// In the order in which people speak of a pool: its tokens first.
    private static let order: [Resource] = [.tokens, .inputTokens, .outputTokens, .requests]

    package static func sentence(_ value: Double, _ resource: Resource) -> String {
        "\(GroupedNumber.whole(value)) \(resource.words) a minute"
    }

    /// `900,000 tokens and 500 requests a minute`; `nothing` without any.
    package static func sentence(_ rates: Rates) -> String {
        let words = order.compactMap { resource in
            rates[resource].map { "\(GroupedNumber.whole($0)) \(resource.words)" }
        }
        return words.isEmpty ? "nothing" : words.joined(separator: " and ") + " a minute"
    }

    /// For a table or a label: `tpm 900,000 rpm 500`; `-` without any.
    package static func cell(_ rates: Rates) -> String {
        let parts = order.compactMap { resource in
            rates[resource].map { "\(resource.rateName) \(GroupedNumber.whole($0))" }
        }
        return parts.isEmpty ? "-" : parts.joined(separator: " ")
    }

    /// `900000`, `900,000`, `900_000`, `900k` and `0.9M` are one number; `nil` for what is none.
    package static func parse(_ text: String) -> Double? {
        var digits = text
        var factor = 1.0
        if let last = digits.last?.lowercased(), let unit = ["k": 1e3, "m": 1e6][last] {
            factor = unit
            digits.removeLast()
        }
        let parts = digits.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let groups = (parts.first ?? "").split(omittingEmptySubsequences: false) { $0 == "," || $0 == "_" }
        let isGrouped =
            groups.count > 1 && (1...3).contains(groups[0].count) && groups.dropFirst().allSatisfy { $0.count == 3 }
        guard groups.count == 1 || isGrouped else { return nil }
        let plain = groups.joined() + (parts.count == 2 ? "." + parts[1] : "")
        // The standard library takes "nan", "inf" and "0x10" too.
        let isDecimal = plain.utf8.allSatisfy { byte in
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
                || byte == UInt8(ascii: "e")
        }
        guard isDecimal else { return nil }
        return Double(plain).map { $0 * factor }
    }
}

extension Resource {
    /// As in a sentence.
    package var words: String {
        switch self {
        case .requests: "requests"
        case .tokens: "tokens"
        case .inputTokens: "input tokens"
        case .outputTokens: "output tokens"
        }
    }
}
