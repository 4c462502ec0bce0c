import HeadroomModel

extension ProviderRules {
    /// Passes on refusals of the providers behind it; its own name no provider.
    static let openRouter = ProviderRules(
        names: ["openrouter"],
        kind: { report in
            // A limit on spending that the key's owner set.
            if report.prose.mentions("key limit exceeded") { return .billing }
            guard report.status == 429, let provider = report.fields["error.metadata.provider_name"] else { return nil }
            return provider.isString ? .overload : nil
        })
}
