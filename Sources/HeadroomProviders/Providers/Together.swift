extension ProviderRules {
    /// `x-ratelimit-limit` and `x-tokenlimit-limit` per *second*; what remains may exceed the limit (a burst allowance).
    static let together = ProviderRules(names: ["together", "togetherai"], windowSeconds: { _ in 1 })
}
