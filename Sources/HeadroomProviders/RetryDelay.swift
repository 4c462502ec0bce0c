import HeadroomJSON

/// How long a response asks to wait: `retry-after-ms` before `retry-after`, both before the body's machine fields
/// (`google.rpc.RetryInfo`), those before its prose ("Please try again in 11m7.872s").
enum RetryDelay {
    /// Without a report (a success) only headers count.
    static func milliseconds(headers: HeaderFields, report: ErrorReport?) -> Double? {
        for name in ["retry-after-ms", "x-ms-retry-after-ms", "x-retry-after-ms"] {
            if let value = headers[name].flatMap(LimitValue.number).flatMap(LimitValue.bounded) { return value }
        }
        for name in ["retry-after", "x-retry-after", "x-ratelimit-retry-after"] {
            if let value = headers[name].flatMap({ time($0, now: headers.date) }) { return value }
        }
        guard let report else { return nil }
        return inFields(report.fields, now: headers.date) ?? inProse(report.prose)
    }

    private static func time(_ text: String, now: Int64?) -> Double? {
        switch LimitValue.time(text, now: now) {
        case .milliseconds(let milliseconds): milliseconds
        case .bare(let seconds): LimitValue.bounded(seconds * 1000)
        case nil: nil
        }
    }

    private static func inFields(_ fields: BodyFields, now: Int64?) -> Double? {
        for field in fields.fields {
            switch ErrorReport.squeezed(field.key) {
            case "retrydelay", "retryafter", "retryafterseconds":
                if let value = time(field.text, now: now) { return value }
            case "retryafterms":
                if let value = LimitValue.number(field.text).flatMap(LimitValue.bounded) { return value }
            case "seconds" where field.path.hasSuffix("retryDelay.seconds"):
                if let value = time(field.text, now: nil) { return value }
            default: break
            }
        }
        return nil
    }

    private static func inProse(_ prose: Prose) -> Double? {
        let words = prose.words
        for index in words.indices.dropFirst() {
            switch (words[index - 1], words[index]) {
            case ("again", "in"), ("retry", "in"), ("retry", "after"), ("again", "after"):
                if let value = duration(at: index + 1, in: words) { return value }
            case ("wait", _):
                if let value = duration(at: index, in: words) { return value }
            default: break
            }
        }
        return nil
    }

    /// `11m7.872s`, `20s`, `2 seconds`, `14 days`.
    private static func duration(at index: Int, in words: [String]) -> Double? {
        guard words.indices.contains(index) else { return nil }
        if let number = LimitValue.number(words[index]) {
            guard words.indices.contains(index + 1) else { return nil }
            if ["ms", "milliseconds", "millisecond"].contains(words[index + 1]) { return LimitValue.bounded(number) }
            return RateWords.seconds(words[index + 1]).flatMap { LimitValue.bounded(number * $0 * 1000) }
        }
        return GoDuration.parse(words[index]).flatMap(LimitValue.bounded)
    }
}
