extension JSONReader {
    /// The bytes that `text` stands for.
    func unescaped(_ text: JSONText) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        var index = text.offset
        while index < text.offset + text.count {
            if bytes[index] == UInt8(ascii: "\\") {
                // Checked when the text was read, so this cannot fail.
                guard let escape = try? escape(at: index) else { break }
                if let scalar = escape.scalar { result.append(contentsOf: UTF8.encode(scalar)!) }
                index += escape.length
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// The escape whose backslash is at `index`: its length in bytes, and what it stands for (nothing for JSON5's
    /// continued line).
    func escape(at index: Int) throws(JSONError) -> (length: Int, scalar: Unicode.Scalar?) {
        guard index + 1 < end else {
            throw JSONError(.unexpectedEnd, "the string is not closed", offset: index)
        }
        switch bytes[index + 1] {
        case UInt8(ascii: "\""): return (2, "\"")
        case UInt8(ascii: "\\"): return (2, "\\")
        case UInt8(ascii: "/"): return (2, "/")
        case UInt8(ascii: "b"): return (2, "\u{8}")
        case UInt8(ascii: "f"): return (2, "\u{C}")
        case UInt8(ascii: "n"): return (2, "\n")
        case UInt8(ascii: "r"): return (2, "\r")
        case UInt8(ascii: "t"): return (2, "\t")
        case UInt8(ascii: "u"): return try unicodeEscape(at: index)
        case let byte where dialect == .json5: return try json5Escape(byte, at: index)
        default:
            throw JSONError(
                .invalidEscape, "an unknown escape: allowed are \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX",
                offset: index)
        }
    }

    private func unicodeEscape(at index: Int) throws(JSONError) -> (length: Int, scalar: Unicode.Scalar?) {
        let unit = try hexadecimal(digits: 4, at: index + 2)
        if let scalar = Unicode.Scalar(unit) { return (6, scalar) }
        let pairFollows =
            unit < 0xDC00 && index + 7 < end && bytes[index + 6] == UInt8(ascii: "\\")
            && bytes[index + 7] == UInt8(ascii: "u")
        if pairFollows {
            let low = try hexadecimal(digits: 4, at: index + 8)
            if (0xDC00...0xDFFF).contains(low) {
                return (12, Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)))
            }
        }
        throw JSONError(
            .loneSurrogate, "half of a surrogate pair: write both halves, as \\ud83d\\ude00", offset: index)
    }

    private func json5Escape(_ byte: UInt8, at index: Int) throws(JSONError) -> (length: Int, scalar: Unicode.Scalar?) {
        switch byte {
        case UInt8(ascii: "v"): return (2, "\u{B}")
        case UInt8(ascii: "x"): return (4, Unicode.Scalar(try hexadecimal(digits: 2, at: index + 2)))
        case UInt8(ascii: "0"):
            let digitFollows = index + 2 < end && (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[index + 2])
            if !digitFollows { return (2, "\0") }
        case UInt8(ascii: "1")...UInt8(ascii: "9"): break
        case 0x0A: return (2, nil)
        case 0x0D: return (index + 2 < end && bytes[index + 2] == 0x0A ? 3 : 2, nil)
        default:
            let length = try lengthOfScalar(at: index + 1)
            guard let scalar = scalar(at: index + 1) else { break }
            return (1 + length, scalar.value == 0x2028 || scalar.value == 0x2029 ? nil : scalar)
        }
        throw JSONError(.invalidEscape, "octal escapes are not allowed: write \\u00XX", offset: index)
    }

    private func hexadecimal(digits: Int, at index: Int) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for place in index..<(index + digits) {
            guard place < end, let digit = JSONReader.hexadecimalDigit(bytes[place]) else {
                throw JSONError(.invalidEscape, "expected \(digits) hexadecimal digits", offset: min(place, end))
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }

    static func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
