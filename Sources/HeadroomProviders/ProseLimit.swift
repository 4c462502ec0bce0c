import HeadroomModel

/// The limit that a message speaks of, as far as it does:
///
///     on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000
///     the rate limit for your organization of 20,000 input tokens per minute
///     Requests per Minute (actual/limit): 481/480
///     reached organization max RPM: 3
///     Rate limit of 50 per 86400s exceeded
///     have exceeded token rate limit of your current pricing tier
///     Limit type: tokens. Current limit: 1000, Remaining: 0
struct ProseLimit: Equatable {
    var resource: Resource
    var windowSeconds: Double?
    var limit: Double?
    var remaining: Double?

    /// The first rate with its amount, else the first rate, else the first resource said to be limited.
    init?(_ prose: Prose) {
        let words = prose.words
        let rates = words.indices.lazy.compactMap { ProseLimit.rate(at: $0, in: words) }
        guard let found = rates.first(where: { $0.limit != nil }) ?? rates.first ?? ProseLimit.bare(in: words) else {
            return nil
        }
        self = found
    }

    /// All with an amount, one a resource: `3 RPM and 10K TPM`.
    static func amounts(in prose: Prose) -> [ProseLimit] {
        let words = prose.words
        var found = words.indices.compactMap { ProseLimit.rate(at: $0, in: words) }.filter { $0.limit != nil }
        if found.isEmpty, let bare = bare(in: words), bare.limit != nil { found = [bare] }
        return found.indices.filter { index in !found[..<index].contains { $0.resource == found[index].resource } }
            .map { found[$0] }
    }

    private init(_ resource: Resource, windowSeconds: Double? = nil, limit: Double? = nil) {
        self.resource = resource
        self.windowSeconds = windowSeconds
        self.limit = limit
    }

    private static func rate(at index: Int, in words: [String]) -> ProseLimit? {
        if let rate = RateWords.abbreviated(words[index]) {
            let side = rate.resource == .tokens ? tokens(after: index, in: words) : rate.resource
            var found = ProseLimit(side, windowSeconds: rate.windowSeconds)
            found.limit = found.amount(around: index, end: index + 1, in: words)
            return found
        }
        // `tokens_usage_based per day`
        let next = words[(index + 1)...].firstIndex { $0 != "usage" && $0 != "based" } ?? words.endIndex
        guard let window = RateWords.window(at: next, in: words) else { return nil }
        if let resource = resource(at: index, in: words) {
            var found = ProseLimit(resource, windowSeconds: window.seconds)
            found.limit = found.amount(around: index, end: window.end, in: words)
            return found
        }
        // `10 per 1 minute`: who does not say of what counts requests. (`5/1min` is OpenAI's for images as well.)
        guard words[next] == "per", let limit = LimitValue.amount(words[index]) else { return nil }
        // `Token limit (500,000 per day)`
        let named = index > 1 && words[index - 1] == "limit" ? resource(at: index - 2, in: words) : nil
        return ProseLimit(named ?? .requests, windowSeconds: window.seconds, limit: limit)
    }

    /// A resource without its window: `token rate limit`, `the number of tokens`, `exceeded your token usage`,
    /// `too many tokens`.
    private static func bare(in words: [String]) -> ProseLimit? {
        for index in words.indices {
            guard let resource = resource(at: index, in: words) else { continue }
            let before = words[..<index].suffix(4)
            if before.suffix(2) == ["limit", "type"] {
                var found = ProseLimit(resource)
                found.limit = found.amount(around: index, end: index + 1, in: words)
                let left = words[index...].prefix(8).drop { $0 != "remaining" }
                found.remaining = left.dropFirst().first.flatMap(LimitValue.amount)
                return found
            }
            var rest = words[(index + 1)...].prefix(3)
            let isUsage = rest.first == "usage" && before.contains("exceeded")
            if ["rate", "usage", "volume"].contains(rest.first) { rest.removeFirst() }
            let isLimited =
                ["limit", "limits", "quota"].contains(rest.first) || isUsage || rest.prefix(2) == ["has", "exceeded"]
                // Of requests it may be those at once.
                || (resource != .requests && (before.suffix(2) == ["too", "many"] || before.contains("number")))
            if isLimited { return ProseLimit(resource).pair(after: index, in: words) }
        }
        return nil
    }

    /// With what stands behind it in brackets, if that is a pair: `(1500/1000, resets every 1h)`.
    private func pair(after index: Int, in words: [String]) -> ProseLimit {
        let rest = words[index...].prefix(6)
        guard let mark = rest.firstIndex(of: "/"), mark + 1 < words.count, LimitValue.amount(words[mark - 1]) != nil,
            let limit = LimitValue.amount(words[mark + 1])
        else { return self }
        let windows = (mark + 2..<mark + 4).lazy.compactMap { RateWords.window(at: $0, in: words)?.seconds }
        return ProseLimit(resource, windowSeconds: windows.first, limit: limit)
    }

    private static func resource(at index: Int, in words: [String]) -> Resource? {
        switch words[index] {
        case "requests", "request", "calls", "call", "queries", "times": .requests
        case "tokens", "token": tokens(after: index, in: words)
        default: nil
        }
    }

    /// Of a side if the word before says so.
    private static func tokens(after index: Int, in words: [String]) -> Resource {
        switch index > 0 ? words[index - 1] : "" {
        case "input", "prompt": .inputTokens
        case "output", "completion": .outputTokens
        default: .tokens
        }
    }

    /// The number behind `limit` within the next words, else the one right behind an abbreviation (`max RPM: 3`), else the
    /// one right before the rate (`20,000 input tokens per …`).
    private func amount(around start: Int, end: Int, in words: [String]) -> Double? {
        for index in end..<min(end + 6, words.count) {
            // Another rate's limit is not this one's.
            if let other = RateWords.abbreviated(words[index]), other.resource != resource { break }
            guard words[index] == "limit", words.indices.contains(index + 1),
                let amount = LimitValue.amount(words[index + 1])
            else { continue }
            // `(actual/limit): 481/480`
            let isPair = words.indices.contains(index + 3) && words[index + 2] == "/"
            return isPair ? LimitValue.amount(words[index + 3]) ?? amount : amount
        }
        let before = words[..<start].suffix(2)
        if end == start + 1, words.indices.contains(end), before.last != "current",
            let amount = LimitValue.amount(words[end])
        {
            return amount
        }
        return before.reversed().lazy.compactMap(ProseLimit.amount(of:)).first
    }

    /// `20,000`, `10k`.
    private static func amount(of word: String) -> Double? {
        guard word.last == "k" else { return LimitValue.amount(word) }
        guard let thousands = LimitValue.amount(String(word.dropLast())) else { return nil }
        return thousands * 1000 <= LimitValue.largestAmount ? thousands * 1000 : nil
    }
}
