import HeadroomEnforcement
import HeadroomModel
import Testing

/// A call that comes where nothing waits goes at once, without a queue: it must go as it would have gone through the queue.
@Suite struct AdmissionTests {
    private static let tenants: [TenantID] = ["a", "b", "c", "stranger"]

    private func allocation(_ generator: inout SplitMix64) -> PoolAllocation {
        var allocation = HeadroomEnforcementTests.allocation(
            rpm: Double(Int.random(in: 1...10, using: &generator)) * 60,
            tpm: Double(Int.random(in: 1...10, using: &generator)) * 60_000,
            enforce: Int.random(in: 0..<8, using: &generator) > 0, fallback: Rates(rpm: 60, tpm: 60_000),
            burstSeconds: 2, unlisted: Rates(rpm: 30, tpm: 30_000),
            tenants: ["a", "b", "c"].map { id in
                tenant(
                    id, rpm: Double(Int.random(in: 0...3, using: &generator)) * 30, tpm: 60_000,
                    ceiling: Rates(rpm: Double(Int.random(in: 1...10, using: &generator)) * 60, tpm: nil),
                    weight: Double(Int.random(in: 1...4, using: &generator)),
                    clock: Double(Int.random(in: 0...20, using: &generator)))
            })
        allocation.failover = ["other"]
        return allocation
    }

    @Test(arguments: 0..<40) func `a call that goes at once goes on the right that the queue would give it`(seed: Int) {
        var generator = SplitMix64(seed: seed)
        let first = allocation(&generator)
        var quick = gate(first, leaseUntil: after(60))
        var queued = gate(first, leaseUntil: after(60))
        if seed % 4 == 0 {
            quick.startDrawing(boot: "b", at: start)
            queued.startDrawing(boot: "b", at: start)
        }
        var now = start
        var sent: [Int] = []
        var atOnce = 0
        for step in 0..<1500 {
            let place: Comment = "seed \(seed), step \(step)"
            now = now.adding(seconds: Double(Int.random(in: 0...400, using: &generator)) / 1000)
            if Int.random(in: 0..<20, using: &generator) == 0 {
                let next = allocation(&generator)
                let leaseUntil = now.adding(seconds: Double(Int.random(in: 1...20, using: &generator)))
                quick.load(next, leaseUntil: leaseUntil, at: now)
                queued.load(next, leaseUntil: leaseUntil, at: now)
            }
            #expect(quick.expire(at: now).map(\.id) == queued.expire(at: now).map(\.id), place)
            let coming = call(
                step, of: Self.tenants.randomElement(using: &generator)!,
                tokens: Double(Int.random(in: 1...2000, using: &generator)),
                Criticality.allCases.randomElement(using: &generator)!, at: now,
                deadline: now.adding(seconds: Double(Int.random(in: 1...5000, using: &generator)) / 1000))
            queued.enqueue([coming], at: now)
            let expected = queued.dispatch(at: now)
            if let right = quick.admit(coming, at: now) {
                atOnce += 1
                #expect(expected.map(\.call.id) == [step] && expected.first?.grant == right, place)
                #expect(expected.first?.attempt == 1, place)
            } else {
                quick.enqueue([coming], at: now)
                #expect(quick.dispatch(at: now) == expected, place)
            }
            sent += expected.ids
            for id in sent where Int.random(in: 0..<4, using: &generator) == 0 {
                sent.removeAll { $0 == id }
                if Int.random(in: 0..<6, using: &generator) == 0 {
                    let jitter = Double(Int.random(in: 0...9, using: &generator)) / 10
                    let retry = quick.refused(id, resetSeconds: nil, jitter: jitter, at: now)
                    #expect(retry == queued.refused(id, resetSeconds: nil, jitter: jitter, at: now), place)
                } else {
                    let actual = Work(requests: 1, tokens: Double(Int.random(in: 1...2000, using: &generator)))
                    quick.settle(id, actual: actual, at: now)
                    queued.settle(id, actual: actual, at: now)
                }
            }
            #expect(quick.counts == queued.counts, place)
        }
        #expect(atOnce > 100, "seed \(seed)")
    }

    @Test func `nothing goes at once past a call that waits`() {
        var gate = gate(
            HeadroomEnforcementTests.allocation(
                rpm: 60, burstSeconds: 1, tenants: [tenant("a", rpm: 60, tpm: 600_000)]))
        #expect(gate.admit(call(1, of: "a"), at: start) == .assured)
        #expect(gate.admit(call(2, of: "a"), at: start) == nil)
        gate.enqueue([call(2, of: "a")])
        #expect(gate.admit(call(3, of: "a", at: after(3)), at: after(3)) == nil)
        #expect(gate.dispatch(at: after(3)).ids == [2])
        #expect(gate.admit(call(3, of: "a", at: after(5)), at: after(5)) == .assured)
    }
}
