import HeadroomModel

extension ProviderRules {
    /// `anthropic-ratelimit-{requests,tokens,input-tokens,output-tokens}-{limit,remaining,reset}`, resets as instants, what
    /// remains rounded to thousands, all per minute; `tokens` is the sum of input and output and may hide that one of
    /// them is empty. The shares of a subscription (`…-unified-…`) are not counts and are left alone.
    static let anthropic = ProviderRules(
        names: ["anthropic", "claude"],
        windowSeconds: { _ in 60 },
        // For nearly all models. What is written to the cache counts.
        cachesBesideInput: true, countsCachedInput: false)
}
