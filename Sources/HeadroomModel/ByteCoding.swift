/// Appends values as bytes, little-endian and without padding: the encoding of what the actors put in a
/// ``Checkpoint``. It has no field names; who encodes puts a version in front and reads no other.
package struct ByteWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func write(_ value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// All 64 bits, so that what is read back is the same to the last one.
    package mutating func write(_ value: Double) { write(value.bitPattern) }

    /// In half the bytes, where 7 digits are enough.
    package mutating func write(_ value: Float) { write(value.bitPattern) }

    package mutating func write(_ value: Bool) { write(UInt8(value ? 1 : 0)) }

    package mutating func write(_ value: Timestamp) { write(value.milliseconds) }

    /// Length and UTF-8. Longer text than 64 KiB is cut: no identifier is.
    package mutating func write(_ value: String) {
        let text = value.utf8.prefix(Int(UInt16.max))
        write(UInt16(text.count))
        bytes.append(contentsOf: text)
    }

    package mutating func write(_ value: Rates) {
        write(value.resources.rawValue)
        for resource in value.resources.members { write(value.perMinute[resource.rawValue]) }
    }

    package mutating func write(_ value: Work) {
        for lane in 0..<4 { write(value.amounts[lane]) }
    }

    /// Their number, and they.
    package mutating func write(bytes more: [UInt8]) {
        write(count: more.count)
        bytes.append(contentsOf: more)
    }

    /// The number of elements that follow.
    package mutating func write(count: Int) { write(UInt32(clamping: count)) }

    package mutating func write<Element>(_ elements: [Element], _ one: (inout ByteWriter, Element) -> Void) {
        write(count: elements.count)
        for element in elements { one(&self, element) }
    }

    /// Presence, then the value.
    package mutating func write<Value>(_ value: Value?, _ one: (inout ByteWriter, Value) -> Void) {
        write(value != nil)
        if let value { one(&self, value) }
    }
}

/// Reads back what a ``ByteWriter`` wrote. Damaged bytes throw; they never trap and never make it reserve memory
/// that they do not have the bytes for.
package struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var isAtEnd: Bool { position == bytes.count }

    package mutating func read<Value: FixedWidthInteger>(
        _: Value.Type = Value.self
    ) throws(ByteCodingError) -> Value {
        let width = Value.bitWidth / 8
        guard bytes.count - position >= width else { throw .truncated }
        var value: Value = 0
        for index in 0..<width {
            value |= Value(truncatingIfNeeded: bytes[position + index]) << (8 * index)
        }
        position += width
        return value
    }

    package mutating func readDouble() throws(ByteCodingError) -> Double { Double(bitPattern: try read(UInt64.self)) }

    /// Not NaN, not infinite, not below 0: what most states are made of.
    package mutating func readAmount() throws(ByteCodingError) -> Double {
        let value = try readDouble()
        guard value.isFinite, value >= 0 else { throw .outOfRange }
        return value
    }

    package mutating func readFloat() throws(ByteCodingError) -> Float { Float(bitPattern: try read(UInt32.self)) }

    package mutating func readBool() throws(ByteCodingError) -> Bool {
        switch try read(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw .outOfRange
        }
    }

    package mutating func readTimestamp() throws(ByteCodingError) -> Timestamp {
        Timestamp(milliseconds: try read(Int64.self))
    }

    package mutating func readString() throws(ByteCodingError) -> String {
        let length = Int(try read(UInt16.self))
        guard bytes.count - position >= length else { throw .truncated }
        guard let text = String(validating: bytes[position..<position + length], as: UTF8.self) else {
            throw .outOfRange
        }
        position += length
        return text
    }

    package mutating func readIdentifier<Kind>(
        _: Identifier<Kind>.Type = Identifier<Kind>.self
    ) throws(ByteCodingError) -> Identifier<Kind> {
        guard let identifier = Identifier<Kind>(try readString()) else { throw .outOfRange }
        return identifier
    }

    /// Amounts, as ``readAmount()``.
    package mutating func readRates() throws(ByteCodingError) -> Rates {
        let resources = ResourceSet(rawValue: try read(UInt8.self))
        guard resources.rawValue < 16 else { throw .outOfRange }
        var rates = Rates()
        for resource in resources.members { rates[resource] = try readAmount() }
        return rates
    }

    /// Amounts, as ``readAmount()``.
    package mutating func readWork() throws(ByteCodingError) -> Work {
        var work = Work.zero
        for lane in 0..<4 { work.amounts[lane] = try readAmount() }
        return work
    }

    /// - Parameter leastBytes: what each element takes at least: a count that the rest of the bytes cannot hold throws.
    package mutating func readCount(leastBytes: Int = 1) throws(ByteCodingError) -> Int {
        let count = Int(try read(UInt32.self))
        guard count <= (bytes.count - position) / max(1, leastBytes) else { throw .absurdCount }
        return count
    }

    package mutating func readArray<Element>(
        leastBytes: Int = 1, _ one: (inout ByteReader) throws(ByteCodingError) -> Element
    ) throws(ByteCodingError) -> [Element] {
        let count = try readCount(leastBytes: leastBytes)
        var elements: [Element] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try one(&self)) }
        return elements
    }

    package mutating func readBytes() throws(ByteCodingError) -> [UInt8] {
        let count = try readCount()
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    package mutating func readOptional<Value>(
        _ one: (inout ByteReader) throws(ByteCodingError) -> Value
    ) throws(ByteCodingError) -> Value? {
        try readBool() ? try one(&self) : nil
    }
}

/// Why bytes cannot be read back. Who restores a state starts afresh then.
package enum ByteCodingError: Error, Equatable, Sendable {
    case truncated
    /// More elements than the bytes can hold.
    case absurdCount
    /// A value that its field cannot have.
    case outOfRange
    /// Written by another version, or as something else.
    case otherVersion
}
