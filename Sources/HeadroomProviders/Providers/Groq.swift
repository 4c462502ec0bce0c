import HeadroomModel

extension ProviderRules {
    /// OpenAI's header names, but requests per *day* and tokens per minute. 498 is "flex tier capacity exceeded".
    static let groq = ProviderRules(
        names: ["groq"],
        kind: { $0.status == 498 ? .overload : nil },
        windowSeconds: { $0.resource == .requests ? 86400 : 60 },
        countsCachedInput: false)
}
