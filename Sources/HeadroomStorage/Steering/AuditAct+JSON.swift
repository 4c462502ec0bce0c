import Glibc
import HeadroomModel

extension AuditAct {
    /// The row's detail: a JSON object. The same act has the same bytes on every machine and with every engine.
    var json: String {
        var members: [String] = []
        if let tenant { members.append("\"tenant\":\(Value.text(tenant.text).json)") }
        for (key, value) in detail { members.append("\"\(key)\":\(value.json)") }
        return "{\(members.joined(separator: ","))}"
    }
}

extension AuditAct.Value {
    /// As SQLite's `json_quote` writes it, which the rows of older versions came from.
    var json: String {
        switch self {
        case .text(let text): text.map(Self.quoted) ?? "null"
        case .integer(let integer): integer.map { "\($0)" } ?? "null"
        case .number(let number): number.map(Self.digits) ?? "null"
        case .rates(let rates):
            "{"
                + rates.resources.members
                .map { "\"\($0.rateName)\":\(Self.number(rates[$0]).json)" }.joined(separator: ",") + "}"
        }
    }

    private static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x08: bytes += "\\b".utf8
            case 0x09: bytes += "\\t".utf8
            case 0x0A: bytes += "\\n".utf8
            case 0x0C: bytes += "\\f".utf8
            case 0x0D: bytes += "\\r".utf8
            case 0..<0x20: bytes += "\\u00\(SHA256.hexadecimal([byte]))".utf8
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// 15 significant digits, with a point in each number, so that a reader sees that it is not an integer.
    private static func digits(_ number: Double) -> String {
        guard number.isFinite else { return "null" }
        // The longest is -1.23456789012345e-308.
        var buffer = [CChar](repeating: 0, count: 32)
        let count = unsafe withVaList([number == 0 ? 0 : number]) { arguments in
            unsafe vsnprintf(&buffer, buffer.count, "%.15g", arguments)
        }
        let text = String(decoding: buffer.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        if text.contains(".") { return text }
        let mantissa = text.prefix { $0 != "e" }
        return mantissa + ".0" + text.dropFirst(mantissa.count)
    }
}
