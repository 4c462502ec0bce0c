/// API Priority and Fairness' memory of a priority level's demand.
package struct SeatDemand: Equatable, Sendable {
    /// Demand over the last period.
    package private(set) var highWatermark = 0.0
    package private(set) var smoothed = 0.0

    /// Of one period of 10 s: a half-life of 298 s.
    package static let smoothingCoefficient = 0.977

    package init() {}

    /// The demand in each part of one period, all parts of equal length. An envelope, mean plus deviation, is followed
    /// up at once and down slowly.
    package mutating func note(_ demands: [Double]) {
        highWatermark = demands.max() ?? 0
        guard !demands.isEmpty else { return }
        let count = Double(demands.count)
        let mean = demands.reduce(0, +) / count
        let variance = demands.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
        let envelope = mean + variance.squareRoot()
        let coefficient = SeatDemand.smoothingCoefficient
        smoothed = max(envelope, coefficient * smoothed + (1 - coefficient) * envelope)
    }
}
