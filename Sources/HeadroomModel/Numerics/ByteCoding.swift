/// Appends values as bytes, little-endian and without padding: the encoding of what the actors put in a
/// ``Checkpoint``. It has no field names; who encodes puts a version in front and reads no other.
public struct ByteWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init() {}

    public mutating func write(_ value: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: value.littleEndian) { unsafe bytes.append(contentsOf: $0) }
    }

    /// All 64 bits, so that what is read back is the same to the last one.
    public mutating func write(_ value: Double) { write(value.bitPattern) }

    /// In half the bytes, where 7 digits are enough.
    public mutating func write(_ value: Float) { write(value.bitPattern) }

    public mutating func write(_ value: Bool) { write(UInt8(value ? 1 : 0)) }

    public mutating func write(_ value: Timestamp) { write(value.milliseconds) }

    /// Length and UTF-8. Longer text than 64 KiB is cut: no identifier is.
    public mutating func write(_ value: String) {
        let text = value.utf8.prefix(Int(UInt16.max))
        write(UInt16(text.count))
        bytes.append(contentsOf: text)
    }

    public mutating func write(_ value: Rates) {
        write(value.resources.rawValue)
        for resource in value.resources.members { write(value.perMinute[resource.rawValue]) }
    }

    public mutating func write(_ value: Work) {
        for lane in 0..<4 { write(value.amounts[lane]) }
    }

    /// Their number, and they.
    public mutating func write(bytes more: [UInt8]) {
        write(count: more.count)
        bytes.append(contentsOf: more)
    }

    /// The number of elements that follow.
    public mutating func write(count: Int) { write(UInt32(clamping: count)) }

    public mutating func write<Element>(_ elements: [Element], _ one: (inout ByteWriter, Element) -> Void) {
        write(count: elements.count)
        for element in elements { one(&self, element) }
    }

    /// Presence, then the value.
    public mutating func write<Value>(_ value: Value?, _ one: (inout ByteWriter, Value) -> Void) {
        write(value != nil)
        if let value { one(&self, value) }
    }
}

/// Reads back what a ``ByteWriter`` wrote. Damaged bytes throw; they never trap and never make it reserve memory
/// that they do not have the bytes for.
public struct ByteReader: Sendable {
    private let bytes: [UInt8]
    private var position = 0

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    public var isAtEnd: Bool { position == bytes.count }

    public mutating func read<Value: FixedWidthInteger>(
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

    public mutating func readDouble() throws(ByteCodingError) -> Double { Double(bitPattern: try read(UInt64.self)) }

    /// Not NaN, not infinite.
    public mutating func readFinite() throws(ByteCodingError) -> Double {
        let value = try readDouble()
        guard value.isFinite else { throw .outOfRange }
        return value
    }

    /// Not NaN, not infinite, not below 0: what most states are made of.
    public mutating func readAmount() throws(ByteCodingError) -> Double {
        let value = try readDouble()
        guard value.isFinite, value >= 0 else { throw .outOfRange }
        return value
    }

    public mutating func readFloat() throws(ByteCodingError) -> Float { Float(bitPattern: try read(UInt32.self)) }

    public mutating func readBool() throws(ByteCodingError) -> Bool {
        switch try read(UInt8.self) {
        case 0: return false
        case 1: return true
        default: throw .outOfRange
        }
    }

    public mutating func readTimestamp() throws(ByteCodingError) -> Timestamp {
        Timestamp(milliseconds: try read(Int64.self))
    }

    public mutating func readString() throws(ByteCodingError) -> String {
        let length = Int(try read(UInt16.self))
        guard bytes.count - position >= length else { throw .truncated }
        guard let text = String(validating: bytes[position..<position + length], as: UTF8.self) else {
            throw .outOfRange
        }
        position += length
        return text
    }

    public mutating func readIdentifier<Kind>(
        _: Identifier<Kind>.Type = Identifier<Kind>.self
    ) throws(ByteCodingError) -> Identifier<Kind> {
        guard let identifier = Identifier<Kind>(try readString()) else { throw .outOfRange }
        return identifier
    }

    /// Amounts, as ``readAmount()``.
    public mutating func readRates() throws(ByteCodingError) -> Rates {
        let resources = ResourceSet(rawValue: try read(UInt8.self))
        guard resources.rawValue < 16 else { throw .outOfRange }
        var rates = Rates()
        for resource in resources.members { rates[resource] = try readAmount() }
        return rates
    }

    /// Amounts, as ``readAmount()``.
    public mutating func readWork() throws(ByteCodingError) -> Work {
        var work = Work.zero
        for lane in 0..<4 { work.amounts[lane] = try readAmount() }
        return work
    }

    /// - Parameter leastBytes: what each element takes at least: a count that the rest of the bytes cannot hold throws.
    public mutating func readCount(leastBytes: Int = 1) throws(ByteCodingError) -> Int {
        let count = Int(try read(UInt32.self))
        guard count <= (bytes.count - position) / max(1, leastBytes) else { throw .absurdCount }
        return count
    }

    public mutating func readArray<Element>(
        leastBytes: Int = 1, _ one: (inout ByteReader) throws -> Element
    ) throws(ByteCodingError) -> [Element] {
        let count = try readCount(leastBytes: leastBytes)
        var elements: [Element] = []
        elements.reserveCapacity(count)
        do {
            for _ in 0..<count { elements.append(try one(&self)) }
        } catch {
            throw ByteCodingError(error)
        }
        return elements
    }

    public mutating func readBytes() throws(ByteCodingError) -> [UInt8] {
        let count = try readCount()
        defer { position += count }
        return Array(bytes[position..<position + count])
    }

    public mutating func readOptional<Value>(
        _ one: (inout ByteReader) throws -> Value
    ) throws(ByteCodingError) -> Value? {
        guard try readBool() else { return nil }
        do { return try one(&self) } catch { throw ByteCodingError(error) }
    }
}

/// Why bytes cannot be read back. Who restores a state starts afresh then.
public enum ByteCodingError: Error, Equatable, Sendable {
    case truncated
    /// More elements than the bytes can hold.
    case absurdCount
    /// A value that its field cannot have.
    case outOfRange
    /// Written by another version, or as something else.
    case otherVersion

    /// Swift takes a closure of several statements for one that may throw anything. Readers of bytes throw nothing else.
    fileprivate init(_ error: any Error) {
        guard let error = error as? ByteCodingError else { preconditionFailure("a reader of bytes threw \(error)") }
        self = error
    }
}
