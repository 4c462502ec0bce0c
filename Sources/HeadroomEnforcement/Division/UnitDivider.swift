import HeadroomModel

/// Does ``LargestRemainder/divide(_:by:)`` many times over the same few gateways, without allocating memory each time.
struct UnitDivider {
    /// In proportion to these; set before each division.
    var weights: [Double]
    /// The parts, whole numbers that sum to the total.
    private(set) var units: [Double]
    private var remainders: [Double]

    /// Above this many steps the linear method is faster.
    private static let maxSteps = 4096

    init(count: Int) {
        weights = [Double](repeating: 0, count: count)
        units = weights
        remainders = weights
    }

    /// - Parameter total: whole and not negative.
    mutating func divide(_ total: Double) {
        var sum = 0.0
        for weight in weights { sum += weight }
        var missing = total
        for index in weights.indices {
            // Multiply before dividing: a single gateway then gets exactly `total`.
            let part = sum > 0 ? weights[index] * total / sum : total / Double(weights.count)
            units[index] = part.rounded(.down)
            remainders[index] = part - units[index]
            missing -= units[index]
        }
        guard missing >= 0, Int(missing) * weights.count <= UnitDivider.maxSteps, missing <= Double(weights.count)
        else {
            units = LargestRemainder.divide(Int(total), by: weights).map(Double.init)
            return
        }
        for _ in 0..<Int(missing) {
            var most = 0
            for index in remainders.indices where remainders[index] > remainders[most] { most = index }
            units[most] += 1
            remainders[most] = -1
        }
    }
}
