import HeadroomModel

/// How a provider departs from the generic rules. A new provider is one file with one such value, and its name in
/// ``all`` (the article HowDoIAdd has the recipe).
struct ProviderRules: Sendable {
    /// As `provider` may spell it, in lower case.
    var names: [String]
    /// Kinds of the provider's own error codes, squeezed as in ``ErrorReport/codes``. They beat every generic rule.
    var codes: [String: ResponseKind] = [:]
    /// The provider's own rule for a failure; `nil` leaves it to the generic ones.
    var kind: @Sendable (ErrorReport) -> ResponseKind? = { _ in nil }
    /// The window of a limit whose name does not state it, in seconds.
    var windowSeconds: @Sendable (QuotaWindow) -> Double? = { _ in nil }
    /// The unit of a reset that comes without one, in milliseconds. Called once per response, with all of its limits.
    var bareResetMilliseconds: @Sendable ([LimitReading]) -> Double = { _ in 1000 }
    /// Its tokens from and for a cache stand beside its input tokens, and are no part of them.
    var cachesBesideInput = false
    /// Its limits count input that was read from a cache like any other.
    var countsCachedInput = true
    /// Resources that the message of a refusal names in the provider's own way.
    var exhausted: @Sendable (ErrorReport) -> ResourceSet = { _ in [] }

    static let generic = ProviderRules(names: [])

    static let all: [ProviderRules] = [
        .openAI, .azureOpenAI, .anthropic, .google, .bedrock, .groq, .cerebras, .mistral, .together, .fireworks,
        .cloudflare, .openRouter, .dashScope, .volcengine, .zhipu, .miniMax,
    ]

    private static let byName: [String: ProviderRules] = {
        var table: [String: ProviderRules] = [:]
        for rules in all {
            for name in rules.names { table[name] = rules }
        }
        return table
    }()

    /// By the whole name, else by its first word that is one: `azure_ai` and `vertex_ai-anthropic` are found.
    static func named(_ name: String?) -> ProviderRules {
        guard let name = name?.lowercased(), name.utf8.count <= 64 else { return .generic }
        if let rules = byName[name] { return rules }
        for word in name.split(whereSeparator: { !$0.isLetter && !$0.isNumber }) {
            if let rules = byName[String(word)] { return rules }
        }
        return .generic
    }
}
