import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct FailoverTests {
    private static let trace = SyntheticWorkload.trace(requests: 2400, seed: 3)
    private static let seconds = 600.0
    /// When the first pool's provider answers everything with 529.
    private static let down = 240..<420

    private static func scenario(failsOver: Bool) -> Scenario {
        var scenario = Scenario(name: "failover", intent: "one provider of two is overloaded for three minutes")
        scenario.provider.overloads = [(Scenario.Span(from: 0.4, seconds: 180), 1)]
        if failsOver { scenario.failover = Scenario.Failover(capacity: 2, every: 3) }
        return scenario
    }

    private static func run(_ strategy: String, failsOver: Bool) throws -> (workload: Workload, record: RunRecord) {
        let scenario = scenario(failsOver: failsOver)
        let workload = Workload(trace: trace, scenario: scenario, seconds: seconds, seed: 1)
        let strategy = try #require(Strategy.named(strategy))
        return (workload, Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: 1).run())
    }

    /// Seconds of the contract served, and wanted, of the tenants that are at home in `pool`.
    private static func service(
        _ run: (workload: Workload, record: RunRecord), pool: Int, during seconds: Range<Int>
    ) -> Double {
        let (workload, record) = run
        var served = 0.0
        for step in (seconds.lowerBound / 10)..<(seconds.upperBound / 10) {
            for tenant in workload.homes.indices where workload.homes[tenant] == pool {
                served += record.served[step * record.tenantCount + tenant].seconds(of: workload.nominal)
            }
        }
        return served
    }

    @Test func `tenants are at home in one pool, whose contract follows their demand`() {
        let workload = Workload(
            trace: Self.trace, scenario: Self.scenario(failsOver: true), seconds: Self.seconds, seed: 1)
        let one = Workload(trace: Self.trace, scenario: Self.scenario(failsOver: false), seconds: Self.seconds, seed: 1)
        #expect(workload.pools.count == 2 && one.pools.count == 1)
        #expect(Set(workload.homes) == [0, 1] && Set(one.homes) == [0])
        #expect(one.pools[0].nominal == one.nominal)
        for resource in [Resource.requests, .tokens] {
            let sum = workload.pools.reduce(0) { $0 + ($1.nominal[resource] ?? 0) }
            #expect(workload.nominal[resource] == sum)
        }
        for contract in workload.contracts {
            let home = workload.roster.entries.firstIndex { $0.tenant == contract.tenant }.map { workload.homes[$0] }
            #expect(contract.terms.map(\.pool) == [workload.pools[home ?? 0].id])
        }
    }

    @Test func `while its provider is overloaded a pool's work is served by the pool that it fails over to`() throws {
        let run = try Self.run("headroom", failsOver: true)
        let alone = try Self.run("headroom", failsOver: false)
        // The breaker needs its window to open.
        let late = (Self.down.lowerBound + 40)..<Self.down.upperBound
        let moved = Self.service(run, pool: 0, during: late)
        #expect(moved > 0.2 * Double(late.count), "\(moved)")
        #expect(Self.service(alone, pool: 0, during: late) == 0)
        // It does not knock on a closed door all the time, and comes back when it opens.
        #expect(run.record.overloads < alone.record.overloads)
        let after = (Self.down.upperBound + 60)..<Int(Self.seconds)
        #expect(Self.service(run, pool: 0, during: after) > 0)
        #expect(run.record.audit?.violation == nil, "\(run.record.audit?.violation?.description ?? "")")
    }

    @Test func `whoever lives where the work lands keeps most of what it had`() throws {
        let run = try Self.run("headroom", failsOver: true)
        let before = Self.service(run, pool: 1, during: (Self.down.lowerBound - 180)..<Self.down.lowerBound)
        let during = Self.service(run, pool: 1, during: Self.down)
        #expect(during > 0.5 * before, "\(during) s after \(before) s")
    }

    @Test func `rivals divide each pool for itself and do not fail over`() throws {
        let late = (Self.down.lowerBound + 40)..<Self.down.upperBound
        for strategy in ["fcfs", "static-contract+lending", "doorman-fair-share", "litellm-v3"] {
            let run = try Self.run(strategy, failsOver: true)
            #expect(Self.service(run, pool: 1, during: late) > 0, "\(strategy)")
            #expect(Self.service(run, pool: 0, during: late) == 0, "\(strategy)")
        }
    }

    @Test func `the oracle sends the work elsewhere at once`() throws {
        let run = try Self.run("oracle", failsOver: true)
        #expect(Self.service(run, pool: 0, during: Self.down) > 0.2 * Double(Self.down.count))
        #expect(run.record.overloads < 20, "\(run.record.overloads)")
        let after = (Self.down.upperBound + 10)..<Int(Self.seconds)
        #expect(Self.service(run, pool: 0, during: after) > 0)
    }

    @Test func `what is due takes pools for one only while one is overloaded`() {
        // The first pool has a third of what its tenants want, the second three times.
        var scenario = Self.scenario(failsOver: true)
        scenario.capacity = 0.3
        scenario.failover = Scenario.Failover(capacity: 3, every: 3)
        let workload = Workload(trace: Self.trace, scenario: scenario, seconds: Self.seconds, seed: 1)
        let reference = Reference(workload: workload, scenario: scenario)
        /// Of the first pool's tenants, in seconds of its contract per second.
        func due(_ seconds: Range<Int>) -> Double {
            var sum = Work.zero
            for step in (seconds.lowerBound / 10)..<(seconds.upperBound / 10) {
                for tenant in workload.homes.indices where workload.homes[tenant] == 0 {
                    sum += reference.shares[step * workload.homes.count + tenant]
                }
            }
            return sum.seconds(of: workload.pools[0].nominal) / Double(seconds.count)
        }
        let calm = due(0..<Self.down.lowerBound)
        #expect(calm > 0.9 && calm < 1.001, "\(calm)")
        #expect(due(Self.down) > 1.2 * calm)
    }
}
