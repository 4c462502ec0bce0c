import HeadroomEnforcement
import HeadroomModel
import Testing

/// Circuit breakers that a gateway keeps by itself, from the calls that it sent.
@Suite struct OwnBreakerTests {
    private func allocation(
        _ state: PoolState = .healthy, failover: [PoolID] = ["other"], models: [PoolAllocation.Model] = []
    ) -> PoolAllocation {
        var allocation = HeadroomEnforcementTests.allocation(
            rpm: 6000, tpm: 6e6, tenants: [tenant("a", rpm: 6000, tpm: 6e6)])
        (allocation.state, allocation.failover, allocation.models) = (state, failover, models)
        return allocation
    }

    /// A gate, and calls that go at once and end.
    private final class Story {
        var gate: PoolGate
        private var ids = 0

        init(_ gate: PoolGate) {
            self.gate = gate
        }

        /// Whether the call went, and ended so.
        func call(_ outcome: Outcome, model: String? = nil, at second: Double) -> Bool {
            let now = after(second)
            ids += 1
            gate.enqueue([HeadroomEnforcementTests.call(ids, of: "a", at: now, model: model)], at: now)
            let dispatched = gate.dispatch(at: now)
            for dispatch in dispatched {
                gate.note(outcome, of: dispatch.call.id, startedAt: now, at: now)
                gate.settle(dispatch.call.id, actual: dispatch.call.estimate, at: now)
            }
            for call in gate.divert(at: now) { #expect(call.id == ids) }
            return !dispatched.isEmpty
        }

        func fail(_ count: Int, model: String? = nil, at second: Double) {
            for _ in 0..<count { #expect(call(.server, model: model, at: second)) }
        }
    }

    private func story(_ allocation: PoolAllocation) -> Story { Story(gate(allocation)) }

    @Test(arguments: [Outcome.server, .overload]) func `twenty calls of which half fail open it`(failure: Outcome) {
        let story = story(allocation())
        for index in 0..<20 {
            #expect(story.gate.breaker == nil)
            #expect(story.call(index % 2 == 0 ? .ok : failure, at: 1))
        }
        #expect(story.gate.breaker == .open)
        #expect(!story.call(.ok, at: 1))
    }

    @Test func `failures that are older than its window say nothing`() {
        let story = story(allocation())
        story.fail(19, at: 1)
        story.fail(1, at: 12)
        #expect(story.gate.breaker == nil)
        story.fail(18, at: 13)
        #expect(story.gate.breaker == nil)
        story.fail(1, at: 14)
        #expect(story.gate.breaker == .open)
    }

    @Test func `after fifteen seconds one call a second passes, and five that succeed close it`() {
        let story = story(allocation())
        story.fail(20, at: 1)
        var passed: [Double] = []
        for tick in 20..<400 where story.gate.breaker != nil {
            let second = Double(tick) / 10
            if story.call(.ok, at: second) { passed.append(second) }
        }
        #expect(passed == [16, 17, 18, 19, 20])
        #expect(story.gate.breaker == nil)
        #expect(story.call(.ok, at: 20.1))
    }

    @Test func `it goes by the numbers that the snapshot has`() {
        var own = allocation()
        own.breaker = BreakerPolicy(
            openShare: 1, windowSeconds: 3, leastAttempts: 4, openSeconds: 2, probesPerSecond: 10, closeSuccesses: 2)
        let story = story(own)
        #expect(story.call(.ok, at: 1))
        story.fail(4, at: 1)
        #expect(story.gate.breaker == nil, "one of five succeeded")
        story.fail(4, at: 4)
        #expect(story.gate.breaker == .open)
        #expect(!story.call(.ok, at: 5.9))
        #expect(story.call(.ok, at: 6))
        #expect(story.call(.ok, at: 6.1))
        #expect(story.gate.breaker == nil)
    }

    @Test func `numbers that change in a later snapshot hold from then on, and its state stays`() {
        var own = allocation()
        let story = story(own)
        story.fail(20, at: 1)
        own.breaker.openSeconds = 60
        story.gate.load(own, leaseUntil: never, at: after(2))
        #expect(!story.call(.ok, at: 60.9))
        #expect(story.call(.ok, at: 61))
        // The same numbers again forget nothing.
        let counting = self.story(allocation())
        counting.fail(19, at: 1)
        counting.gate.load(allocation(), leaseUntil: never, at: after(1))
        counting.fail(1, at: 1)
        #expect(counting.gate.breaker == .open)
    }

    @Test func `a probe that fails opens it for another fifteen seconds`() {
        let story = story(allocation())
        story.fail(20, at: 1)
        story.fail(1, at: 16)
        #expect(story.gate.breaker == .open)
        #expect(!story.call(.ok, at: 30.9))
        #expect(story.call(.ok, at: 31))
    }

    @Test func `the worse of the snapshot's breaker and the gateway's own holds`() {
        for state in PoolState.allCases {
            let story = story(allocation())
            story.fail(20, at: 1)
            story.gate.load(allocation(state), leaseUntil: never, at: after(2))
            #expect(story.gate.breaker == .open, "\(state)")
            #expect(!story.call(.ok, at: 3), "\(state)")
        }
        let story = story(allocation(.open))
        #expect(story.gate.breaker == .open)
        story.gate.load(allocation(.halfOpen), leaseUntil: never, at: after(1))
        #expect(story.gate.breaker == .halfOpen)
        story.gate.load(allocation(), leaseUntil: never, at: after(2))
        #expect(story.gate.breaker == nil)
    }

    @Test func `when the snapshot's breaker closes, a half-open one of the gateway closes with it`() {
        let story = story(allocation())
        story.fail(20, at: 1)
        story.gate.load(allocation(.halfOpen), leaseUntil: never, at: after(15))
        #expect(story.gate.breaker == .open)
        #expect(story.call(.ok, at: 16))
        #expect(story.gate.breaker == .halfOpen)
        story.gate.load(allocation(), leaseUntil: never, at: after(16.5))
        #expect(story.gate.breaker == nil)
        // One that is open has seen failures that the snapshot has not.
        let failing = self.story(allocation(.halfOpen))
        failing.gate.load(allocation(), leaseUntil: never, at: after(1))
        failing.fail(20, at: 2)
        failing.gate.load(allocation(.open), leaseUntil: never, at: after(3))
        failing.gate.load(allocation(), leaseUntil: never, at: after(4))
        #expect(failing.gate.breaker == .open)
    }

    @Test func `without another pool, or where nothing is enforced, it keeps nothing back`() {
        var passive = allocation()
        passive.enforce = false
        for allocation in [allocation(failover: []), passive] {
            let story = story(allocation)
            story.fail(100, at: 1)
            #expect(story.gate.breaker == nil)
            #expect(story.call(.ok, at: 2))
        }
    }

    // MARK: Models

    @Test func `a model that fails keeps back its own calls only`() {
        let story = story(allocation())
        for _ in 0..<30 {
            _ = story.call(.server, model: "large", at: 1)
            #expect(story.call(.ok, model: "small", at: 1))
            #expect(story.call(.ok, at: 1))
        }
        #expect(story.gate.breaker == nil)
        #expect(story.gate.keptBackModels == ["large"])
        #expect(!story.call(.ok, model: "large", at: 2))
        #expect(story.call(.ok, model: "small", at: 2))
    }

    @Test func `a model's calls that wait when its breaker opens leave at once, in the order of service`() {
        var gate = gate(allocation())
        gate.enqueue((1...20).map { call($0, of: "a", model: "large") })
        let sent = gate.dispatch(at: start)
        #expect(sent.count == 20)
        // A whole budget in debt: nothing more goes.
        gate.enqueue([call(50, of: "a", tokens: 1e9)])
        _ = gate.dispatch(at: start)
        gate.enqueue([
            call(101, of: "a", .batch, model: "large"), call(102, of: "a", model: "large"),
            call(103, of: "a", model: "small"),
            call(104, of: "a", at: after(-1), model: "large"),
        ])
        // The pool as a whole fails less than half.
        gate.note(.ok, of: 50, startedAt: start, at: after(1))
        for id in 1...20 { gate.note(id <= 10 ? .ok : .server, of: id, startedAt: start, at: after(1)) }
        #expect(gate.keptBackModels == ["large"])
        #expect(gate.queues(at: after(1)).reduce(0) { $0 + $1.depth } == 4)
        #expect(gate.divert(at: after(1)).map(\.id) == [104, 102, 101])
        #expect(gate.queues(at: after(1)).reduce(0) { $0 + $1.depth } == 1)
    }

    @Test func `a model that is half-open lets one of its calls a second pass, until five have succeeded`() {
        let story = story(allocation())
        for _ in 0..<20 {
            _ = story.call(.server, model: "large", at: 1)
            for _ in 0..<2 { _ = story.call(.ok, at: 1) }
        }
        var passed: [Double] = []
        for tick in 20..<400 where !story.gate.keptBackModels.isEmpty {
            let second = Double(tick) / 10
            if story.call(.ok, model: "large", at: second) { passed.append(second) }
        }
        #expect(passed == [16, 17, 18, 19, 20])
    }

    @Test func `a pool of one model closes its breaker and the model's together`() {
        let story = story(allocation())
        story.fail(20, model: "only", at: 1)
        #expect(story.gate.breaker == .open && story.gate.keptBackModels == ["only"])
        var passed: [Double] = []
        for tick in 20..<400 where story.gate.breaker != nil {
            let second = Double(tick) / 10
            if story.call(.ok, model: "only", at: second) { passed.append(second) }
        }
        #expect(passed == [16, 17, 18, 19, 20])
        #expect(story.gate.keptBackModels.isEmpty)
    }

    @Test func `the snapshot's state of a model holds for its calls`() {
        let story = story(allocation(models: [.init(model: "large", state: .open)]))
        #expect(!story.call(.ok, model: "large", at: 1))
        #expect(story.call(.ok, model: "small", at: 1))
        story.gate.load(allocation(), leaseUntil: never, at: after(2))
        #expect(story.call(.ok, model: "large", at: 2))
    }

    @Test func `parked calls go on when the model's breaker closes, and wake the gate for its probes`() {
        var gate = gate(allocation(models: [.init(model: "large", state: .open)]))
        gate.enqueue((1...3).map { call($0, of: "a", model: "large") })
        #expect(gate.dispatch(at: start).isEmpty)
        #expect(gate.nextWake(after: start) ?? never >= never)
        gate.load(allocation(models: [.init(model: "large", state: .halfOpen)]), leaseUntil: never, at: after(1))
        #expect(gate.dispatch(at: after(1)).ids == [1])
        #expect(gate.nextWake(after: after(1)) == after(2))
        #expect(gate.dispatch(at: after(2)).ids == [2])
        gate.load(allocation(), leaseUntil: never, at: after(2.1))
        #expect(gate.dispatch(at: after(2.1)).ids == [3])
    }

    @Test func `sixteen models have breakers; those that keep calls back keep their places`() {
        let story = story(allocation())
        for _ in 0..<20 { _ = story.call(.server, model: "broken", at: 1) }
        // The pool's opens too, and closes.
        for second in 16..<40 { _ = story.call(.ok, at: Double(second)) }
        #expect(story.gate.breaker == nil)
        for index in 0..<100 { _ = story.call(.ok, model: "m\(index)", at: 41) }
        #expect(story.gate.keptBackModels == ["broken"])
        for index in 0..<20 { for _ in 0..<20 { _ = story.call(.server, model: "n\(index)", at: 60) } }
        #expect(story.gate.keptBackModels.count <= 16)
    }

    // MARK: Callers

    @Test
    func `callers who are sent away come back one after the other, at the pool's rate, once the breaker may let them`()
    {
        let story = story(allocation())
        story.fail(20, at: 1)
        // 6,000 a minute.
        let times = (0..<5).map { _ in story.gate.nextReturn(model: nil, at: after(2)).seconds(since: start) }
        #expect(times == [16, 16.01, 16.02, 16.03, 16.04])
        // However many there are.
        let many = (0..<100_000).map { _ in story.gate.nextReturn(model: nil, at: after(2)).seconds(since: start) }
        #expect(many.allSatisfy { (16...76).contains($0) })
    }

    @Test(arguments: 0..<20) func `each call leaves once, whatever breakers do`(seed: Int) {
        var generator = SplitMix64(seed: seed)
        var gate = gate(allocation())
        var waiting: Set<Int> = []
        var sent: Set<Int> = []
        var now = start
        var id = 0
        let models = ["x", "y", nil]
        for step in 0..<2000 {
            now = now.adding(seconds: Double.random(in: 0...0.5, using: &generator))
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                id += 1
                let deadline = now.adding(seconds: Double.random(in: 1...60, using: &generator))
                gate.enqueue(
                    [call(id, of: "a", at: now, deadline: deadline, model: models.randomElement(using: &generator)!)],
                    at: now)
                waiting.insert(id)
            }
            for call in gate.expire(at: now) { #expect(waiting.remove(call.id) != nil, "seed \(seed), step \(step)") }
            for dispatch in gate.dispatch(at: now) {
                #expect(waiting.remove(dispatch.call.id) != nil, "seed \(seed), step \(step)")
                #expect(gate.breaker != .open, "seed \(seed), step \(step)")
                sent.insert(dispatch.call.id)
            }
            for ended in sent.sorted() where Bool.random(using: &generator) {
                sent.remove(ended)
                let outcomes = [Outcome.ok, .server, .overload, .quota, .ok]
                gate.note(outcomes.randomElement(using: &generator)!, of: ended, startedAt: now, at: now)
                gate.settle(ended, actual: Work(requests: 1, tokens: 10), at: now)
            }
            if step % 10 == 0 {
                for call in gate.divert(at: now, where: { call, _ in call.id % 3 == 0 }) {
                    #expect(waiting.remove(call.id) != nil, "seed \(seed), step \(step)")
                }
            }
            if step % 97 == 0 {
                let state = [PoolState.healthy, .open, .halfOpen].randomElement(using: &generator)!
                gate.load(
                    allocation(models: [.init(model: "x", state: state)]), leaseUntil: never, at: now)
            }
            let depth = gate.queues(at: now).reduce(0) { $0 + Int($1.depth) }
            #expect(depth == waiting.count, "seed \(seed), step \(step)")
        }
        #expect(id > 3000)
    }
}
