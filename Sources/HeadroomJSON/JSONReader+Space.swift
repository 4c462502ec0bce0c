extension JSONReader {
    /// Moves to the next byte that is neither white space nor, in JSON5, part of a comment.
    @inline(__always)
    mutating func skipSpace() throws(JSONError) {
        // Machines write no white space, so mostly there is nothing to do.
        if dialect == .rfc8259, offset < end, bytes[offset] > 0x20 { return }
        try skipSpaceSlowly()
    }

    @inline(never)
    private mutating func skipSpaceSlowly() throws(JSONError) {
        while offset < end {
            let byte = bytes[offset]
            if byte > 0x20 {
                guard dialect == .json5, try skipUncommonSpace(byte) else { return }
            } else {
                switch byte {
                case 0x20, 0x09, 0x0A, 0x0D: offset += 1
                case 0x0B where dialect == .json5, 0x0C where dialect == .json5: offset += 1
                default: return
                }
            }
        }
    }

    /// JSON5 only: a comment, or a white-space character outside ASCII. `false` when there is neither.
    private mutating func skipUncommonSpace(_ byte: UInt8) throws(JSONError) -> Bool {
        if byte == UInt8(ascii: "/") { return try skipComment() }
        guard byte >= 0x80, let scalar = scalar(at: offset) else { return false }
        let isSpace =
            scalar.value == 0xFEFF || scalar.value == 0x2028 || scalar.value == 0x2029
            || scalar.properties.generalCategory == .spaceSeparator
        if isSpace { offset += scalar.utf8.count }
        return isSpace
    }

    private mutating func skipComment() throws(JSONError) -> Bool {
        let start = offset
        guard offset + 1 < end else { return false }
        switch bytes[offset + 1] {
        case UInt8(ascii: "/"):
            offset += 2
            while offset < end, !isLineEnd(at: offset) { try skipCommentByte() }
            return true
        case UInt8(ascii: "*"):
            offset += 2
            while offset + 1 < end {
                if bytes[offset] == UInt8(ascii: "*"), bytes[offset + 1] == UInt8(ascii: "/") {
                    offset += 2
                    return true
                }
                try skipCommentByte()
            }
            throw JSONError(.unexpectedEnd, "the comment is not closed with '*/'", offset: start)
        default: return false
        }
    }

    private mutating func skipCommentByte() throws(JSONError) {
        offset += bytes[offset] < 0x80 ? 1 : try lengthOfScalar(at: offset)
    }

    private func isLineEnd(at index: Int) -> Bool {
        switch bytes[index] {
        case 0x0A, 0x0D: true
        case 0xE2: index + 2 < end && bytes[index + 1] == 0x80 && bytes[index + 2] & 0xFE == 0xA8
        default: false
        }
    }
}
