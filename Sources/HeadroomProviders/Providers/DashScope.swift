import HeadroomModel

extension ProviderRules {
    /// Uses OpenAI's code for spent credits for a token rate that is used up.
    static let dashScope = ProviderRules(
        names: ["dashscope", "alibaba", "qwen", "bailian"],
        codes: ["insufficientquota": .quota, "throttlingallocationquota": .quota])
}
