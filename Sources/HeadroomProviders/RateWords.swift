import HeadroomModel

/// The words for windows and rates that header names, quota names and messages have in common.
enum RateWords {
    /// `minute`, `60s`, `57min`: how many seconds that is.
    static func seconds(_ word: some StringProtocol) -> Double? { unit(word) ?? counted(word) }

    static func unit(_ word: some StringProtocol) -> Double? {
        switch word {
        case "second", "seconds", "sec", "secs", "s": 1
        case "minute", "minutes", "min", "mins": 60
        case "hour", "hours", "hourly", "hr", "hrs": 3600
        case "day", "days", "daily": 86400
        case "week", "weeks", "weekly": 604_800
        case "month", "months", "monthly": 2_592_000
        default: nil
        }
    }

    /// A number with its unit in one word: `60s`, `1h`, `1d`, `57min`.
    static func counted(_ word: some StringProtocol) -> Double? {
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        let name = word.dropFirst(digits.count)
        return seconds(digits, name == "m" ? "min" : name == "h" ? "hr" : name == "d" ? "day" : String(name))
    }

    /// `10`, `minutes`. No limit renews less often than yearly.
    static func seconds(_ count: some StringProtocol, _ unit: some StringProtocol) -> Double? {
        guard let count = LimitValue.number(count), let unit = self.unit(unit) else { return nil }
        let seconds = count * unit
        return (1...31_622_400).contains(seconds) ? seconds : nil
    }

    /// `per minute`, `/ min`, `per 10 seconds`, `within a 10 second period`, `every hour` from a word on, and where it ends.
    static func window(at index: Int, in words: [String]) -> (seconds: Double, end: Int)? {
        guard index < words.count, ["per", "/", "within", "every", "each"].contains(words[index]) else { return nil }
        let start = words[(index + 1)...].firstIndex { !["a", "an", "any", "the"].contains($0) } ?? words.endIndex
        guard start < words.count else { return nil }
        if let seconds = seconds(words[start]) { return (seconds, start + 1) }
        guard start + 1 < words.count else { return nil }
        return seconds(words[start], words[start + 1]).map { ($0, start + 2) }
    }

    /// `rpm`, `tpd`, `itpm` and the like.
    static func abbreviated(_ word: some StringProtocol) -> (resource: Resource, windowSeconds: Double)? {
        let windows: [(Character, Double)] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86400)]
        guard let window = windows.first(where: { $0.0 == word.last }) else { return nil }
        switch word.dropLast() {
        case "rp": return (.requests, window.1)
        case "tp": return (.tokens, window.1)
        case "itp": return (.inputTokens, window.1)
        case "otp": return (.outputTokens, window.1)
        default: return nil
        }
    }
}
