import HeadroomModel

/// Limits in headers that hold one number each: `x-ratelimit-remaining-tokens`, `anthropic-ratelimit-requests-reset`,
/// `ratelimit-limit`, `x-ratelimit-limit-req-60-second` and every other order of the same words.
enum LimitHeaders {
    static func readings(in headers: HeaderFields) -> [LimitReading] {
        var readings: [(name: LimitName, reading: LimitReading)] = []
        for field in headers.fields {
            guard let name = LimitName(field.name) else { continue }
            for (position, value) in values(of: field.value).enumerated() {
                var index = readings.firstIndex { $0.name.isSameLimit(as: name) && $0.reading.position == position }
                if index == nil {
                    index = readings.count
                    readings.append((name, LimitReading(name, position: position)))
                }
                if let index {
                    readings[index].reading.take(value, as: name.role, unit: name.unit, now: headers.date)
                }
            }
        }
        return readings.map(\.reading)
    }

    /// The numbers of a plain list, `1, 2000`, which states several limits; else the value. (`30,000` is one number, and
    /// `100, 100;w=60` one limit with its policy.)
    private static func values(of text: String) -> [String] {
        let parts = text.split(separator: ",").prefix(8).map(\.trimmingSpace)
        let isList = parts.count > 1 && text.contains(", ") && parts.allSatisfy { LimitValue.number($0) != nil }
        return isList ? parts : [text]
    }
}

extension LimitReading {
    fileprivate init(_ name: LimitName, position: Int) {
        self.init(
            window: QuotaWindow(resource: name.resource, windowSeconds: name.windowSeconds), scope: name.scope,
            position: position)
    }

    /// Reads one header's value; what is known already stays.
    fileprivate mutating func take(_ value: String, as role: LimitName.Role, unit: Double?, now: Int64?) {
        switch role {
        case .limit:
            window.limit = window.limit ?? LimitValue.amount(value)
            window.windowSeconds = window.windowSeconds ?? StructuredLimits.windowSeconds(ofLimit: value)
        case .remaining:
            window.remaining = window.remaining ?? LimitValue.amount(value)
        case .period:
            guard window.windowSeconds == nil, let seconds = LimitValue.number(value),
                (1...31_622_400).contains(seconds)
            else { return }
            window.windowSeconds = seconds
        case .reset:
            guard window.resetMilliseconds == nil, bareReset == nil else { return }
            switch LimitValue.time(value, now: now) {
            case .milliseconds(let milliseconds): window.resetMilliseconds = milliseconds
            case .bare(let number): take(bareReset: number, unit: unit)
            case nil: break
            }
        }
    }

    private mutating func take(bareReset number: Double, unit: Double?) {
        if let unit {
            window.resetMilliseconds = LimitValue.bounded(number * unit)
        } else {
            bareReset = number
        }
    }
}
