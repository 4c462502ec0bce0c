import HeadroomModel
import HeadroomWire
import Testing

@Suite struct HistorySeriesTests {
    private func rollup(_ minute: Int64, ok: Int64, asked: Int64 = 0) -> Rollup {
        Rollup(
            start: Timestamp(milliseconds: minute * 60000), tenant: "acme", pool: "p", criticality: .batch,
            sums: RollupSums {
                $0.ok = ok
                $0.asked.tokens = asked
            })
    }

    private func query(step: Int64, tenant: TenantID? = "acme") -> HistoryQuery {
        HistoryQuery(
            pool: "p", tenant: tenant, from: Timestamp(milliseconds: 0), to: Timestamp(milliseconds: 86_400_000),
            stepSeconds: step)
    }

    @Test func `sums are kept whatever the step`() {
        let rollups = (0..<100).map { rollup(Int64($0), ok: Int64($0), asked: Int64($0) - 40) }
        for step in [Int64(60), 120, 300, 3600, 86400] {
            let series = HistorySeries(HistoryRecords(tenant: rollups), query(step: step))
            #expect(series.steps.reduce(0) { $0 + $1.sums.ok } == 4950, "\(step)")
            #expect(series.steps.reduce(0) { $0 + $1.sums.asked.tokens } == 950, "\(step)")
            #expect(series.steps.allSatisfy { $0.start.milliseconds % (step * 1000) == 0 }, "\(step)")
        }
    }

    @Test func `a capacity is the mean of the time that was looked at`() {
        func minute(_ minute: Int64, seconds: Double, tpm: Double) -> PoolRollup {
            var capacity = CapacitySums()
            capacity.observedSeconds = seconds
            capacity.estimated = Rates(tpm: tpm * seconds / 60)
            return PoolRollup(start: Timestamp(milliseconds: minute * 60000), pool: "p", capacity: capacity)
        }
        let pools = [
            minute(0, seconds: 60, tpm: 1000), minute(1, seconds: 30, tpm: 400), minute(2, seconds: 0, tpm: 0),
        ]
        let series = HistorySeries(HistoryRecords(pools: pools), query(step: 300, tenant: nil))
        #expect(series.steps.map { $0.capacity.mean(\.estimated) } == [Rates(tpm: 800)])
        let unseen = HistorySeries(HistoryRecords(pools: [pools[2]]), query(step: 60, tenant: nil))
        #expect(unseen.steps[0].capacity.mean(\.estimated) == .none)
    }

    @Test func `a step is rounded up to one that minutes, hours or days add up to`() {
        let rounded: [(Int64, Int64)] = [
            (1, 60), (60, 60), (61, 120), (144, 300), (3599, 3600), (8640, 10_800), (86_400, 86_400), (86_401, 172_800),
        ]
        for (asked, step) in rounded { #expect(HistoryQuery.step(atLeast: asked) == step, "\(asked)") }
    }
}
