import HeadroomJSON
import HeadroomModel

/// The newest report of the loop, and what has to be counted over all of them.
package struct LoopSummary: Sendable {
    package private(set) var newest: LoopReport?
    package private(set) var tickSeconds = Histogram(bounds: [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
    ])

    /// Reports so far.
    package private(set) var reportCount = 0
    /// When ticks were reported as skipped, and how many; oldest first, not older than ``skipMemorySeconds``.
    private var skips: [(at: Timestamp, count: Int)] = []

    /// As long as an operator who looks after an alert needs to see it.
    package static let skipMemorySeconds = 60.0

    package init() {}

    package mutating func add(_ report: LoopReport) {
        let skipped = report.ticksSkipped - (newest?.ticksSkipped ?? 0)
        skips.removeAll { report.at.seconds(since: $0.at) > Self.skipMemorySeconds }
        if skipped > 0 { skips.append((report.at, skipped)) }
        newest = report
        reportCount += 1
        tickSeconds.add(report.lastTickSeconds)
    }

    /// The loop's delays, for people; empty when each tick fits into its period.
    package func delays(at now: Timestamp) -> [String] {
        guard let newest else { return [] }
        var delays: [String] = []
        let period = Self.seconds(newest.periodSeconds)
        let age = now.seconds(since: newest.at)
        if age > 2 * newest.periodSeconds + newest.lastTickSeconds {
            let began = RFC3339.format(milliseconds: newest.at.milliseconds)
            delays.append("no tick has begun since \(began); one is due every \(period)")
        }
        if newest.lastTickSeconds > newest.periodSeconds {
            delays.append("a tick took \(Self.seconds(newest.lastTickSeconds)), longer than its period of \(period)")
        }
        let skipped = skips.reduce(0) { $0 + (now.seconds(since: $1.at) <= Self.skipMemorySeconds ? $1.count : 0) }
        if skipped > 0 {
            let ticks = skipped == 1 ? "a tick was" : "\(skipped) ticks were"
            delays.append(
                "\(ticks) skipped in the last \(Int(Self.skipMemorySeconds)) s, because the one before had not ended")
        }
        return delays
    }

    /// With one decimal.
    private static func seconds(_ seconds: Double) -> String { "\((seconds * 10).rounded() / 10) s" }
}
