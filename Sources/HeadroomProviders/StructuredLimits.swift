import HeadroomModel

/// The `RateLimit` and `RateLimit-Policy` fields of draft-ietf-httpapi-ratelimit-headers:
///
///     RateLimit-Policy: "burst";q=100;w=60,"daily";q=1000;w=86400
///     RateLimit: "burst";r=50;t=30
///
/// and of its older versions (`RateLimit-Policy: 100;w=60`, `RateLimit: limit=100, remaining=50, reset=5`). Servers that
/// bend the syntax (two names for one policy) are read as well.
enum StructuredLimits {
    static func readings(in headers: HeaderFields) -> [LimitReading] {
        let policies = (headers.list("ratelimit-policy") ?? headers.list("x-ratelimit-policy")).map(items) ?? []
        let states = headers.list("ratelimit").map(items) ?? []
        var readings = policies.compactMap { policy -> LimitReading? in
            guard var window = policy.window else { return nil }
            if let state = states.first(where: { $0.isNamed(like: policy) }) { state.fill(&window) }
            return LimitReading(window: window)
        }
        for state in states where !policies.contains(where: { state.isNamed(like: $0) }) {
            guard let window = state.window else { continue }
            // Without their policies only the names distinguish two limits.
            let isKnown = readings.contains { $0.window.resource == window.resource && $0.window.windowSeconds == nil }
            readings.append(LimitReading(window: window, scope: isKnown ? state.names.joined(separator: " ") : ""))
        }
        return readings
    }

    /// The window of the limit that stands first in `100, 100;w=60, 1000;w=3600`.
    static func windowSeconds(ofLimit value: String) -> Double? {
        guard value.contains(";") else { return nil }
        let all = items(value)
        guard let first = all.first else { return nil }
        return first.windowSeconds ?? all.first { $0.quota == first.quota && $0.windowSeconds != nil }?.windowSeconds
    }

    /// More policies than any server has are left out.
    private static let maxItems = 32

    private static func items(_ value: String) -> [Item] {
        var items: [Item] = []
        for text in split(value, at: ",").prefix(maxItems) {
            let item = Item(text)
            // `limit=100, remaining=50, reset=5` is one limit, in three members.
            if item.isDictionaryMember, let last = items.indices.last, items[last].isDictionaryMember {
                items[last].parameters += item.parameters
            } else {
                items.append(item)
            }
        }
        return items
    }

    /// Parts between separators outside of quotes.
    fileprivate static func split(_ text: some StringProtocol, at separator: Character) -> [String] {
        var parts = [""]
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if character == separator && !isQuoted {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts.map(\.trimmingSpace).filter { !$0.isEmpty }
    }
}

/// One member of such a field.
private struct Item {
    var names: [String] = []
    var parameters: [(key: String, value: String)] = []
    private var bareNumber: Double?

    init(_ text: String) {
        for segment in StructuredLimits.split(text, at: ";").prefix(16) {
            let isQuoted = segment.hasPrefix("\"")
            let parts = segment.split(separator: "=", maxSplits: 1).map(\.trimmingSpace)
            if !isQuoted, parts.count == 2 {
                parameters.append((parts[0].lowercased(), parts[1]))
            } else if !isQuoted, let number = LimitValue.amount(segment) {
                bareNumber = bareNumber ?? number
            } else {
                names.append(segment.lowercased().filter { $0 != "\"" })
            }
        }
    }

    var isDictionaryMember: Bool { number("limit", "remaining", "reset") != nil }
    var quota: Double? { bareNumber ?? number("q", "limit") }

    var windowSeconds: Double? {
        number("w", "window").flatMap { (1...31_622_400).contains($0) ? $0 : nil }
    }

    private func number(_ keys: String...) -> Double? {
        parameters.first { keys.contains($0.key) }.flatMap { LimitValue.amount($0.value) }
    }

    /// Unnamed members speak of the only limit there is.
    func isNamed(like other: Item) -> Bool {
        names.isEmpty || other.names.isEmpty || names.contains { other.names.contains($0) }
    }

    /// `nil` for a limit on something else, such as bytes.
    var window: QuotaWindow? {
        guard let resource else { return nil }
        var window = QuotaWindow(resource: resource, limit: quota, windowSeconds: windowSeconds)
        fill(&window)
        return window
    }

    func fill(_ window: inout QuotaWindow) {
        window.limit = window.limit ?? quota
        window.remaining = window.remaining ?? number("r", "remaining")
        window.resetMilliseconds =
            window.resetMilliseconds
            ?? number("t", "reset").flatMap { LimitValue.bounded($0 * 1000) }
    }

    /// The resource that the policy counts: its unit (`qu`) if it has one, else the word in its name, else requests.
    private var resource: Resource? {
        if let unit = parameters.first(where: { $0.key == "qu" })?.value.lowercased().filter({ $0 != "\"" }) {
            return unit == "requests" ? .requests : unit.contains("token") ? tokens(in: unit) : nil
        }
        return names.first { $0.contains("token") }.map(tokens) ?? .requests
    }

    private func tokens(in text: String) -> Resource {
        if text.contains("input") || text.contains("prompt") { return .inputTokens }
        if text.contains("output") || text.contains("completion") { return .outputTokens }
        return .tokens
    }
}
