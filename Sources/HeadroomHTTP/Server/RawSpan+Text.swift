import Glibc

extension RawSpan {
    /// Bytewise.
    func isEqual(to bytes: [UInt8]) -> Bool {
        guard byteCount == bytes.count else { return false }
        return unsafe withUnsafeBytes { own in
            unsafe bytes.withUnsafeBytes { other in
                guard let left = own.baseAddress, let right = other.baseAddress else { return true }
                // Both hold `byteCount` bytes.
                return unsafe memcmp(left, right, own.count) == 0
            }
        }
    }

    var text: String {
        unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension Int {
    /// Digits and nothing else; `nil` also for a number that does not fit.
    init?(decimal span: RawSpan) {
        let text = span.text
        guard !text.isEmpty, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        self.init(text)
    }
}
