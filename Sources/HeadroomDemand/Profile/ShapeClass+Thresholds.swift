import HeadroomModel

extension ShapeClass {
    /// Prompts of this many tokens are documents, not conversation: the means of conversation in public traces are
    /// around 1,000 tokens, those of code and document work from 2,000 to 12,000.
    private static let longInputTokens = 8_000.0
    /// Writing half as much as reading is more than a chat's tenth to quarter; what reasons or drafts does more.
    private static let heavyOutputShare = 0.5
    /// A call of some hundred tokens once a second or oftener is a machine's, not a person's.
    private static let shortTokens = 500.0
    private static let frequentPerMinute = 60.0

    /// Of a mean request that comes so often; `nil` before the first is balanced.
    init(shape: Work?, requestsPerMinute: Double) {
        guard let shape, shape[.requests] > 0 else {
            self = .balanced
            return
        }
        let input = shape[.inputTokens] / shape[.requests]
        let output = shape[.outputTokens] / shape[.requests]
        if input >= ShapeClass.longInputTokens {
            self = .longContext
        } else if output > 0, output >= ShapeClass.heavyOutputShare * input {
            self = .generationHeavy
        } else if input + output <= ShapeClass.shortTokens, requestsPerMinute >= ShapeClass.frequentPerMinute {
            self = .shortFrequent
        } else {
            self = .balanced
        }
    }
}
