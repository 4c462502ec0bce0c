/// The path and the query of a request, percent-decoded.
package struct RequestTarget: Equatable, Sendable {
    /// Without the query; starts with `/`.
    package let path: String
    /// In the order received; names may repeat.
    package let query: [Item]

    package struct Item: Equatable, Sendable {
        package let name: String
        package let value: String
    }

    /// `nil` when `bytes` do not start with `/`, or hold a broken escape, a zero byte or text that is not UTF-8.
    package init?(_ bytes: [UInt8]) {
        let question = bytes.firstIndex(of: UInt8(ascii: "?"))
        let pathBytes = bytes[..<(question ?? bytes.endIndex)]
        guard pathBytes.first == UInt8(ascii: "/"), let path = Self.decode(pathBytes, plusIsSpace: false) else {
            return nil
        }
        var query: [Item] = []
        if let question {
            for pair in bytes[(question + 1)...].split(separator: UInt8(ascii: "&")) {
                let equals = pair.firstIndex(of: UInt8(ascii: "="))
                let valueBytes = equals.map { pair[($0 + 1)...] } ?? pair[pair.endIndex...]
                guard let name = Self.decode(pair[..<(equals ?? pair.endIndex)], plusIsSpace: true),
                    let value = Self.decode(valueBytes, plusIsSpace: true)
                else { return nil }
                query.append(Item(name: name, value: value))
            }
        }
        self.path = path
        self.query = query
    }

    /// The value of a parameter that may be given once.
    func value(_ name: String) throws(HTTPError) -> String? {
        let values = values(name)
        guard values.count <= 1 else {
            throw HTTPError(.badRequest, "\(name) is given \(values.count) times; it may be given once")
        }
        return values.first
    }

    /// The values of a parameter that may be repeated, in the order received.
    func values(_ name: String) -> [String] {
        query.filter { $0.name == name }.map(\.value)
    }

    private static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            var byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < bytes.endIndex, let high = hexDigit(bytes[index + 1]),
                    let low = hexDigit(bytes[index + 2])
                else { return nil }
                byte = high << 4 | low
                index += 2
            } else if byte == UInt8(ascii: "+"), plusIsSpace {
                byte = UInt8(ascii: " ")
            }
            guard byte != 0 else { return nil }
            decoded.append(byte)
            index += 1
        }
        return String(validating: decoded, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
