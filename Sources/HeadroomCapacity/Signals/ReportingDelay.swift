import HeadroomModel

/// How long after the upstream took a call Headroom knows of it: latency, the gateway's reporting and the loop's period.
///
/// A call is reported when it ends, so the newest seconds are always reported in part. Knowing how much of a second is reported
/// by what age, its total can be estimated before it is complete.
struct ReportingDelay: Sendable {
    private static let halfLifeSeconds = 60.0
    /// Whole seconds; what takes longer counts as this.
    static let longest = 20

    /// Work by the delay, in whole seconds, with which it was reported.
    var reported: [Double]
    private(set) var at: Timestamp

    /// Starts from the belief that a second is reported within four, with the weight of a second of the pool.
    init(at now: Timestamp) {
        reported = [Double](repeating: 0, count: ReportingDelay.longest + 1)
        reported[1] = 0.25
        reported[2] = 0.5
        reported[3] = 0.25
        at = now
    }

    /// `work` in seconds of the pool, taken by the upstream in `second`, reported at `now`.
    mutating func add(_ work: Double, ofSecond second: Int64, at now: Timestamp) {
        if now > at {
            let left = decay(now.seconds(since: at), halfLife: ReportingDelay.halfLifeSeconds)
            for delay in reported.indices { reported[delay] *= left }
            at = now
        }
        reported[Int(max(0, min(Int64(ReportingDelay.longest), now.second - second)))] += work
    }

    /// The part of a second's work that is reported when it is `age` seconds old: rises from 0 to 1.
    var completeness: [Double] {
        let total = reported.reduce(0, +)
        guard total > 0 else { return reported.indices.map { $0 < ReportingDelay.longest ? 0 : 1 } }
        var sum = 0.0
        return reported.map {
            sum += $0
            return sum / total
        }
    }
}
