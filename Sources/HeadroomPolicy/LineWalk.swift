/// Offsets → lines and columns, all in one pass over the text.
enum LineWalk {
    /// - Parameter offsets: ascending, in bytes.
    /// - Returns: as ``JSONPosition`` counts them.
    static func positions(of offsets: [Int], in bytes: [UInt8]) -> [(line: Int, column: Int)] {
        var result: [(line: Int, column: Int)] = []
        result.reserveCapacity(offsets.count)
        var line = 1
        var column = 1
        var index = 0
        for offset in offsets {
            while index < min(offset, bytes.count) {
                let byte = bytes[index]
                index += 1
                if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                    let endsCRLF = byte == UInt8(ascii: "\n") && index > 1 && bytes[index - 2] == UInt8(ascii: "\r")
                    if endsCRLF { continue }
                    line += 1
                    column = 1
                } else if byte & 0xC0 != 0x80 {
                    column += 1
                }
            }
            result.append((line, column))
        }
        return result
    }
}
