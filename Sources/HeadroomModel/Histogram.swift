/// Counts of values up to some bounds.
package struct Histogram: Equatable, Sendable {
    /// Ascending.
    package let bounds: [Double]
    /// By bound, not cumulative; the last one is for what exceeds all bounds.
    package private(set) var counts: [Int]
    package private(set) var sum = 0.0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    package var count: Int { counts.reduce(0, +) }

    package mutating func add(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }
}
