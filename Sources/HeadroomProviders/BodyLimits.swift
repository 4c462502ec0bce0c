import HeadroomModel

/// Limits and causes that stand in the body of a failure: in machine fields (`google.rpc.QuotaFailure`), copied headers, or the
/// message.
enum BodyLimits {
    static func readings(in report: ErrorReport, now: Int64?) -> [LimitReading] {
        let violations = GoogleErrorDetails.limits(in: report.fields)
        return violations + copiedHeaders(report, now: now) + (violations.isEmpty ? proseLimits(report) : [])
    }

    /// The resources that a refusal names: nothing where it does not.
    static func exhausted(in report: ErrorReport, rules: ProviderRules) -> ResourceSet {
        var named = rules.exhausted(report)
        for limit in GoogleErrorDetails.limits(in: report.fields) { named.insert(ResourceSet(limit.window.resource)) }
        let stated = ProseLimit(report.prose)
        // A rate in words is more exact than a code: REQUEST_LIMIT_EXCEEDED may be about tokens per minute.
        if named.isEmpty, let stated, stated.windowSeconds != nil { named = ResourceSet(stated.resource) }
        if named.isEmpty { named = resources(ofCodes: report.codes) }
        if named.isEmpty, let stated { named = ResourceSet(stated.resource) }
        return named
    }

    /// `tokens` (OpenAI's type), `request_quota_exceeded`, `dynamic_token_limited`, `EndpointTPMExceeded`.
    private static func resources(ofCodes codes: [String]) -> ResourceSet {
        for code in codes {
            let isLimit = code.contains("quota") || code.contains("limit")
            if code == "tokens" || code.contains("tpm") || (isLimit && code.contains("token")) {
                if code.contains("input") { return ResourceSet(.inputTokens) }
                return ResourceSet(code.contains("output") ? .outputTokens : .tokens)
            }
            if code == "requests" || code.contains("rpm") || (isLimit && code.contains("request")) {
                return ResourceSet(.requests)
            }
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

    private static func proseLimits(_ report: ErrorReport) -> [LimitReading] {
        ProseLimit.amounts(in: report.prose).map { limit in
            LimitReading(
                window: QuotaWindow(
                    resource: limit.resource, limit: limit.limit, remaining: limit.remaining,
                    windowSeconds: limit.windowSeconds))
        }
    }
}
