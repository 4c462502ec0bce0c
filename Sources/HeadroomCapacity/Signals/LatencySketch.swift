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
