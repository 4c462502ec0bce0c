/// Durations as Go prints them and OpenAI's headers bear them: `6m0s`, `2m59.56s`, `20ms`, `1h8m26.585s`.
package enum GoDuration {
    /// Milliseconds. Units `ns`, `us`, `µs`, `ms`, `s`, `m`, `h`, each with a decimal number, in any order, as Go's
    /// `time.ParseDuration` takes them; a sign may lead; a number without a unit is refused, except for 0.
    package static func parse(_ text: String) -> Double? {
        var rest = Substring(text).utf8
        var sign = 1.0
        if let first = rest.first, first == UInt8(ascii: "-") || first == UInt8(ascii: "+") {
            sign = first == UInt8(ascii: "-") ? -1 : 1
            rest = rest.dropFirst()
        }
        if rest.elementsEqual("0".utf8) { return 0 }
        guard !rest.isEmpty else { return nil }
        var milliseconds = 0.0
        while !rest.isEmpty {
            let number = rest.prefix { isDigit($0) || $0 == UInt8(ascii: ".") }
            rest = rest.dropFirst(number.count)
            let unit = rest.prefix { !isDigit($0) && $0 != UInt8(ascii: ".") }
            rest = rest.dropFirst(unit.count)
            guard number.contains(where: isDigit), let amount = Double(Substring(number)),
                let scale = millisecondsPer(unit: String(Substring(unit)))
            else { return nil }
            milliseconds += amount * scale
        }
        return milliseconds.isFinite ? sign * milliseconds : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") <= 9 }

    private static func millisecondsPer(unit: String) -> Double? {
        switch unit {
        case "ns": 1e-6
        case "us", "\u{B5}s", "\u{3BC}s": 1e-3
        case "ms": 1
        case "s": 1000
        case "m": 60000
        case "h": 3_600_000
        default: nil
        }
    }
}
