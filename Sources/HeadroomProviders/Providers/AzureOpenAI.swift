import HeadroomModel

extension ProviderRules {
    /// OpenAI's header names, with the window in `x-ratelimit-renewalperiod-…` and resets without a unit: seconds on some
    /// surfaces, milliseconds on others.
    static let azureOpenAI = ProviderRules(
        names: ["azure", "azureopenai", "azureai", "azure-openai", "azure_openai", "aoai", "foundry"],
        windowSeconds: { _ in 60 },
        bareResetMilliseconds: azureResetUnit)

    /// Seconds, as documented, unless one reading of the response cannot be seconds: longer than its window, or away from
    /// what an evenly refilling bucket needs, `(limit − remaining) ÷ limit · window`, and equal to it in milliseconds.
    @Sendable private static func azureResetUnit(_ readings: [LimitReading]) -> Double {
        let isMilliseconds = readings.contains { reading in
            guard let bare = reading.bareReset else { return false }
            let window = reading.window.windowSeconds ?? 60
            guard let limit = reading.window.limit, let remaining = reading.window.remaining, limit > 0 else {
                return false
            }
            let refill = (limit - min(remaining, limit)) / limit * window
            let fitsSeconds = bare <= window && abs(bare - refill) <= 1
            let fitsMilliseconds = abs(bare - refill * 1000) <= max(1, refill * 100)
            return !fitsSeconds && fitsMilliseconds
        }
        return isMilliseconds ? 1 : 1000
    }
}
