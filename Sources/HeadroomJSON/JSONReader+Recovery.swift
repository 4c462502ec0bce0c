// For readers that go on after an error, to name all that is wrong with a document in one round. What they do with an
// error is theirs to choose; each call here moves on or says where a reader may go on.
extension JSONReader {
    /// A comma must come before the next key or element.
    package var isCommaDue: Bool { needsComma }

    /// The byte at which the reader stands; `nil` at the end.
    package var nextByte: UInt8? { offset < end ? bytes[offset] : nil }

    /// Goes on as if the comma that is missing stood there.
    package mutating func assumeComma() { needsComma = false }

    /// Goes on behind a container that was never closed, or was closed by the wrong bracket.
    ///
    /// - Parameter consumesBracket: the bracket at which the reader stands is the container's own.
    package mutating func leaveContainer(consumesBracket: Bool) {
        if consumesBracket { offset += 1 }
        depth -= 1
        needsComma = true
    }

    /// Passes over what is no value, to the comma, the closing bracket or the end of the line behind it. What stands in
    /// brackets is passed over whole.
    ///
    /// - Parameter start: where to begin; the reader never moves back.
    package mutating func passOver(from start: Int) {
        offset = max(offset, min(start, end))
        var nesting = 0
        while offset < end {
            switch bytes[offset] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): nesting += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if nesting == 0 { return goOn() }
                nesting -= 1
            case UInt8(ascii: ","), UInt8(ascii: "\n"):
                if nesting == 0 { return goOn() }
            case UInt8(ascii: "/"):
                // A comment is the grammar's own.
                if nesting == 0, offset + 1 < end, bytes[offset + 1] == UInt8(ascii: "/") { return goOn() }
            default: break
            }
            offset += 1
        }
        goOn()
    }

    private mutating func goOn() { needsComma = true }
}
