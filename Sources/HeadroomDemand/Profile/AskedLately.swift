import HeadroomModel

/// What a tenant asked for in about the last minute: the minute under way, and of the one before it the part that
/// lies within a minute of now. Of a tenant that ends, nothing is left two minutes later.
struct AskedLately: Sendable {
    private var minute: Int64
    private var asked = SIMD4<Float>.zero
    private var askedBefore = SIMD4<Float>.zero

    init(at now: Timestamp) {
        minute = now.minute
    }

    mutating func ask(_ work: AskedWork, at instant: Timestamp) {
        advance(to: instant.minute)
        let lanes = SIMD4<Float>(
            Float(work.requests), Float(work.tokens), Float(work.inputTokens), Float(work.outputTokens))
        if instant.minute == minute { asked += lanes } else { askedBefore += lanes }
    }

    /// In a minute that ends at `now`; not below 0.
    func work(at now: Timestamp) -> Work {
        let part = Float(now.milliseconds - now.minute * 60_000) / 60_000
        let lanes: SIMD4<Float> =
            switch now.minute &- minute {
            case ...0: asked + askedBefore * (1 - part)
            case 1: asked * (1 - part)
            default: .zero
            }
        return Work(amounts: SIMD4<Double>(pointwiseMax(lanes, .zero)))
    }

    private mutating func advance(to newest: Int64) {
        guard newest > minute else { return }
        let isNext = newest == minute &+ 1
        askedBefore = isNext ? asked : .zero
        asked = .zero
        minute = newest
    }
}

extension AskedLately {
    func write(to writer: inout ByteWriter) {
        writer.write(minute)
        for lanes in [asked, askedBefore] {
            for lane in 0..<4 { writer.write(lanes[lane]) }
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        minute = try reader.read()
        asked = try reader.readLanes()
        askedBefore = try reader.readLanes()
    }
}

extension ByteReader {
    /// Of either sign.
    fileprivate mutating func readLanes() throws(ByteCodingError) -> SIMD4<Float> {
        var lanes = SIMD4<Float>.zero
        for lane in 0..<4 {
            lanes[lane] = try readFloat()
            guard lanes[lane].isFinite else { throw .outOfRange }
        }
        return lanes
    }
}
