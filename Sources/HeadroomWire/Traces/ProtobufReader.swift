/// Reads the fields of one protobuf message, in the order in which they were sent (the encoding of proto3).
///
/// A nested message, a string and bytes are all a range of the whole body: the caller, who knows the schema, opens it
/// with a reader of its own. Nothing is copied, and a body can nest no deeper than the caller follows it.
struct ProtobufReader {
    enum Value: Equatable {
        case varint(UInt64)
        case fixed64(UInt64)
        case fixed32(UInt32)
        /// A string, bytes, a message or packed numbers.
        case range(Range<Int>)
    }

    struct Field: Equatable {
        let number: Int
        let value: Value
    }

    private let bytes: [UInt8]
    private var offset: Int
    private let end: Int

    /// A message that takes up `range` of `bytes`, all of them by default.
    init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
        precondition(range.map { $0.lowerBound >= 0 && $0.upperBound <= bytes.count } ?? true)
        self.bytes = bytes
        offset = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// The next field, or `nil` at the end of the message.
    mutating func next() throws(WireError) -> Field? {
        guard offset < end else { return nil }
        let tag = try varint()
        guard let number = Int(exactly: tag >> 3), number > 0, number < 1 << 29 else {
            throw fault("a field has no valid number")
        }
        let value: Value =
            switch tag & 7 {
            case 0: .varint(try varint())
            case 1: .fixed64(try fixed(8))
            case 2: .range(try range())
            case 5: .fixed32(UInt32(truncatingIfNeeded: try fixed(4)))
            default: throw fault("field \(number) has the wire type \(tag & 7), which proto3 does not have")
            }
        return Field(number: number, value: value)
    }

    /// Text that is not UTF-8 is mended, not refused: names are checked where they are used.
    func string(_ range: Range<Int>, maxBytes: Int) -> String {
        String(decoding: bytes[range.lowerBound..<min(range.upperBound, range.lowerBound + maxBytes)], as: UTF8.self)
    }

    /// The bytes of an id in hexadecimal; `nil` where there are none, or more than any id has.
    func hexadecimal(_ range: Range<Int>) -> String? {
        guard (1...32).contains(range.count) else { return nil }
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: bytes[range].flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private mutating func varint() throws(WireError) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while offset < end {
            let byte = bytes[offset]
            offset += 1
            // The tenth byte holds the 64th bit and nothing else.
            guard shift < 63 || byte <= 1 else { throw fault("a number has more than 64 bits") }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
        throw fault("the message ends inside a number")
    }

    private mutating func fixed(_ count: Int) throws(WireError) -> UInt64 {
        guard end - offset >= count else { throw fault("the message ends inside a number") }
        defer { offset += count }
        return bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func range() throws(WireError) -> Range<Int> {
        let count = try varint()
        guard count <= UInt64(end - offset) else { throw fault("a field is longer than its message") }
        defer { offset += Int(count) }
        return offset..<offset + Int(count)
    }

    private func fault(_ sentence: String) -> WireError {
        WireError(.unreadable, "not valid protobuf: \(sentence) (byte \(offset))")
    }
}
