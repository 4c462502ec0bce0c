import HeadroomModel

/// The worth of a tenant's claims in counted tokens.
///
/// Work that was not served is reported as an estimate, input + `max_tokens`, and callers ask for five to ten times the
/// output that they get. Counted as claimed, a tenant that is denied would look several times its size. Two things are
/// learned: how much of `max_tokens` its answers use, from calls that tell both; and what its unserved work claims on
/// average, for queues and windows, which tell sums only.
struct TokenCorrection: Sendable {
    /// Each call counts 0.98 of the one after it: the last fifty or so.
    private static let memoryPerCall: Float = 0.98
    /// Large calls wait longer than small ones, so unserved work is larger than served work even if nobody exaggerates.
    /// Where no call reports `max_tokens`, claims of more than this many times a served call count as estimates that
    /// are too high.
    private static let maxPlausibleExcess: Float = 4
    /// Where calls report `max_tokens`: claims count as uncorrected estimates when they exceed a served call by more
    /// than this share of what uncorrected estimates would.
    private static let uncorrectedShare: Float = 0.6

    /// Of served calls with a bound.
    private var inputTokens: Float = 0
    private var outputTokens: Float = 0
    private var maxTokens: Float = 0
    /// Tokens and items that were claimed without being served.
    private var claimedTokens: Float = 0
    private var claimedItems: Float = 0

    mutating func learn(inputTokens input: Float, outputTokens output: Float, maxTokens bound: Float) {
        inputTokens = inputTokens * TokenCorrection.memoryPerCall + input
        outputTokens = outputTokens * TokenCorrection.memoryPerCall + output
        maxTokens = maxTokens * TokenCorrection.memoryPerCall + bound
    }

    mutating func learn(claimedTokens tokens: Float, items: Float) {
        guard items > 0 else { return }
        let kept = max(0, 1 - items / 50)
        claimedTokens = claimedTokens * kept + tokens
        claimedItems = claimedItems * kept + items
    }

    /// The part of `max_tokens` that is used; `nil` while no call has reported it.
    var outputShare: Float? { maxTokens > 0 ? min(1, outputTokens / maxTokens) : nil }

    /// The factor for sums of claimed tokens, for work of which a served request takes `served` tokens.
    func factor(served: Float) -> Float {
        guard served > 0, claimedItems > 0 else { return 1 }
        let excess = claimedTokens / claimedItems / served
        guard maxTokens > 0, inputTokens + outputTokens > 0 else {
            return excess > TokenCorrection.maxPlausibleExcess ? 1 / excess : 1
        }
        // How much more than they took such calls would claim, if nobody corrected their claims.
        let uncorrected = (inputTokens + maxTokens) / (inputTokens + outputTokens)
        return uncorrected > 1 && excess > max(1, TokenCorrection.uncorrectedShare * uncorrected) ? 1 / uncorrected : 1
    }

    /// The lower of ``outputShare`` and ``factor(served:)``, for `/v1/tenants`.
    func reported(served: Float) -> Double { Double(min(outputShare ?? 1, factor(served: served))) }
}

extension TokenCorrection {
    func write(to writer: inout ByteWriter) {
        writer.write(SIMD4(outputTokens, maxTokens, claimedTokens, claimedItems))
        writer.write(inputTokens)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        let sums = try reader.readAmounts()
        (outputTokens, maxTokens, claimedTokens, claimedItems) = (sums.x, sums.y, sums.z, sums.w)
        inputTokens = try reader.readFloatAmount()
    }
}
