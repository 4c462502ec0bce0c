import HeadroomModel

extension ProviderRules {
    /// Doubao on Ark: a family of codes that name their cause (`RateLimitExceeded.EndpointTPMExceeded`,
    /// `RequestBurstTooFast`, `AccountOverdueError`), read by the generic rules.
    static let volcengine = ProviderRules(
        names: ["volcengine", "doubao", "ark", "byteplus", "volces"],
        // A limit that the customer set, which stops the service until it is raised.
        codes: ["setlimitexceeded": .billing])
}
