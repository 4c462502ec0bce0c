/// How the estimate followed what was granted, second by second, each a part of the contract.
///
/// What is granted beyond the contract counts as the contract, since no estimate exceeds it. A *change* is a move by more
/// than a hundredth. An estimate is *there* when it first lies within 10 % of what is granted, and where it never does, at the
/// next change.
struct EstimateQuality {
    /// From a fall, or a rise, until the estimate is there: the median over all of them, in seconds. `nil`: there was none.
    var secondsAfterFall: Double?
    var secondsAfterRise: Double?
    /// Mean of |estimate / granted − 1| over the seconds that are at least ``settling`` after a change.
    var standingError: Double?
    /// Seconds in which the estimate was below 0.7 of what was granted.
    var secondsFarBelow = 0
    /// Seconds of every rise.
    private(set) var rises: [Int] = []

    private static let settling = 20

    init(estimated: [Double], granted: [Double]) {
        let truth = granted.map { min(1, max(1e-9, $0)) }
        let changes = truth.indices.dropFirst().filter { abs(truth[$0] / truth[$0 - 1] - 1) > 0.01 }
        var (falls, climbs): ([Double], [Double]) = ([], [])
        for (index, change) in changes.enumerated() {
            let end = index + 1 < changes.count ? changes[index + 1] : truth.count
            let there = (change..<end).first { abs(estimated[$0] / truth[$0] - 1) <= 0.1 } ?? end
            if truth[change] < truth[change - 1] {
                falls.append(Double(there - change))
            } else {
                climbs.append(Double(there - change))
                rises.append(change)
            }
        }
        secondsAfterFall = EstimateQuality.median(falls)
        secondsAfterRise = EstimateQuality.median(climbs)
        let isChange = Set(changes)
        var (sum, count, since) = (0.0, 0, 0)
        for second in truth.indices {
            let ratio = estimated[second] / truth[second]
            if ratio < 0.7 { secondsFarBelow += 1 }
            since = second == 0 || isChange.contains(second) ? 0 : since + 1
            guard since >= EstimateQuality.settling else { continue }
            sum += abs(ratio - 1)
            count += 1
        }
        if count > 0 { standingError = sum / Double(count) }
    }

    /// The upper one of two.
    static func median(_ seconds: [Double]) -> Double? {
        seconds.isEmpty ? nil : seconds.sorted()[seconds.count / 2]
    }
}
