import HeadroomJSON
import HeadroomModel

/// A response's headers with lower-case names, and the instant that its absolute times count from.
struct HeaderFields {
    /// In the order received.
    let fields: [(name: String, value: String)]
    /// Milliseconds since 1970: the response's own `Date`, else when it was received.
    let date: Int64?

    /// More headers than any server sends, and longer values than any limit has, are left out: reading stays bounded.
    private static let maxFields = 512
    private static let longestValue = 4096

    init(_ response: ProviderResponse) {
        fields = response.headers.prefix(HeaderFields.maxFields)
            .filter { $0.value.utf8.count <= HeaderFields.longestValue }
            .map { (name: $0.name.lowercased().trimmingSpace, value: $0.value.trimmingSpace) }
        let own = fields.first { $0.name == "date" }.flatMap { HTTPDate.parse($0.value) ?? RFC3339.parse($0.value) }
        date = own ?? response.receivedAt?.milliseconds
    }

    /// The first value of a header.
    subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// All values of a header that is a list, joined as RFC 9110 §5.3 says.
    func list(_ name: String) -> String? {
        let values = fields.filter { $0.name == name }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }
}

extension StringProtocol {
    /// Without white space (of ASCII) at either end.
    var trimmingSpace: String {
        var rest = Array(utf8)[...]
        while let first = rest.first, first <= 0x20 { rest.removeFirst() }
        while let last = rest.last, last <= 0x20 { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }
}
