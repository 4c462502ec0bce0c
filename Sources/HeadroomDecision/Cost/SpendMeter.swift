import HeadroomModel

/// One subject's spending: since the window began, and in slices of ten seconds of late. Money is in millionths.
struct SpendMeter: Equatable, Sendable {
    private struct Slice: Equatable, Sendable {
        var number: Int64
        var micros: Double
    }

    /// What it spends in one pool of late.
    private struct Part: Equatable, Sendable {
        var micros: Double
        var requests: Double
    }

    static let sliceSeconds = 10.0
    /// With less evidence nothing is projected.
    static let leastSlices = 3.0

    /// The beginning of the window that ``spent`` is of.
    private(set) var windowStart: Timestamp
    private(set) var spent = 0.0
    /// Ascending.
    private var slices: [Slice] = []
    /// Fading with the half-life of the rate's time, as of ``fadedAt``.
    private var parts: [PoolID: Part] = [:]
    private var fadedAt: Timestamp

    init(windowStart: Timestamp) {
        self.windowStart = windowStart
        fadedAt = windowStart
    }

    /// A window has begun: what was spent before it is the last one's.
    mutating func begin(_ start: Timestamp) {
        guard start != windowStart else { return }
        windowStart = start
        spent = 0
    }

    /// - Parameter isInWindow: false for use of an earlier window.
    mutating func add(
        _ micros: Double, requests: Double, in pool: PoolID, at instant: Timestamp, isInWindow: Bool,
        rateSeconds: Double
    ) {
        if isInWindow { spent += micros }
        if instant > fadedAt {
            let kept = decay(instant.seconds(since: fadedAt), halfLife: rateSeconds)
            for key in parts.keys.sorted() {
                parts[key]?.micros *= kept
                parts[key]?.requests *= kept
            }
            fadedAt = instant
        }
        parts[pool, default: Part(micros: 0, requests: 0)].micros += micros
        parts[pool]?.requests += requests
        let number = Self.slice(of: instant)
        let place = slices.lastIndex { $0.number <= number }
        if let place, slices[place].number == number {
            slices[place].micros += micros
        } else {
            slices.insert(Slice(number: number, micros: micros), at: place.map { $0 + 1 } ?? 0)
        }
    }

    /// Forgets slices that began before `instant`.
    mutating func forget(before instant: Timestamp) {
        let oldest = Self.slice(of: instant)
        slices.removeAll { $0.number < oldest }
    }

    /// Nothing of late, and nothing in the window.
    var isIdle: Bool { slices.isEmpty && spent == 0 }

    /// A slice is ten seconds.
    private static func slice(of instant: Timestamp) -> Int64 { instant.second / Int64(sliceSeconds) }

    // MARK: Projection

    /// The present rate, and how much it wavers.
    struct Rate: Equatable, Sendable {
        var perMinute: Double
        /// Standard deviation of what is spent in ten seconds.
        var deviation: Double
        /// Slices that it was measured over.
        var slices: Double

        var isKnown: Bool { slices >= SpendMeter.leastSlices }
    }

    /// - Parameter start: what was spent before it says nothing of the present.
    func rate(since start: Timestamp, at now: Timestamp) -> Rate {
        let first = max(Self.slice(of: start), slices.first?.number ?? Self.slice(of: now))
        let begin = max(start.milliseconds, first * Int64(Self.sliceSeconds * 1000))
        let count = max(0, Double(now.milliseconds - begin) / 1000 / Self.sliceSeconds)
        guard count > 0 else { return Rate(perMinute: 0, deviation: 0, slices: 0) }
        let live = slices.lazy.filter { $0.number >= first }
        let sum = live.reduce(0) { $0 + $1.micros }
        let squares = live.reduce(0) { $0 + $1.micros * $1.micros }
        let variance = count > 1 ? max(0, (squares - sum * sum / count) / (count - 1)) : 0
        return Rate(
            perMinute: sum / count * 60 / Self.sliceSeconds, deviation: variance.squareRoot(), slices: count)
    }

    /// Of each pool the requests that come with one millionth of its spending; ascending.
    var requestsPerMicro: [(pool: PoolID, requests: Double)] {
        let micros = parts.keys.sorted().reduce(0) { $0 + (parts[$1]?.micros ?? 0) }
        guard micros > 0 else { return [] }
        return parts.keys.sorted().map { ($0, (parts[$0]?.requests ?? 0) / micros) }
    }

    // MARK: Checkpoint

    func write(to writer: inout ByteWriter) {
        writer.write(windowStart)
        writer.write(spent)
        writer.write(slices) { writer, slice in
            writer.write(slice.number)
            writer.write(slice.micros)
        }
        writer.write(fadedAt)
        writer.write(parts.keys.sorted()) { writer, pool in
            writer.write(pool.text)
            writer.write(parts[pool]?.micros ?? 0)
            writer.write(parts[pool]?.requests ?? 0)
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        windowStart = try reader.readTimestamp()
        spent = try reader.readAmount()
        slices = try reader.readArray(leastBytes: 16) { reader in
            Slice(number: try reader.read(Int64.self), micros: try reader.readAmount())
        }
        fadedAt = try reader.readTimestamp()
        for _ in 0..<(try reader.readCount(leastBytes: 18)) {
            let pool: PoolID = try reader.readIdentifier()
            parts[pool] = Part(micros: try reader.readAmount(), requests: try reader.readAmount())
        }
    }
}
