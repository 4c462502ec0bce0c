import HeadroomModel

extension ProviderRules {
    /// Passes on refusals of the providers behind it; its own name no provider.
    static let openRouter = ProviderRules(
        names: ["openrouter"],
        kind: { report in
            guard report.status == 429, let provider = report.fields["error.metadata.provider_name"] else { return nil }
            return provider.isString ? .overload : nil
        })
}
