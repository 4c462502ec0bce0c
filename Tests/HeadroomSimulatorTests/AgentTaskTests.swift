import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct AgentTaskTests {
    private static let trace = SyntheticWorkload.trace(requests: 2400, seed: 5)

    private func run(
        _ plan: Scenario.TaskPlan, capacity: Double, strategy: String = "headroom", seconds: Double = 600
    ) throws -> (workload: Workload, record: RunRecord) {
        var scenario = Scenario(name: "agents", intent: "agents only, from the first second on")
        scenario.capacity = capacity
        scenario.clients.patienceSeconds = PerCriticality(repeating: 30)
        scenario.changes = [
            .tasks(plan, of: .rank(0), from: 0, withinSeconds: 10),
            .silent(.everyone, during: Scenario.Span(from: 0, to: 1)),
        ]
        let workload = Workload(trace: Self.trace, scenario: scenario, seconds: seconds, seed: 1)
        let strategy = try #require(Strategy.named(strategy))
        return (
            workload, Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: 1).run()
        )
    }

    @Test func `with plenty every task ends and takes as long as its calls and pauses`() throws {
        for hasSubAgents in [false, true] {
            let plan = Scenario.TaskPlan(users: 5, calls: 21, atOnce: 4, hasSubAgents: hasSubAgents)
            let (workload, record) = try run(plan, capacity: 50)
            #expect(record.servedCalls == 5 * 21 && record.lost == 0)
            #expect(record.tasks.count == 5)
            let ideal = workload.tasks.filter { $0.parent == nil }.map { task in
                let calls = ([task] + task.subAgents.map { workload.tasks[$0] }).flatMap(\.calls)
                return calls.map { workload.jobs[$0.job].seconds }.max()! - task.start
            }
            for (task, least) in zip(record.tasks, ideal) {
                let took = try #require(task.seconds)
                // The ideal knows no variation of latency; its last call still has to end.
                #expect(took > 0.6 * least && took < 1.6 * least + 5, "\(took) s, ideally \(least) s")
            }
        }
    }

    @Test func `who is served late asks late, and whoever gives up fails`() throws {
        let plan = Scenario.TaskPlan(users: 20, calls: 20, atOnce: 4)
        let plenty = try run(plan, capacity: 50).record
        let scarce = try run(plan, capacity: 0.1).record
        let times = { (record: RunRecord) in record.tasks.compactMap(\.seconds).max() ?? 0 }
        #expect(scarce.servedCalls < plenty.servedCalls)
        #expect(scarce.tasks.contains { $0.seconds == nil })
        #expect(times(scarce) == 0 || times(scarce) > 2 * times(plenty))
        // At most four calls of a task wait at any time, and each comes four times at most.
        #expect(scarce.attempts + scarce.lost < 20 * 20 * 4)
    }

    @Test func `task metrics tell of those who did not end`() throws {
        let plan = Scenario.TaskPlan(users: 20, calls: 20, atOnce: 4)
        for (capacity, isDone) in [(50.0, true), (0.1, false)] {
            let (workload, record) = try run(plan, capacity: capacity)
            var scenario = Scenario(name: "x", intent: "y")
            scenario.capacity = capacity
            let metrics = RunMetrics(
                record, workload: workload, reference: Reference(workload: workload, scenario: scenario))
            let completed = try #require(metrics[.tasksCompleted])
            #expect(isDone ? completed == 1 : completed < 1)
            let tail = [Metric.taskP95Critical, .taskP95Premium, .taskP95Standard, .taskP95Free].compactMap {
                metrics[$0]
            }
            #expect(tail.count == 1)
            if !isDone { #expect(tail[0] > 500) }
        }
    }
}
