import HeadroomModel

/// Numbers 0..<count, where k has the weight (k + 1)^-exponent.
package struct ZipfDistribution: Sendable {
    /// Running sums of the weights.
    private let cumulative: [Double]

    /// `count` is at least 1.
    package init(count: Int, exponent: Double) {
        var sum = 0.0
        cumulative = (1...count).map { rank in
            sum += HeadroomModel.exponential(-exponent * naturalLogarithm(Double(rank)))
            return sum
        }
    }

    /// The part of all draws that `index` gets.
    package func share(of index: Int) -> Double {
        (cumulative[index] - (index == 0 ? 0 : cumulative[index - 1])) / cumulative[cumulative.count - 1]
    }

    package func draw(using generator: inout some RandomNumberGenerator) -> Int {
        let target = generator.drawUniform() * cumulative[cumulative.count - 1]
        return cumulative.firstIndex { $0 > target } ?? cumulative.count - 1
    }
}

/// A distribution as published quantiles tell it, straight lines between them.
package struct QuantileTable: Equatable, Sendable {
    /// Where in the distribution the values stand: ServeGen's fourteen.
    package static let probabilities = [0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1]

    /// Never descending, one for each of ``probabilities``.
    package let values: [Double]

    package init(_ values: [Double]) {
        precondition(values.count == QuantileTable.probabilities.count, "one value for each probability")
        self.values = values
    }

    /// `probability` in 0...1.
    package func value(at probability: Double) -> Double {
        let points = QuantileTable.probabilities
        let upper = points.firstIndex { $0 >= probability } ?? points.count - 1
        guard upper > 0 else { return values[0] }
        let part = (probability - points[upper - 1]) / (points[upper] - points[upper - 1])
        return values[upper - 1] + (values[upper] - values[upper - 1]) * part
    }

    package var mean: Double {
        let points = QuantileTable.probabilities
        var sum = 0.0
        for index in 1..<points.count {
            let middle = (values[index - 1] + values[index]) / 2
            sum += middle * (points[index] - points[index - 1])
        }
        return sum
    }

    package func draw(using generator: inout some RandomNumberGenerator) -> Double {
        value(at: generator.drawUniform())
    }
}
