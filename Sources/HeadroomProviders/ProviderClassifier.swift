import HeadroomModel

/// Reads a provider's response: why it answered as it did, and which limits it states.
///
/// The rules are generic; ``ProviderRules`` holds, one file a provider, only where one departs from them. Nothing here
/// trusts its input: a value that cannot be read, is negative or cannot be true counts as absent.
package enum ProviderClassifier {
    package static func classify(_ response: ProviderResponse) -> ProviderSignal { explain(response).signal }

    /// With what decided its kind, in words for people.
    package static func explain(_ response: ProviderResponse) -> (signal: ProviderSignal, reason: String) {
        let rules = ProviderRules.named(response.provider)
        let headers = HeaderFields(response)
        let report = ErrorReport(status: response.status, headers: headers, body: response.body)
        let found = FailureRules.kind(of: report, rules: rules)
        let kind = found.kind

        var readings = LimitHeaders.readings(in: headers) + StructuredLimits.readings(in: headers)
        if kind != .ok { readings += BodyLimits.readings(in: report, now: headers.date) }
        let windows = LimitReading.windows(of: readings, rules: rules)

        var signal = ProviderSignal(kind: kind, windows: windows)
        signal.retryAfterMilliseconds = RetryDelay.milliseconds(headers: headers, report: kind == .ok ? nil : report)
        if kind == .quota || kind == .ramp {
            // The cause is the resource that the refusal itself names; counts of 0 are the next best evidence.
            signal.exhausted = BodyLimits.exhausted(in: report, rules: rules)
            if signal.exhausted.isEmpty {
                for window in windows where window.remaining == 0 {
                    signal.exhausted.insert(ResourceSet(window.resource))
                }
            }
        }
        return (signal, found.reason)
    }
}
