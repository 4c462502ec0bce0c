/// A number as it was written: ± significand × 10^exponent.
struct JSONNumber {
    var isNegative = false
    var significand: UInt64 = 0
    /// Kept within ± 1,000,000: beyond that every `Double` is zero or infinite.
    var exponent = 0
    /// The significand holds every digit.
    var isExact = true
    /// Bytes in the document.
    var count = 0

    /// - Parameter offset: where the number stands, for the error.
    func int64(offset: Int) throws(JSONError) -> Int64 {
        var magnitude = significand
        var exponent = magnitude == 0 && isExact ? 0 : exponent
        while exponent < 0, magnitude % 10 == 0 {
            magnitude /= 10
            exponent += 1
        }
        guard exponent >= 0 else { throw JSONError(.notInteger, "expected a whole number", offset: offset) }
        var overflow = !isExact
        while exponent > 0, !overflow {
            (magnitude, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            exponent -= 1
        }
        guard !overflow, magnitude <= UInt64(Int64.max) + (isNegative ? 1 : 0) else {
            throw JSONError(.outOfRange, "too large: a whole number has at most 64 bits", offset: offset)
        }
        return isNegative ? Int64(truncatingIfNeeded: 0 &- magnitude) : Int64(magnitude)
    }
}

extension JSONReader {
    /// Reads past a number and takes its digits along.
    mutating func scanNumber() throws(JSONError) -> JSONNumber {
        let start = offset
        var number = JSONNumber()
        if bytes[offset] == UInt8(ascii: "-") || bytes[offset] == UInt8(ascii: "+") {
            number.isNegative = bytes[offset] == UInt8(ascii: "-")
            offset += 1
        }
        if dialect == .json5, try scanHexadecimal(into: &number) {
            number.count = offset - start
            return number
        }
        let wholeDigits = try scanDigits(into: &number, areFraction: false)
        if wholeDigits > 1, bytes[offset - wholeDigits] == UInt8(ascii: "0") {
            throw JSONError(.invalidNumber, "a number must not start with 0", offset: offset - wholeDigits)
        }
        var fractionDigits = 0
        let hasPoint = offset < end && bytes[offset] == UInt8(ascii: ".")
        if hasPoint {
            offset += 1
            fractionDigits = try scanDigits(into: &number, areFraction: true)
        }
        let isComplete =
            dialect == .json5
            ? wholeDigits + fractionDigits > 0 : wholeDigits > 0 && (!hasPoint || fractionDigits > 0)
        guard isComplete else { throw incompleteNumber() }
        if offset < end, bytes[offset] | 0x20 == UInt8(ascii: "e") { try scanExponent(into: &number) }
        number.count = offset - start
        return number
    }

    /// The nearest `Double` to `number`, which starts at `start`.
    func double(of number: JSONNumber, at start: Int) throws(JSONError) -> Double {
        // Both operands exact, so one rounding: the nearest (Clinger 1990, "fast path").
        if number.isExact, number.significand <= 1 << 53, abs(number.exponent) < JSONReader.powersOfTen.count {
            let magnitude =
                number.exponent < 0
                ? Double(number.significand) / JSONReader.powersOfTen[-number.exponent]
                : Double(number.significand) * JSONReader.powersOfTen[number.exponent]
            return number.isNegative ? -magnitude : magnitude
        }
        var text = String(decoding: bytes[start..<(start + number.count)], as: UTF8.self)[...]
        if text.first == "+" { text.removeFirst() }
        // Hexadecimal holds at most 64 bits, in the significand; decimal goes through the standard library.
        let value = number.isExact && number.exponent == 0 ? nil : Double(text)
        let result = value ?? (number.isNegative ? -Double(number.significand) : Double(number.significand))
        guard result.isFinite else {
            throw JSONError(.notFinite, "too large: a number is at most 1.7976931348623157e308", offset: start)
        }
        return result
    }

    /// 10^0 to 10^22: those that a `Double` holds exactly.
    private static let powersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// Reads decimal digits; how many there were.
    private mutating func scanDigits(into number: inout JSONNumber, areFraction: Bool) throws(JSONError) -> Int {
        let start = offset
        while offset < end {
            let digit = bytes[offset] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            offset += 1
            // 10^18 × 10 + 9 still fits; beyond it only the scale is kept.
            if number.significand < 1_000_000_000_000_000_000 {
                number.significand = number.significand * 10 + UInt64(digit)
                if areFraction { number.exponent -= 1 }
            } else {
                if digit != 0 { number.isExact = false }
                if !areFraction { number.exponent += 1 }
            }
        }
        number.exponent = min(max(number.exponent, -1_000_000), 1_000_000)
        return offset - start
    }

    private mutating func scanExponent(into number: inout JSONNumber) throws(JSONError) {
        offset += 1
        var isNegative = false
        if offset < end, bytes[offset] == UInt8(ascii: "-") || bytes[offset] == UInt8(ascii: "+") {
            isNegative = bytes[offset] == UInt8(ascii: "-")
            offset += 1
        }
        let start = offset
        var exponent = 0
        while offset < end {
            let digit = bytes[offset] &- UInt8(ascii: "0")
            guard digit <= 9 else { break }
            exponent = min(exponent * 10 + Int(digit), 1_000_000)
            offset += 1
        }
        guard offset > start else { throw incompleteNumber() }
        number.exponent += isNegative ? -exponent : exponent
        number.exponent = min(max(number.exponent, -1_000_000), 1_000_000)
    }

    private mutating func scanHexadecimal(into number: inout JSONNumber) throws(JSONError) -> Bool {
        guard offset + 1 < end, bytes[offset] == UInt8(ascii: "0"), bytes[offset + 1] | 0x20 == UInt8(ascii: "x")
        else { return false }
        offset += 2
        let start = offset
        while offset < end, let digit = JSONReader.hexadecimalDigit(bytes[offset]) {
            guard number.significand >> 60 == 0 else {
                throw JSONError(.outOfRange, "too large: a hexadecimal number has at most 64 bits", offset: start - 2)
            }
            number.significand = number.significand << 4 | UInt64(digit)
            offset += 1
        }
        guard offset > start else { throw incompleteNumber() }
        return true
    }

    private func incompleteNumber() -> JSONError {
        let isInfinity = offset < end && (bytes[offset] == UInt8(ascii: "I") || bytes[offset] == UInt8(ascii: "N"))
        if isInfinity {
            return JSONError(.notFinite, "NaN and Infinity are not allowed: write a finite number", offset: offset)
        }
        return JSONError(.invalidNumber, "expected a digit", offset: offset)
    }
}
