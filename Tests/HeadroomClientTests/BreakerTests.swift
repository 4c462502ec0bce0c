import HeadroomClient
import HeadroomModel
import Testing

@Suite struct BreakerTests {
    private static let entries = [tenant("a", rpm: 6000, tpm: 6e6)]

    private func rich(_ id: PoolID, failover: [PoolID] = [], state: PoolState = .healthy) -> PoolAllocation {
        pool(id, rpm: 6000, tpm: 6e6, state: state, failover: failover, tenants: Self.entries)
    }

    private func fixture(_ pools: PoolAllocation...) throws -> Fixture {
        let fixture = try Fixture()
        fixture.load(pools)
        fixture.advance(seconds: 1)
        return fixture
    }

    /// Opens the breaker of `pool` at this gateway.
    private func fail(_ pool: PoolID, model: String? = nil, _ end: CallEnd = .outcome(.server), in fixture: Fixture)
        throws
    {
        let slots = try (0..<20).map { _ in
            var call = call(pool: pool, tokens: 1)
            call.model = model
            return try fixture.manager.tryAdmit(call)
        }
        for slot in slots { slot.finish(end) }
    }

    @Test(
        arguments: [
            CallEnd.outcome(.server), .answer(status: 503), .answer(status: 529, body: "{}"), .fault(.timeout),
            .fault(.connection),
        ])
    func `a pool whose calls fail here is left for the first of its list that works, before Headroom says so`(
        end: CallEnd
    ) throws {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y"))
        try fail("x", end, in: fixture)
        #expect(try fixture.manager.tryAdmit(call(pool: "x")).pool == "y")
        #expect(fixture.manager.poolStates.first?.status.breaker == .open)
    }

    @Test func `calls of which nobody says how they ended say nothing of the upstream`() throws {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y"))
        try fail("x", in: fixture)
        fixture.advance(seconds: 15)
        for _ in 0..<10 {
            // Dropped: its end is not known, so it is no success.
            _ = try fixture.manager.tryAdmit(call(pool: "x"))
            fixture.advance(seconds: 1)
        }
        #expect(fixture.manager.poolStates.first?.status.breaker == .halfOpen)
    }

    @Test func `calls that wait when a breaker opens have their turn elsewhere`() async throws {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y"))
        let failing = try (0..<20).map { _ in try fixture.manager.tryAdmit(call(pool: "x", tokens: 1)) }
        // The budget of the pool is in debt.
        let large = try fixture.manager.tryAdmit(call(pool: "x", tokens: 6_000_000))
        async let first = fixture.manager.slot(for: call(pool: "x"))
        async let second = fixture.manager.slot(for: call(pool: "x"))
        await fixture.hasWaiting(2)
        for slot in failing { slot.finish(.fault(.connection)) }
        #expect(try await [first.pool, second.pool] == ["y", "y"])
        large.giveBack()
    }

    @Test func `one model that fails is left alone, the others stay`() throws {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y", failover: ["x"]))
        for _ in 0..<30 { try fixture.manager.tryAdmit(call(pool: "x", tokens: 1)).finish(.outcome(.ok)) }
        try fail("x", model: "large", in: fixture)
        var large = call(pool: "x")
        large.model = "large"
        #expect(try fixture.manager.tryAdmit(large).pool == "y")
        #expect(try fixture.manager.tryAdmit(call(pool: "x")).pool == "x")
        // A pool whose breaker of that model is open does not take its calls.
        for _ in 0..<30 { try fixture.manager.tryAdmit(call(pool: "y", tokens: 1)).finish(.outcome(.ok)) }
        try fail("y", model: "large", in: fixture)
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(large) }
        #expect(try fixture.manager.tryAdmit(call(pool: "y")).pool == "y")
    }

    @Test func `where no pool of the list works, a call comes back for its fallback at once`() async throws {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y", failover: ["x"]))
        try fail("y", in: fixture)
        async let patient = fixture.manager.slot(for: call(pool: "y"))
        #expect(try await patient.pool == "x")
        let failing = try (0..<20).map { _ in try fixture.manager.tryAdmit(call(pool: "x", tokens: 1)) }
        let large = try fixture.manager.tryAdmit(call(pool: "x", tokens: 6_000_000))
        var cached = call(pool: "x")
        cached.fallback = .cached
        async let waiting = fixture.manager.slot(for: cached)
        await fixture.hasWaiting(1)
        for slot in failing { slot.finish(.fault(.timeout)) }
        // One that waited, and one that comes.
        for slot in [try? await waiting, try? await fixture.manager.slot(for: cached)] { #expect(slot == nil) }
        do {
            _ = try await fixture.manager.slot(for: cached)
        } catch { #expect(error.decision == .fallback) }
        large.giveBack()
    }

    @Test func `callers without patience are told to come back one after the other, when the breaker may let them`()
        throws
    {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y", failover: ["x"]))
        for pool in ["x", "y"] { try fail(PoolID(pool)!, in: fixture) }
        var waits: [Duration] = []
        for _ in 0..<4 {
            do throws(Refusal) { _ = try fixture.manager.tryAdmit(call(pool: "x")) } catch {
                #expect(error.decision == .wait)
                waits.append(error.retryAfter ?? .zero)
            }
        }
        #expect(waits == [.seconds(15), .milliseconds(15_010), .milliseconds(15_020), .milliseconds(15_030)])
    }

    @Test func `a patient caller keeps its place until the breaker lets it pass`() async throws {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y", failover: ["x"]))
        for pool in ["x", "y"] { try fail(PoolID(pool)!, in: fixture) }
        async let patient = fixture.manager.slot(for: call(pool: "x", maxWait: .seconds(20)))
        await fixture.hasWaiting(1)
        fixture.advance(seconds: 14.9)
        #expect(fixture.waiting == 1)
        fixture.advance(seconds: 0.2)
        let probe = try await patient
        #expect(probe.pool == "x")
        // Its patience would end before.
        probe.finish(.fault(.timeout))
        do throws(Refusal) {
            _ = try await fixture.manager.slot(for: call(pool: "x", maxWait: .seconds(10)))
            Issue.record("no pool works")
        } catch { #expect(error.decision == .wait) }
    }

    @Test func `a call that the provider refused has its next turn in the pool that works`() async throws {
        let fixture = try fixture(rich("x", failover: ["y"]), rich("y"))
        let refused = try await fixture.manager.slot(for: call(pool: "x"))
        let failing = try (0..<20).map { _ in try fixture.manager.tryAdmit(call(pool: "x", tokens: 1)) }
        #expect(refused.finish(.answer(status: 529)).retry != .never)
        for slot in failing { slot.finish(.fault(.connection)) }
        // Its caller comes back only after the time that it was told.
        fixture.advance(seconds: 5)
        #expect(try await refused.again().pool == "y")
    }

    @Test func `a call that timed out costs what was estimated, one that was not connected costs nothing`() throws {
        let fixture = try Fixture()
        fixture.load(pool(rpm: 6000, tpm: 60_000, burstSeconds: 1, tenants: [tenant("a", rpm: 6000, tpm: 60_000)]))
        try fixture.manager.tryAdmit(call(tokens: 1000)).finish(.fault(.connection))
        try fixture.manager.tryAdmit(call(tokens: 1000)).finish(.fault(.timeout))
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(call()) }
    }
}
