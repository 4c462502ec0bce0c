import HeadroomJSON

/// Numbers and times as providers write them. What is negative, not finite or beyond all reason is `nil`.
enum LimitValue {
    /// Some providers say "unlimited" with the largest number of their integer type: up to that of 64 bits.
    static let largestAmount = 18_446_744_073_709_551_616.0
    /// No limit renews less often than yearly.
    static let longestMilliseconds = 366.0 * 86_400_000

    /// A count: `30000`, `30,000`, `33333.33`, the first of `100, 100;w=60`, and that of `name=default,100;`. -1 and empty
    /// mean unknown.
    static func amount(_ text: String) -> Double? {
        var first = text.prefix { $0 != ";" }
        if let name = first.firstIndex(of: ","), first[..<name].contains("=") { first = first[name...].dropFirst() }
        if let grouped = withoutGrouping(first) { return amount(of: grouped) }
        return amount(of: first.prefix { $0 != "," }.trimmingSpace)
    }

    private static func amount(of text: String) -> Double? {
        guard let number = number(text), number <= largestAmount else { return nil }
        return number
    }

    /// A decimal number that is not negative. (`Double` alone would also take `nan`, `inf` and hexadecimal.)
    static func number(_ text: some StringProtocol) -> Double? {
        let isDecimal = text.utf8.allSatisfy {
            $0 &- UInt8(ascii: "0") <= 9 || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "e")
                || $0 == UInt8(ascii: "E") || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
        }
        guard isDecimal, let number = Double(text), number.isFinite, number >= 0 else { return nil }
        return number + 0  // -0 becomes 0
    }

    /// `1,234,567.8` without its commas; `nil` when the commas do not stand before groups of three digits.
    private static func withoutGrouping(_ text: Substring) -> String? {
        let groups = text.trimmingSpace.split(separator: ",", omittingEmptySubsequences: false)
        guard groups.count > 1, (1...3).contains(groups[0].utf8.count) else { return nil }
        for (index, group) in groups.enumerated() {
            let whole = index == groups.count - 1 ? group.prefix { $0 != "." } : group
            guard whole.utf8.allSatisfy({ $0 &- UInt8(ascii: "0") <= 9 }), index == 0 || whole.utf8.count == 3 else {
                return nil
            }
        }
        return groups.joined()
    }

    /// A time until something, whatever its form.
    enum Time: Equatable {
        case milliseconds(Double)
        /// A number without a unit.
        case bare(Double)
    }

    /// A Go duration, an instant (RFC 3339, HTTP date, seconds or milliseconds since 1970) or a bare number.
    ///
    /// Instants count from `now`, and one that has passed is 0; without `now` they are unknown.
    static func time(_ text: String, now: Int64?) -> Time? {
        if let number = number(text) {
            // No wait is as long as 1e9 seconds, and no instant of interest as early as 1e9 seconds after 1970.
            switch number {
            case ..<1e9: return .bare(number)
            case ..<1e11: return until(number * 1000, now: now)
            case ..<1e14: return until(number, now: now)
            default: return nil
            }
        }
        if let duration = duration(text) { return bounded(duration).map(Time.milliseconds) }
        guard let instant = RFC3339.parse(text) ?? HTTPDate.parse(text) else { return nil }
        return until(Double(instant), now: now)
    }

    /// Go's durations, which know no day, with days before them: `6m0s`, `1d2h3m`.
    static func duration(_ text: some StringProtocol) -> Double? {
        let parts = text.split(separator: "d", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let days = number(parts[0]) else { return GoDuration.parse(String(text)) }
        let rest = parts[1].isEmpty ? 0 : GoDuration.parse(String(parts[1]))
        return rest.map { days * 86_400_000 + $0 }
    }

    private static func until(_ instant: Double, now: Int64?) -> Time? {
        guard let now else { return nil }
        return bounded(max(0, instant - Double(now))).map(Time.milliseconds)
    }

    /// `nil` for a time that is negative or longer than any provider's.
    static func bounded(_ milliseconds: Double) -> Double? {
        milliseconds >= 0 && milliseconds <= longestMilliseconds ? milliseconds : nil
    }
}
