import HeadroomModel

extension ProviderRules {
    /// Adaptive limits on prompt and generated tokens, stated per second although enforced per minute.
    static let fireworks = ProviderRules(
        names: ["fireworks", "fireworksai", "fireworks-ai", "fireworks_ai"],
        windowSeconds: { $0.resource == .requests ? 60 : 1 })
}
