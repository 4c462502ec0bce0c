import HeadroomModel

extension ProviderRules {
    /// Gemini and Vertex AI: no headers, everything in a `google.rpc.Status`.
    static let google = ProviderRules(
        names: ["gemini", "google", "vertex", "vertexai", "vertex-ai", "vertex_ai", "googleai", "palm"],
        kind: { report in
            guard report.status == 429 else { return nil }
            let limits = GoogleErrorDetails.limits(in: report.fields)
            // A quota of 0 is no entitlement: no wait cures it, a paid plan does. The JSON of a 0 is nothing at all, and the
            // message has it.
            let isZero = report.prose.mentions("limit: 0")
            if !limits.isEmpty, limits.allSatisfy({ ($0.window.limit ?? (isZero ? 0 : 1)) == 0 }) { return .billing }
            // `rateLimitExceeded` is but the name of status 429 where the message says that the resource is exhausted.
            let namesQuota =
                !limits.isEmpty || report.prose.mentions(anyOf: ["quota", "provisioned throughput"])
                || report.fields.fields.contains { $0.key == "retryDelay" }
                || (report.codes.contains("ratelimitexceeded") && !report.prose.mentions("resource exhausted"))
            // Nothing of ours is named: the shared pool (dynamic shared quota) is empty.
            return report.codes.contains("resourceexhausted") && !namesQuota ? .overload : nil
        })
}
