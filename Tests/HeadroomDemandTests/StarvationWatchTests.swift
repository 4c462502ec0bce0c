import HeadroomDemand
import HeadroomModel
import Testing

@Suite struct StarvationWatchTests {
    private let nominal = Rates(rpm: 600, tpm: 600_000)
    private let start = Timestamp(milliseconds: 1_793_000_000_000)

    private func tenant(demand: Double, consumed: Double) -> TenantDemand {
        TenantDemand(
            tenant: "acme",
            demand: PerCriticality(
                interactive: Rates(rpm: demand / 1_000, tpm: demand), nearRealTime: .none, batch: .none),
            consumed: Rates(rpm: consumed / 1_000, tpm: consumed))
    }

    /// One verdict a second for `seconds`, the last of them returned.
    private func verdict(
        demand: Double, consumed: Double, entitlement: Double, lost: Bool = false, seconds: Int
    ) -> StarvationWatch.Finding {
        var watch = StarvationWatch(settings: StarvationPolicy(seconds: 300, share: 0.7))
        var last = StarvationWatch.Finding(underservedSeconds: 0, starvation: nil)
        for second in 0...seconds {
            last = watch.judge(
                tenant(demand: demand, consumed: consumed),
                entitlement: Rates(rpm: entitlement / 1_000, tpm: entitlement), nominal: nominal,
                hasLostCapacity: lost, at: start.adding(seconds: Double(second)))
        }
        return last
    }

    @Test func `starved is who gets less than 70 % of its due for more than five minutes`() {
        #expect(
            verdict(demand: 100_000, consumed: 60_000, entitlement: 200_000, seconds: 301).starvation == .delivery)
        #expect(verdict(demand: 100_000, consumed: 60_000, entitlement: 200_000, seconds: 300).starvation == nil)
        #expect(verdict(demand: 100_000, consumed: 71_000, entitlement: 200_000, seconds: 900).starvation == nil)
    }

    @Test func `who asks for little or is entitled to little is not starved by getting it`() {
        #expect(verdict(demand: 10_000, consumed: 9_000, entitlement: 200_000, seconds: 900).starvation == nil)
        #expect(verdict(demand: 500_000, consumed: 40_000, entitlement: 50_000, seconds: 900).starvation == nil)
    }

    @Test func `a pool that has lost capacity starves by shortage`() {
        #expect(
            verdict(demand: 100_000, consumed: 10_000, entitlement: 100_000, lost: true, seconds: 301).starvation
                == .shortage)
    }

    @Test func `the tick at which it is certain is the first one, and only that`() {
        #expect(verdict(demand: 100_000, consumed: 10_000, entitlement: 200_000, seconds: 300).isFirst == false)
        #expect(verdict(demand: 100_000, consumed: 10_000, entitlement: 200_000, seconds: 301).isFirst)
        #expect(verdict(demand: 100_000, consumed: 10_000, entitlement: 200_000, seconds: 302).isFirst == false)
    }

    @Test func `one good moment starts the count anew`() {
        var watch = StarvationWatch(settings: StarvationPolicy(seconds: 300, share: 0.7))
        var last = StarvationWatch.Finding(underservedSeconds: 0, starvation: nil)
        for second in 0...500 {
            last = watch.judge(
                tenant(demand: 100_000, consumed: second == 250 ? 100_000 : 10_000),
                entitlement: Rates(rpm: 200, tpm: 200_000), nominal: nominal, hasLostCapacity: false,
                at: start.adding(seconds: Double(second)))
        }
        #expect(last == StarvationWatch.Finding(underservedSeconds: 249, starvation: nil))
    }

    @Test func `a call that waits for too long lowers what else it takes, and is nothing by itself`() {
        // (consumed of a due 100,000, oldest call waits) → starved after six minutes at a tier's longest wait of 30 s.
        for (consumed, oldest, starved) in [
            (80_000, 31, true), (80_000, 30, false), (86_000, 400, false), (60_000, 0, true),
        ] {
            var watch = StarvationWatch(settings: StarvationPolicy(seconds: 300, share: 0.7))
            var tenant = tenant(demand: 500_000, consumed: Double(consumed))
            tenant.queue.batch = TenantReport.Queue(depth: 1, oldestSeconds: Double(oldest))
            var last: StarvationWatch.Finding?
            for second in 0...360 {
                last = watch.judge(
                    tenant, entitlement: Rates(rpm: 100, tpm: 100_000), nominal: nominal, hasLostCapacity: false,
                    longestWait: 30, at: start.adding(seconds: Double(second)))
            }
            #expect((last?.starvation != nil) == starved, "\(consumed) \(oldest)")
        }
    }

    @Test func `a spell outlives the process`() throws {
        var watch = StarvationWatch(settings: StarvationPolicy(seconds: 300, share: 0.7))
        let hungry = tenant(demand: 100_000, consumed: 10_000)
        let entitlement = Rates(rpm: 200, tpm: 200_000)
        for second in 0...200 {
            _ = watch.judge(
                hungry, entitlement: entitlement, nominal: nominal, hasLostCapacity: false,
                at: start.adding(seconds: Double(second)))
        }
        var writer = ByteWriter()
        watch.write(to: &writer)
        var other = StarvationWatch(settings: StarvationPolicy(seconds: 300, share: 0.7))
        var reader = ByteReader(writer.bytes)
        try other.restore(from: &reader, at: start.adding(seconds: 200))
        let verdict = other.judge(
            hungry, entitlement: entitlement, nominal: nominal, hasLostCapacity: false, at: start.adding(seconds: 301))
        #expect(verdict == StarvationWatch.Finding(underservedSeconds: 301, starvation: .delivery, isFirst: true))
    }
}
