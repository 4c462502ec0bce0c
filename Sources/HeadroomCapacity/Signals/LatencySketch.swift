import HeadroomModel

/// Quantiles of latencies in fixed memory: a histogram whose buckets split each octave into 16 equal parts.
///
/// A quantile is the middle of its bucket, and so within 1/32 (3.2 %) of the true one, for latencies from 1 ms to
/// 2^22 ms (70 minutes); what is outside counts as the nearest. 353 counts of 4 bytes are 1.4 KB. Sketches of the same
/// seconds at other gateways, and of other seconds, merge by adding the counts. The bucket is read off the bits of the
/// number (as HdrHistogram does), so it costs no logarithm and is the same on every machine.
public struct LatencySketch: Equatable, Sendable {
    private static let partBits = 4
    private static let octaves = 22
    static let bucketCount = octaves << partBits + 1
    /// The bits of 1.0, so that 1 ms is in the first bucket.
    private static let base = (1.0).bitPattern >> UInt64(52 - partBits)

    private var counts: [Float]
    public private(set) var total: Double

    public init() {
        counts = [Float](repeating: 0, count: LatencySketch.bucketCount)
        total = 0
    }

    /// Negative numbers and NaN count as 0, infinity as the longest.
    public mutating func add(milliseconds: Double, weight: Double = 1) {
        counts[LatencySketch.bucket(of: milliseconds)] += Float(weight)
        total += weight
    }

    public mutating func merge(_ other: LatencySketch) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
        total += other.total
    }

    /// Older latencies weigh `factor` of what they did.
    public mutating func fade(by factor: Double) {
        for bucket in counts.indices { counts[bucket] *= Float(factor) }
        total *= factor
    }

    /// In milliseconds; `nil` while it is empty. `part` is 0 to 1.
    public func quantile(_ part: Double) -> Double? {
        let whole = counts.reduce(0.0) { $0 + Double($1) }
        guard whole > 0 else { return nil }
        var below = 0.0
        for bucket in counts.indices where counts[bucket] > 0 {
            below += Double(counts[bucket])
            if below >= part * whole * (1 - 1e-9) { return LatencySketch.middle(of: bucket) }
        }
        return LatencySketch.middle(of: counts.count - 1)
    }

    private static func bucket(of milliseconds: Double) -> Int {
        guard milliseconds > 1 else { return 0 }  // NaN too.
        let index = milliseconds.bitPattern >> UInt64(52 - partBits) - base
        return Int(min(index, UInt64(bucketCount - 1)))
    }

    private static func middle(of bucket: Int) -> Double {
        let lower = Double(bitPattern: (base + UInt64(bucket)) << UInt64(52 - partBits))
        let upper = Double(bitPattern: (base + UInt64(bucket) + 1) << UInt64(52 - partBits))
        return (lower + upper) / 2
    }
}

extension LatencySketch {
    public func write(to writer: inout ByteWriter) {
        // Nearly all buckets are empty.
        let filled = counts.indices.filter { counts[$0] > 0 }
        writer.write(filled) { writer, bucket in
            writer.write(UInt16(bucket))
            writer.write(counts[bucket])
        }
    }

    public init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init()
        for _ in 0..<(try reader.readCount(leastBytes: 6)) {
            let bucket = Int(try reader.read(UInt16.self))
            let count = try reader.readFloat()
            guard bucket < counts.count, count.isFinite, count > 0 else { throw .outOfRange }
            counts[bucket] = count
            total += Double(count)
        }
    }
}

/// The latencies of the last minute beside a slow-moving baseline.
///
/// The last 30 to 60 s are two sketches in turn. What leaves them enters the baseline, whose weight halves in
/// ``baselineHalfLife``: a p95 that stays elsewhere is the baseline after some minutes, since a twentieth of the weight
/// is all that a p95 needs.
struct LatencyHistory: Equatable, Sendable {
    private static let turnSeconds: Int64 = 30
    private static let baselineHalfLife = 3600.0
    /// p95 says little on fewer calls.
    private static let leastCalls = 50.0
    /// Times the baseline. A provider at its limit is twice as slow as an idle one; three times is trouble.
    private static let farOver = 3.0

    private var current = LatencySketch()
    private var previous = LatencySketch()
    private var baseline = LatencySketch()
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
        baseline.fade(
            by: decay(Double(turns * LatencyHistory.turnSeconds), halfLife: LatencyHistory.baselineHalfLife))
        baseline.merge(previous)
        if turns > 1 { baseline.merge(current) }
        previous = turns == 1 ? current : LatencySketch()
        current = LatencySketch()
    }

    /// Another model version: what was usual says nothing any more.
    mutating func startOver() {
        baseline = LatencySketch()
        previous = LatencySketch()
    }

    var report: UpstreamReport.Latency? {
        let recent = recent
        guard let p50 = recent.quantile(0.5), let p95 = recent.quantile(0.95), let p99 = recent.quantile(0.99) else {
            return nil
        }
        return UpstreamReport.Latency(
            p50Milliseconds: p50, p95Milliseconds: p95, p99Milliseconds: p99,
            baselineP95Milliseconds: baseline.quantile(0.95) ?? p95)
    }

    /// p95 lies far over its baseline, on enough calls of both.
    var isFarOverBaseline: Bool {
        let recent = recent
        guard recent.total >= Self.leastCalls, baseline.total >= 2 * Self.leastCalls,
            let p95 = recent.quantile(0.95), let usual = baseline.quantile(0.95)
        else { return false }
        return p95 > Self.farOver * usual
    }

    private var recent: LatencySketch {
        var recent = current
        recent.merge(previous)
        return recent
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
        baseline = try LatencySketch(from: &reader)
    }
}
