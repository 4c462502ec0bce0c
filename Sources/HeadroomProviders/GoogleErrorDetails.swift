import HeadroomModel

/// Quotas named in the details of a `google.rpc.Status`: `QuotaFailure` has a violation each, `ErrorInfo` one in its
/// metadata. Proxies pass them on, so this is read whatever the provider is called.
enum GoogleErrorDetails {
    static func limits(in fields: BodyFields) -> [LimitReading] {
        var objects: [Int] = []
        for field in fields.fields where isQuota(field.key) && !objects.contains(field.object) {
            objects.append(field.object)
        }
        return objects.prefix(16).compactMap { object in
            var names = ""
            var limit: Double?
            for field in fields.fields where field.object == object && isQuota(field.key) {
                if field.key == "quotaValue" || field.key == "quota_limit_value" {
                    limit = LimitValue.amount(field.text)
                } else {
                    names += " " + ErrorReport.squeezed(field.text)
                }
            }
            guard let resource = resource(names) else { return nil }
            return LimitReading(
                window: QuotaWindow(resource: resource, limit: limit, windowSeconds: windowSeconds(names)))
        }
    }

    private static func isQuota(_ key: String) -> Bool {
        ["quotaId", "quotaMetric", "quotaValue", "quota_metric", "quota_limit", "quota_limit_value"].contains(key)
    }

    /// Gemini has one limit on tokens, which it calls TPM and counts on input: its `…input_token_count` is `tokens`.
    /// Models of others on Vertex AI have separate ones.
    private static func resource(_ names: String) -> Resource? {
        if names.contains("token") {
            if names.contains("generatecontent") { return .tokens }
            if names.contains("inputtoken") { return .inputTokens }
            return names.contains("outputtoken") ? .outputTokens : .tokens
        }
        return names.contains("request") ? .requests : nil
    }

    private static func windowSeconds(_ names: String) -> Double? {
        for (part, seconds) in [("perminute", 60.0), ("perday", 86400), ("perhour", 3600), ("persecond", 1)]
        where names.contains(part) {
            return seconds
        }
        return nil
    }
}
