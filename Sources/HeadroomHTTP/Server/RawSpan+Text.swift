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

    /// Compares without regard to the case of ASCII letters.
    func isEqualIgnoringCase(to text: StaticString) -> Bool {
        guard byteCount == text.utf8CodeUnitCount else { return false }
        return unsafe withUnsafeBytes { own in
            guard let bytes = own.baseAddress else { return true }
            // Both hold `byteCount` bytes.
            return unsafe strncasecmp(
                bytes.assumingMemoryBound(to: CChar.self),
                UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self), own.count) == 0
        }
    }

    /// As the names of headers are (RFC 9110 §5.6.2).
    var isToken: Bool { unsafe byteCount > 0 && withUnsafeBytes { unsafe $0.allSatisfy(\.isTokenByte) } }

    func contains(_ byte: UInt8) -> Bool { unsafe withUnsafeBytes { unsafe $0.contains(byte) } }

    var text: String {
        unsafe withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }
}

extension RawSpan {
    /// True when this value of `Accept-Encoding` accepts gzip: by name or by `*`, and not with a weight of 0.
    var acceptsGzip: Bool {
        var rest: Bool?
        for item in text.split(separator: ",") {
            let parts = item.split(separator: ";").map { $0.filter { $0 != " " }.lowercased() }
            guard let coding = parts.first else { continue }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            if coding == "gzip" || coding == "x-gzip" { return weight > 0 }
            if coding == "*" { rest = weight > 0 }
        }
        return rest ?? false
    }
}

extension UInt8 {
    fileprivate var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "\'"),
            UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
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
