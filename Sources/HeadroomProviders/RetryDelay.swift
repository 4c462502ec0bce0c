/// How long a response asks to wait: `retry-after-ms` before `retry-after`, both before the body's machine fields
/// (`google.rpc.RetryInfo`), those before its prose ("Please try again in 11m7.872s").
enum RetryDelay {
    /// Without a report (a success) only headers count.
    static func milliseconds(headers: HeaderFields, report: ErrorReport?) -> Double? {
        let exact = first(of: ["retry-after-ms", "x-ms-retry-after-ms", "x-retry-after-ms"], in: headers) {
            LimitValue.number($0).flatMap(LimitValue.bounded)
        }
        let stated =
            exact
            ?? first(of: ["retry-after", "x-retry-after", "x-ratelimit-retry-after"], in: headers) {
                time($0, now: headers.date)
            }
        if let stated { return stated }
        guard let report else { return nil }
        return inFields(report.fields, now: headers.date) ?? inProse(report.prose, now: headers.date)
    }

    /// The wait in the first of these headers that can be read.
    private static func first(
        of names: [String], in headers: HeaderFields, read: (String) -> Double?
    ) -> Double? {
        for name in names {
            for field in headers.fields where field.name == name {
                if let value = read(field.value) { return value }
            }
        }
        return nil
    }

    private static func time(_ text: String, now: Int64?) -> Double? {
        switch LimitValue.time(text, now: now) {
        case .milliseconds(let milliseconds): milliseconds
        case .bare(let seconds): LimitValue.bounded(seconds * 1000)
        case nil: nil
        }
    }

    private static func inFields(_ fields: BodyFields, now: Int64?) -> Double? {
        let times = fields.fields.compactMap { field -> (isInstant: Bool, milliseconds: Double)? in
            guard let name = WaitName(field), let value = name.milliseconds(field.text, now: now) else { return nil }
            return (name.isInstant, value)
        }
        // A duration needs no clock.
        return times.first { !$0.isInstant }?.milliseconds ?? times.first?.milliseconds
    }

    /// "Please try again in 11m7.872s", "will be replenished in 07:01:20", "resets in ~5s", "wait 90 seconds", "have been
    /// timed out for 60 seconds", "try after 2024-07-22T06:23:37Z".
    private static func inProse(_ prose: Prose, now: Int64?) -> Double? {
        let words = prose.words
        for index in words.indices {
            let before = index > 0 ? words[index - 1] : ""
            let isAnnounced =
                words[index] == "wait" || returns.contains(before) && ["in", "after"].contains(words[index])
                || stops.contains(before) && words[index] == "for"
            if isAnnounced, let value = duration(at: index + 1, in: words) { return value }
            let isUntil = ["after", "at", "on", "until"].contains(words[index])
            if isUntil, let value = instant(at: index + 1, in: words, now: now) { return value }
        }
        return nil
    }

    /// `2024-07-22T06:23:37.255Z`, `2025-07-01 12:00:00 UTC`: without a zone it is no instant.
    private static func instant(at index: Int, in words: [String], now: Int64?) -> Double? {
        guard words.indices.contains(index), words[index].utf8.count >= 10 else { return nil }
        let next = words[(index + 1)...].prefix(2)
        let isUTC = ["utc", "gmt", "z"].contains(next.last)
        let text = isUTC && next.count == 2 ? "\(words[index])T\(next[index + 1])Z" : words[index].uppercased()
        guard text.contains("T"), case .milliseconds(let wait)? = LimitValue.time(text, now: now) else { return nil }
        return wait
    }

    private static let returns: Set<String> = [
        "again", "retry", "retrying", "reset", "resets", "replenished", "refreshed", "refreshes", "renewed", "renews",
        "restored", "available",
    ]
    private static let stops: Set<String> = ["wait", "out", "blocked", "limited", "paused", "suspended"]

    /// `11m7.872s`, `20s`, `2 seconds`, `4hr 57min`, `1 hour and 5 minutes`, `20.09:58:55` (days, then the time).
    private static func duration(at start: Int, in words: [String]) -> Double? {
        var rest = words[min(start, words.count)...]
        var sum: Double?
        while let word = rest.popFirst() {
            if let time = LimitValue.duration(word) ?? timeSpan(word) ?? RateWords.counted(word).map({ $0 * 1000 }) {
                sum = (sum ?? 0) + time
            } else if let number = LimitValue.number(word), let unit = rest.first.flatMap(milliseconds(ofUnit:)) {
                sum = (sum ?? 0) + number * unit
                rest.removeFirst()
            } else if word != "and" || sum == nil {
                break
            }
        }
        return sum.flatMap(LimitValue.bounded)
    }

    private static func milliseconds(ofUnit word: String) -> Double? {
        if ["ms", "milliseconds", "millisecond"].contains(word) { return 1 }
        return RateWords.unit(word).map { $0 * 1000 }
    }

    /// .NET's `[d.]hh:mm:ss`, in milliseconds.
    private static func timeSpan(_ word: String) -> Double? {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let last = parts.last, let minutes = LimitValue.number(parts[1]),
            let seconds = LimitValue.number(last)
        else { return nil }
        let lead = parts[0].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(LimitValue.number)
        guard let hours = lead[lead.count - 1], let days = lead.count == 2 ? lead[0] : 0 else { return nil }
        return (days * 86400 + hours * 3600 + minutes * 60 + seconds) * 1000
    }
}
