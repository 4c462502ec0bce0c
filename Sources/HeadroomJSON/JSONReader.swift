/// The grammar that a reader accepts.
package enum JSONDialect: Sendable {
    case rfc8259
    /// Comments, trailing commas, unquoted keys, single quotes, hexadecimal, a leading `+` or `.`: for files that
    /// people write. NaN and Infinity are refused all the same.
    case json5
}

/// The kind of the next value.
package enum JSONKind: Sendable, Equatable {
    case null, bool, number, string, array, object
}

/// A string where it lies in the document: nothing is copied before someone asks for it.
package struct JSONText: Sendable {
    /// Of the first byte inside the quotes.
    package let offset: Int
    package let count: Int
    /// Holds at least one backslash, so its bytes are not its characters.
    package let isEscaped: Bool
    /// Stands in quotes: everything but JSON5's unquoted keys.
    package var isQuoted = true
}

/// Pulls values out of UTF-8 bytes, one at a time, without an allocation for each.
///
///     try reader.beginObject()
///     while let key = try reader.nextKey() {
///         if reader.text(key, equals: "depth") { depth = try reader.readInt64() } else { try reader.skipValue() }
///     }
///     try reader.endDocument()
///
/// All that it passes over is checked against the grammar, also what it skips. It shares the array's storage and copies
/// nothing. After an error it stands where the error was; do not go on but by the calls of recovery. It does not remember keys: who pulls an object
/// refuses the repeated keys it knows (see ``JSONFields``); ``JSONNode`` refuses all of them.
package struct JSONReader: Sendable {
    /// Deepest nesting of arrays and objects.
    package static let maxDepth = 64

    let bytes: [UInt8]
    let end: Int
    let dialect: JSONDialect
    /// Of the next byte to read.
    package internal(set) var offset: Int
    /// A value has been read in the innermost array or object, so a comma must precede the next.
    var needsComma = false
    var depth = 0

    /// A document that takes up `range` of `bytes`, all of them by default.
    package init(_ bytes: [UInt8], range: Range<Int>? = nil, dialect: JSONDialect = .rfc8259) {
        precondition(range.map { $0.lowerBound >= 0 && $0.upperBound <= bytes.count } ?? true)
        self.bytes = bytes
        self.dialect = dialect
        offset = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// Looks at the next value without reading it.
    package mutating func peek() throws(JSONError) -> JSONKind {
        switch try nextByte(orExpected: "a value") {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "'") where dialect == .json5: return .string
        case UInt8(ascii: "+") where dialect == .json5, UInt8(ascii: ".") where dialect == .json5: return .number
        case UInt8(ascii: "N"), UInt8(ascii: "I"):
            throw JSONError(.notFinite, "NaN and Infinity are not allowed: write a finite number", offset: offset)
        default: throw unexpected("a value")
        }
    }

    package mutating func beginObject() throws(JSONError) { try open(.object, UInt8(ascii: "{")) }

    package mutating func beginArray() throws(JSONError) { try open(.array, UInt8(ascii: "[")) }

    private mutating func open(_ kind: JSONKind, _ bracket: UInt8) throws(JSONError) {
        try expect(kind)
        guard depth < JSONReader.maxDepth else {
            throw JSONError(
                .tooDeep, "nested too deeply: at most \(JSONReader.maxDepth) levels", offset: offset)
        }
        depth += 1
        offset += 1
        needsComma = false
    }

    /// The next key of the innermost object, its colon read too; `nil` once the object is closed.
    package mutating func nextKey() throws(JSONError) -> JSONText? {
        guard try advance(to: UInt8(ascii: "}"), expected: "',' or '}'") else { return nil }
        let key: JSONText
        switch bytes[offset] {
        case UInt8(ascii: "\""): key = try scanString()
        case UInt8(ascii: "'") where dialect == .json5: key = try scanString()
        default:
            guard dialect == .json5 else { throw unexpected("a key in double quotes") }
            key = try scanIdentifier()
        }
        guard try nextByte(orExpected: "':'") == UInt8(ascii: ":") else { throw unexpected("':' after the key") }
        offset += 1
        return key
    }

    /// Whether the innermost array has another element, which is then to be read; `false` once it is closed.
    package mutating func nextElement() throws(JSONError) -> Bool {
        try advance(to: UInt8(ascii: "]"), expected: "',' or ']'")
    }

    /// Moves to the next member, over a comma where one is due; `false` when `bracket` closes the container instead.
    private mutating func advance(to bracket: UInt8, expected: StaticString) throws(JSONError) -> Bool {
        let byte = try nextByte(orExpected: expected)
        if byte != bracket {
            if needsComma {
                guard byte == UInt8(ascii: ",") else { throw unexpected(expected) }
                offset += 1
                if try nextByte(orExpected: "a value after ','") == bracket {
                    guard dialect == .json5 else {
                        throw JSONError(.unexpectedByte, "a trailing comma is not allowed here", offset: offset)
                    }
                    return close()
                }
            }
            needsComma = false
            return true
        }
        return close()
    }

    private mutating func close() -> Bool {
        offset += 1
        depth -= 1
        needsComma = true
        return false
    }

    /// Reads a `null` if one comes next; anything else stays.
    package mutating func readNull() throws(JSONError) -> Bool {
        guard try nextByte(orExpected: "a value") == UInt8(ascii: "n") else { return false }
        try readWord("null")
        return true
    }

    package mutating func readBool() throws(JSONError) -> Bool {
        try expect(.bool)
        let value = bytes[offset] == UInt8(ascii: "t")
        try readWord(value ? "true" : "false")
        return value
    }

    package mutating func readString() throws(JSONError) -> String { string(of: try readText()) }

    /// A string left where it is.
    package mutating func readText() throws(JSONError) -> JSONText {
        try expectString()
        let text = try scanString()
        needsComma = true
        return text
    }

    /// A whole number; `1.0` and `1e3` are whole too.
    package mutating func readInt64() throws(JSONError) -> Int64 {
        try expectNumber()
        let number = try scanNumber()
        needsComma = true
        return try number.int64(offset: offset - number.count)
    }

    /// The nearest `Double`, always finite.
    package mutating func readDouble() throws(JSONError) -> Double {
        try expectNumber()
        let start = offset
        let number = try scanNumber()
        needsComma = true
        return try double(of: number, at: start)
    }

    /// Passes over one value of any kind and checks it on the way.
    package mutating func skipValue() throws(JSONError) {
        switch try peek() {
        case .null: _ = try readNull()
        case .bool: _ = try readBool()
        case .string: _ = try readText()
        case .number: _ = try readDouble()
        case .array:
            try beginArray()
            while try nextElement() { try skipValue() }
        case .object:
            try beginObject()
            while try nextKey() != nil { try skipValue() }
        }
    }

    /// Checks that only white space is left.
    package mutating func endDocument() throws(JSONError) {
        try skipSpace()
        guard offset == end else {
            throw JSONError(.trailingContent, "nothing may follow the value", offset: offset)
        }
    }

    @inline(never)
    private mutating func expect(_ kind: JSONKind) throws(JSONError) {
        let found = try peek()
        guard found == kind else {
            throw JSONError(.wrongType, "expected \(kind.article), found \(found.article)", offset: offset)
        }
    }

    /// Most values are strings and numbers, so these two look at one byte before they ask what else it may be.
    @inline(__always)
    private mutating func expectString() throws(JSONError) {
        if try nextByte(orExpected: "a value") != UInt8(ascii: "\"") { try expect(.string) }
    }

    @inline(__always)
    private mutating func expectNumber() throws(JSONError) {
        if try nextByte(orExpected: "a value") &- UInt8(ascii: "0") > 9 { try expect(.number) }
    }

    private mutating func readWord(_ word: StaticString) throws(JSONError) {
        let matches = end - offset >= word.utf8CodeUnitCount && hasBytes(word, at: offset)
        guard matches else { throw unexpected(word) }
        offset += word.utf8CodeUnitCount
        needsComma = true
    }

    /// The byte after the white space that comes next, still to be read.
    @inline(__always)
    private mutating func nextByte(orExpected expected: StaticString) throws(JSONError) -> UInt8 {
        try skipSpace()
        guard offset < end else { throw unexpected(expected) }
        return bytes[offset]
    }

    @inline(never)
    func unexpected(_ expected: StaticString) -> JSONError {
        guard offset < end else {
            return JSONError(.unexpectedEnd, "the text ends where \(expected) is expected", offset: offset)
        }
        let byte = bytes[offset]
        let isMark = byte == 0xEF && end - offset >= 3 && bytes[offset + 1] == 0xBB && bytes[offset + 2] == 0xBF
        if isMark {
            return JSONError(.unexpectedByte, "a byte order mark is not allowed: remove it", offset: offset)
        }
        let found = (0x21...0x7E).contains(byte) ? "'\(Character(Unicode.Scalar(byte)))'" : "byte \(byte)"
        return JSONError(.unexpectedByte, "expected \(expected), found \(found)", offset: offset)
    }
}

extension JSONKind {
    /// In a sentence.
    package var article: String {
        switch self {
        case .null: "null"
        case .bool: "true or false"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
