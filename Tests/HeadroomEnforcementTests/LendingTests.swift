import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct LendingTests {
    /// Bound from the definition: work that always waits gets the whole rate, and never more than it and a burst.
    @Test func `all of the budget is used while work waits below its ceiling, and never more`() {
        for seed in 1...30 {
            var random = SplitMix64(seed: seed)
            let count = Int.random(in: 2...12, using: &random)
            var tenants = (0..<count).map { index in
                tenant(
                    TenantID(unchecked: "t\(10 + index)"),
                    rpm: Double(Int.random(in: 0...(600 / count), using: &random)),
                    tpm: Double(Int.random(in: 0...(600_000 / count), using: &random)),
                    ceiling: Bool.random(using: &random) ? .none : Rates(rpm: 700),
                    weight: Double.random(in: 0.1...10, using: &random))
            }
            tenants[0].ceiling = .none
            var gate = gate(allocation(tenants: tenants))
            // One tenant without a ceiling always has work; who else does changes every five seconds.
            var ids = 0
            var admitted = Work.zero
            let tokens = Double.random(in: 10...4000, using: &random)
            for period in 0..<12 {
                let busy =
                    [tenants[0].tenant] + tenants.dropFirst().map(\.tenant).filter { _ in Bool.random(using: &random) }
                let served = gate.run(from: Double(period) * 5, seconds: 5, busy: busy, tokens: tokens, ids: &ids)
                for dispatch in served { admitted += dispatch.call.estimate }
                let seconds = Double(period + 1) * 5
                let most = max(admitted[.requests] / 10, admitted[.tokens] / 10_000)
                let one = max(1 / 10, tokens / 10_000)
                #expect(most >= seconds - one - 0.02, "seed \(seed) after \(seconds) s: \(most) s of the budget")
                #expect(most <= seconds + 5 + one + 0.02, "seed \(seed) after \(seconds) s: \(most) s of the budget")
            }
        }
    }

    @Test func `a new allocation leaves no gap and refills nothing, however often it comes`() {
        var gate = gate(allocation(tenants: [tenant("a", rpm: 300, tpm: 300_000), tenant("b")]))
        var ids = 0
        var served = 0
        for step in 0..<600 {
            let now = Double(step) * 0.1
            let entries = [tenant("a", rpm: step % 2 == 0 ? 300 : 200, tpm: 300_000), tenant("b")]
            gate.load(
                allocation(tenants: step % 3 == 0 ? entries : entries.reversed()), leaseUntil: never, at: after(now))
            served += gate.run(from: now, seconds: 0.1, busy: ["a", "b"], ids: &ids).count
        }
        #expect((599...652).contains(served), "\(served) calls in 60 s at 10 a second and a burst of 5 s")
    }

    @Test func `batch work is lent to while a third of the burst is left, interactive work while there is any`() {
        for (criticality, calls) in [(Criticality.batch, 34), (.nearRealTime, 34), (.interactive, 50)] {
            var gate = gate(allocation(tenants: [tenant("a")]))
            // Five seconds of ten calls.
            gate.enqueue((1...99).map { call($0, of: "a", criticality) })
            #expect(gate.dispatch(at: start).count == calls, "\(criticality)")
            // It is asked again when there is more, and not at once.
            let wake = gate.nextWake(after: start)
            #expect(wake.map { (0.0001...0.1001).contains($0.seconds(since: start)) } == true, "\(criticality)")
        }
    }

    @Test func `a call whose caller is about to give up is lent to before one that is a little less behind`() {
        for (patience, first) in [(5.0, 1), (0.4, 2)] {
            var gate = gate(allocation(rpm: 12, tenants: [tenant("a", clock: 1), tenant("b", clock: 1.2)]))
            gate.enqueue([call(1, of: "a"), call(2, of: "b", deadline: after(patience))])
            #expect(gate.dispatch(at: start).ids == [first], "\(patience)")
        }
    }

    @Test func `a budget cut in half is kept at once`() {
        var gate = gate(allocation(tenants: [tenant("a")]))
        var ids = 0
        _ = gate.run(seconds: 30, busy: ["a"], ids: &ids)
        gate.load(allocation(rpm: 300, tenants: [tenant("a")]), leaseUntil: never, at: after(30))
        let served = gate.run(from: 30, seconds: 30, busy: ["a"], ids: &ids)
        #expect((148...152).contains(served.count), "\(served.count)")
    }

    @Test func `what a call really cost replaces the estimate`() {
        var gate = gate(allocation(rpm: nil, tpm: 60_000, unlisted: Rates(tpm: 60_000)))
        // The burst is 5,000 tokens: the first call overdraws it, its real cost gives nearly all of it back.
        gate.enqueue([call(1, of: "a", tokens: 50_000), call(2, of: "a", tokens: 50_000), call(3, of: "a")])
        #expect(gate.dispatch(at: start).ids == [1])
        #expect(gate.dispatch(at: after(1)).isEmpty)
        gate.settle(1, actual: Work(requests: 1, tokens: 100), at: after(1))
        #expect(gate.dispatch(at: after(1)).ids == [2])
        gate.settle(2, actual: Work(requests: 1, tokens: 100_000), at: after(2))
        #expect(gate.dispatch(at: after(90)).isEmpty)
        #expect(gate.dispatch(at: after(99)).ids == [3])
    }

    @Test func `tenants without an entry share one bucket, and then borrow like one tenant`() {
        let tenants = [tenant("known", rpm: 540, tpm: 540_000)]
        var gate = gate(allocation(unlisted: Rates(rpm: 60, tpm: 60_000), tenants: tenants))
        var ids = 0
        let served = gate.run(seconds: 60, busy: ["known", "new-1", "new-2", "new-3"], ids: &ids)
        #expect((60...66).contains(served.count(.unlisted)), "\(served.count(.unlisted))")
        #expect((540...600).contains(served.count(of: "known")))
    }

    @Test func `a tenant's waiting calls follow it when it gets an entry and when it loses it`() {
        let closed = allocation(rpm: 12, unlisted: Rates(rpm: 12, tpm: 60_000))
        let open = allocation(rpm: 12, tenants: [tenant("a", rpm: 12, tpm: 60_000)])
        var gate = gate(closed)
        gate.enqueue((1...3).map { call($0, of: "a") })
        #expect(gate.dispatch(at: start).map(\.grant) == [.unlisted])
        gate.load(open, leaseUntil: never, at: after(5))
        #expect(gate.dispatch(at: after(5.1)).map(\.grant) == [.assured])
        gate.load(closed, leaseUntil: never, at: after(10))
        #expect(gate.dispatch(at: after(10.2)).ids == [3])
        gate.settle(1, actual: Work(requests: 1), at: after(11))
        gate.settle(2, actual: Work(requests: 1), at: after(11))
    }

    @Test func `without an allocation, or without enforcement, everything passes and is counted`() {
        for allocation in [nil, allocation(rpm: 1, enforce: false, tenants: [tenant("t1")])] {
            var gate = gate(allocation)
            gate.enqueue((1...100).map { call($0, of: TenantID(unchecked: "t\($0)")) })
            let dispatched = gate.dispatch(at: start)
            #expect(dispatched.count == 100)
            #expect(dispatched.count(.unlimited) == 100)
            #expect(gate.counts.unlimited == 100)
        }
    }
}
