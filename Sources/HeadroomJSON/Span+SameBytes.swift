extension Span<UInt8> {
    /// Whether both hold the same bytes; they must be of one length.
    @inline(__always)
    func hasSameBytes(as other: Span<UInt8>) -> Bool {
        // `unsafe`: the raw view of a type might show padding; a byte has none.
        let left = unsafe bytes
        let right = unsafe other.bytes
        var index = 0
        while count - index >= 8 {
            // `unsafe`: eight bytes remain in both, and any bit pattern is an integer.
            let mine = unsafe left.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            let others = unsafe right.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
            if mine != others { return false }
            index += 8
        }
        while index < count {
            if self[index] != other[index] { return false }
            index += 1
        }
        return true
    }
}
