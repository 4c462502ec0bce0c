/// A message for people, in lower case, with white space squeezed and at most 2 KiB long.
///
/// Providers change wordings; rules look for short phrases only, and only where no machine field decides.
struct Prose {
    let bytes: [UInt8]
    /// Words and numbers without the punctuation around them; `/` is a word (`3 / min`, `3/min`), `_` parts words
    /// (`requests_per_minute`), and a colon between digits is theirs (`07:01:20`).
    let words: [String]

    static let longest = 2048

    init(_ text: String) {
        var bytes: [UInt8] = []
        for byte in text.utf8.prefix(Prose.longest) {
            if byte <= 0x20 {
                if bytes.last != 0x20 { bytes.append(0x20) }
            } else {
                bytes.append(byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte)
            }
        }
        self.bytes = bytes
        words = Prose.words(of: bytes)
    }

    var isEmpty: Bool { bytes.isEmpty }

    func mentions(_ phrase: StaticString) -> Bool { bytes.holds(phrase) }

    func mentions(anyOf phrases: [StaticString]) -> Bool { first(of: phrases) != nil }

    func first(of phrases: [StaticString]) -> StaticString? { phrases.first { bytes.holds($0) } }

    private static func words(of bytes: [UInt8]) -> [String] {
        let marks = bytes.indices.filter { separates(bytes[$0]) && !isColonOfTime($0, in: bytes) }
        return zip([-1] + marks, marks + [bytes.count]).map { bytes[($0 + 1)..<$1] }.flatMap { word -> [String] in
            var parts: [String] = []
            for part in word.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
                if !parts.isEmpty { parts.append("/") }
                var text = String(decoding: part, as: UTF8.self)
                while let last = text.last, last == "." || last == "," || last == "!" { text.removeLast() }
                if text.first == "~" { text.removeFirst() }
                parts.append(text)
            }
            return parts.filter { !$0.isEmpty }
        }
    }

    private static func isColonOfTime(_ index: Int, in bytes: [UInt8]) -> Bool {
        bytes[index] == UInt8(ascii: ":") && index > 0 && index + 1 < bytes.count
            && bytes[index - 1] &- UInt8(ascii: "0") <= 9 && bytes[index + 1] &- UInt8(ascii: "0") <= 9
    }

    private static func separates(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ":"), UInt8(ascii: ";"),
            UInt8(ascii: "`"), UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "="), UInt8(ascii: "["),
            UInt8(ascii: "]"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

extension [UInt8] {
    /// Whether the ASCII `text` occurs in it.
    func holds(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { text in
            // `unsafe`: the text of a StaticString is there for ever; every index is checked against its count.
            guard let first = unsafe text.first, count >= text.count else { return false }
            var start = 0
            while start <= count - text.count {
                if self[start] == first {
                    var length = 1
                    while length < text.count, unsafe self[start + length] == text[length] { length += 1 }
                    if length == text.count { return true }
                }
                start += 1
            }
            return false
        }
    }
}
