import HeadroomModel

/// What a tenant asked for over the demand window, for as long as what it was served is looked at, so that the two can stand
/// side by side. It is kept in slots as long as the window: the one under way counts, and of the one before it the part that
/// lies within the window that ends now.
struct AskedLately: Sendable {
    private var slot: Int64 = 0
    private var asked = SIMD4<Float>.zero
    private var askedBefore = SIMD4<Float>.zero

    /// - Parameters:
    ///   - seconds: over which it came, evenly.
    ///   - windowSeconds: of the demand window, above 0.
    mutating func ask(_ work: AskedWork, over seconds: ClosedRange<Int64>, windowSeconds: Int64) {
        advance(to: Self.slot(of: seconds.upperBound, windowSeconds))
        let lanes = SIMD4<Float>(
            Float(work.requests), Float(work.tokens), Float(work.inputTokens), Float(work.outputTokens))
        func part(of slot: Int64) -> Float {
            let first = max(seconds.lowerBound, slot * windowSeconds)
            let last = min(seconds.upperBound, (slot + 1) * windowSeconds - 1)
            return Float(max(0, last - first + 1)) / Float(seconds.count)
        }
        asked += lanes * part(of: slot)
        askedBefore += lanes * part(of: slot - 1)
    }

    /// In the window that ends at `now`; not below 0.
    func work(at now: Timestamp, windowSeconds: Int64) -> Work {
        let running = Self.slot(of: now.second, windowSeconds)
        let part =
            Float(Double(now.milliseconds) / 1000 - Double(running * windowSeconds)) / Float(windowSeconds)
        let lanes: SIMD4<Float> =
            switch running - slot {
            case ...0: asked + askedBefore * (1 - part)
            case 1: asked * (1 - part)
            default: .zero
            }
        return Work(amounts: SIMD4<Double>(pointwiseMax(lanes, .zero)))
    }

    private mutating func advance(to newest: Int64) {
        guard newest > slot else { return }
        askedBefore = newest == slot + 1 ? asked : .zero
        asked = .zero
        slot = newest
    }

    private static func slot(of second: Int64, _ windowSeconds: Int64) -> Int64 {
        (second >= 0 ? second : second - windowSeconds + 1) / windowSeconds
    }
}

extension AskedLately {
    func write(to writer: inout ByteWriter) {
        writer.write(slot)
        for lanes in [asked, askedBefore] {
            for lane in 0..<4 { writer.write(lanes[lane]) }
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        slot = try reader.read()
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
