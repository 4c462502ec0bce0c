import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct WorkloadTests {
    private static let trace = SyntheticWorkload.trace(requests: 2400, seed: 5)
    private static let seconds = 600.0

    private func workload(_ changes: [Scenario.WorkChange], seed: UInt64 = 1) -> Workload {
        var scenario = Scenario(name: "x", intent: "y")
        scenario.changes = changes
        return Workload(trace: Self.trace, scenario: scenario, seconds: Self.seconds, seed: seed)
    }

    private let whole = Scenario.Span(from: 0, to: 1)

    /// Jobs of each tenant.
    private func counts(_ workload: Workload) -> [Int] {
        var counts = Array(repeating: 0, count: workload.roster.entries.count)
        for job in workload.jobs { counts[job.tenant] += 1 }
        return counts
    }

    @Test func `the contract follows the trace whatever is changed`() {
        let plain = workload([])
        let changed = workload([.times(5, of: .everyone, during: whole, rampSeconds: 0)])
        #expect(plain.nominal == changed.nominal)
        #expect(changed.jobs.count == 5 * plain.jobs.count)
        #expect(plain.roster.entries.map(\.tier) == changed.roster.entries.map(\.tier))
    }

    @Test func `jobs ascend by time and stay inside the run`() {
        let changed = workload([
            .times(2.5, of: .every(2), during: whole, rampSeconds: 60), .junk(1, of: .rank(0), during: whole),
            .tasks(
                Scenario.TaskPlan(users: 5, calls: 20, atOnce: 4), of: .rank(1), from: 0.5, withinSeconds: 60),
        ])
        for (job, next) in zip(changed.jobs, changed.jobs.dropFirst()) { #expect(job.seconds <= next.seconds) }
        #expect(
            changed.jobs.allSatisfy {
                $0.seconds >= 0 && ($0.task != nil || $0.seconds < changed.seconds) && $0.gateway < 4
            })
    }

    @Test func `a factor below one thins out, zero silences`() {
        let plain = counts(workload([]))
        let third = counts(workload([.times(0.3, of: .everyone, during: whole, rampSeconds: 0)]))
        let ratio = Double(third.reduce(0, +)) / Double(plain.reduce(0, +))
        #expect(abs(ratio - 0.3) < 0.05, "\(ratio)")
        #expect(workload([.times(0, of: .everyone, during: whole, rampSeconds: 0)]).jobs.isEmpty)
    }

    @Test func `a tenant that is silent for a part comes back`() {
        let silent = workload([.silent(.rank(0), during: Scenario.Span(from: 0, to: 0.5))])
        let back = silent.returns[0]
        #expect(back.second == silent.seconds / 2)
        #expect(silent.jobs.allSatisfy { $0.tenant != back.tenant || $0.seconds >= back.second })
        #expect(silent.jobs.contains { $0.tenant == back.tenant })
    }

    @Test func `junk is not genuine and names its sender a gamer`() {
        let plain = workload([])
        let junked = workload([.junk(3, of: .rank(2), during: whole)])
        let junk = junked.jobs.filter { !$0.isGenuine }
        #expect(Set(junk.map(\.tenant)) == Set(junked.gamers))
        #expect(junk.count == 3 * counts(plain)[junked.gamers[0]])
        #expect(junked.jobs.count - junk.count == plain.jobs.count)
    }

    @Test func `a task's lines of calls follow each other, and a change of its tenant's work leaves them alone`() {
        let plain = workload([])
        let storm = workload([
            .tasks(
                Scenario.TaskPlan(users: 10, calls: 80, atOnce: 8), of: .rank(0), from: 0.2, withinSeconds: 30),
            .silent(.everyone, during: whole),
        ])
        #expect(storm.jobs.count == 800 && storm.tasks.count == 10)
        #expect(storm.nominal == plain.nominal)
        for (index, task) in storm.tasks.enumerated() {
            #expect(task.calls.count == 80 && task.subAgents.isEmpty)
            let calls = task.calls.map { storm.jobs[$0.job] }
            #expect(calls.allSatisfy { $0.task == index && $0.tenant == task.tenant })
            #expect(calls.prefix(8).allSatisfy { $0.seconds == task.start })
            for (call, before) in zip(calls.dropFirst(8), calls) { #expect(call.seconds > before.seconds) }
        }
    }

    @Test func `sub-agents share what is left of a task after its first call`() {
        let storm = workload([
            .tasks(
                Scenario.TaskPlan(users: 3, calls: 20, atOnce: 4, hasSubAgents: true), of: .rank(0), from: 0.2,
                withinSeconds: 30)
        ])
        let parents = storm.tasks.indices.filter { storm.tasks[$0].parent == nil }
        #expect(parents.count == 3 && storm.tasks.count == 15)
        for parent in parents {
            #expect(storm.tasks[parent].calls.count == 1)
            let shares = storm.tasks[parent].subAgents.map { storm.tasks[$0].calls.count }
            #expect(shares == [5, 5, 5, 4])
            #expect(storm.tasks[parent].subAgents.allSatisfy { storm.tasks[$0].parent == parent })
        }
    }

    @Test func `the same seed gives the same jobs`() {
        #expect(workload([]).jobs == workload([]).jobs)
        #expect(workload([]).jobs != workload([], seed: 2).jobs)
    }

    private func workload(over network: Scenario.Network) -> Workload {
        var scenario = Scenario(name: "x", intent: "y")
        scenario.network = network
        return Workload(trace: Self.trace, scenario: scenario, seconds: Self.seconds, seed: 1)
    }

    @Test func `calls that are routed by length meet others of their length`() {
        let jobs = workload(over: Scenario.Network(routedByLength: 1)).jobs
        let lengths = (0..<4).map { gateway in jobs.filter { $0.gateway == gateway }.map { $0.cost[.tokens] } }
        for (shorter, longer) in zip(lengths, lengths.dropFirst()) {
            #expect(shorter.count > jobs.count / 5 && longer.count > jobs.count / 5)
            #expect((shorter.max() ?? 0) <= (longer.min() ?? 0))
        }
    }

    @Test func `a tenant with a home calls there, and later elsewhere`() {
        let workload = workload(over: Scenario.Network(homeSeconds: 100))
        let counts = counts(workload)
        let largest = counts.firstIndex(of: counts.max() ?? 0)
        let jobs = workload.jobs.filter { $0.tenant == largest }
        var homes: Set<Int> = []
        // A tenth of each hundred seconds: it moves once in so long.
        for part in Dictionary(grouping: jobs, by: { Int($0.seconds / 10) }).values where part.count >= 10 {
            let counts = Dictionary(grouping: part, by: \.gateway).mapValues(\.count)
            let most = counts.max { ($0.value, $1.key) < ($1.value, $0.key) }
            if let most, most.value * 10 >= part.count * 7 { homes.insert(most.key) }
        }
        #expect(homes.count >= 2, "\(homes)")
    }
}
