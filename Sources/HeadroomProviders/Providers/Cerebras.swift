extension ProviderRules {
    /// Windows in the names (`…-requests-day`, `…-tokens-minute`), resets in decimal seconds, the error object at the top
    /// of the body: all by the generic rules. What has no window in its name is per minute.
    static let cerebras = ProviderRules(names: ["cerebras"], windowSeconds: { _ in 60 })
}
