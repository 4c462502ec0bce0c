import HeadroomModel

/// A header's name taken apart: which limit it speaks of, and what of it.
///
/// A name is read by its words in any order. One word that is not known, and the whole name is left alone: a limit on
/// images or a share of a plan must not pass for a limit on requests.
struct LimitName {
    enum Role { case limit, remaining, reset, period }

    var role: Role
    var resource: Resource
    /// `nil` when the name does not state it.
    var windowSeconds: Double?
    /// Empty, or the words for one limit beside the main one (`project`, `usage based`).
    var scope: String
    /// Milliseconds in one unit, if the name states the unit of a time.
    var unit: Double?

    init?(_ name: String) {
        // Most headers of a response are none of ours: they go before they are taken apart.
        guard name.utf8.count <= 96, Array(name.utf8).holds("limit") else {
            return nil
        }
        let words = name.split(whereSeparator: { $0 == "-" || $0 == "_" }).map(String.init)
        guard let family = Family(words) else { return nil }
        var parts = Parts()
        var rest = words[family.count...]
        while let word = rest.popFirst() {
            if parts.take(word, next: &rest) { continue }
            guard family.hasInstances else { return nil }
            parts.scope.append(word)
        }
        guard let role = parts.role else { return nil }
        self.role = role
        resource = parts.resource ?? family.resource
        windowSeconds = parts.windowSeconds
        scope = parts.scope.joined(separator: " ")
        unit = parts.unit
    }

    func isSameLimit(as other: LimitName) -> Bool {
        resource == other.resource && windowSeconds == other.windowSeconds && scope == other.scope
    }
}

/// The words that make a name one of a limit: at its start, behind `x` or a vendor's name. A proxy that repeats the
/// headers of another server puts more before them; those are about another limit.
private struct Family {
    /// Words up to and with it.
    let count: Int
    /// The resource of the limit if the rest of the name does not say.
    let resource: Resource
    /// Whether the name of an upstream stands in it: Kong's and APISIX's `x-ai-ratelimit-limit-openai`, in tokens.
    let hasInstances: Bool

    init?(_ words: [String]) {
        let start = words.prefix(3).firstIndex { ["ratelimit", "ratelimitbysize", "tokenlimit", "rate"].contains($0) }
        guard let start, start < 2 || words[0] == "x" else { return nil }
        var count = start + 1
        if words[start] == "rate" {
            guard words.count > count, words[count] == "limit" else { return nil }
            count += 1
        }
        self.count = count
        hasInstances = start > 0 && words[start - 1] == "ai"
        resource = hasInstances || ["ratelimitbysize", "tokenlimit"].contains(words[start]) ? .tokens : .requests
    }
}

/// The parts read so far of the words behind the family.
private struct Parts {
    var role: LimitName.Role?
    var windowSeconds: Double?
    var scope: [String] = []
    var unit: Double?
    private var side: Resource?
    private var counted: Resource?

    var resource: Resource? { side ?? counted }

    /// `false` for a word that is not known.
    mutating func take(_ word: String, next rest: inout ArraySlice<String>) -> Bool {
        switch word {
        case "limit": role = role ?? .limit
        case "remaining": role = .remaining
        case "reset", "resets": role = .reset
        case "renewalperiod": role = .period
        case "requests", "request", "req", "calls": counted = .requests
        case "tokens", "token": counted = .tokens
        case "input", "prompt": side = .inputTokens
        case "output", "completion", "generated": side = .outputTokens
        case "project", "organization", "org", "user", "team", "account", "model", "key", "usage", "based":
            scope.append(word)
        case "per", "total", "after", "at", "in", "time": break
        case "ms": unit = 1
        default: return take(windowOrRate: word, next: &rest)
        }
        return true
    }

    private mutating func take(windowOrRate word: String, next rest: inout ArraySlice<String>) -> Bool {
        if let rate = RateWords.abbreviated(word) {
            counted = rate.resource
            windowSeconds = rate.windowSeconds
        } else if let seconds = RateWords.seconds(word) {
            windowSeconds = seconds
        } else if let unit = rest.first, let seconds = RateWords.seconds(word, unit) {
            windowSeconds = seconds
            rest.removeFirst()
        } else {
            return false
        }
        return true
    }
}
