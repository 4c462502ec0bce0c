/// Why bytes are not the document that was asked for, and where.
package struct JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The bytes end inside a value.
        case unexpectedEnd
        /// A byte that cannot stand where it stands.
        case unexpectedByte
        case invalidUTF8
        case invalidEscape
        /// A `\u` escape with one half of a surrogate pair.
        case loneSurrogate
        /// An unescaped byte below 0x20 in a string.
        case controlCharacter
        case invalidNumber
        /// NaN, an infinity, or a number too large for a `Double`.
        case notFinite
        case notInteger
        case outOfRange
        /// A well-formed value of another type than was asked for.
        case wrongType
        case duplicateKey
        case tooDeep
        /// More than white space after the value.
        case trailingContent
    }

    package let code: Code
    /// For people: what is there, and what would be right.
    package let message: String
    /// In bytes from the start.
    package let offset: Int

    package init(_ code: Code, _ message: String, offset: Int) {
        self.code = code
        self.message = message
        self.offset = offset
    }

    package var description: String { "\(message) (byte \(offset))" }
}

/// Where a byte stands in a text, both from 1. Columns count characters (Unicode scalars), as editors show them.
package struct JSONPosition: Equatable, Sendable, CustomStringConvertible {
    package let line: Int
    package let column: Int

    /// Offsets past the end stand for the end. CR, LF and CRLF each end a line.
    package init(of offset: Int, in bytes: [UInt8]) {
        var line = 1
        var column = 1
        for index in 0..<min(max(offset, 0), bytes.count) {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                if byte == UInt8(ascii: "\n"), index > 0, bytes[index - 1] == UInt8(ascii: "\r") { continue }
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.line = line
        self.column = column
    }

    package var description: String { "line \(line), column \(column)" }
}
