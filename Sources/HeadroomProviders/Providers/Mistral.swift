import HeadroomModel

extension ProviderRules {
    /// Windows in the names, of requests (`req-60-second`), tokens (`tokens-5-minute`) and, in 2024, "size"
    /// (`ratelimitbysize-…`, whose nameless window is the minute).
    static let mistral = ProviderRules(
        names: ["mistral", "mistralai", "codestral"],
        codes: ["3505": .overload, "1300": .quota],
        kind: { report in
            // A quota refusal is a `rate_limited`; as invalid request a 429 says that the model's tier is full.
            report.status == 429 && report.codes.contains("invalidrequesterror") ? .overload : nil
        },
        windowSeconds: { $0.resource == .tokens ? 60 : nil })
}
