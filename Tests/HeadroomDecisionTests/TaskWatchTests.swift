import HeadroomDecision
import HeadroomModel
import Testing

/// Tasks of acme over several gateways; a call costs 0.10 USD.
@Suite struct TaskWatchTests {
    /// Calls and ticks on a clock that only the test moves; two seconds a tick.
    private struct Story {
        static let pool: PoolID = "p"
        private(set) var now = Timestamp(milliseconds: 1_793_001_600_000)
        var rules: Rules
        var watch = TaskWatch()
        private(set) var last = TaskReports()

        init(_ budgets: [TaskBudget]) {
            var pool = PoolPolicy(pool: Self.pool, nominal: Rates(rpm: 6000, tpm: 6_000_000))
            pool.prices = [PoolPrice(currency: "USD", perRequest: 100_000)]
            var policy = Policy(pools: [pool])
            policy.taskBudgets.budgets = budgets
            rules = Rules(policy: policy)
        }

        mutating func call(
            _ task: String, parent: String? = nil, kind: String? = nil, times: Int = 1, isTool: Bool = false,
            tenant: TenantID = "acme", gateway: GatewayID = "gw-1", outcome: Outcome = .ok
        ) {
            for _ in 0..<times {
                var record = CallRecord(
                    at: now, gateway: gateway, tenant: tenant, pool: Self.pool, task: task, parent: parent,
                    outcome: outcome, inputTokens: 900, outputTokens: 100, taskKind: kind)
                record.isToolWork = isTool
                watch.fold(.call(record), under: rules)
            }
        }

        mutating func end(_ task: String) {
            let record = TaskRecord(
                at: now, gateway: "gw-1", tenant: "acme", pool: Self.pool, task: task, state: .completed)
            watch.fold(.task(record), under: rules)
        }

        mutating func tick(seconds: Double = 2) {
            now = now.adding(seconds: seconds)
            last = watch.step(under: rules.holding(at: now), at: now)
        }

        mutating func rule(_ task: String, _ verdict: TaskRuling.Verdict, minutes: Double = 10) {
            rules.steering.taskRulings = [
                TaskRuling(
                    id: 7, name: TaskName(task, of: "acme"), verdict: verdict,
                    authorship: Authorship(
                        author: "sam", reason: "launch", at: now, until: now.adding(seconds: 60 * minutes)))
            ]
        }

        func hold(_ task: String) -> TaskHold? { held(task)?.hold }
        func held(_ task: String) -> TaskTerms.Held? { last.held.first { $0.name.task == task } }
        func report(_ task: String) -> TaskReport? { last.tasks.first { $0.name.task == task } }
    }

    private static func budget(
        calls: Int64? = nil, iterations: Int64? = nil, tokens: Int64? = nil, micros: Int64? = nil, fanOut: Int64? = nil,
        seconds: Int64? = nil
    ) -> TaskBudget {
        TaskBudget(
            limits: TaskLimits(
                calls: calls, iterations: iterations, tokens: tokens, micros: micros, fanOut: fanOut, seconds: seconds))
    }

    @Test func `what a tree uses at several gateways counts together, and holds it back step by step`() throws {
        var story = Story([Self.budget(calls: 100)])
        for (calls, hold) in [(79, TaskHold.nothing), (1, .tools), (10, .branches), (5, .steps), (5, .all)] {
            for call in 0..<calls {
                story.call(
                    call % 2 == 0 ? "root" : "child", parent: call % 2 == 0 ? nil : "root",
                    gateway: call % 3 == 0 ? "gw-2" : "gw-1")
            }
            story.tick()
            #expect((story.hold("root") ?? .nothing) == hold)
            // A gateway may know nothing of the tree.
            #expect(story.hold("child") == story.hold("root"))
        }
        let root = try #require(story.report("root"))
        #expect(root.use[.calls] == 100 && root.use[.fanOut] == 1 && root.depth == 1)
        #expect(root.use[.micros] == 10_000_000 && root.use[.tokens] == 100_000)
        #expect(root.gateways == ["gw-1", "gw-2"] && root.measure == .calls && root.state == "stopped")
        #expect(root.children.map(\.task) == ["child"])
        #expect(root.sentence.contains("100 calls of 100"), "\(root.sentence)")
        #expect(root.sentence.contains("the largest child with 48 calls"), "\(root.sentence)")
        #expect(story.last.stops == 1)
        story.tick()
        #expect(story.last.stops == 1)
    }

    @Test(arguments: [
        (Self.budget(iterations: 10), 10, TaskMeasure.iterations), (Self.budget(tokens: 9_999), 10, .tokens),
        (Self.budget(micros: 999_999), 10, .micros),
    ])
    func `each limit stops a task that has used it up`(budget: TaskBudget, calls: Int, measure: TaskMeasure) {
        var story = Story([budget])
        story.call("t", times: calls)
        story.tick()
        #expect(story.held("t")?.ownHold == .all && story.report("t")?.measure == measure)
        // Its rounds are its own affair.
        #expect(story.hold("t") == (measure == .iterations ? .nothing : .all))
        #expect(story.held("t")?.isCost == (measure == .micros))
    }

    @Test func `tools, answers from a cache, refusals and other tasks are no rounds of a task's loop`() {
        var story = Story([Self.budget(iterations: 10)])
        story.call("t", times: 50, isTool: true)
        story.call("child", parent: "t", times: 7)
        for outcome in [Outcome.cached, .denied, .quota] { story.call("t", times: 50, outcome: outcome) }
        story.tick()
        #expect(story.last.held.isEmpty)
    }

    @Test func `a task that has started all that it may is full, and what it has started goes on`() {
        var story = Story([Self.budget(fanOut: 2)])
        story.call("a", parent: "t")
        story.tick()
        #expect(story.last.held.isEmpty)
        story.call("b", parent: "t")
        story.tick()
        #expect(story.held("t")?.isFull == true && story.hold("t") == .nothing)
        #expect(story.hold("a") == .nothing && story.held("a")?.isFull == false)
    }

    @Test func `time counts from the first call to the last, so that a task that has gone is not stopped`() {
        var story = Story([Self.budget(seconds: 600)])
        story.call("goes on")
        story.call("has gone")
        story.tick(seconds: 700)
        story.call("goes on")
        story.tick()
        #expect(story.hold("goes on") == .all && story.held("has gone") == nil)
    }

    @Test func `the first budget that fits holds, by kind, tenant and tier, and a contract's own go before`() {
        var story = Story([
            TaskBudget(taskKind: "research", limits: TaskLimits(calls: 5)),
            TaskBudget(tenant: "beta", limits: TaskLimits(calls: 7)),
            TaskBudget(tier: "premium", limits: TaskLimits(calls: 9)), Self.budget(calls: 3),
        ])
        story.rules.contracts["gold"] = Contract(tenant: "gold", tier: "premium")
        story.rules.contracts["own"] = Contract(
            tenant: "own", taskBudgets: [TaskBudget(taskKind: "research", limits: TaskLimits(calls: 11))])
        func limit(_ tenant: TenantID, _ kind: String?) -> Int64? {
            story.rules.taskLimits(of: tenant, kind: kind, in: Story.pool)?[.calls]
        }
        #expect(limit("acme", "research") == 5 && limit("acme", nil) == 3 && limit("beta", "x") == 7)
        #expect(limit("gold", nil) == 9 && limit("own", "research") == 11 && limit("own", nil) == 3)
        // A task has the kind of the one that has started it.
        story.call("root", kind: "research", tenant: "beta")
        story.call("child", parent: "root", times: 6, tenant: "beta")
        story.tick()
        #expect(story.report("child")?.limits[.calls] == 5 && story.hold("child") == .all)
        let terms = story.rules.taskTerms(in: story.rules.policy.pools[0])
        #expect(terms.budgets.first?.tenant == "own" && terms.budgets.count == 5)
    }

    @Test func `a person stops a task with all below it, and a lift lets one go on until it ends`() {
        var story = Story([Self.budget(calls: 10)])
        story.call("child", parent: "root", times: 2)
        story.rule("root", .stop)
        story.tick()
        #expect(story.hold("root") == .all && story.hold("child") == .all && story.last.stops == 0)
        story.rule("root", .lift)
        story.call("root", times: 20)
        story.tick()
        #expect(story.hold("root") == .nothing && story.held("root")?.isLifted == true && story.held("child") == nil)
        #expect(story.report("root")?.state == "lifted")
        // Its budget is what it was.
        story.tick(seconds: 601)
        #expect(story.hold("root") == .all && story.held("root")?.isLifted == false)
    }

    @Test func `a task is stopped before anything was heard of it`() {
        var story = Story([])
        story.rule("rogue", .stop)
        story.tick()
        #expect(story.hold("rogue") == .all && story.report("rogue")?.state == "stopped")
    }

    @Test func `a flood of names frees no task that is held back, and no other tenant's`() {
        var story = Story([Self.budget(calls: 10)])
        story.call("bad", times: 10)
        story.call("theirs", tenant: "beta")
        story.tick()
        for number in 0..<5_000 { story.call("flood-\(number)") }
        story.tick()
        #expect(story.hold("bad") == .all)
        #expect(story.last.followed <= 2_001 && story.report("theirs") != nil)
        #expect(story.last.tasks.count { $0.name.tenant == "acme" } == 200 && story.last.leftOut > 0)
    }

    @Test func `what is not heard of for an hour begins anew, and what has ended is listed as such`() {
        var story = Story([Self.budget(calls: 10)])
        story.call("t", times: 10)
        story.end("t")
        story.tick()
        #expect(story.hold("t") == .all && story.report("t")?.isOver == true)
        story.tick(seconds: 3700)
        #expect(story.last.tasks.isEmpty && story.last.held.isEmpty)
    }

    @Test func `a loop among parents, and very deep trees, come to an end`() {
        var story = Story([Self.budget(calls: 1000)])
        story.call("x", parent: "y")
        story.call("y", parent: "x")
        story.call("z", parent: "z")
        for level in 1..<40 { story.call("deep-\(level)", parent: "deep-\(level - 1)") }
        story.tick()
        #expect(story.report("deep-0")?.depth ?? 0 < TaskTrees.maxDepth)
    }

    @Test func `a start goes on from the checkpoint, and damaged bytes change nothing`() {
        var story = Story([Self.budget(calls: 10)])
        story.call("child", parent: "root", kind: "research", times: 10, gateway: "gw-2")
        story.tick()
        let bytes = story.watch.checkpoint()
        var other = Story([Self.budget(calls: 10)])
        other.watch.restore(bytes)
        other.tick()
        #expect(other.last.held == story.last.held && other.last.tasks == story.last.tasks)
        for length in 0..<bytes.count { other.watch.restore(Array(bytes.prefix(length))) }
        other.tick()
        #expect(other.last.held == story.last.held)
        other.watch.forget(["acme".fingerprint])
        other.tick()
        #expect(other.last.tasks.isEmpty && other.watch.checkpoint().isEmpty)
    }

    @Test func `the same telemetry gives the same states, whatever the order of tenants in memory`() {
        func run() -> [TaskReports] {
            var story = Story([Self.budget(calls: 5, fanOut: 3)])
            var all: [TaskReports] = []
            for round in 0..<20 {
                for tenant in 0..<7 {
                    story.call(
                        "t-\(round % 5)", parent: round % 2 == 0 ? nil : "r", tenant: TenantID(unchecked: "n\(tenant)"))
                }
                story.tick()
                all.append(story.last)
            }
            return all
        }
        #expect(run() == run())
    }

    @Test func `held tasks are bounded, those that are stopped first`() {
        var story = Story([Self.budget(calls: 10)])
        for tenant in 0..<30 {
            for task in 0..<50 {
                story.call("t-\(task)", times: task < 5 ? 10 : 8, tenant: TenantID(unchecked: "n\(tenant)"))
            }
        }
        story.tick()
        #expect(story.last.held.count == TaskTerms.maxHeld)
        #expect(story.last.held.count { $0.hold == .all } == 150)
        #expect(story.last.held == story.last.held.sorted { $0.name < $1.name })
    }
}
