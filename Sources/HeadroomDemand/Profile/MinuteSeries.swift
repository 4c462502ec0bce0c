import HeadroomModel

/// One flow's last minutes, and the slow mean of all before.
///
/// Minutes are absolute (milliseconds since 1970 / 60,000). A minute stays open while late lines may still belong to
/// it, and then enters the mean: 144 bytes, whatever there was.
struct MinuteSeries: Sendable {
    /// The minute under way, the five of the fast rate, and two that late lines may still reach.
    static let open = 8
    /// A minute counts half after an hour: what a tenant does as a rule, and not what it did this morning.
    static let halfLifeMinutes = 60.0
    static let keptPerMinute = Float(decay(1, halfLife: halfLifeMinutes))

    /// Requests and tokens wanted, requests and tokens served.
    typealias Amounts = SIMD4<Float>

    private var minutes = InlineArray<8, Amounts>(repeating: .zero)
    /// Sum of all closed minutes, each with its weight; over ``TenantProfile/closedWeight`` a mean.
    private(set) var closed = Amounts.zero

    mutating func add(wanted work: Work, at minute: Int64) {
        minutes[place(minute)] += Amounts(Float(work[.requests]), Float(work[.tokens]), 0, 0)
    }

    mutating func add(served work: Work, at minute: Int64) {
        minutes[place(minute)] += Amounts(0, 0, Float(work[.requests]), Float(work[.tokens]))
    }

    /// Of one open minute.
    subscript(minute: Int64) -> Amounts { minutes[place(minute)] }

    /// Makes room: `minute` is closed, and its place is empty.
    mutating func close(_ minute: Int64) {
        closed = closed * MinuteSeries.keptPerMinute + minutes[place(minute)] * (1 - MinuteSeries.keptPerMinute)
        minutes[place(minute)] = .zero
    }

    /// So many minutes without anything.
    mutating func closeIdle(keeping part: Float) { closed *= part }

    private func place(_ minute: Int64) -> Int { Int(minute & 7) }
}

extension MinuteSeries {
    func write(to writer: inout ByteWriter) {
        for index in minutes.indices { writer.write(minutes[index]) }
        writer.write(closed)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        for index in minutes.indices { minutes[index] = try reader.readAmounts() }
        closed = try reader.readAmounts()
    }
}

extension ByteWriter {
    mutating func write(_ amounts: SIMD4<Float>) {
        for lane in 0..<4 { write(amounts[lane]) }
    }
}

extension ByteReader {
    mutating func readAmounts() throws(ByteCodingError) -> SIMD4<Float> {
        var amounts = SIMD4<Float>.zero
        for lane in 0..<4 { amounts[lane] = try readFloatAmount() }
        return amounts
    }
}
