import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct ProviderAnswerTests {
    @Test func `a refused call returns to the head of its queue, three times`() {
        var gate = gate(allocation(tenants: [tenant("a", rpm: 600, tpm: 600_000)]))
        gate.enqueue([call(1, of: "a")])
        #expect(gate.dispatch(at: start).ids == [1])
        var now = 0.0
        for attempt in 2...4 {
            #expect(gate.refused(1, resetSeconds: 2, jitter: 0.5, at: after(now)) == .waits(until: after(now + 2.5)))
            #expect(gate.dispatch(at: after(now + 2.4)).isEmpty)
            gate.enqueue([call(attempt * 10, of: "a", at: after(now + 1))], at: after(now + 1))
            now += 2.5
            let dispatched = gate.dispatch(at: after(now))
            // Whatever came meanwhile went meanwhile or stands behind it.
            #expect(dispatched.first?.call.id == 1)
            #expect(dispatched.first?.attempt == attempt)
        }
        #expect(gate.refused(1, resetSeconds: 2, jitter: 0.5, at: after(now)) == .givenUp)
        #expect(gate.counts.refused == 4)
        #expect(gate.counts.givenUp == 1)
    }

    @Test func `a refused call waits a second at least, and not beyond its caller's patience`() {
        var gate = gate(allocation(tenants: [tenant("a", rpm: 600, tpm: 600_000)]))
        gate.enqueue([call(1, of: "a"), call(2, of: "a", deadline: after(30))])
        #expect(gate.dispatch(at: start).ids == [1, 2])
        #expect(gate.refused(1, resetSeconds: 0.1, jitter: 0, at: start) == .waits(until: after(1)))
        #expect(gate.refused(2, resetSeconds: 40, jitter: 0, at: start) == .givenUp)
    }

    @Test func `a refusal gives back the tenant's right and clock, not the budget`() {
        let tenants = [tenant("a", rpm: 12, tpm: 600_000), tenant("b", clock: 0.05)]
        var gate = gate(allocation(rpm: 24, tpm: 600_000, burstSeconds: 5, tenants: tenants))
        gate.enqueue([call(1, of: "a")])
        #expect(gate.dispatch(at: start).map(\.grant) == [.assured])
        _ = gate.refused(1, resetSeconds: nil, jitter: 0, at: start)
        gate.enqueue([call(2, of: "a"), call(3, of: "a")])
        // Of the two requests in the budget's burst one is gone; the tenant's own right is whole.
        let dispatched = gate.dispatch(at: start)
        #expect(dispatched.map(\.grant) == [.assured])
    }

    @Test func `headers bound the budget at once`() {
        let remaining = QuotaWindow(resource: .tokens, remaining: 2000, windowSeconds: 60)
        var gate = gate(allocation(tenants: [tenant("a", rpm: 600, tpm: 600_000)]))
        gate.enqueue((1...20).map { call($0, of: "a") })
        gate.observe(ProviderSignal(kind: .ok, windows: [remaining]), at: start)
        #expect(gate.dispatch(at: start).count == 2)

        let limit = QuotaWindow(resource: .requests, limit: 120, windowSeconds: 60)
        var ids = 100
        gate.observe(ProviderSignal(kind: .ok, windows: [limit]), at: start)
        // Two a second, and what the bucket held in proportion: just under five seconds of the lower rate.
        #expect((68...71).contains(gate.run(from: 0, seconds: 30, busy: ["a"], tokens: 10, ids: &ids).count))
        // A minute after it was last heard the limit is forgotten.
        _ = gate.run(from: 30, seconds: 31, busy: ["a"], tokens: 10, ids: &ids)
        #expect(gate.run(from: 61, seconds: 30, busy: ["a"], tokens: 10, ids: &ids).count > 290)
    }

    @Test func `a gateway answers for its part of what remains`() {
        var part = allocation(tenants: [tenant("a", rpm: 600, tpm: 600_000)])
        part.capacity = Rates(rpm: 1200, tpm: 1_200_000)
        var gate = gate(part)
        gate.enqueue((1...20).map { call($0, of: "a") })
        gate.observe(
            ProviderSignal(kind: .ok, windows: [QuotaWindow(resource: .requests, remaining: 6)]), at: start)
        #expect(gate.dispatch(at: start).count == 3)
        // Half of the limit is as much its part as half of the capacity was.
        gate.observe(
            ProviderSignal(kind: .ok, windows: [QuotaWindow(resource: .requests, limit: 600, remaining: 6)]),
            at: after(1))
        gate.observe(
            ProviderSignal(kind: .ok, windows: [QuotaWindow(resource: .requests, remaining: 6)]), at: after(2))
        #expect(gate.dispatch(at: after(2)).count == 3)
    }

    @Test func `a quota refusal holds the gate until the reset, a second at most, an overload does not`() {
        let exhausted = [QuotaWindow(resource: .requests, remaining: 0, resetMilliseconds: 300)]
        for (signal, seconds) in [
            (ProviderSignal(kind: .quota, windows: exhausted), 0.3),
            (
                ProviderSignal(
                    kind: .quota, windows: [QuotaWindow(resource: .requests, remaining: 0)],
                    retryAfterMilliseconds: 60_000), 1
            ),
            (ProviderSignal(kind: .overload), 0),
        ] {
            var gate = gate(allocation(tenants: [tenant("a", rpm: 600, tpm: 600_000)]))
            gate.enqueue((1...60).map { call($0, of: "a") })
            gate.observe(signal, at: start)
            #expect(gate.dispatch(at: after(max(0, seconds - 0.01))).isEmpty == (seconds > 0))
            #expect(seconds == 0 || gate.dispatch(at: after(seconds + 0.01)).isEmpty == false)
        }
    }

    @Test func `a refusal that no header explains slows the gate down, by four calls and at most by a second`() {
        let claimed = QuotaWindow(resource: .requests, limit: 600, remaining: 500, windowSeconds: 60)
        let tenants = [tenant("a", rpm: 600, tpm: 600_000)]
        for (refusals, seconds) in [(1, 0.4), (2, 0.8), (9, 1.0)] {
            for windows in [[], [claimed]] {
                var gate = gate(allocation(tenants: tenants))
                gate.enqueue((1...60).map { call($0, of: "a") })
                // Ten a second; what was saved up is no right to more.
                for _ in 0..<refusals { gate.observe(ProviderSignal(kind: .quota, windows: windows), at: start) }
                #expect(gate.dispatch(at: after(seconds - 0.01)).isEmpty, "\(refusals)")
                #expect(gate.dispatch(at: after(seconds + 0.01)).count == 1, "\(refusals)")
            }
        }
        // What is left does not suffice for a call: the header explains it.
        var gate = gate(allocation(tenants: tenants))
        gate.enqueue((1...60).map { call($0, of: "a") })
        let little = QuotaWindow(resource: .tokens, remaining: 50, windowSeconds: 60)
        gate.observe(ProviderSignal(kind: .quota, windows: [little]), at: start)
        #expect(gate.dispatch(at: start).count == 1)
    }

    @Test func `who is assured goes first in what a slower gate lets pass`() {
        // A provider that has halved, and says nothing of it, before the next allocation.
        let tenants = [tenant("quiet", rpm: 90, tpm: 600_000), tenant("loud")]
        var gate = gate(allocation(rpm: 240, tpm: 600_000, burstSeconds: 1, tenants: tenants))
        var provider = Bucket(Rates(rpm: 120), burstSeconds: 1, at: start)
        var (id, refused, waits) = (0, 0, [Double]())
        var arrivals: [Int: Double] = [:]
        for tenth in 0..<200 {
            let now = Double(tenth) / 10
            let loud = tenth % 2 == 0 ? ["loud"] : []
            for tenant in (tenth % 10 == 0 ? ["quiet"] : []) + loud {
                id += 1
                if tenant == "quiet" { arrivals[id] = now }
                gate.enqueue(
                    [call(id, of: TenantID(tenant)!, at: after(now), deadline: after(now + 5))], at: after(now))
            }
            _ = gate.expire(at: after(now))
            for dispatch in gate.dispatch(at: after(now)) {
                if dispatch.attempt == 1, let arrival = arrivals[dispatch.call.id] { waits.append(now - arrival) }
                if provider.admits(at: after(now)) {
                    provider.charge(Work(requests: 1), at: after(now))
                    gate.settle(dispatch.call.id, actual: dispatch.call.estimate, at: after(now))
                } else {
                    refused += 1
                    gate.observe(ProviderSignal(kind: .quota), at: after(now))
                    _ = gate.refused(dispatch.call.id, resetSeconds: nil, jitter: 0, at: after(now))
                }
            }
        }
        #expect(refused <= 10, "\(refused) of 40 that the provider could take, where it would be 40")
        #expect(waits.count >= 19 && waits.max() ?? 9 <= 1, "\(waits)")
    }

    @Test func `callers whose patience ends are denied, and their calls never go`() {
        var gate = gate(allocation(rpm: 12, tenants: [tenant("a", rpm: 12, tpm: 60_000)]))
        gate.enqueue([
            call(1, of: "a", tokens: 100_000), call(2, of: "a", deadline: after(4)),
            call(3, of: "a", deadline: after(3)),
            call(4, of: "a"),
        ])
        #expect(gate.dispatch(at: start).ids == [1])
        #expect(gate.nextWake(after: start) == after(3))
        #expect(gate.expire(at: after(2)).isEmpty)
        #expect(gate.dispatch(at: after(5.1)).ids == [4])
        #expect(gate.expire(at: after(6)).map(\.id) == [3, 2])
        #expect(gate.counts.denied == 2)
        #expect(gate.queues(at: after(6)).isEmpty)
    }

    @Test func `queues are told per tenant and criticality, and once more when they have emptied`() {
        var gate = gate(allocation(rpm: 12))
        gate.enqueue([
            call(1, of: "b", tokens: 10), call(2, of: "b", tokens: 20, at: after(-4)), call(3, of: "b", .batch),
            call(4, of: "a", tokens: 7),
        ])
        let told = gate.queues(at: after(1))
        #expect(told.map(\.tenant) == ["a", "b", "b"])
        #expect(told.map(\.criticality) == [.interactive, .interactive, .batch])
        #expect(told.map(\.depth) == [1, 2, 1])
        #expect(told.map(\.tokens) == [7, 30, 1000])
        #expect(told.map(\.oldestAgeMilliseconds) == [1000, 5000, 1000])
        gate.load(nil, leaseUntil: never, at: after(1))
        #expect(gate.dispatch(at: after(1)).count == 4)
        #expect(gate.queues(at: after(2)).map(\.depth) == [0, 0, 0])
        #expect(gate.queues(at: after(3)).isEmpty)
    }

    @Test func `a full gate and a known id are turned away`() {
        var gate = PoolGate(pool: "pool", gateway: "gw-1", maxCalls: 2, at: start)
        #expect(gate.enqueue(call(1, of: "a"), at: start) == true)
        #expect(gate.enqueue(call(1, of: "a"), at: start) == false)
        #expect(gate.enqueue(call(2, of: "a"), at: start) == true)
        #expect(gate.enqueue(call(3, of: "a"), at: start) == false)
        _ = gate.dispatch(at: start)
        gate.settle(1, actual: Work(requests: 1), at: start)
        #expect(gate.enqueue(call(3, of: "a"), at: start) == true)
    }

    @Test func `the next wake is the instant at which something can go`() {
        for seed in 1...40 {
            var random = SplitMix64(seed: seed)
            let rpm = Double(Int.random(in: 1...600, using: &random))
            var gate = gate(
                allocation(
                    rpm: rpm,
                    tenants: [tenant("a", rpm: rpm / 2, tpm: 1000), tenant("b", ceiling: Rates(rpm: rpm / 4))]))
            gate.enqueue((1...40).map { call($0, of: Bool.random(using: &random) ? "a" : "b", tokens: 300) })
            var now = start
            var served = 0
            for _ in 0..<500 where served < 40 {
                served += gate.dispatch(at: now).count
                guard served < 40, let wake = gate.nextWake(after: now) else { break }
                #expect(wake > now, "seed \(seed)")
                #expect(gate.dispatch(at: wake.adding(seconds: -0.003)).isEmpty, "seed \(seed) at \(now)")
                now = wake
            }
            #expect(served == 40, "seed \(seed)")
        }
    }
}
