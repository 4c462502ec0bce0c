/// The hash FNV-1a in 64 bits (Fowler, Noll and Vo): the same in every process and on every machine. Two inputs share a
/// value once in about 10^19 pairs. It tells inputs apart; it does not protect against forgery.
public struct Fingerprint: Sendable {
    public private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    public init() {}

    public mutating func add(_ byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x100_0000_01B3
    }

    public mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { add(byte) }
    }

    /// Little-endian.
    public mutating func add(_ bits: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { add(UInt8(truncatingIfNeeded: bits >> shift)) }
    }
}

extension String {
    /// ``Fingerprint`` of its UTF-8.
    public var fingerprint: UInt64 {
        var fingerprint = Fingerprint()
        fingerprint.add(utf8)
        return fingerprint.value
    }
}
