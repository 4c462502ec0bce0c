import HeadroomModel
import HeadroomSimulator
import Testing

/// The scenario *morning*, what it is made of, and the figures by which people are told of it.
@Suite struct MorningTests {
    private static let trace = SyntheticWorkload.trace(requests: 2400, seed: 5)

    private func workload(_ changes: [Scenario.WorkChange], seconds: Double = 300) -> (Scenario, Workload) {
        var scenario = Scenario(name: "x", intent: "y")
        scenario.capacity = 2.5
        scenario.changes = changes
        return (scenario, Workload(trace: Self.trace, scenario: scenario, seconds: seconds, seed: 1))
    }

    @Test func `agents make the trace's calls, each once, as tasks of so many in a row`() {
        let plain = workload([]).1
        let agents = workload([.agents(Scenario.TaskPlan(calls: 8, thinkSeconds: 3), of: .everyone)]).1
        #expect(agents.jobs.count == plain.jobs.count)
        #expect(agents.jobs.allSatisfy { $0.task != nil })
        for tenant in plain.roster.entries.indices {
            let calls = plain.jobs.filter { $0.tenant == tenant }
            let tasks = agents.tasks.filter { $0.tenant == tenant }.sorted { $0.start < $1.start }
            #expect(tasks.map(\.calls.count).reduce(0, +) == calls.count)
            #expect(tasks.dropLast().allSatisfy { $0.calls.count == 8 })
            #expect(tasks.first?.start == calls.first?.seconds)
            let made = tasks.flatMap(\.calls).map { agents.jobs[$0.job].inputTokens }
            #expect(made == calls.map(\.inputTokens))
        }
    }

    @Test func `a pipeline keeps its backlog, in lines of tasks that follow each other`() throws {
        let plan = Scenario.TaskPlan(calls: 40, mostCalls: 80, atOnce: 80, thinkSeconds: 0)
        let span = Scenario.Span(from: 0.2, to: 0.8)
        let workload = workload([
            .pipeline(plan, load: 1.2, backlogSeconds: 30, of: .largest(ofTier: "standard"), during: span)
        ]).1
        let loud = try #require(workload.loud.first)
        #expect(workload.roster.entries[loud].tier == "standard")
        #expect(workload.tasks.allSatisfy { (40...80).contains($0.calls.count) && $0.tenant == loud })
        func seconds(_ tasks: [AgentTask]) -> Double {
            tasks.flatMap(\.calls).reduce(Work.zero) { $0 + workload.jobs[$1.job].cost }.seconds(of: workload.nominal)
        }
        let first = workload.tasks.filter { !$0.isNext }
        let mostOfATask = workload.tasks.map { seconds([$0]) }.max() ?? 0
        #expect(seconds(first) >= 30 && seconds(first) < 30 + mostOfATask)
        #expect(seconds(workload.tasks) >= 1.2 * 180)
        #expect(first.allSatisfy { $0.start >= 60 && $0.start < 65 })
        // Each but the first of its line follows on one other.
        let next = workload.tasks.compactMap(\.next)
        #expect(Set(next).count == next.count && next.count == workload.tasks.count - first.count)
        #expect(workload.tasks.allSatisfy { $0.lastStart == 240 })
    }

    @Test func `a line's next task begins when the one before it has ended, and none after the span`() {
        let plan = Scenario.TaskPlan(calls: 4, mostCalls: 8, atOnce: 8, thinkSeconds: 0)
        let (scenario, workload) = workload([
            .silent(.everyone, during: Scenario.Span(from: 0, to: 1)),
            .pipeline(plan, load: 0.2, backlogSeconds: 2, of: .rank(0), during: Scenario.Span(from: 0, to: 0.5)),
        ])
        #expect(workload.tasks.isEmpty, "nothing to draw its calls from")
        let busy = self.workload([
            .pipeline(plan, load: 0.5, backlogSeconds: 2, of: .rank(0), during: Scenario.Span(from: 0, to: 0.5))
        ])
        let run = Simulation(
            workload: busy.1, scenario: busy.0, strategy: Strategy.named("headroom")!, seed: 1
        ).run()
        #expect(run.tasks.count > busy.1.tasks.count { !$0.isNext })
        #expect(run.tasks.allSatisfy { $0.begunAt < 150 })
        #expect(scenario.changes.count == 2)
    }

    @Test func `a library's retries back off, and its program begins again`() {
        let habit = ClientRetries.openAI
        func wait(_ retries: Int, told: Double? = nil, jitter: Double = 0) -> Double {
            habit.seconds(afterRetries: retries, told: told, jitter: jitter)
        }
        #expect(wait(0) == 0.5 && wait(1) == 1)
        #expect(wait(0, jitter: 1) == 0.375)
        #expect(wait(0, told: 3) == 3 && wait(0, told: 0.002) == 0.5 && wait(0, told: 90) == 0.5)
        // Two retries are the library's; then the program calls it anew.
        #expect(wait(2) == habit.pauseSeconds)
        let patient = ClientRetries(maxRetries: 9, firstSeconds: 0.5, mostSeconds: 8, jitter: 0, pauseSeconds: 1)
        #expect(patient.seconds(afterRetries: 8, told: nil, jitter: 0) == 8)
    }

    @Test func `a shared bucket lets the contract pass and knows no tenants`() {
        var bucket = SharedBucket()
        bucket.begin(capacity: Rates(rpm: 60, tpm: 6000), tiers: [])
        let start = Timestamp(milliseconds: 0)
        let cost = Work(requests: 1, tokens: 50)
        func admitted(_ count: Int, at second: Double) -> Int {
            (0..<count).count { call in
                bucket.admits(
                    tenant: call % 2 == 0 ? "a" : "b", tier: "free", estimate: cost, at: start.adding(seconds: second))
            }
        }
        // Six requests at once, then one a second.
        let (first, later) = (admitted(20, at: 0), admitted(20, at: 3))
        #expect(first == 6 && later == 3)
        // A call that cost less than was thought gives the rest back.
        bucket.settle(tenant: "a", tier: "free", estimate: cost, actual: .zero, at: start.adding(seconds: 3))
        let returned = admitted(20, at: 3)
        #expect(returned == 1)
        // One larger than all of it goes when it is full.
        let large = Work(requests: 1, tokens: 50_000)
        let early = bucket.admits(tenant: "a", tier: "free", estimate: large, at: start.adding(seconds: 3.5))
        let full = bucket.admits(tenant: "a", tier: "free", estimate: large, at: start.adding(seconds: 60))
        #expect(!early && full)
    }

    @Test func `figures tell who is quiet, who is starved, and how long a task takes that has not ended`() throws {
        let (scenario, workload) = workload([
            .agents(Scenario.TaskPlan(calls: 8, thinkSeconds: 3), of: .everyone),
            .pipeline(
                Scenario.TaskPlan(calls: 40, mostCalls: 80, atOnce: 80, thinkSeconds: 0), load: 1.5, backlogSeconds: 60,
                of: .largest(ofTier: "standard"), during: Scenario.Span(from: 0, to: 1)),
        ])
        let loud = try #require(workload.loud.first)
        let shares = FairShares(
            workload: workload, reference: Reference(workload: workload, scenario: scenario))
        #expect(!shares.isQuiet[loud])
        #expect(shares.isQuiet.count { $0 } >= workload.roster.entries.count - 2)

        let small = try #require(workload.roster.entries.indices.first { shares.isQuiet[$0] })
        var run = RunRecord(seconds: 300, tenantCount: workload.roster.entries.count)
        var job = workload.jobs[0]
        job.tenant = small
        // Every ten seconds two calls come and one is served.
        for step in 0..<30 {
            job.seconds = Double(10 * step)
            run.arrive(job)
            run.arrive(job)
            run.serve(job, arrivedAt: job.seconds, at: job.seconds)
        }
        run.tasks = [
            RunRecord.TaskOutcome(tenant: small, begunAt: 0, undisturbedSeconds: 40, seconds: 50),
            RunRecord.TaskOutcome(tenant: small, begunAt: 10, undisturbedSeconds: 40, seconds: nil),
            // Too young to be judged at second 100.
            RunRecord.TaskOutcome(tenant: small, begunAt: 50, undisturbedSeconds: 40, seconds: 45),
        ]
        let figures = RunFigures(run, plan: shares, at: 100)
        #expect(figures.quiet.servedShare == 0.5)
        #expect(figures.starved == [small])
        let tasks = try #require(figures.quiet.tasks)
        #expect(tasks.count == 2 && tasks.ended == 1)
        #expect(tasks.median == 90 && tasks.isMedianOpen)
        #expect(tasks.undisturbedMedian == 40)
        // Before it, the first task had gone on for seventy seconds.
        let early = try #require(RunFigures(run, plan: shares, at: 75).quiet.tasks)
        #expect(early.median == 65 && early.isMedianOpen || early.median == 50)
    }

    @Test func `in the morning the quiet do better with Headroom than with a shared bucket`() throws {
        let scenario = try #require(ScenarioLibrary.named("morning"))
        let workload = Workload(trace: Self.trace, scenario: scenario, seconds: 300, seed: 1)
        let shares = FairShares(
            workload: workload, reference: Reference(workload: workload, scenario: scenario))
        func figures(_ strategy: String) throws -> RunFigures {
            let strategy = try #require(Strategy.named(strategy))
            let run = Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: 1).run()
            #expect(run.audit?.violation == nil)
            return RunFigures(run, plan: shares, at: 300)
        }
        let (own, other) = (try figures("headroom"), try figures("shared-bucket"))
        #expect(own.quiet.servedShare > other.quiet.servedShare)
        #expect(own.criticalShare > 0.98)
        let (took, without) = (try #require(own.quiet.tasks), try #require(other.quiet.tasks))
        #expect(took.median < without.median)
        #expect(own.refusals < other.refusals / 10)
    }
}
