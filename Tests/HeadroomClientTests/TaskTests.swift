import HeadroomClient
import HeadroomModel
import Testing

@Suite struct TaskTests {
    private func fixture(_ limits: TaskLimits) throws -> Fixture {
        let fixture = try Fixture()
        fixture.load(allocation(TaskTerms(budgets: [TaskBudget(limits: limits)])))
        return fixture
    }

    private func allocation(_ tasks: TaskTerms) -> PoolAllocation {
        var allocation = pool(rpm: 6e6, tpm: 6e9, tenants: ["a", "b"].map { tenant($0, rpm: 6e6, tpm: 6e9) })
        allocation.tasks = tasks
        return allocation
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
        for _ in 0..<5 { #expect(step(fixture, isFinishing: true) == nil) }
        let refused = fixture.manager.state.refusedByTask
        #expect(step(fixture, isFinishing: true) != nil)
        #expect(fixture.manager.state.refusedByTask == refused + 1)
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
    }

    @Test func `a call that is given up after its verdict gives its part of the budget back once`() async throws {
        let fixture = try Fixture()
        let budgets = TaskTerms(budgets: [TaskBudget(limits: TaskLimits(calls: 10))])
        // Nothing goes.
        var empty = pool(rpm: 0, tenants: [tenant("a")])
        empty.tasks = budgets
        fixture.load(empty)
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
        var unlimited = PoolAllocation(pool: "pool", capacity: .none, nominal: .none, budget: .none)
        unlimited.tasks = budgets
        fixture.load(unlimited, generation: 2)
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

    // MARK: What Headroom says

    @Test func `a task that Headroom has stopped gets no call here, nor does one below it`() throws {
        let fixture = try fixture(TaskLimits())
        #expect(step(fixture) == nil)
        #expect(step(fixture, "child", parent: "t") == nil)
        let stopped = TaskTerms.Held(TaskName("t", of: "a"), .all, isCost: true)
        fixture.load(allocation(TaskTerms(held: [stopped])), generation: 2)
        #expect(step(fixture)?.decision == .fail)
        #expect(step(fixture)?.exhausted == .cost)
        #expect(step(fixture, isFinishing: true) != nil)
        #expect(step(fixture, "child", parent: "t") != nil)
        // Without its parent's name too: the tree is known here.
        #expect(step(fixture, "child") != nil)
        #expect(step(fixture, "new", parent: "child") != nil)
        #expect(step(fixture, tenant: "b") == nil)
        #expect(step(fixture, "other") == nil)
        fixture.load(allocation(TaskTerms()), generation: 3)
        #expect(step(fixture) == nil)
    }

    @Test func `calls that wait when their task is stopped are refused at once, and others go on waiting`() async throws
    {
        let fixture = try Fixture()
        var empty = pool(rpm: 0, tenants: [tenant("a")])
        fixture.load(empty)
        let budget = try fixture.manager.pool("pool")
        var waiting = call(maxWait: .seconds(60))
        waiting.task = "t"
        guard case .waits(let stopped) = budget.begin(waiting, isAwaited: true) else {
            Issue.record("there is no budget")
            return
        }
        waiting.task = "u"
        guard case .waits(let other) = budget.begin(waiting, isAwaited: true) else {
            Issue.record("there is no budget")
            return
        }
        empty.tasks = TaskTerms(held: [TaskTerms.Held(TaskName("t", of: "a"), .all)])
        fixture.load(empty, generation: 2)
        guard case .refused(let refusal) = await budget.wait(for: stopped) else {
            Issue.record("the stopped task's call got a turn")
            return
        }
        #expect(refusal.exhausted == .taskBudget)
        #expect(budget.status().waiting == 1)
        budget.withdraw(other)
    }

    @Test func `near the end of a budget over all gateways the same is held back as near the end of one's own`() throws
    {
        let fixture = try fixture(TaskLimits())
        func hold(_ hold: TaskHold, _ known: [TaskTerms.Held] = [], generation: Int64) {
            let terms = TaskTerms(held: [TaskTerms.Held(TaskName("t", of: "a"), hold)] + known)
            fixture.load(allocation(terms), generation: generation)
        }
        hold(.tools, generation: 2)
        #expect(step(fixture, work: .tool)?.exhausted == .taskBudget)
        #expect(step(fixture, "one", parent: "t") == nil)
        // Another gateway has seen its first call.
        hold(.branches, [TaskTerms.Held(TaskName("two", of: "a"), .branches)], generation: 3)
        #expect(step(fixture, "one", parent: "t") == nil)
        #expect(step(fixture, "two", parent: "t") == nil)
        #expect(step(fixture, "three", parent: "t") != nil)
        hold(.steps, generation: 4)
        #expect(step(fixture) != nil)
        #expect(step(fixture, isFinishing: true) == nil)
    }

    @Test func `a task that has started all that it may over all gateways starts no more here, and goes on itself`()
        throws
    {
        let fixture = try fixture(TaskLimits(fanOut: 9))
        let full = TaskTerms.Held(TaskName("t", of: "a"), .nothing, isFull: true)
        let known = TaskTerms.Held(TaskName("elsewhere", of: "a"), .nothing)
        fixture.load(
            allocation(TaskTerms(budgets: [TaskBudget(limits: TaskLimits(fanOut: 9))], held: [known, full])),
            generation: 2)
        #expect(step(fixture) == nil)
        #expect(step(fixture, work: .tool) == nil)
        #expect(step(fixture, "elsewhere", parent: "t") == nil)
        #expect(step(fixture, "new", parent: "t")?.exhausted == .taskBudget)
        // What it has started may start others.
        #expect(step(fixture, "below", parent: "elsewhere") == nil)
    }

    @Test func `a task that has used up its rounds over all gateways calls no more, and those below it do`() throws {
        let fixture = try fixture(TaskLimits())
        #expect(step(fixture, "child", parent: "t") == nil)
        let held = TaskTerms.Held(TaskName("t", of: "a"), .nothing, ownHold: .all)
        fixture.load(allocation(TaskTerms(held: [held])), generation: 2)
        #expect(step(fixture)?.exhausted == .taskBudget)
        #expect(step(fixture, "child", parent: "t") == nil)
    }

    @Test func `a person's lift lets a task go beyond what this gateway has counted`() throws {
        let fixture = try fixture(TaskLimits(calls: 2))
        #expect(step(fixture, isFinishing: true) == nil)
        #expect(step(fixture, isFinishing: true) == nil)
        #expect(step(fixture, isFinishing: true) != nil)
        let lifted = TaskTerms.Held(TaskName("t", of: "a"), .nothing, isLifted: true)
        let budgets = [TaskBudget(limits: TaskLimits(calls: 2))]
        fixture.load(allocation(TaskTerms(budgets: budgets, held: [lifted])), generation: 2)
        for _ in 0..<5 { #expect(step(fixture) == nil) }
        fixture.load(allocation(TaskTerms(budgets: budgets)), generation: 3)
        #expect(step(fixture, isFinishing: true) != nil)
    }

    @Test func `the first budget that fits a task holds, by its kind, its tenant and its tier`() throws {
        let fixture = try Fixture()
        fixture.load(
            allocation(
                TaskTerms(budgets: [
                    TaskBudget(taskKind: "research", limits: TaskLimits(calls: 3)),
                    TaskBudget(tenant: "b", limits: TaskLimits(calls: 2)),
                    TaskBudget(tier: "premium", limits: TaskLimits(calls: 9)),
                    TaskBudget(limits: TaskLimits(calls: 1)),
                ])))
        func sent(_ tenant: TenantID, _ task: String, kind: String? = nil, parent: String? = nil) -> Int {
            var call = call(tenant)
            (call.task, call.parent, call.taskKind, call.isFinishing) = (task, parent, kind, true)
            var count = 0
            while count < 20, (try? fixture.manager.tryAdmit(call).finish(.outcome(.ok))) != nil { count += 1 }
            return count
        }
        #expect(sent("a", "r", kind: "research") == 3)
        #expect(sent("b", "r", kind: "research") == 3)
        #expect(sent("b", "x") == 2)
        #expect(sent("a", "x", kind: "other") == 1)
        // Without an entry nobody knows its tier, and so not which budget holds.
        for _ in 0..<3 { #expect(step(fixture, "x", tenant: "unlisted")?.exhausted != .taskBudget) }
    }

    @Test func `where calls have to name their task, one that names none does not go`() throws {
        let fixture = try Fixture()
        fixture.load(allocation(TaskTerms(requiresTask: true)))
        do throws(Refusal) {
            _ = try fixture.manager.tryAdmit(call())
            Issue.record("it names no task")
        } catch {
            #expect(error.decision == .fail)
            #expect(error.description.contains("task"))
        }
        #expect(step(fixture) == nil)
    }
}
