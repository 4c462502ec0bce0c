/// Writes RFC 8259 text without white space; puts the commas itself.
///
/// The caller must end each object and array that it begins, and write a key before each value in an object.
package struct JSONWriter: Sendable {
    package private(set) var bytes: [UInt8] = []
    private var needsComma = false

    package init(capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func beginObject() { begin(UInt8(ascii: "{")) }
    package mutating func endObject() { end(UInt8(ascii: "}")) }
    package mutating func beginArray() { begin(UInt8(ascii: "[")) }
    package mutating func endArray() { end(UInt8(ascii: "]")) }

    /// A key out of printable ASCII without quote and backslash, as all of ours are: it is copied as it stands.
    package mutating func key(_ key: StaticString) {
        comma()
        bytes.append(UInt8(ascii: "\""))
        append(key)
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Any key. Disfavored, so that a literal takes the cheaper one.
    @_disfavoredOverload
    package mutating func key(_ key: String) {
        comma()
        quote(key)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func string(_ string: String) {
        value()
        quote(string)
    }

    package mutating func integer(_ integer: some FixedWidthInteger) {
        value()
        let isNegative = integer < 0
        if isNegative { bytes.append(UInt8(ascii: "-")) }
        appendDigits(UInt64(integer.magnitude))
    }

    /// The shortest text that reads back as the same `Double`; whole numbers without a fraction. Must be finite.
    package mutating func number(_ number: Double) {
        precondition(number.isFinite, "JSON has no NaN and no infinities")
        value()
        appendShortest(number)
    }

    package mutating func bool(_ bool: Bool) {
        value()
        append(bool ? "true" : "false")
    }

    package mutating func null() {
        value()
        append("null")
    }

    /// A value that is encoded already.
    package mutating func raw(_ encoded: [UInt8]) {
        value()
        bytes.append(contentsOf: encoded)
    }

    /// Ends a line of NDJSON; the next value starts anew.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    package mutating func removeAll(keepingCapacity: Bool = false) {
        bytes.removeAll(keepingCapacity: keepingCapacity)
        needsComma = false
    }

    private mutating func begin(_ bracket: UInt8) {
        comma()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func comma() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
    }

    private mutating func value() {
        comma()
        needsComma = true
    }
}

extension JSONWriter {
    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    }

    private mutating func quote(_ string: String) {
        bytes.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { text in
            let needsEscape = unsafe text.contains { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
            guard needsEscape else {
                unsafe bytes.append(contentsOf: text)
                return
            }
            for index in text.indices { unsafe appendEscaped(text[index]) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x08: append("\\b")
        case 0x0C: append("\\f")
        case 0x0A: append("\\n")
        case 0x0D: append("\\r")
        case 0x09: append("\\t")
        case 0x00..<0x20:
            append("\\u00")
            for digit in [byte >> 4, byte & 0xF] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        default: bytes.append(byte)
        }
    }

    private mutating func appendShortest(_ number: Double) {
        if number == 0 {
            append(number.sign == .minus ? "-0" : "0")
            return
        }
        let magnitude = number.magnitude
        // At most 15 digits always read back as themselves, so the first scale that makes a whole number is the
        // shortest text; both operands of the check are exact. This spares nearly all of our numbers the way through
        // `String`.
        var scale = 1.0
        for decimals in 0...6 {
            guard magnitude * scale < 1e15 else { break }
            let digits = UInt64(magnitude * scale + 0.5)
            if Double(digits) / scale == magnitude {
                if number < 0 { bytes.append(UInt8(ascii: "-")) }
                let (whole, fraction) = digits.quotientAndRemainder(dividingBy: UInt64(scale))
                appendDigits(whole)
                guard decimals > 0 else { return }
                bytes.append(UInt8(ascii: "."))
                appendDigits(fraction, atLeast: decimals)
                return
            }
            scale *= 10
        }
        var text = number.description
        if text.hasSuffix(".0") { text.removeLast(2) }
        bytes.append(contentsOf: text.utf8)
    }

    /// `value` in decimal, with leading zeros up to `least` digits.
    private mutating func appendDigits(_ value: UInt64, atLeast least: Int = 1) {
        // From the last digit to the first; 2^64 has 20 of them.
        var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
        var start = digits.count
        var rest = value
        while rest > 0 || digits.count - start < least {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        for index in start..<digits.count { bytes.append(digits[index]) }
    }

    /// An instant as a string, in UTC with milliseconds.
    package mutating func timestamp(milliseconds: Int64) {
        value()
        bytes.append(UInt8(ascii: "\""))
        RFC3339.append(milliseconds: milliseconds, to: &bytes)
        bytes.append(UInt8(ascii: "\""))
    }
}
