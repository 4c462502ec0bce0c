import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct SimulationTests {
    private static let trace = SyntheticWorkload.trace(requests: 1200, seed: 3)

    private static func run(
        _ strategy: String, _ scenario: Scenario, seed: UInt64 = 1, seconds: Double = 300
    ) throws -> (workload: Workload, record: RunRecord) {
        let workload = Workload(trace: trace, scenario: scenario, seconds: seconds, seed: seed)
        let simulation = Simulation(
            workload: workload, scenario: scenario, strategy: try #require(Strategy.named(strategy)), seed: seed)
        return (workload, simulation.run())
    }

    private static func scenario(_ name: String) throws -> Scenario { try #require(ScenarioLibrary.named(name)) }

    @Test func `the same seed gives the same run, another one another`() throws {
        for strategy in Strategy.all.map(\.name) {
            let scenario = try Self.scenario("silent-drop")
            let first = try Self.run(strategy, scenario).record
            let second = try Self.run(strategy, scenario).record
            let other = try Self.run(strategy, scenario, seed: 2).record
            #expect(first.digest == second.digest, "\(strategy)")
            #expect(first.served == second.served, "\(strategy)")
            #expect(first.digest != other.digest, "\(strategy)")
        }
    }

    /// Debug and release, today and tomorrow: nothing that a run does may depend on the build, on the order of a
    /// dictionary or on the C library's mathematics. A digest shows that behaviour has changed, not that it is wrong: what
    /// changes how a strategy behaves changes its line here, with the reason in the commit. Paste what the failure prints.
    @Test(
        arguments: [
            ("fcfs", 1, "89f7d9b83dbc397b"), ("static-contract+lending", 1, "fc80f830bbcf53fe"),
            ("karma+lending", 2, "c079a855020f9dbd"), ("litellm-v3", 2, "789ea40cc1c1a8c0"),
            ("oracle", 3, "16a29cc251137e8a"), ("headroom", 1, "41110dfdf3d82a2d"),
            ("headroom-lend", 2, "f78408db6dea7520"),
            ("headroom-plain", 3, "c3fdefe2dd90bc9d"),
        ] as [(String, UInt64, String)])
    func `a run behaves as when its digest was recorded, in every build`(strategy: String, seed: UInt64, digest: String)
        throws
    {
        var scenario = try Self.scenario("told-drop")
        scenario.changes = [
            .tasks(
                Scenario.TaskPlan(users: 4, calls: 12, atOnce: 3, hasSubAgents: true), of: .rank(1), from: 0.2,
                withinSeconds: 30)
        ]
        let record = try Self.run(strategy, scenario, seed: seed).record
        #expect(String(record.digest, radix: 16) == digest, "\(strategy), seed \(seed)")
    }

    @Test func `no strategy gets more out of the provider than it grants`() throws {
        for strategy in Strategy.all.map(\.name) {
            for name in ["steady-shortage", "silent-drop", "junk"] {
                let scenario = try Self.scenario(name)
                let (workload, record) = try Self.run(strategy, scenario)
                let grants = scenario.grants(seconds: workload.seconds)
                for step in 0..<record.stepCount {
                    // The most that was granted at any moment of the step, and a full bucket; the largest call may find
                    // the bucket smaller than itself.
                    let end = Double(step + 1) * RunRecord.stepSeconds
                    let begun = grants.filter { $0.fromSecond < end }
                    let during = begun.suffix(whileBefore: { $0.fromSecond > end - RunRecord.stepSeconds })
                    let most = during.map(\.factor).max() ?? 1
                    let largest = workload.jobs.map(\.cost[.tokens]).max() ?? 0
                    for resource in [Resource.requests, .tokens] {
                        let rate = (workload.nominal[resource] ?? 0) * most / 60
                        let slack = resource == .tokens ? largest : 1
                        #expect(
                            record.delivered[step][resource] <= rate * (RunRecord.stepSeconds + 6) + slack,
                            "\(strategy) \(name) step \(step) \(resource)")
                    }
                }
            }
        }
    }

    /// A build in which draws are silently dead would only look a little worse.
    @Test func `gateways that draw do, others do not`() throws {
        for (strategy, draws) in [("headroom", true), ("headroom-lend", false), ("fcfs", false)] {
            let record = try Self.run(strategy, try Self.scenario("steady-shortage")).record
            #expect((record.drawnAttempts > 0) == draws, "\(strategy): \(record.drawnAttempts)")
        }
    }

    @Test func `every call is served, lost, or still there at the end`() throws {
        for strategy in Strategy.all.map(\.name) {
            let (workload, record) = try Self.run(strategy, try Self.scenario("steady-shortage"))
            #expect(record.servedCalls + record.lost <= workload.jobs.count, "\(strategy)")
            // Patience is two minutes at most, so the rest came late.
            let late = workload.jobs.filter { $0.seconds > workload.seconds - 121 }.count
            #expect(record.servedCalls + record.lost >= workload.jobs.count - late, "\(strategy)")
            #expect(record.servedCalls + record.refusals + record.overloads == record.attempts, "\(strategy)")
            let wanted = record.wanted.reduce(Work.zero, +)
            let got = record.got.reduce(Work.zero, +)
            #expect(wanted[.requests] == Double(workload.jobs.count), "\(strategy)")
            #expect(got[.requests] == Double(record.servedCalls), "\(strategy)")
        }
    }

    @Test func `with plenty everyone serves everything`() throws {
        var scenario = Scenario(name: "plenty", intent: "ten times the demand")
        scenario.capacity = 10
        for strategy in ["headroom", "fcfs", "oracle"] {
            let (workload, record) = try Self.run(strategy, scenario)
            #expect(record.servedCalls >= workload.jobs.count - 5, "\(strategy)")
        }
    }

    @Test func `the loop finds a silent drop and comes back from it`() throws {
        var scenario = try Self.scenario("silent-drop")
        // Work enough, or nobody would be refused.
        scenario.capacity = 0.7
        let (workload, record) = try Self.run("headroom", scenario)
        let drop = Int(0.35 * workload.seconds)
        let end = Int(0.6 * workload.seconds)
        #expect(record.estimated[drop - 5] > 0.9)
        #expect(record.estimated[(drop + 30)..<(end - 5)].min() ?? 1 < 0.75)
        #expect(record.estimated.last ?? 0 > 0.9)
    }

    @Test func `while the control plane is gone gateways stay below what it last granted`() throws {
        var scenario = try Self.scenario("control-plane-gone")
        scenario.capacity = 0.5
        scenario.faults = [.controlPlaneDown(Scenario.Span(from: 0.4, to: 0.8))]
        let (_, record) = try Self.run("headroom", scenario)
        // The lease is 15 s, and what was decided before the fault may be 5 s old.
        let after = record.committed[150..<235]
        #expect(after.allSatisfy { $0 <= 0.95 }, "\(after.max() ?? 0)")
        #expect(after.contains { $0 > 0.9 })
        // And it takes over again.
        #expect(record.committed.suffix(5).allSatisfy { $0 > 0.95 })
    }

    @Test func `a gateway that died serves nothing and the others serve its traffic`() throws {
        var scenario = Scenario(name: "lost", intent: "one gateway for the whole run")
        scenario.capacity = 3
        scenario.faults = [.gatewayDown(1, during: Scenario.Span(from: 0.2, to: 0.9))]
        let (workload, record) = try Self.run("headroom", scenario)
        #expect(Double(record.servedCalls) > 0.97 * Double(workload.jobs.count))
    }

    @Test func `every scenario runs to its end, breaks no rule of the auditor and leaves no tenant unserved`() throws {
        for scenario in ScenarioLibrary.all {
            let (workload, record) = try Self.run("headroom", scenario, seconds: 120)
            #expect(record.committed.count == Int(workload.seconds), "\(scenario.name)")
            #expect(record.audit?.violation == nil, "\(scenario.name): \(record.audit?.violation?.description ?? "")")
            // Nobody is shut out: whoever wanted ten calls or more was served some.
            for tenant in 0..<record.tenantCount {
                let wanted = stride(from: tenant, to: record.wanted.count, by: record.tenantCount)
                let calls = wanted.reduce(0) { $0 + record.wanted[$1][.requests] }
                let served = wanted.reduce(0) { $0 + record.got[$1][.requests] }
                #expect(calls < 10 || served > 0, "\(scenario.name): tenant \(tenant), \(calls) calls")
            }
        }
    }
}

extension Array {
    /// The last elements of which `isIn` is true, and the one before them: what was in force when they began.
    fileprivate func suffix(whileBefore isIn: (Element) -> Bool) -> ArraySlice<Element> {
        let first = firstIndex(where: isIn) ?? count
        return self[Swift.max(0, first - 1)...]
    }
}
