/// Lines of JSON, each a document of its own.
package enum NDJSON {
    /// Where the line that begins at `start` ends: the offset of its line feed, or the end of the bytes.
    package static func endOfLine(from start: Int, in bytes: [UInt8]) -> Int {
        let ones: UInt64 = 0x0101_0101_0101_0101
        // `unsafe`: the raw view of a type might show padding; a byte has none.
        let raw = unsafe bytes.span.bytes
        var index = start
        while bytes.count - index >= 8 {
            // `unsafe`: eight bytes remain, as just checked, and any bit pattern is an integer.
            let word = UInt64(littleEndian: unsafe raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
            let noFeed = word ^ (ones &* 0x0A)
            let hits = (noFeed &- ones) & ~noFeed & (ones << 7)
            if hits != 0 { return index + hits.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count, bytes[index] != 0x0A { index += 1 }
        return index
    }
}
