import HeadroomModel

/// Attempts by outcome, and tokens that were served.
struct OutcomeCounts: Equatable, Sendable {
    /// One lane for each ``Outcome``, then the tokens.
    fileprivate var lanes: SIMD16<Float> {
        get {
            SIMD16(lowHalf: SIMD8(lowHalf: first, highHalf: second), highHalf: SIMD8(lowHalf: third, highHalf: fourth))
        }
        set { self = OutcomeCounts(lanes: newValue) }
    }
    // In quarters: see ``Halved``.
    private let first: SIMD4<Float>
    private let second: SIMD4<Float>
    private let third: SIMD4<Float>
    private let fourth: SIMD4<Float>

    fileprivate init(lanes: SIMD16<Float>) {
        (first, second) = (lanes.lowHalf.lowHalf, lanes.lowHalf.highHalf)
        (third, fourth) = (lanes.highHalf.lowHalf, lanes.highHalf.highHalf)
    }

    static let zero = OutcomeCounts(lanes: .zero)
    fileprivate static let tokenLane = Outcome.allCases.count

    subscript(outcome: Outcome) -> Double { Double(lanes[outcome.rawValue]) }
    var servedTokens: Double { Double(lanes[OutcomeCounts.tokenLane]) }

    /// Those that reached the upstream.
    var attempts: Double {
        Outcome.allCases.reduce(0) { $0 + ($1 == .denied || $1 == .cached ? 0 : self[$1]) }
    }

    /// For the provider's own reasons: what a breaker counts.
    var failures: Double { self[.overload] + self[.server] }

    static func += (left: inout OutcomeCounts, right: OutcomeCounts) { left.lanes += right.lanes }

    func signals(latency: UpstreamReport.Latency?) -> UpstreamReport.Signals {
        UpstreamReport.Signals(
            outcomes: Outcome.allCases.map { Int(min(1e15, self[$0])) }, servedTokens: servedTokens, latency: latency)
    }
}

/// ``OutcomeCounts`` of the last minute, by the second in which calls ended: 3.8 KB.
struct OutcomeRing: Equatable, Sendable {
    static let seconds = 60

    private var slots = [SIMD16<Float>](repeating: .zero, count: OutcomeRing.seconds)
    private var newest: Int64

    init(endingAt second: Int64) {
        newest = second
    }

    /// A second that has left the ring changes nothing. One that is more than a minute in the future counts as the
    /// newest: otherwise a clock that runs ahead would empty the ring.
    mutating func add(_ outcome: Outcome, count: Double = 1, tokens: Double = 0, at second: Int64) {
        let second = min(second, newest + Int64(OutcomeRing.seconds))
        advance(to: second)
        guard second > newest - Int64(OutcomeRing.seconds) else { return }
        let index = index(second)
        slots[index][outcome.rawValue] += Float(count)
        slots[index][OutcomeCounts.tokenLane] += Float(tokens)
    }

    mutating func advance(to second: Int64) {
        guard second > newest else { return }
        for step in 0..<min(second - newest, Int64(OutcomeRing.seconds)) { slots[index(second - step)] = .zero }
        newest = second
    }

    /// Over the `count` seconds that end with `second`.
    func sum(ofSeconds count: Int, endingAt second: Int64) -> OutcomeCounts {
        var sum = SIMD16<Float>.zero
        var s = max(second - Int64(count) + 1, newest - Int64(OutcomeRing.seconds) + 1)
        while s <= min(second, newest) {
            sum += slots[index(s)]
            s += 1
        }
        return OutcomeCounts(lanes: sum)
    }

    private func index(_ second: Int64) -> Int {
        let rest = Int(second % Int64(OutcomeRing.seconds))
        return rest < 0 ? rest + OutcomeRing.seconds : rest
    }
}

extension OutcomeRing {
    /// Seconds without calls cost two bytes.
    func write(to writer: inout ByteWriter) {
        writer.write(newest)
        for slot in slots {
            let filled = (0..<slot.scalarCount).filter { slot[$0] != 0 }
            writer.write(UInt16(filled.reduce(0) { $0 | 1 << $1 }))
            for lane in filled { writer.write(slot[lane]) }
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        newest = try reader.read()
        guard abs(newest) < 1 << 40 else { throw .outOfRange }
        for index in slots.indices {
            let filled = try reader.read(UInt16.self)
            for lane in 0..<16 where filled & 1 << lane != 0 {
                let count = try reader.readFloat()
                guard count.isFinite, count >= 0 else { throw .outOfRange }
                slots[index][lane] = count
            }
        }
    }
}
