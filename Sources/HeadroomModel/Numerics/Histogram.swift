/// Counts of values up to some bounds.
public struct Histogram: Equatable, Sendable {
    /// Ascending.
    public let bounds: [Double]
    /// By bound, not cumulative; the last one is for what exceeds all bounds.
    public private(set) var counts: [Int]
    public private(set) var sum = 0.0

    public init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    public var count: Int { counts.reduce(0, +) }

    public mutating func add(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}
