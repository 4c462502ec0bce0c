import HeadroomJSON
import HeadroomModel

/// The words for windows and rates that header names, quota names and messages have in common.
enum RateWords {
    /// `minute`, `min`, `60s`, `1h`, `5m`, `1d`: how many seconds that is.
    static func seconds(_ word: some StringProtocol) -> Double? {
        switch word {
        case "second", "seconds", "sec", "s": return 1
        case "minute", "minutes", "min", "mins": return 60
        case "hour", "hours", "hourly", "hr": return 3600
        case "day", "days", "daily": return 86400
        case "week", "weeks", "weekly": return 604_800
        case "month", "months", "monthly": return 2_592_000
        default: break
        }
        let digits = word.prefix { $0.isASCII && $0.isNumber }
        guard let count = LimitValue.number(digits), (1...10000).contains(count) else { return nil }
        switch word.dropFirst(digits.count) {
        case "s", "sec": return count
        case "m", "min": return count * 60
        case "h": return count * 3600
        case "d": return count * 86400
        default: return nil
        }
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
