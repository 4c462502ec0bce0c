import HeadroomModel
import HeadroomSimulator
import Testing

#if canImport(Glibc)
    import Glibc
#endif

@Suite struct FaultRunTests {
    /// A few dozen each time; `HEADROOM_FAULT_SEEDS=10000` runs so many. What is printed for a seed is all that it
    /// takes to run it again: `FaultPlan(seed: …)`.
    private static var seeds: UInt64 {
        let wanted = unsafe getenv("HEADROOM_FAULT_SEEDS").flatMap { unsafe UInt64(String(cString: $0)) }
        return wanted ?? 24
    }

    /// Each broke a rule once: a part's plain rate above its ceiling; rounding that took a rate above a ceiling that was
    /// not whole; generations that changed nothing while the ledger was full; a
    /// bucket that took the time in which it was full for refill, when a call cost more than was thought; a gateway that
    /// came back from its fallback and was taken to have the budget from before (77, 118, 154, 298), or was given it
    /// although others that were still silent left no room (113); an excess after a fall of capacity that the auditor
    /// took to be over before a gateway that was cut off had taken the fall in, or before the others had made room for
    /// one that came back in it (58, 69, 166); half a second's bucket that fell back full into one of many seconds, what
    /// it had not held being returned (170, 234); a gateway on its fallback that a new term heard of before it looked, and
    /// took to have its budget (582); room that was kept for one silent gateway and could be given to none (405), or
    /// was kept as often as others were silent too (1626); a gateway whose last part the ledger never had, which was taken
    /// to have nothing (2872); one that came back with less than it might have had, and was given that before the others
    /// had made room (2903); gateways that went over to fallbacks while telemetry could not be read, and nobody came down
    /// for them (7242).
    private static let mended: [UInt64] = [
        2, 5, 58, 69, 77, 106, 113, 118, 154, 166, 170, 234, 298, 405, 582, 1626, 2872, 2903, 7242, 9374,
    ]

    /// The auditor itself was wrong: a term that begins with what the ledger had, which was behind, holds more back (495,
    /// 961, 995), and what capacity had lost by then is lost when it begins (1784); Headroom cannot know that a gateway has
    /// died (929); a call may cost more than any was thought to (1480); half a second's bucket grows with the budget also
    /// where no request fits into it (977); a part of the fallbacks is one of whole numbers (8890); the
    /// fallbacks of gateways that were cut off before and after a fall do not fit together, and one of them that comes back
    /// with less than its own has not risen (959).
    private static let allowed: [UInt64] = [495, 929, 959, 961, 977, 995, 1480, 1784, 8890]

    @Test func `random faults break no rule`() async {
        await check(FaultRunTests.mended + FaultRunTests.allowed + Array(1...FaultRunTests.seeds)) {
            FaultPlan(seed: $0)
        }
    }

    @Test func `neither do gateways that say goodbye and fleets that are replaced`() async {
        await check(Array(1...FaultRunTests.seeds)) { FaultPlan(seed: $0, replacesGateways: true) }
    }

    private func check(_ seeds: [UInt64], _ plan: @escaping @Sendable (UInt64) -> FaultPlan) async {
        await withTaskGroup(of: (UInt64, AuditReport?).self) { group in
            var next = 0
            func start() {
                guard next < seeds.count else { return }
                let seed = seeds[next]
                next += 1
                group.addTask { (seed, plan(seed).run().audit) }
            }
            start()
            start()
            var reports: [AuditReport] = []
            for await (seed, report) in group {
                start()
                #expect(report?.violation == nil, "seed \(seed): \(report?.violation?.description ?? "")")
                if let report { reports.append(report) }
            }
            // A run in which nothing is published or sent checks nothing.
            let busy = reports.filter { $0.publications > 5 && $0.dispatches > 20 }
            #expect(reports.count == seeds.count && busy.count > seeds.count * 9 / 10)
        }
    }

    @Test func `the same seed gives the same faults and the same run`() {
        for seed in [7, 8] as [UInt64] {
            let first = FaultPlan(seed: seed).run()
            let second = FaultPlan(seed: seed).run()
            #expect(first.digest == second.digest, "seed \(seed)")
            #expect(first.audit == second.audit, "seed \(seed)")
        }
        #expect(FaultPlan(seed: 1).run().digest != FaultPlan(seed: 2).run().digest)
    }
}
