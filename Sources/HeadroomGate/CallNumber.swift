import HeadroomClient
import HeadroomHTTP
import HeadroomJSON

/// Numbers that callers write, in bodies and in headers, held to ``CallBounds`` wherever they stand.
enum CallNumber {
    /// A whole number in `range`, or a sentence that says so. `nil` is a number that is none.
    static func whole(_ name: String, _ number: Double?, in range: ClosedRange<Int>) throws(HTTPError) -> Int {
        guard let number, let whole = Int(exactly: number), range.contains(whole) else {
            throw HTTPError(
                .badRequest, "\(name): must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return whole
    }

    /// Of a header or a query: digits and nothing else.
    static func whole(_ name: String, text: String, in range: ClosedRange<Int>) throws(HTTPError) -> Int {
        guard let whole = Int(text), range.contains(whole) else {
            throw HTTPError(
                .badRequest,
                "\(name): must be a whole number from \(range.lowerBound) to \(range.upperBound), found "
                    + "\"\(text.prefix(40))\"")
        }
        return whole
    }

    /// Of the body that a proxy's client sends to its provider, who will judge it: a bound that is too large is the largest
    /// one, so that no call passes for a small one; what is no number of tokens is none.
    static func clamped(_ node: JSONNode?) -> Int? {
        guard let number = node?.number, number >= 0 else { return nil }
        return number < Double(CallBounds.tokens.upperBound) ? Int(number.rounded(.up)) : CallBounds.tokens.upperBound
    }
}
