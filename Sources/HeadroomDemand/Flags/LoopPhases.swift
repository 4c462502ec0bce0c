import HeadroomModel

/// When in the loop's period new work arrives, in eighths of it; what came long ago fades.
struct LoopPhases: Sendable {
    /// A call, by the part of the period in which it arrived, and how much it counts: all calls of one tenant in one period
    /// count about one together.
    struct Arrival {
        var part: Int
        var weight: Float
    }

    /// So many periods of so many tenants are remembered, in sum.
    private static let memory: Float = 200

    private var parts = SIMD8<Float>.zero

    mutating func add(_ weight: Float, to part: Int) {
        parts *= 1 - min(1, weight) / Self.memory
        parts[part & 7] += weight
    }

    var sum: Float { parts.sum() }

    /// In two parts that lie side by side: a quarter of the period.
    var most: Float {
        var most: Float = 0
        for part in 0..<8 { most = max(most, parts[part] + parts[(part + 1) & 7]) }
        return most
    }
}

extension LoopPhases {
    func write(to writer: inout ByteWriter) {
        writer.write(parts.lowHalf)
        writer.write(parts.highHalf)
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init()
        parts.lowHalf = try reader.readAmounts()
        parts.highHalf = try reader.readAmounts()
    }
}
