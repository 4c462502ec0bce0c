import HeadroomModel

/// How fast we may grow, where a provider refuses calls because traffic rises too fast (OpenAI's `slow_down`,
/// Anthropic's acceleration limits).
///
/// The first such refusal cuts growth to a quarter of the usual slew, each further one after ``pauseSeconds`` to half of
/// that; without refusals it doubles each minute. The least is 1/256 of a slew of half in 2 s: half in about nine
/// minutes, near what OpenAI asks for (half in a quarter of an hour).
struct RampLimit: Equatable, Sendable {
    private static let pauseSeconds = 10.0
    private static let doublingSeconds = 60.0
    private static let least = 1.0 / 256

    private var growth = 1.0
    private var refusedAt: Timestamp?

    mutating func noteRefusal(at now: Timestamp) {
        if let refusedAt, now.seconds(since: refusedAt) < RampLimit.pauseSeconds { return }
        let before = part(at: now)
        growth = before >= 1 ? 0.25 : max(RampLimit.least, before / 2)
        refusedAt = now
    }

    /// Of the usual slew, above 0 and at most 1.
    func part(at now: Timestamp) -> Double {
        guard let refusedAt else { return 1 }
        let kept = decay(now.seconds(since: refusedAt), halfLife: RampLimit.doublingSeconds)
        return kept > growth ? growth / kept : 1
    }
}

extension RampLimit {
    func write(to writer: inout ByteWriter) {
        writer.write(growth)
        writer.write(refusedAt) { $0.write($1) }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        growth = try reader.readAmount()
        guard growth > 0, growth <= 1 else { throw .outOfRange }
        refusedAt = try reader.readOptional { try $0.readTimestamp() }
    }
}
