/// The scalars of a provider's body, each with its path, as far as the body goes.
///
/// `HeadroomJSON` refuses what is not JSON. Bodies of failures are often something else: cut off after 4 KiB, one event
/// of a stream, an array around the object, JSON inside a string or behind a sentence. So this reads tokens as they come,
/// keeps what it understood, and cannot fail.
struct BodyFields {
    struct Field {
        /// Keys from the top, arrays left out: `error.details.violations.quotaId`.
        let path: String
        /// The last key of the path.
        let key: String
        /// Which object it stands in.
        let object: Int
        let text: String
        let isString: Bool

        /// The first key of the path.
        var top: Substring { path.prefix { $0 != "." } }
    }

    private(set) var fields: [Field] = []
    /// The text before the first object: a sentence, or all of a body that is plain text.
    private(set) var preamble = ""
    private var objects = 0

    private static let longestBody = 65536
    private static let longestKey = 128
    private static let maxFields = 1024
    private static let deepest = 32

    init() {}

    init(_ body: String) {
        if BodyFields.isStream(body) {
            scan(stream: body)
        } else if !body.prefix(16).trimmingSpace.hasPrefix("<") {
            scan(Array(body.utf8.prefix(BodyFields.longestBody)), under: "", nesting: 0)
        }
    }

    /// Whether a body is worth reading when the status is that of a success.
    static func mayHoldError(_ body: String) -> Bool {
        let bytes = Array(body.utf8)
        let signs: [StaticString] = ["rror\"", "rror_code", "xception\"", "event:error", "event: error", "base_resp"]
        return signs.contains { bytes.holds($0) }
    }

    /// The first field whose path is this.
    subscript(path: String) -> Field? { fields.first { $0.path == path } }
}

extension BodyFields {
    private static func isStream(_ body: String) -> Bool {
        let start = body.prefix(64).trimmingSpace
        return ["data:", "event:", ":", "id:"].contains { start.hasPrefix($0) }
    }

    /// Of an event stream the last few events that speak of an error. An event that is named `error` is one as a whole
    /// (`error.code` is its `code`), and DashScope states its status in a comment: `:HTTP_STATUS/429`.
    private mutating func scan(stream: String) {
        var errors: [(data: [UInt8], path: String)] = []
        var isError = false
        for line in stream.utf8.split(whereSeparator: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) {
            if line.starts(with: "data:".utf8) {
                let data = Array(line.dropFirst(5).prefix(BodyFields.longestBody))
                let isWhole = isError && !data.holds("\"error\"")
                if isWhole || data.holds("rror") || data.holds("xception") || data.holds("base_resp") {
                    errors.append((data, isWhole ? "error" : ""))
                }
                isError = false
            } else if line.starts(with: "event:".utf8) {
                isError = String(decoding: line.dropFirst(6), as: UTF8.self).trimmingSpace == "error"
            } else if fields.isEmpty, line.starts(with: ":HTTP_STATUS/".utf8) {
                let status = String(decoding: line.dropFirst(13).prefix(3), as: UTF8.self)
                fields.append(Field(path: "error.status", key: "status", object: 0, text: status, isString: false))
            }
        }
        for error in errors.suffix(4) { scan(error.data, under: error.path, nesting: 0) }
    }

    /// Keeps the text before the first bracket, then every `key: scalar` pair.
    private mutating func scan(_ bytes: [UInt8], under prefix: String, nesting: Int) {
        var cursor = BodyCursor(bytes)
        preamble += cursor.skipToBracket()
        var open: [(path: String, key: String, object: Int, isArray: Bool)] = []
        var key: String?
        while let token = cursor.next() {
            let parent = open.last
            let path = join(parent?.path ?? prefix, key)
            let name = key ?? parent?.key ?? ""
            switch token {
            case .open(let isArray):
                guard open.count < BodyFields.deepest else { return }
                objects += isArray ? 0 : 1
                open.append((path, name, isArray ? parent?.object ?? 0 : objects, isArray))
                key = nil
            case .close:
                if !open.isEmpty { open.removeLast() }
                key = nil
            case .separator:
                key = nil
            case .string(let text) where cursor.isKey && parent?.isArray == false && key == nil:
                key = String(decoding: text.utf8.prefix(BodyFields.longestKey), as: UTF8.self)
            case .string(let text), .bare(let text):
                guard let parent, parent.isArray || key != nil else { continue }
                guard fields.count < BodyFields.maxFields else { return }
                fields.append(
                    Field(path: path, key: name, object: parent.object, text: text, isString: token.isString))
                key = nil
                if nesting == 0, token.isString, ErrorReport.isMessage(name), let start = text.firstIndex(of: "{") {
                    // Proxies quote the refusal of their upstream, whole or behind a sentence.
                    scan(Array(text[start...].utf8), under: path, nesting: 1)
                }
            }
        }
    }

    private func join(_ path: String, _ key: String?) -> String {
        guard let key else { return path }
        return path.isEmpty ? key : path + "." + key
    }
}

/// Takes a body apart into brackets, strings and bare words.
private struct BodyCursor {
    enum Token {
        case open(isArray: Bool)
        case close
        case separator
        case string(String)
        case bare(String)

        var isString: Bool {
            if case .string = self { true } else { false }
        }
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var byte: UInt8? { index < bytes.count ? bytes[index] : nil }

    /// Up to the first bracket, of the whole if there is none.
    mutating func skipToBracket() -> String {
        while let byte, byte != UInt8(ascii: "{"), byte != UInt8(ascii: "[") { index += 1 }
        return String(decoding: bytes[..<index], as: UTF8.self)
    }

    /// Whether a colon follows the string just read.
    var isKey: Bool {
        let rest = bytes[index...].first { $0 > 0x20 }
        return rest == UInt8(ascii: ":")
    }

    mutating func next() -> Token? {
        while let byte, byte <= 0x20 || byte == UInt8(ascii: ":") { index += 1 }
        guard let byte else { return nil }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            index += 1
            return .open(isArray: byte == UInt8(ascii: "["))
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            index += 1
            return .close
        case UInt8(ascii: ","):
            index += 1
            return .separator
        case UInt8(ascii: "\""), UInt8(ascii: "'"):  // ' as in the printed form of an exception
            index += 1
            return .string(string(endingWith: byte))
        default:
            let start = index
            while let byte = self.byte, byte > 0x20, !BodyCursor.ends(byte) { index += 1 }
            return .bare(String(decoding: bytes[start..<index], as: UTF8.self))
        }
    }

    private static func ends(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: ":")
            || byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "\"")
    }

    /// Its text without the quotes; up to the end where the body breaks off.
    private mutating func string(endingWith quote: UInt8) -> String {
        var text: [UInt8] = []
        while let byte {
            index += 1
            if byte == quote { break }
            guard byte == UInt8(ascii: "\\"), let escaped = self.byte else {
                text.append(byte)
                continue
            }
            index += 1
            switch escaped {
            case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): text.append(UInt8(ascii: " "))
            case UInt8(ascii: "u"): text.append(contentsOf: codeUnit())
            default: text.append(escaped)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Four hexadecimal digits. Halves of surrogate pairs become a question mark: no rule looks for what they spell.
    private mutating func codeUnit() -> [UInt8] {
        let digits = String(decoding: bytes[index...].prefix(4), as: UTF8.self)
        // A body that breaks off in the middle of them has fewer.
        guard digits.utf8.count == 4, let unit = UInt32(digits, radix: 16) else { return [] }
        index += 4
        guard let scalar = Unicode.Scalar(unit) else { return [UInt8(ascii: "?")] }
        return Array(String(Character(scalar)).utf8)
    }
}
