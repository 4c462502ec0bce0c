import HeadroomModel

/// The newest report of the loop, and what has to be counted over all of them.
package struct LoopSummary: Sendable {
    package private(set) var newest: LoopReport?
    package private(set) var tickSeconds = Histogram(bounds: [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
    ])

    package init() {}

    package mutating func add(_ report: LoopReport) {
        newest = report
        tickSeconds.add(report.lastTickSeconds)
    }
}
