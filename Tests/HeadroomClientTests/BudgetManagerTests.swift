import Foundation
import HeadroomClient
import HeadroomModel
import Testing

@Suite struct BudgetManagerTests {
    @Test func `before the first snapshot everything passes and is counted`() throws {
        let fixture = try Fixture()
        for _ in 0..<1000 { try fixture.manager.tryAdmit(call()).finish(.outcome(.ok)) }
        #expect(fixture.manager.state.lease == .none)
        #expect(fixture.manager.poolStates.first?.status.counts.unlimited == 1000)
        #expect(fixture.manager.reporter.counts.appended == 1000)
    }

    @Test func `a call that may not go at once is told when to come back, and for want of what`() throws {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 60, burstSeconds: 2, tenants: [tenant("a", rpm: 60, tpm: 600_000)]))
        var slots: [Slot] = []
        for _ in 0..<2 { slots.append(try fixture.manager.tryAdmit(call())) }
        let refusal = #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(call()) }
        #expect(refusal?.decision == .wait)
        #expect(refusal?.exhausted == .requests)
        #expect((.zero)...(.seconds(1.1)) ~= (refusal?.retryAfter ?? .seconds(99)))
        fixture.advance(seconds: 1.1)
        slots.append(try fixture.manager.tryAdmit(call()))
        #expect(fixture.inFlight == 3)
    }

    @Test func `a caller with a fallback is told to use it, and a large call to shrink when tokens are short`() throws {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 6000, tpm: 6000, tenants: [tenant("a", rpm: 6000, tpm: 6000)]))
        let first = try fixture.manager.tryAdmit(call(tokens: 3000))
        var degrading = call()
        degrading.fallback = .degrade
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(degrading) }
        do { _ = try fixture.manager.tryAdmit(degrading) } catch {
            #expect(error.decision == .fallback)
            #expect(error.exhausted == .tokens)
        }
        first.finish(.outcome(.ok))
    }

    @Test func `waiting callers go in the order of criticality, then of service clocks`() async throws {
        let fixture = try Fixture()
        // Nothing is assured: all is lent.
        fixture.load(
            pool(
                rpm: 60, burstSeconds: 1,
                tenants: [tenant("a", clock: 5), tenant("b", clock: 1), tenant("c", clock: 3)]))
        let first = try fixture.manager.tryAdmit(call("a"))
        let order = Recorder<String>()
        await withTaskGroup(of: Void.self) { group in
            var waiting = 0
            for (tenant, criticality) in [
                ("a", Criticality.interactive), ("b", .batch), ("b", .interactive), ("c", .interactive),
                ("a", .nearRealTime),
            ] {
                group.addTask {
                    guard let slot = try? await fixture.manager.slot(for: call(TenantID(tenant)!, criticality)) else {
                        return
                    }
                    order.append("\(tenant) \(criticality.name)")
                    slot.finish(.outcome(.ok))
                }
                waiting += 1
                await fixture.hasWaiting(waiting)
            }
            for left in stride(from: 4, through: 0, by: -1) {
                while fixture.waiting > left { fixture.advance(seconds: 0.5) }
                while order.count < 5 - left { await Task.yield() }
            }
        }
        first.finish(.outcome(.ok))
        #expect(
            order.elements == [
                "b interactive", "c interactive", "a interactive", "a near_real_time", "b batch",
            ])
    }

    @Test func `a cancelled caller leaves no trace, and its place serves the next`() async throws {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 60, burstSeconds: 1, tenants: [tenant("a", rpm: 60, tpm: 600_000)]))
        let first = try fixture.manager.tryAdmit(call())
        let tasks = (0..<100).map { _ in Task { try await fixture.manager.slot(for: call()) } }
        await fixture.hasWaiting(100)
        for task in tasks.dropLast() { task.cancel() }
        for task in tasks.dropLast() { await #expect(throws: Refusal.self) { try await task.value } }
        #expect(fixture.waiting == 1)
        fixture.advance(seconds: 1.1)
        let slot = try await tasks[99].value
        slot.giveBack()
        first.giveBack()
        #expect(fixture.inFlight == 0)
    }

    @Test func `patience that ends is answered, and reported as denied work`() async throws {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 1, burstSeconds: 1, tenants: [tenant("a", rpm: 1, tpm: 600_000)]))
        let first = try fixture.manager.tryAdmit(call())
        async let late = fixture.manager.slot(for: call(maxWait: .seconds(3)))
        await fixture.hasWaiting(1)
        fixture.advance(seconds: 3)
        do {
            _ = try await late
            Issue.record("it must not have a turn")
        } catch let refusal as Refusal {
            #expect(refusal.decision == .wait)
        }
        #expect(fixture.manager.poolStates.first?.status.counts.denied == 1)
        first.giveBack()
    }

    @Test func `a caller whose patience has ended before it came to wait is answered at once, and keeps its place`()
        async throws
    {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 1, burstSeconds: 1, tenants: [tenant("a", rpm: 1, tpm: 600_000)]))
        let budget = try fixture.manager.pool("pool")
        // The second one's request is owed.
        var sent = [try fixture.manager.tryAdmit(call())]
        fixture.advance(seconds: 0.1)
        sent.append(try fixture.manager.tryAdmit(call()))
        defer { for slot in sent { slot.giveBack() } }
        guard case .waits(let id) = budget.begin(call(maxWait: .milliseconds(200)), held: 100, isAwaited: true) else {
            Issue.record("it does not wait")
            return
        }
        fixture.advance(seconds: 0.3)
        let heard = Recorder<PoolBudget.Answer>()
        let caller = Task { heard.append(await budget.wait(for: id)) }
        // Bounds a test that fails; the clock of the calls does not move.
        let end = ContinuousClock.now + .seconds(20)
        while heard.count == 0, ContinuousClock.now < end { await Task.yield() }
        caller.cancel()
        await caller.value
        guard case .refused(let refusal)? = heard.elements.first else {
            Issue.record("it had a turn")
            return
        }
        #expect(refusal.decision == .wait && (refusal.retryAfter ?? .zero) > .zero, "\(refusal)")
        // It comes back.
        fixture.advance(seconds: 60)
        guard case .answered(.turn, _)? = budget.claim(id, seconds: 1) else {
            Issue.record("its place has gone")
            return
        }
    }

    @Test func `a call that the provider refuses keeps the head of its queue, and its next turn comes after the reset`()
        async throws
    {
        let fixture = try Fixture()
        fixture.load(pool(tenants: [tenant("a", rpm: 600, tpm: 600_000)]))
        let slot = try await fixture.manager.slot(for: call())
        let advice = slot.finish(.answer(status: 429, headers: [("retry-after", "2")], body: "{}"))
        #expect(advice == Advice(kind: .quota, retry: .after(.seconds(2))))
        async let again = slot.again()
        fixture.advance(seconds: 1.9)
        #expect(fixture.waiting == 1)
        fixture.advance(seconds: 0.2)
        let next = try await again
        #expect(next.attempt == 2)
        #expect(next.finish(.answer(status: 200, inputTokens: 90, outputTokens: 10)).retry == .never)
        #expect(fixture.inFlight == 0)
    }

    @Test func `what a call really cost replaces the estimate`() throws {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 6000, tpm: 60_000, burstSeconds: 1, tenants: [tenant("a", rpm: 6000, tpm: 60_000)]))
        // A burst of 1,000 tokens, all of it taken by the estimate, nearly all of it given back.
        let slot = try fixture.manager.tryAdmit(call(tokens: 1000))
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(call()) }
        slot.finish(.outcome(.ok, inputTokens: 10, outputTokens: 0))
        try fixture.manager.tryAdmit(call()).giveBack()
        // And what was not expected is owed: 6,000 tokens are six seconds.
        try fixture.manager.tryAdmit(call()).finish(.outcome(.ok, inputTokens: 100, outputTokens: 6890))
        fixture.advance(seconds: 5.9)
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(call()) }
        fixture.advance(seconds: 0.2)
        try fixture.manager.tryAdmit(call()).giveBack()
    }

    @Test func `a slot that is dropped costs what was estimated`() throws {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 60, burstSeconds: 1, tenants: [tenant("a", rpm: 60, tpm: 600_000)]))
        _ = try fixture.manager.tryAdmit(call())
        #expect(fixture.inFlight == 0)
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(call()) }
    }

    @Test func `while a pool is broken its calls go to the first pool of its list that is not`() async throws {
        let fixture = try Fixture()
        let entries = [tenant("a", rpm: 600, tpm: 600_000)]
        fixture.load(
            pool("x", state: .open, failover: ["y", "z"], tenants: entries),
            pool("y", state: .open, failover: ["z"], tenants: entries), pool("z", tenants: entries))
        #expect(try fixture.manager.tryAdmit(call(pool: "x")).pool == "z")
        #expect(try await fixture.manager.slot(for: call(pool: "x")).pool == "z")
        #expect(try await fixture.manager.slot(for: call(pool: "z")).pool == "z")
    }

    @Test func `after the lease the fallback is in force`() throws {
        let fixture = try Fixture()
        fixture.load(
            pool(
                rpm: 600, fallback: Rates(rpm: 60, tpm: 60_000), burstSeconds: 1,
                tenants: [tenant("a", rpm: 600, tpm: 600_000, safe: Rates(rpm: 60, tpm: 60_000))]), leaseSeconds: 15)
        func admitted(seconds: Int) -> Int {
            (0..<seconds * 100).count { _ in
                fixture.advance(seconds: 0.01)
                guard let slot = try? fixture.manager.tryAdmit(call()) else { return false }
                slot.finish(.outcome(.ok, inputTokens: 100, outputTokens: 0))
                return true
            }
        }
        #expect((100...112).contains(admitted(seconds: 10)))
        fixture.advance(seconds: 10)
        #expect((10...12).contains(admitted(seconds: 10)))
    }

    @Test
    func `a pool that the policy closes lets nothing pass so long after the lease, and again once Headroom is back`()
        throws
    {
        let fixture = try Fixture()
        var closing = pool(fallback: Rates(rpm: 600, tpm: 600_000), tenants: [tenant("a", rpm: 600, tpm: 600_000)])
        closing.closedAfterSeconds = 60
        fixture.load(closing, leaseSeconds: 15)
        fixture.advance(seconds: 74)
        try fixture.manager.tryAdmit(call()).giveBack()
        fixture.advance(seconds: 1)
        do throws(Refusal) { _ = try fixture.manager.tryAdmit(call()) } catch {
            #expect(error.decision == .fail && error.description.contains("the policy closes pool"))
        }
        #expect(fixture.manager.poolStates.first?.status.isClosed == true)
        fixture.load(closing, generation: 2)
        try fixture.manager.tryAdmit(call()).giveBack()
    }

    @Test func `before the first snapshot nothing passes where the settings say so`() throws {
        let fixture = try Fixture { $0.beforeAllocations = .refuse }
        do throws(Refusal) { _ = try fixture.manager.tryAdmit(call()) } catch { #expect(error.decision == .wait) }
        fixture.load(pool(tenants: [tenant("a", rpm: 600, tpm: 600_000)]))
        try fixture.manager.tryAdmit(call()).giveBack()
    }

    @Test func `an answer without a bound is expected as Headroom says, and before that as the settings do`() throws {
        let fixture = try Fixture { $0.defaultOutputTokens = 300 }
        var known = pool(tpm: 6e6, tenants: [tenant("a", rpm: 600, tpm: 6e6)])
        fixture.load(known)
        #expect(try fixture.manager.tryAdmit(call()).estimatedTokens == 400)
        known.meanOutputTokens = 1000
        fixture.load(known, generation: 2)
        let slot = try fixture.manager.tryAdmit(call())
        #expect(slot.estimatedTokens == 1100)
        // One answer does not stand for all.
        slot.finish(.outcome(.ok, inputTokens: 100, outputTokens: 10))
        #expect(try fixture.manager.tryAdmit(call()).estimatedTokens == 100 + 666)
    }

    @Test func `numbers of a caller that are passed on are cut, and end nothing`() throws {
        let fixture = try Fixture()
        fixture.load(pool(tpm: 6e6, tenants: [tenant("a", rpm: 600, tpm: 6e6)]))
        for number in [Int.max, .min, -1, 1 << 62] {
            var wild = call(tokens: number)
            wild.maxOutputTokens = number
            for seconds in [Int64.max, .min] {
                wild.age = .seconds(seconds)
                wild.maxWait = .seconds(seconds)
                let slot = try? fixture.manager.tryAdmit(wild)
                slot?.finish(
                    .outcome(
                        .ok, inputTokens: number, outputTokens: number, cachedInputTokens: number,
                        latency: .seconds(seconds)))
                fixture.advance(seconds: 3600)
            }
        }
        #expect(try fixture.manager.tryAdmit(call()).estimatedTokens >= 100)
    }

    @Test func `a gateway that starts without Headroom begins with the fallback of its last snapshot`() throws {
        let directory = try TemporaryDirectory()
        let saved = """
            {"epoch":1,"generation":7,"issued_at":"2026-11-01T00:00:00.000Z","lease_seconds":15,"policy":"p@1","pools":{
            "pool":{"enforce":true,"capacity":{"rpm":600},"nominal":{"rpm":600},"budget":{"rpm":600},"fallback":{"rpm":60},
            "burst_seconds":1,"tenants":{"a":{"rpm":600,"safe":{"rpm":60}}},"unlisted":{"rpm":0}}}}
            """
        try Data(saved.utf8).write(to: directory.url.appending(path: "snapshot.json"))
        let fixture = try Fixture(directory: directory.url)
        #expect(fixture.manager.poolStates.first?.status.isOnFallback == true)
        try fixture.manager.tryAdmit(call()).finish(.outcome(.ok))
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(call()) }
    }

    @Test func `settings that cannot be used say what would be right`() {
        #expect(throws: BudgetManager.SettingsError.self) {
            try BudgetManager(BudgetManager.Settings(gateway: "gw-1", addresses: []))
        }
        #expect(throws: BudgetManager.SettingsError.self) {
            try BudgetManager(BudgetManager.Settings(gateway: "gw-1", addresses: [URL(string: "localhost:8420")!]))
        }
    }
}
