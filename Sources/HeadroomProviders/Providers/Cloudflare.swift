import HeadroomModel

extension ProviderRules {
    /// Workers AI: numbers of its own for errors of the model, under statuses that mean something else elsewhere.
    static let cloudflare = ProviderRules(
        names: ["cloudflare", "workersai", "workers-ai"],
        codes: ["3036": .quota, "3040": .overload],
        kind: { report in
            // A 403 from the model is about the request (a feature that it lacks), not about who asks.
            report.status == 403 && report.prose.mentions("aierror") ? .client : nil
        })
}
