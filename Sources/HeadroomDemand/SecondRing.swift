import HeadroomModel

/// Sums per second over the last seconds, in constant memory: 16 bytes a second.
///
/// Seconds are absolute (milliseconds since 1970 / 1000). Adding to a second that has left the ring is a no-op;
/// adding to a later one moves the ring on.
public struct SecondRing: Sendable {
    /// A power of two of them, so that a second's place is found without a division.
    private var slots: [SIMD4<Float>]
    private var clock: RingClock

    /// The newest second that the ring holds.
    var newest: Int64 { clock.newest }

    /// Holds at least `seconds` seconds, the newest of them `second`.
    public init(seconds: Int, endingAt second: Int64) {
        var count = 1
        while count < seconds { count *= 2 }
        slots = [SIMD4<Float>](repeating: .zero, count: count)
        clock = RingClock(newest: second)
    }

    var memoryBytes: Int { slots.count * MemoryLayout<SIMD4<Float>>.stride }

    /// How many it holds.
    public var seconds: Int { slots.count }

    public mutating func add(_ work: Work, at second: Int64) {
        for new in clock.advance(to: second, of: slots.count) { slots[index(new)] = .zero }
        if let slot = clock.slot(of: second, of: slots.count) { slots[slot] += SIMD4<Float>(work.amounts) }
    }

    /// The sum over the `count` seconds that end with `second`.
    public func sum(ofSeconds count: Int, endingAt second: Int64) -> Work {
        var sum = SIMD4<Double>.zero
        var s = max(second - Int64(count) + 1, clock.newest - Int64(slots.count) + 1)
        let last = min(second, clock.newest)
        while s <= last {
            sum += SIMD4<Double>(slots[index(s)])
            s += 1
        }
        return Work(amounts: sum)
    }

    private func index(_ second: Int64) -> Int { RingClock.slot(of: second, of: slots.count) }
}

extension SecondRing {
    /// Only the seconds that hold something: most rings are nearly empty.
    func write(to writer: inout ByteWriter) {
        writer.write(newest)
        let filled = (0..<Int64(slots.count)).filter { slots[index(newest - $0)] != .zero }
        writer.write(filled) { writer, age in
            writer.write(UInt16(age))
            for lane in 0..<4 { writer.write(slots[index(newest - age)][lane]) }
        }
    }

    init(seconds: Int, from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(seconds: seconds, endingAt: try reader.read(Int64.self))
        for _ in 0..<(try reader.readCount(leastBytes: 18)) {
            let age = Int64(try reader.read(UInt16.self))
            var work = SIMD4<Float>.zero
            for lane in 0..<4 { work[lane] = try reader.readFloatAmount() }
            guard age < Int64(slots.count) else { throw .outOfRange }
            slots[index(clock.newest - age)] = work
        }
    }
}

extension ByteReader {
    /// Finite and not below 0.
    mutating func readFloatAmount() throws(ByteCodingError) -> Float {
        let value = try readFloat()
        guard value.isFinite, value >= 0 else { throw .outOfRange }
        return value
    }
}
