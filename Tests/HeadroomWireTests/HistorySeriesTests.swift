import HeadroomModel
import HeadroomWire
import Testing

@Suite struct HistorySeriesTests {
    private func rollup(_ minute: Int64, ok: Int64, demand: Double = 0) -> Rollup {
        Rollup(
            start: Timestamp(milliseconds: minute * 60000), tenant: "acme", pool: "p", criticality: .batch, ok: ok,
            demandTokens: demand)
    }

    @Test func `sums are kept whatever the step`() {
        let rollups = (0..<100).map { rollup(Int64($0), ok: Int64($0), demand: Double($0) / 4) }
        for step in [Int64(60), 120, 180, 420, 3600, 86400] {
            let series = HistorySeries(rollups, limit: 1000, stepSeconds: step)
            #expect(series.steps.reduce(0) { $0 + $1.ok } == 4950, "\(step)")
            #expect(series.steps.reduce(0) { $0 + $1.demandTokens } == 1237.5, "\(step)")
            #expect(series.steps.allSatisfy { $0.start.milliseconds % (step * 1000) == 0 }, "\(step)")
            #expect(series.next == nil)
        }
    }

    @Test func `what did not fit is asked for from the last whole step on`() {
        let rollups = (0..<10).map { rollup(Int64($0), ok: 1) }
        let first = HistorySeries(Array(rollups.prefix(5)), limit: 5, stepSeconds: 120)
        #expect(first.steps.map(\.ok) == [2, 2])
        #expect(first.next == Timestamp(milliseconds: 4 * 60000))
        let second = HistorySeries(Array(rollups.dropFirst(4)), limit: 100, stepSeconds: 120)
        #expect(second.steps.map(\.ok) == [2, 2, 2] && second.next == nil)
    }
}
