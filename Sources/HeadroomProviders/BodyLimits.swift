import HeadroomModel

/// Limits and causes told in the body of a failure: in machine fields (`google.rpc.QuotaFailure`), copied headers, or the
/// message.
enum BodyLimits {
    static func readings(in report: ErrorReport, now: Int64?) -> [LimitReading] {
        let violations = GoogleErrorDetails.limits(in: report.fields)
        return violations + copiedHeaders(report, now: now) + (violations.isEmpty ? proseLimit(report) : [])
    }

    /// The resources that a refusal names: nothing where it does not.
    static func exhausted(in report: ErrorReport, rules: ProviderRules) -> ResourceSet {
        var named = rules.exhausted(report)
        for limit in GoogleErrorDetails.limits(in: report.fields) { named.insert(ResourceSet(limit.window.resource)) }
        if named.isEmpty { named = resources(ofCodes: report.codes) }
        if named.isEmpty, let limit = ProseLimit(report.prose) { named = ResourceSet(limit.resource) }
        return named
    }

    /// `tokens` (OpenAI's type), `request_quota_exceeded`, `limit_requests`, `dynamic_token_limited`.
    private static func resources(ofCodes codes: [String]) -> ResourceSet {
        for code in codes {
            let isLimit = code.contains("quota") || code.contains("limit")
            if code == "tokens" || (isLimit && code.contains("token")) {
                if code.contains("input") { return ResourceSet(.inputTokens) }
                if code.contains("output") { return ResourceSet(.outputTokens) }
                return ResourceSet(.tokens)
            }
            if code == "requests" || (isLimit && code.contains("request")) { return ResourceSet(.requests) }
        }
        return []
    }

    /// OpenRouter repeats the headers of a refusal in `error.metadata.headers`.
    private static func copiedHeaders(_ report: ErrorReport, now: Int64?) -> [LimitReading] {
        let copied = report.fields.fields.filter { $0.path.hasSuffix("headers." + $0.key) }
        guard !copied.isEmpty else { return [] }
        let response = ProviderResponse(
            status: 0, headers: copied.map { (name: $0.key, value: $0.text) },
            receivedAt: now.map(Timestamp.init(milliseconds:)))
        return LimitHeaders.readings(in: HeaderFields(response))
    }

    private static func proseLimit(_ report: ErrorReport) -> [LimitReading] {
        guard let limit = ProseLimit(report.prose), limit.limit != nil else { return [] }
        return [
            LimitReading(
                window: QuotaWindow(resource: limit.resource, limit: limit.limit, windowSeconds: limit.windowSeconds))
        ]
    }
}

/// The first limit that a message speaks of:
///
///     on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000
///     the rate limit for your organization of 20,000 input tokens per minute
///     have exceeded token rate limit of your current pricing tier
struct ProseLimit: Equatable {
    var resource: Resource
    var windowSeconds: Double?
    var limit: Double?

    init?(_ prose: Prose) {
        guard !prose.isEmpty else { return nil }
        let words = prose.words
        for index in words.indices {
            guard let found = ProseLimit.rate(at: index, in: words) else { continue }
            resource = found.resource
            windowSeconds = found.windowSeconds
            limit = ProseLimit.amount(before: index, or: found.end, in: words)
            return
        }
        guard let resource = ProseLimit.resourceWithoutWindow(prose) else { return nil }
        self.resource = resource
    }

    /// `tokens per min`, `requests / day`, `tpm`.
    private static func rate(at index: Int, in words: [String]) -> (
        resource: Resource, windowSeconds: Double, end: Int
    )? {
        if let rate = RateWords.abbreviated(words[index]) { return (rate.resource, rate.windowSeconds, index + 1) }
        guard words.indices.contains(index + 2), words[index + 1] == "per" || words[index + 1] == "/",
            let seconds = RateWords.seconds(words[index + 2])
        else { return nil }
        switch words[index] {
        case "requests", "request", "calls": return (.requests, seconds, index + 3)
        case "tokens", "token":
            let side = index > 0 ? words[index - 1] : ""
            let isInput = side == "input" || side == "prompt"
            let isOutput = side == "output" || side == "completion"
            return (isInput ? .inputTokens : isOutput ? .outputTokens : .tokens, seconds, index + 3)
        default: return nil
        }
    }

    /// The number behind `limit` within the next words, else the one right before the rate (`20,000 input tokens per …`).
    private static func amount(before start: Int, or end: Int, in words: [String]) -> Double? {
        for index in end..<min(end + 6, words.count) where words[index] == "limit" {
            if words.indices.contains(index + 1), let amount = LimitValue.amount(words[index + 1]) { return amount }
        }
        for index in words[..<start].indices.suffix(2).reversed() {
            if let amount = LimitValue.amount(words[index]) { return amount }
        }
        return nil
    }

    private static func resourceWithoutWindow(_ prose: Prose) -> Resource? {
        if prose.mentions(anyOf: ["input token rate limit", "too many input tokens"]) { return .inputTokens }
        if prose.mentions(anyOf: ["output token rate limit", "too many output tokens"]) { return .outputTokens }
        if prose.mentions(anyOf: [
            "token rate limit", "tokens rate limit", "too many tokens", "number of request tokens",
        ]) {
            return .tokens
        }
        if prose.mentions(anyOf: [
            "call rate limit", "request rate limit", "requests rate limit", "number of requests has",
        ]) {
            return .requests
        }
        return nil
    }
}
