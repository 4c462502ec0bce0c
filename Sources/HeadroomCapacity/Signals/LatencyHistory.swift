import HeadroomModel

/// The latencies of the last minute beside the p95 that is usual.
///
/// The last 30 to 60 s are two sketches in turn. What leaves them is one half-minute of the baseline.
struct LatencyHistory: Equatable, Sendable {
    private static let turnSeconds: Int64 = 30
    /// p95 says little on fewer calls.
    private static let leastCalls = 50.0
    /// Times the baseline. A provider at its limit is twice as slow as an idle one; three times is trouble.
    private static let farOver = 3.0

    private var current = LatencySketch()
    private var previous = LatencySketch()
    private var baseline = Baseline()
    private var turn: Int64

    init(at now: Timestamp) {
        turn = now.second / LatencyHistory.turnSeconds
    }

    mutating func add(milliseconds: Double, weight: Double = 1) {
        current.add(milliseconds: milliseconds, weight: weight)
    }

    /// Only its quantiles are known: a weight beside each that gives them back.
    mutating func add(_ latency: WindowRecord.Latency) {
        let count = Double(max(0, latency.count))
        guard count > 0 else { return }
        current.add(milliseconds: latency.p50Milliseconds, weight: count * 0.72)
        current.add(milliseconds: latency.p95Milliseconds, weight: count * 0.26)
        current.add(milliseconds: latency.p99Milliseconds, weight: count * 0.02)
    }

    mutating func advance(to now: Timestamp) {
        let turns = now.second / LatencyHistory.turnSeconds - turn
        guard turns > 0 else { return }
        turn += turns
        baseline.add(previous, leastCalls: Self.leastCalls)
        if turns > 1 { baseline.add(current, leastCalls: Self.leastCalls) }
        previous = turns == 1 ? current : LatencySketch()
        current = LatencySketch()
    }

    /// Another model version: what was usual says nothing any more.
    mutating func startOver() {
        baseline = Baseline()
        previous = LatencySketch()
    }

    var report: UpstreamReport.Latency? {
        let recent = recent
        guard let p50 = recent.quantile(0.5), let p95 = recent.quantile(0.95), let p99 = recent.quantile(0.99) else {
            return nil
        }
        return UpstreamReport.Latency(
            p50Milliseconds: p50, p95Milliseconds: p95, p99Milliseconds: p99,
            baselineP95Milliseconds: baseline.p95Milliseconds ?? p95)
    }

    /// p95 lies far over its baseline, on enough calls of both.
    var isFarOverBaseline: Bool {
        let recent = recent
        guard recent.total >= Self.leastCalls, baseline.calls >= 2 * Self.leastCalls,
            let p95 = recent.quantile(0.95), let usual = baseline.p95Milliseconds
        else { return false }
        return p95 > Self.farOver * usual
    }

    private var recent: LatencySketch {
        var recent = current
        recent.merge(previous)
        return recent
    }
}

/// The p95 that is usual: a mean of the p95 of half-minutes, by octaves.
///
/// A quantile of all calls of the last hour would follow an upstream that has become slow within minutes, since a twentieth
/// of the calls is all that a p95 needs. Here each half-minute has one voice, however slow its calls were.
private struct Baseline: Equatable, Sendable {
    /// Half-minutes that are averaged alike, to begin with.
    private static let firstTurns = 4.0
    /// Then a half-minute weighs a fortieth at most, also while there are few: three minutes of trouble move it by a
    /// seventh of the way.
    private static let leastTurns = 40.0
    /// And a 173rd at least: the baseline goes half the way to a p95 that stays elsewhere within an hour.
    private static let mostTurns = 173.0

    private var octaves = 0.0
    private var turns = 0.0
    /// That it was made of; not more than matters.
    private(set) var calls = 0.0

    /// `nil` while nothing is known.
    var p95Milliseconds: Double? { turns > 0 ? Self.milliseconds(octaves) : nil }

    mutating func add(_ sketch: LatencySketch, leastCalls: Double) {
        guard let p95 = sketch.quantile(0.95) else { return }
        // Half a voice for half the calls that a p95 needs.
        let voice = min(1, sketch.total / leastCalls)
        let span =
            turns < Self.firstTurns ? turns + voice : min(max(turns + voice, Self.leastTurns), Self.mostTurns)
        octaves += (Self.octaves(p95) - octaves) * voice / span
        turns = min(turns + voice, Self.mostTurns)
        calls = min(calls + sketch.total, 1e6)
    }

    /// The logarithm to the base 2, straight between powers of 2: the same bits on every machine, and exact both ways.
    private static func octaves(_ milliseconds: Double) -> Double {
        let value = max(1, milliseconds)
        return Double(value.exponent) + value.significand - 1
    }

    private static func milliseconds(_ octaves: Double) -> Double {
        let whole = octaves.rounded(.down)
        return Double(sign: .plus, exponent: Int(whole), significand: 1 + octaves - whole)
    }
}

extension LatencyHistory {
    func write(to writer: inout ByteWriter) {
        writer.write(turn)
        current.write(to: &writer)
        previous.write(to: &writer)
        baseline.write(to: &writer)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        turn = try reader.read()
        guard abs(turn) < 1 << 40 else { throw .outOfRange }
        current = try LatencySketch(from: &reader)
        previous = try LatencySketch(from: &reader)
        baseline = try Baseline(from: &reader)
    }
}

extension Baseline {
    func write(to writer: inout ByteWriter) {
        writer.write(octaves)
        writer.write(turns)
        writer.write(calls)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        octaves = try reader.readAmount()
        turns = try reader.readAmount()
        calls = try reader.readAmount()
        guard octaves < 64 else { throw .outOfRange }
    }
}
