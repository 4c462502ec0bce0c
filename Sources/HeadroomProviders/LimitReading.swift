import HeadroomModel

/// One limit as one source of a response tells it, before its unit and window are settled.
struct LimitReading {
    var window: QuotaWindow
    /// Which of several limits on the same resource: empty for the main one, else `project`, `usage based` and the like.
    var scope = ""
    /// A reset without a unit: ``ProviderRules/bareResetMilliseconds`` says what it is.
    var bareReset: Double?

    /// The limits that a response tells of, ordered by resource, window and scope.
    ///
    /// Readings of the same limit are merged: the first to name a number wins. A window that no name tells is asked of
    /// the rules.
    static func windows(of readings: [LimitReading], rules: ProviderRules) -> [QuotaWindow] {
        let unit = rules.bareResetMilliseconds(readings)
        var merged: [LimitReading] = []
        for var reading in readings {
            if reading.window.resetMilliseconds == nil, let bare = reading.bareReset {
                reading.window.resetMilliseconds = LimitValue.bounded(bare * unit)
            }
            guard reading.window.saysSomething else { continue }
            if reading.window.windowSeconds == nil {
                reading.window.windowSeconds = rules.windowSeconds(reading.window)
            }
            if let index = merged.firstIndex(where: { $0.isSameLimit(as: reading) }) {
                merged[index].window.fill(from: reading.window)
            } else {
                merged.append(reading)
            }
        }
        return namedOnce(merged).sorted { $0.sortKey < $1.sortKey }.map(\.window)
    }

    /// A limit that counts but does not tell its window takes it from a bare policy with the same amount
    /// (`RateLimit-Policy: 100;w=60` beside `RateLimit-Limit: 100`).
    private static func namedOnce(_ readings: [LimitReading]) -> [LimitReading] {
        var readings = readings
        for index in readings.indices where readings[index].window.windowSeconds == nil {
            let counting = readings[index]
            let policy = readings.firstIndex { other in
                other.window.windowSeconds != nil && other.window.resource == counting.window.resource
                    && other.scope == counting.scope && other.window.limit == counting.window.limit
                    && other.window.remaining == nil && other.window.resetMilliseconds == nil
            }
            guard counting.window.limit != nil, let policy else { continue }
            readings[index].window.windowSeconds = readings[policy].window.windowSeconds
            readings.remove(at: policy)
            break
        }
        return readings
    }

    private func isSameLimit(as other: LimitReading) -> Bool {
        window.resource == other.window.resource && window.windowSeconds == other.window.windowSeconds
            && scope == other.scope
    }

    private var sortKey: (Resource, Double, String) {
        // A limit without a window is a provider's main one, with the others named after theirs.
        (window.resource, window.windowSeconds ?? 0, scope)
    }
}

extension QuotaWindow {
    var saysSomething: Bool { limit != nil || remaining != nil || resetMilliseconds != nil }

    /// Takes from `other` what is not known here.
    mutating func fill(from other: QuotaWindow) {
        limit = limit ?? other.limit
        remaining = remaining ?? other.remaining
        resetMilliseconds = resetMilliseconds ?? other.resetMilliseconds
    }
}
