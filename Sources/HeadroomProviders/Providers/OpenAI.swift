import HeadroomModel

extension ProviderRules {
    /// Resets are Go durations; tokens per minute, requests per minute or, for small accounts, per day or longer under the
    /// same name.
    static let openAI = ProviderRules(
        names: ["openai"],
        kind: { report in
            // The sentence of `insufficient_quota`, where the code was lost. Others use it for rate limits.
            report.status == 429 && report.prose.mentions("exceeded your current quota") ? .billing : nil
        },
        windowSeconds: openAIWindow)

    /// The buckets refill evenly, so a full one is `reset · limit ÷ (limit − remaining)` away from empty: that is the
    /// window. A reset longer than a minute says at least that it is a longer one.
    @Sendable private static func openAIWindow(_ window: QuotaWindow) -> Double? {
        let longer: [Double] = [3600, 86400, 2_592_000]
        // Below a second the rounding of the reset decides; and no longer window would be this full.
        guard let reset = window.resetMilliseconds, reset >= 1000 else { return 60 }
        if let limit = window.limit, let remaining = window.remaining, remaining < limit {
            let seconds = reset / 1000 * limit / (limit - remaining)
            if let match = longer.first(where: { abs(seconds / $0 - 1) <= 0.1 }) { return match }
        }
        return reset <= 60000 ? 60 : longer.first { $0 * 1000 >= reset }
    }
}
