/// Numbers as people read and write them.
package enum GroupedNumber {
    /// Rounded to whole numbers, thousands apart: `1,800,000`.
    package static func whole(_ value: Double) -> String {
        guard value.magnitude < 1e15 else { return "\(value)" }
        let digits = String(Int64(value.rounded()).magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return value < 0 && text != "0" ? "-" + text : text
    }

    /// Without separators, and without a fraction where there is none: `0.25`, `7776000`.
    package static func plain(_ value: Double) -> String {
        value.magnitude < 1e15 && value == value.rounded() ? "\(Int64(value))" : "\(value)"
    }

    /// A part of 1: `8 %`, `0.4 %`, `under 0.1 %`.
    package static func percent(_ share: Double) -> String {
        let percent = share * 100
        if percent > 0, percent < 0.1 { return "under 0.1 %" }
        if percent < 10, percent != percent.rounded() {
            return "\(plain((percent * 10).rounded() / 10)) %"
        }
        return "\(plain(percent.rounded())) %"
    }

    /// In the unit that a person would take: `40 s`, `12 min`, `5 h`, `3 days`.
    package static func duration(seconds: Double) -> String {
        let seconds = max(0, seconds)
        if seconds < 120 { return "\(Int(seconds.rounded())) s" }
        if seconds < 7200 { return "\(Int((seconds / 60).rounded())) min" }
        if seconds < 172_800 { return "\(Int((seconds / 3600).rounded())) h" }
        return "\(Int(min(seconds / 86_400, 1e9).rounded())) days"
    }
}
