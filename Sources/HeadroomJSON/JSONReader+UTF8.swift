extension JSONReader {
    /// The length of the well-formed UTF-8 sequence at `index` (Unicode 16, table 3-7).
    func lengthOfScalar(at index: Int) throws(JSONError) -> Int {
        let first = bytes[index]
        let length: Int
        var second: ClosedRange<UInt8> = 0x80...0xBF
        switch first {
        case 0x00...0x7F: return 1
        case 0xC2...0xDF: length = 2
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: length = 3
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        case 0xF1...0xF3: length = 4
        default: throw invalidUTF8(at: index)
        }
        guard index + length <= end, second.contains(bytes[index + 1]) else { throw invalidUTF8(at: index) }
        for place in (index + 2)..<max(index + length, index + 2) where bytes[place] & 0xC0 != 0x80 {
            throw invalidUTF8(at: index)
        }
        return length
    }

    private func invalidUTF8(at index: Int) -> JSONError {
        JSONError(.invalidUTF8, "not valid UTF-8: save the text as UTF-8", offset: index)
    }

    /// The scalar at `index`, `nil` where the bytes are not valid UTF-8.
    func scalar(at index: Int) -> Unicode.Scalar? {
        guard let length = try? lengthOfScalar(at: index) else { return nil }
        return String(decoding: bytes[index..<(index + length)], as: UTF8.self).unicodeScalars.first
    }
}
