import HeadroomModel

/// One limit as one source in a response states it, before its unit and window are settled.
struct LimitReading {
    var window: QuotaWindow
    /// Which of several limits on the same resource: empty for the main one, else `project`, `usage based` and the like.
    var scope = ""
    /// Where it stands in headers that state several limits at once: `x-ratelimit-limit: 1, 2000`.
    var position = 0
    /// A reset without a unit: ``ProviderRules/bareResetMilliseconds`` says what it is.
    var bareReset: Double?

    /// The limits that a response states, ordered by resource, window and scope.
    ///
    /// Readings of the same limit are merged: the first to name a number wins. A window that no name states is asked of
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

    /// A limit that counts but does not state its window takes it from a bare policy with the same amount
    /// (`RateLimit-Policy: 100;w=60` beside `RateLimit-Limit: 100`). What stands further back in a list of numbers means
    /// nothing without one.
    private static func namedOnce(_ readings: [LimitReading]) -> [LimitReading] {
        var policies = readings.filter { $0.isBarePolicy }
        let counting = readings.filter { !$0.isBarePolicy }.compactMap { reading -> LimitReading? in
            guard reading.window.windowSeconds == nil, reading.window.limit != nil else { return reading }
            let policy = policies.firstIndex { policy in
                policy.window.resource == reading.window.resource && policy.scope == reading.scope
                    && policy.window.limit == reading.window.limit
            }
            guard let policy else { return reading.position == 0 ? reading : nil }
            var reading = reading
            reading.window.windowSeconds = policies.remove(at: policy).window.windowSeconds
            return reading
        }
        return counting + policies
    }

    private var isBarePolicy: Bool {
        window.windowSeconds != nil && window.remaining == nil && window.resetMilliseconds == nil
    }

    private func isSameLimit(as other: LimitReading) -> Bool {
        window.resource == other.window.resource && window.windowSeconds == other.window.windowSeconds
            && scope == other.scope && position == other.position
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
