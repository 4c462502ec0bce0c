import HeadroomClient
import HeadroomModel
import Testing

@Suite struct TaskTests {
    private func fixture(_ limits: TaskLimits) throws -> Fixture {
        let fixture = try Fixture(taskLimits: limits)
        fixture.load(pool(rpm: 6e6, tpm: 6e9, tenants: [tenant("a", rpm: 6e6, tpm: 6e9)]))
        return fixture
    }

    private func step(
        _ fixture: Fixture, _ task: String = "t", parent: String? = nil, work: Call.WorkKind = .model,
        isFinishing: Bool = false, tokens: Int = 0, tenant: TenantID = "a"
    ) -> Refusal? {
        var call = call(tenant, tokens: tokens)
        (call.task, call.parent, call.work, call.isFinishing) = (task, parent, work, isFinishing)
        do throws(Refusal) {
            try fixture.manager.tryAdmit(call).finish(.outcome(.ok, inputTokens: tokens, outputTokens: 0))
            return nil
        } catch {
            return error
        }
    }

    @Test func `a task that nears its end loses its tool work, then its branches, then all but its last step`() throws {
        let fixture = try fixture(TaskLimits(calls: 100))
        for _ in 0..<80 { #expect(step(fixture, work: .tool) == nil) }
        #expect(step(fixture, work: .tool)?.exhausted == .taskBudget)
        #expect(step(fixture, "child", parent: "t") == nil)
        for _ in 0..<9 { #expect(step(fixture) == nil) }
        #expect(step(fixture, "other", parent: "t")?.decision == .fail)
        // A task that has begun goes on for a while.
        #expect(step(fixture, "child", parent: "t") == nil)
        for _ in 0..<4 { #expect(step(fixture) == nil) }
        #expect(step(fixture) != nil)
        #expect(fixture.manager.state.escalations.isEmpty)
        for _ in 0..<5 { #expect(step(fixture, isFinishing: true) == nil) }
        #expect(step(fixture, isFinishing: true) != nil)
        #expect(step(fixture, isFinishing: true) != nil)
        #expect(fixture.manager.state.escalations.map(\.task) == ["t"])
        // Another tenant's task of the same name is another task.
        #expect(step(fixture, tenant: "b")?.exhausted != .taskBudget)
    }

    @Test func `what a call really cost counts, and a call that was not sent costs nothing`() throws {
        let fixture = try fixture(TaskLimits(tokens: 1000))
        var planned = call(tokens: 900)
        planned.task = "t"
        for _ in 0..<5 { try fixture.manager.tryAdmit(planned).giveBack() }
        try fixture.manager.tryAdmit(planned).finish(.outcome(.ok, inputTokens: 100, outputTokens: 0))
        #expect(step(fixture, tokens: 800) == nil)
        #expect(step(fixture, tokens: 200)?.exhausted == .taskBudget)
    }

    @Test func `a task costs no more money than it may, by the pool's price of what it really used`() throws {
        let fixture = try Fixture(
            taskLimits: TaskLimits(cost: 1), prices: ["pool": TokenPrice(inputPerMillion: 2, outputPerMillion: 10)])
        fixture.load(pool(rpm: 6e6, tpm: 6e9, tenants: [tenant("a", rpm: 6e6, tpm: 6e9)]))
        var planned = call(tokens: 100_000)
        planned.task = "t"
        // 0.2 for the prompt, and 0.1 for the answer.
        for _ in 0..<3 {
            try fixture.manager.tryAdmit(planned).finish(.outcome(.ok, inputTokens: 100_000, outputTokens: 10_000))
        }
        #expect(throws: Refusal.self) { try fixture.manager.tryAdmit(planned) }
        planned.inputTokens = 30_000
        planned.maxOutputTokens = 0
        planned.isFinishing = true
        try fixture.manager.tryAdmit(planned).finish(.outcome(.ok, inputTokens: 30_000, outputTokens: 0))
        do throws(Refusal) {
            _ = try fixture.manager.tryAdmit(planned)
            Issue.record("the task has spent its money")
        } catch { #expect(error.exhausted == .cost, "\(error)") }
        #expect(fixture.manager.state.escalations.first?.description.contains("which cost 0.9") == true)
    }

    @Test func `a task starts no more tasks than it may`() throws {
        let fixture = try fixture(TaskLimits(fanOut: 2))
        for child in ["x", "y"] { #expect(step(fixture, child, parent: "t") == nil) }
        #expect(step(fixture, "z", parent: "t")?.exhausted == .taskBudget)
        #expect(step(fixture, "x", parent: "t") == nil)
    }

    @Test func `a task goes round its loop no more often than it may, whatever its tools and its children do`() throws {
        let fixture = try fixture(TaskLimits(iterations: 20))
        for _ in 0..<16 { #expect(step(fixture) == nil) }
        // Tools and other tasks take none of its rounds.
        for _ in 0..<50 { #expect(step(fixture, "child", parent: "t", work: .tool) == nil) }
        for _ in 0..<16 { #expect(step(fixture, "child", parent: "t") == nil) }
        // A round that was not sent is none.
        var planned = call()
        planned.task = "t"
        for _ in 0..<10 { try fixture.manager.tryAdmit(planned).giveBack() }
        for _ in 0..<3 { #expect(step(fixture) == nil) }
        #expect(step(fixture, work: .tool)?.exhausted == .taskBudget)
        #expect(step(fixture)?.exhausted == .taskBudget)
        #expect(step(fixture, isFinishing: true) == nil)
        #expect(step(fixture, isFinishing: true)?.exhausted == .taskBudget)
        #expect(fixture.manager.state.escalations.first?.description.contains("20 iterations") == true)
    }

    @Test func `a call that is given up after its verdict gives its part of the budget back once`() async throws {
        let fixture = try Fixture(taskLimits: TaskLimits(calls: 10))
        // Nothing goes.
        fixture.load(pool(rpm: 0, tenants: [tenant("a")]))
        let pool = try fixture.manager.pool("pool")
        var planned = call(maxWait: .seconds(1))
        planned.task = "t"
        for _ in 0..<10 {
            guard case .waits(let id) = pool.begin(planned, isAwaited: true) else {
                Issue.record("there is no budget")
                return
            }
            // Its patience ends, and then its caller goes without having heard so.
            fixture.advance(seconds: 2)
            pool.withdraw(id)
        }
        fixture.load(PoolAllocation(pool: "pool", capacity: .none, nominal: .none, budget: .none), generation: 2)
        var sent = 0
        while sent < 30, step(fixture, isFinishing: true) == nil { sent += 1 }
        #expect(sent == 10)
    }

    @Test func `a loop among parents is no endless one`() throws {
        let fixture = try fixture(TaskLimits(calls: 10))
        #expect(step(fixture, "x", parent: "y") == nil)
        #expect(step(fixture, "y", parent: "x") == nil)
        #expect(step(fixture, "z", parent: "z") == nil)
    }
}
