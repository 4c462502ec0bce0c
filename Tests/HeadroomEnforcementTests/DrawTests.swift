import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct DrawTests {
    /// One request a second, and 1,000 tokens. Calls wait at other gateways, as it has been told.
    private func drawingGate(_ tenants: [TenantAllocation] = [tenant("a"), tenant("b")]) -> PoolGate {
        var gate = gate(allocation(rpm: 60, tpm: 60_000, tenants: tenants))
        gate.startDrawing(boot: "1", at: start)
        hear(&gate, at: start)
        return gate
    }

    /// A draw is due, and is answered at once.
    private func hear(_ gate: inout PoolGate, isAmple: Bool = false, at now: Timestamp) {
        let asked = gate.nextDraw(epoch: 7, at: now)
        guard let asked else {
            _ = #expect(Bool(false), "no draw is due")
            return
        }
        _ = gate.receive(
            DrawAnswer(sequence: asked.sequence, waitMilliseconds: isAmple ? 20 : 0, isAmple: isAmple), at: now)
    }

    @Test func `a gate that is alone in its pool keeps its whole budget and never draws`() {
        var alone = allocation(rpm: 60, tpm: 60_000, tenants: [tenant("a")])
        alone.gateways = 1
        var gate = gate(alone)
        gate.startDrawing(boot: "1", at: start)
        gate.enqueue((1...20).map { call($0, of: "a") })
        #expect(gate.dispatch(at: start).count == 5, "the whole burst")
        for step in 1...100 {
            let now = after(Double(step) / 10)
            #expect(gate.nextDraw(epoch: 7, at: now) == nil)
            _ = gate.dispatch(at: now)
        }
        #expect(gate.counts.lent == 15, "and all that flows in")
        // Another gateway comes.
        alone.gateways = 2
        gate.load(alone, leaseUntil: never, at: after(10))
        #expect(gate.nextDraw(epoch: 7, at: after(10))?.waiting.map(\.heads.count) == [5])
        alone.gateways = 1
        gate.load(alone, leaseUntil: never, at: after(11))
        #expect(gate.nextDraw(epoch: 7, at: after(13)) == nil)
    }

    @Test func `while no call waits anywhere a gate holds half of its burst, and nothing waits for a draw`() {
        var gate = drawingGate()
        hear(&gate, isAmple: true, at: after(1))
        for second in 2...6 { hear(&gate, isAmple: true, at: after(Double(second))) }
        gate.enqueue([call(1, of: "a", at: after(6)), call(2, of: "b", at: after(6)), call(3, of: "a", at: after(6))])
        #expect(gate.dispatch(at: after(6)).map(\.grant) == [.lent, .lent, .lent])
        // A call waits somewhere: what is held beyond half a second goes to the float.
        hear(&gate, isAmple: true, at: after(10))
        hear(&gate, at: after(11))
        let told = gate.nextDraw(epoch: 7, at: after(12))
        #expect(told?.holds == false)
        // All that came in, less the three calls, and the half second that is held in place of 2.5 s at first.
        #expect(
            told.map { abs($0.totals.returned[.tokens] - 11_000) < 1e-6 } == true, "\(told?.totals.returned as Any)")
    }

    @Test func `a tenant within its assured rate waits for no draw, however much others draw`() {
        // Ten requests a second. Of it each is assured half, and "a" uses two thirds of that.
        var gate = gate(
            allocation(tenants: [tenant("a", rpm: 300, tpm: 300_000), tenant("b", rpm: 300, tpm: 300_000)]))
        gate.startDrawing(boot: "1", at: start)
        hear(&gate, at: start)
        gate.enqueue((1000...1400).map { call($0, of: "b") })
        var waits = 0
        var draws = 0
        for step in 1...600 {
            let now = after(Double(step) / 10)
            let arrives = step.isMultiple(of: 3)
            if arrives { gate.enqueue([call(step, of: "a", at: now)], at: now) }
            let went = gate.dispatch(at: now).ids
            if arrives, step > 100, !went.contains(step) { waits += 1 }
            guard let asked = gate.nextDraw(epoch: 7, at: now) else { continue }
            draws += 1
            _ = gate.receive(answer(asked, 1, of: "b"), at: now)
        }
        #expect(waits == 0 && draws > 100, "\(waits) of 167 waited, \(draws) draws")
    }

    @Test func `draws that go unanswered cost nothing: the gate keeps what nobody was told of, and lends`() {
        var gate = drawingGate()
        gate.enqueue((1...60).map { call($0, of: "a") })
        var went = 0
        for step in 1...300 {
            let now = after(Double(step) / 10)
            went += gate.dispatch(at: now).count
            _ = gate.nextDraw(epoch: 7, at: now)
        }
        // One a second, less what the first draw told of and the half second until it counts as lost.
        #expect(went >= 29, "\(went)")
    }

    @Test func `a grant that finds no call is told of at once, and so is a queue that has emptied`() throws {
        var gate = drawingGate()
        gate.enqueue((1...3).map { call($0, of: "a", tokens: 3000, deadline: after(0.2)) })
        let askedFirst = gate.nextDraw(epoch: 7, at: after(0.1))
        let asked = try #require(askedFirst)
        _ = gate.expire(at: after(0.2))
        #expect(gate.receive(answer(asked, 2), at: after(0.2)).isEmpty)
        let next = gate.nextDraw(epoch: 7, at: after(0.21))
        #expect(next?.waiting.isEmpty == true && next?.totals.grantedUsed == .zero)
    }

    private func answer(_ request: DrawRequest, _ calls: Int, of tenant: TenantID = "a") -> DrawAnswer {
        DrawAnswer(
            sequence: request.sequence, granted: [DrawAnswer.Granted(tenant: tenant, calls: calls)],
            waitMilliseconds: 100)
    }

    @Test func `what waits without local budget is asked for, and goes when it is granted`() throws {
        var gate = gate(allocation(rpm: 60, tpm: 60_000, tenants: [tenant("a"), tenant("b")]))
        gate.startDrawing(boot: "1", at: start)
        gate.enqueue([
            call(1, of: "a", tokens: 3000), call(2, of: "a"), call(3, of: "a"), call(4, of: "b", tokens: 500, .batch),
        ])
        #expect(gate.dispatch(at: start).ids == [1])
        let requestAsked = gate.nextDraw(epoch: 7, at: start)
        let request = try #require(requestAsked)
        #expect(request.epoch == 7 && request.waiting.map(\.heads.count) == [2, 1])
        #expect(request.waiting.map(\.tenant) == ["a", "b"])
        #expect(gate.nextDraw(epoch: 7, at: after(0.2)) == nil, "one at a time")
        let repeated = gate.nextDraw(epoch: 7, at: after(0.4))
        #expect(repeated == request, "sent again when it is not answered soon")
        let dispatched = gate.receive(answer(request, 1), at: after(0.5))
        #expect(dispatched.ids == [2] && dispatched.map(\.grant) == [.drawn])
        // Local budget is what it was: in debt.
        #expect(gate.dispatch(at: after(0.9)).isEmpty)
        let nextAsked = gate.nextDraw(epoch: 7, at: after(0.9))
        let next = try #require(nextAsked)
        #expect(next.totals.grantedUsed == Work(requests: 1, tokens: 1000))
        #expect(next.totals.spent.map(\.work) == [Work(requests: 2, tokens: 4000)])
    }

    @Test func `an answer that is late, repeated or to another request grants nothing`() throws {
        var gate = drawingGate()
        gate.enqueue((1...5).map { call($0, of: "a") })
        let requestAsked = gate.nextDraw(epoch: 7, at: start)
        let request = try #require(requestAsked)
        #expect(gate.receive(answer(request, 1), at: after(1)).isEmpty, "late")
        let secondAsked = gate.nextDraw(epoch: 7, at: after(1))
        let second = try #require(secondAsked)
        #expect(gate.receive(answer(request, 1), at: after(1.1)).isEmpty, "another's")
        #expect(gate.receive(answer(second, 1), at: after(1.1)).ids == [1])
        #expect(gate.receive(answer(second, 1), at: after(1.2)).isEmpty, "repeated")
    }

    @Test func `what the local budget cannot hold is returned, half of the burst stays until calls wait somewhere`()
        throws
    {
        var gate = gate(allocation(rpm: 60, tpm: 60_000, tenants: [tenant("a")]))
        gate.startDrawing(boot: "1", at: start)
        _ = gate.nextDraw(epoch: 7, at: start)
        let requestAsked = gate.nextDraw(epoch: 7, at: after(10))
        let request = try #require(requestAsked)
        #expect(request.holds == true)
        #expect(abs(request.totals.returned[.requests] - 10) < 1e-9)
        #expect(abs(request.totals.returned[.tokens] - 10_000) < 1e-6)
        gate.enqueue((1...9).map { call($0, of: "a", at: after(10)) }, at: after(10))
        #expect(gate.dispatch(at: after(10)).count == 3)
    }

    @Test func `while calls wait and the float answers nine tenths of the budget are returned at once`() throws {
        var gate = gate(allocation(rpm: 60, tpm: 60_000, tenants: [tenant("a", rpm: 60, tpm: 60_000)]))
        gate.startDrawing(boot: "1", at: start)
        hear(&gate, at: start)
        // The bucket is emptied, and what was held beyond half a second is told of.
        gate.enqueue([call(1, of: "a", tokens: 500)])
        _ = gate.dispatch(at: start)
        let secondAsked = gate.nextDraw(epoch: 7, at: after(1))
        let second = try #require(secondAsked)
        #expect(abs(second.totals.returned[.tokens] - 2900) < 1e-6)
        // Nobody answers any more: what nobody was told of is kept.
        let lastAsked = gate.nextDraw(epoch: 7, at: after(2.2))
        let last = try #require(lastAsked)
        #expect(abs(last.totals.returned[.tokens] - 2900) < 1e-6)
    }

    @Test func `settlement corrects what was drawn`() throws {
        var gate = drawingGate()
        gate.enqueue([call(2, of: "a", tokens: 4000)])
        let requestAsked = gate.nextDraw(epoch: 7, at: start)
        let request = try #require(requestAsked)
        #expect(gate.receive(answer(request, 1), at: after(0.1)).ids == [2])
        gate.settle(2, actual: Work(requests: 1, tokens: 500), at: after(0.2))
        let nextAsked = gate.nextDraw(epoch: 7, at: after(5))
        let next = try #require(nextAsked)
        #expect(next.totals.grantedUsed == Work(requests: 1, tokens: 500))
    }

    @Test func `while calls wait for the float only tenants below their assured rate go without it`() throws {
        for (assured, goes) in [(0.0, false), (60, false), (600, true)] {
            var gate = gate(
                allocation(rpm: 600, tpm: 60_000, tenants: [tenant("a", rpm: assured, tpm: 100 * assured)]))
            gate.startDrawing(boot: "1", at: start)
            hear(&gate, at: start)
            // Of what is assured in five seconds, at 60 a minute, it leaves a fifth.
            gate.enqueue([call(0, of: "a", tokens: 400)])
            if assured > 0 { #expect(gate.dispatch(at: start).map(\.grant) == [.assured]) }
            gate.enqueue([call(1, of: "a", tokens: 200, at: after(0.3))], at: after(0.3))
            #expect(gate.dispatch(at: after(0.3)).ids.contains(1) == goes, "\(assured)")
            // Nobody has answered for two seconds: it lends by itself.
            #expect(gate.dispatch(at: after(2.2)).ids.contains(1) != goes, "\(assured)")
        }
    }

    @Test func `nothing is asked for while nothing waits, and what flows over is told each second`() {
        var gate = drawingGate()
        var asked = 0
        for step in 1...1000 where gate.nextDraw(epoch: 7, at: after(Double(step) * 0.01)) != nil { asked += 1 }
        #expect(asked == 10)
    }

    @Test func `after the lease there are no draws, and the fallback comes to hold its whole burst`() {
        var gate = PoolGate(pool: "pool", gateway: "gw-1", at: start)
        gate.load(
            allocation(rpm: 60, fallback: Rates(rpm: 60, tpm: 600_000), tenants: [tenant("a")]), leaseUntil: after(15),
            at: start)
        gate.startDrawing(boot: "1", at: start)
        #expect(gate.nextDraw(epoch: 7, at: after(14)) != nil)
        gate.enqueue((1...9).map { call($0, of: "a", at: after(15.5)) }, at: after(15.5))
        // What half of the burst did not hold was returned: it is not here.
        #expect(gate.dispatch(at: after(15.5)).count == 3)
        #expect(gate.dispatch(at: after(30)).count == 5)
        #expect(gate.nextDraw(epoch: 7, at: after(31)) == nil)
    }
}
