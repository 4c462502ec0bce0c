extension JSONReader {
    /// Whether `text` is `literal`, byte by byte (after its escapes).
    package func text(_ text: JSONText, equals literal: StaticString) -> Bool {
        if text.isEscaped { return string(of: text) == literal.description }
        return text.count == literal.utf8CodeUnitCount && hasBytes(literal, at: text.offset)
    }

    /// Whether the bytes from `index` on are `literal`; the caller knows that so many follow.
    func hasBytes(_ literal: StaticString, at index: Int) -> Bool {
        literal.withUTF8Buffer { expected in
            for place in expected.indices where unsafe bytes[index + place] != expected[place] { return false }
            return true
        }
    }

    /// Whether `text` has the same bytes as stand at `offset`, as they are written there.
    package func hasSameBytes(_ text: JSONText, offset: Int, count: Int) -> Bool {
        guard text.count == count else { return false }
        let mine = bytes.span.extracting(text.offset..<(text.offset + count))
        let others = bytes.span.extracting(offset..<(offset + count))
        return mine.hasSameBytes(as: others)
    }

    /// The string or number that takes up `range`: a string's characters, a number as it is written.
    package func scalarText(in range: Range<Int>) throws(JSONError) -> String {
        var reader = JSONReader(bytes, range: range, dialect: dialect)
        if try reader.peek() == .string { return try reader.readString() }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    package func string(of text: JSONText) -> String {
        if text.isEscaped { return String(decoding: unescaped(text), as: UTF8.self) }
        return String(decoding: bytes[text.offset..<(text.offset + text.count)], as: UTF8.self)
    }

    /// The bytes that `text` stands for, in place where it has no escapes.
    package func withBytes<Result>(of text: JSONText, _ body: (Span<UInt8>) -> Result) -> Result {
        if text.isEscaped { return body(unescaped(text).span) }
        return body(bytes.span.extracting(text.offset..<(text.offset + text.count)))
    }

    /// Reads past a string, from its opening quote to behind its closing one.
    mutating func scanString() throws(JSONError) -> JSONText {
        let quote = bytes[offset]
        let start = offset + 1
        var index = start
        var isEscaped = false
        while true {
            index = plainEnd(from: index, quote: quote)
            guard index < end else {
                throw JSONError(.unexpectedEnd, "the string is not closed", offset: start - 1)
            }
            let byte = bytes[index]
            if byte == quote { break }
            if byte == UInt8(ascii: "\\") {
                isEscaped = true
                index += try escape(at: index).length
            } else if byte < 0x20 {
                guard dialect == .json5, byte != 0x0A, byte != 0x0D else {
                    throw JSONError(
                        .controlCharacter, "a control character in a string must be escaped, as \\n or \\u001f",
                        offset: index)
                }
                index += 1
            } else {
                index += try lengthOfScalar(at: index)
            }
        }
        offset = index + 1
        return JSONText(offset: start, count: index - start, isEscaped: isEscaped)
    }

    /// The first byte from `index` on that is the quote, a backslash, a control character or outside ASCII.
    @inline(__always)
    private func plainEnd(from index: Int, quote: UInt8) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        let quotes = ones &* UInt64(quote)
        // `unsafe`: the raw view of a type might show padding; a byte has none.
        let raw = unsafe bytes.span.bytes
        var index = index
        while end - index >= 8 {
            // Eight bytes at a time; the classic "has a zero byte" test, exact up to the first hit, which is all that
            // counts. `unsafe`: eight bytes remain, as just checked, and any bit pattern is an integer.
            let word = UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            let noQuote = word ^ quotes
            let noSlash = word ^ (ones &* UInt64(UInt8(ascii: "\\")))
            let hits =
                ((noQuote &- ones) & ~noQuote | (noSlash &- ones) & ~noSlash | (word &- ones &* 0x20) & ~word | word)
                & tops
            if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < end {
            let byte = bytes[index]
            if byte == quote || byte == UInt8(ascii: "\\") || byte < 0x20 || byte >= 0x80 { break }
            index += 1
        }
        return index
    }

    /// JSON5's unquoted key: an ECMAScript identifier, without escapes.
    mutating func scanIdentifier() throws(JSONError) -> JSONText {
        let start = offset
        while offset < end {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
                UInt8(ascii: "$"):
                offset += 1
                continue
            case UInt8(ascii: "0")...UInt8(ascii: "9") where offset > start:
                offset += 1
                continue
            case 0x80...:
                let length = try lengthOfScalar(at: offset)
                guard let properties = scalar(at: offset)?.properties else { break }
                guard offset == start ? properties.isIDStart : properties.isIDContinue else { break }
                offset += length
                continue
            default: break
            }
            break
        }
        guard offset > start else { throw unexpected("a key, in quotes unless it is one word of letters and digits") }
        return JSONText(offset: start, count: offset - start, isEscaped: false, isQuoted: false)
    }
}
