import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct DrawTests {
    /// One request a second, and 1,000 tokens.
    private func drawingGate() -> PoolGate {
        var gate = gate(allocation(rpm: 60, tpm: 60_000, tenants: [tenant("a"), tenant("b")]))
        gate.startDrawing(boot: "1", at: start)
        return gate
    }

    private func answer(_ request: DrawRequest, _ calls: Int, of tenant: TenantID = "a") -> DrawAnswer {
        DrawAnswer(
            sequence: request.sequence, granted: [DrawAnswer.Granted(tenant: tenant, calls: calls)],
            waitMilliseconds: 100)
    }

    @Test func `what waits without local budget is asked for, and goes when it is granted`() throws {
        var gate = drawingGate()
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
        // Local budget is what it was: two seconds in debt.
        #expect(gate.dispatch(at: after(0.9)).isEmpty)
        let nextAsked = gate.nextDraw(epoch: 7, at: after(0.9))
        let next = try #require(nextAsked)
        #expect(next.totals.grantedUsed == Work(requests: 1, tokens: 1000))
        #expect(next.totals.spent.map(\.work) == [Work(requests: 2, tokens: 4000)])
    }

    @Test func `an answer that is late, repeated or to another request grants nothing`() throws {
        var gate = drawingGate()
        gate.enqueue((1...5).map { call($0, of: "a") })
        _ = gate.dispatch(at: start)
        let requestAsked = gate.nextDraw(epoch: 7, at: start)
        let request = try #require(requestAsked)
        #expect(gate.receive(answer(request, 1), at: after(1)).isEmpty, "late")
        let secondAsked = gate.nextDraw(epoch: 7, at: after(1))
        let second = try #require(secondAsked)
        #expect(gate.receive(answer(request, 1), at: after(1.1)).isEmpty, "another's")
        #expect(gate.receive(answer(second, 1), at: after(1.1)).ids == [2])
        #expect(gate.receive(answer(second, 1), at: after(1.2)).isEmpty, "repeated")
    }

    @Test func `what the local budget cannot hold is returned, half a second of it stays`() throws {
        var gate = drawingGate()
        _ = gate.nextDraw(epoch: 7, at: start)
        let requestAsked = gate.nextDraw(epoch: 7, at: after(10))
        let request = try #require(requestAsked)
        #expect(abs(request.totals.returned[.requests] - 10) < 1e-9)
        #expect(abs(request.totals.returned[.tokens] - 10_000) < 1e-6)
        gate.enqueue((1...9).map { call($0, of: "a", at: after(10)) }, at: after(10))
        #expect(gate.dispatch(at: after(10)).count == 1)
    }

    @Test func `while the float answers nine tenths of the budget are returned at once`() throws {
        var gate = gate(allocation(rpm: 60, tpm: 60_000, tenants: [tenant("a", rpm: 60, tpm: 60_000)]))
        gate.startDrawing(boot: "1", at: start)
        let firstAsked = gate.nextDraw(epoch: 7, at: start)
        _ = gate.receive(answer(try #require(firstAsked), 0), at: start)
        // The bucket is emptied.
        gate.enqueue([call(1, of: "a", tokens: 500)])
        _ = gate.dispatch(at: start)
        let secondAsked = gate.nextDraw(epoch: 7, at: after(1))
        let second = try #require(secondAsked)
        #expect(abs(second.totals.returned[.tokens] - 900) < 1e-6)
        // Nobody answers any more: until two seconds after the answer, and then all of it is kept.
        let lastAsked = gate.nextDraw(epoch: 7, at: after(2.2))
        let last = try #require(lastAsked)
        #expect(abs(last.totals.returned[.tokens] - 1800) < 1e-6)
    }

    @Test func `settlement corrects what was drawn`() throws {
        var gate = drawingGate()
        gate.enqueue([call(1, of: "a"), call(2, of: "a", tokens: 4000)])
        _ = gate.dispatch(at: start)
        let requestAsked = gate.nextDraw(epoch: 7, at: start)
        let request = try #require(requestAsked)
        #expect(gate.receive(answer(request, 1), at: after(0.1)).ids == [2])
        gate.settle(2, actual: Work(requests: 1, tokens: 500), at: after(0.2))
        let nextAsked = gate.nextDraw(epoch: 7, at: after(5))
        let next = try #require(nextAsked)
        #expect(next.totals.grantedUsed == Work(requests: 1, tokens: 500))
    }

    @Test func `while the float answers only what is assured and covered goes without it`() throws {
        for (assured, tokens, goes) in [(0.0, 200.0, false), (600, 200, true), (600, 250, false)] {
            var gate = gate(
                allocation(rpm: 600, tpm: 60_000, tenants: [tenant("a", rpm: assured, tpm: 100 * assured)]))
            gate.startDrawing(boot: "1", at: start)
            gate.enqueue([call(0, of: "a", tokens: 400)])
            _ = gate.dispatch(at: start)
            let requestAsked = gate.nextDraw(epoch: 7, at: start)
            let request = try #require(requestAsked)
            _ = gate.receive(answer(request, 0), at: after(0.1))
            // Half a second is 500 tokens, and 100 of them were left: 0.1 s brings 100 more, and from the answer on a
            // tenth is kept, which is 20 in 0.2 s.
            gate.enqueue([call(1, of: "a", tokens: tokens, at: after(0.3))], at: after(0.3))
            #expect((gate.dispatch(at: after(0.3)).ids == [1]) == goes, "\(assured) \(tokens)")
            // Nobody has answered for two seconds: it lends by itself.
            #expect((gate.dispatch(at: after(2.2)).ids == [1]) != goes, "\(assured) \(tokens)")
        }
    }

    @Test func `nothing is asked for while nothing waits, and what flows over is told each second`() {
        var gate = drawingGate()
        var asked = 0
        for step in 0..<1000 where gate.nextDraw(epoch: 7, at: after(Double(step) * 0.01)) != nil { asked += 1 }
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
        // What the half second did not hold was returned: it is not here.
        #expect(gate.dispatch(at: after(15.5)).count == 1)
        #expect(gate.dispatch(at: after(30)).count == 5)
        #expect(gate.nextDraw(epoch: 7, at: after(31)) == nil)
    }
}
