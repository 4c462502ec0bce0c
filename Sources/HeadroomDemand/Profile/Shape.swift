import HeadroomModel

/// A mean request. Forgets by requests and not by time, so that an idle tenant keeps its shape: the plain mean of the
/// first two hundred, and then half of it is the last 140.
struct Shape: Sendable {
    private static let memory: Float = 200

    // In this order 20 bytes, and not 32.
    private var sums = SIMD4<Float>.zero
    private var count: Float = 0

    var isKnown: Bool { count > 0 }
    /// Of one request; zero before the first.
    var mean: Work { Work(amounts: SIMD4<Double>(sums)) }

    mutating func learn(_ work: Work) {
        let requests = Float(work[.requests])
        guard requests > 0 else { return }
        count = min(Shape.memory, count + requests)
        sums += (SIMD4<Float>(work.amounts) / requests - sums) * min(1, requests / count)
    }
}

extension Shape {
    func write(to writer: inout ByteWriter) {
        writer.write(count)
        writer.write(sums)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        count = try reader.readFloatAmount()
        sums = try reader.readAmounts()
    }
}
