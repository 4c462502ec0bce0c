import HeadroomModel

/// What a provider's response says: why it answered as it did, and what it tells of its limits.
///
/// The rules are generic; ``ProviderRules`` holds, one file a provider, only where one departs from them. Nothing here
/// trusts its input: what cannot be read, is negative or cannot be true counts as not said.
package enum ProviderClassifier {
    package static func classify(_ response: ProviderResponse) -> ProviderSignal { explain(response).signal }

    /// With what decided its kind, in words for people.
    package static func explain(_ response: ProviderResponse) -> (signal: ProviderSignal, reason: String) {
        let rules = ProviderRules.named(response.provider)
        let headers = HeaderFields(response)
        let report = ErrorReport(status: response.status, headers: headers, body: response.body)
        let verdict = FailureRules.verdict(on: report, rules: rules)
        let kind = verdict.kind

        var readings = LimitHeaders.readings(in: headers) + StructuredLimits.readings(in: headers)
        if kind != .ok { readings += BodyLimits.readings(in: report, now: headers.date) }
        let windows = LimitReading.windows(of: readings, rules: rules)

        var signal = ProviderSignal(kind: kind, windows: windows)
        signal.retryAfterMilliseconds = RetryDelay.milliseconds(headers: headers, report: kind == .ok ? nil : report)
        if kind == .quota || kind == .ramp {
            // What the refusal itself names is the cause; counts that stand at 0 are the next best evidence.
            signal.exhausted = BodyLimits.exhausted(in: report, rules: rules)
            if signal.exhausted.isEmpty {
                for window in windows where window.remaining == 0 {
                    signal.exhausted.insert(ResourceSet(window.resource))
                }
            }
        }
        return (signal, verdict.reason)
    }
}
