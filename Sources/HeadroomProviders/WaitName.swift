/// A field's name that says when to come back, read by its words: `retryDelay`, `retry_after_ms`, `resets_in_seconds`,
/// `resetsAt`, `quotaResetTimeStamp`, `reset_time`.
struct WaitName {
    /// Whether it names an instant.
    private(set) var isInstant = false
    /// Milliseconds in one unit, if the name states it.
    private var unit: Double?

    /// `nil` for a name with a word that is not known: `retries`, `reset_credits`.
    init?(_ field: BodyFields.Field) {
        let name = ErrorReport.squeezed(field.key)
        if name == "estimatedtime" || field.path.hasSuffix("retryDelay.seconds") { return }
        guard let stem = WaitName.stems.first(where: { name.hasPrefix($0) }) else { return nil }
        var rest = name.dropFirst(stem.utf8.count)
        // `resetsAt`, but not `resetSeconds`.
        if rest.hasPrefix("s"), !rest.hasPrefix("se") { rest = rest.dropFirst() }
        guard !rest.isEmpty else { return nil }
        while let word = WaitName.words.first(where: { rest.hasPrefix($0.text) }) {
            rest = rest.dropFirst(word.text.utf8.count)
            isInstant = isInstant || word.isInstant
            unit = unit ?? word.unit
        }
        guard rest.isEmpty else { return nil }
    }

    private static let stems = ["quotareset", "reset", "retry", "wait"]
    private static let words: [(text: String, isInstant: Bool, unit: Double?)] = [
        ("milliseconds", false, 1), ("millis", false, 1), ("ms", false, 1), ("seconds", false, 1000),
        ("secs", false, 1000), ("sec", false, 1000), ("timestamp", true, nil), ("time", true, nil), ("date", true, nil),
        ("at", true, nil), ("after", false, nil), ("delay", false, nil), ("in", false, nil),
    ]

    /// `nil` for what cannot be such a time. A name of an instant may bear a duration as well (`"reset_time":"40s"`), but
    /// no number without a unit.
    func milliseconds(_ text: String, now: Int64?) -> Double? {
        if unit == 1, !isInstant { return LimitValue.number(text).flatMap(LimitValue.bounded) }
        switch LimitValue.time(text, now: now) {
        case .milliseconds(let milliseconds): return milliseconds
        case .bare(let number):
            guard let unit = unit ?? (isInstant ? nil : 1000) else { return nil }
            return LimitValue.bounded(number * unit)
        case nil: return nil
        }
    }
}
