import HeadroomJSON

/// Strings that come again from line to line, made once. It remembers where in the body a string stood and compares
/// bytes; a new text takes the place of the old one, so the cache never grows.
struct TextCache {
    private struct Entry {
        var offset: Int
        var count: Int
        var string: String
    }

    private var entries = [Entry?](repeating: nil, count: 512)

    /// `text` as a string; `nil` when it is not `valid`, which is asked only of strings not yet known.
    mutating func string(
        of text: JSONText, in reader: JSONReader, where isValid: (String) -> Bool
    ) -> String? {
        guard !text.isEscaped else {
            let string = reader.string(of: text)
            return isValid(string) ? string : nil
        }
        let slot = slot(of: text, in: reader)
        if let entry = entries[slot], reader.hasSameBytes(text, offset: entry.offset, count: entry.count) {
            return entry.string
        }
        let string = reader.string(of: text)
        guard isValid(string) else { return nil }
        entries[slot] = Entry(offset: text.offset, count: text.count, string: string)
        return string
    }

    /// From the length and the last four bytes: names mostly differ at their ends.
    private func slot(of text: JSONText, in reader: JSONReader) -> Int {
        reader.withBytes(of: text) { bytes in
            var hash = UInt64(bytes.count)
            for index in max(0, bytes.count - 4)..<bytes.count { hash = hash &* 131 &+ UInt64(bytes[index]) }
            return Int((hash &* 0x9E37_79B9_7F4A_7C15) >> 55)
        }
    }
}
