import HeadroomModel
import HeadroomSimulator
import Testing

/// How soon capacity is delivered again after gateways are lost or replaced (Model §6).
@Suite struct FleetTests {
    private static let trace = SyntheticWorkload.trace(requests: 1200, seed: 3)
    /// When the fault begins, of 300 s.
    private static let second = 120

    private static let seeds: ClosedRange<UInt64> = 1...8

    /// Twice the work that there is capacity for, at three gateways.
    private static func run(_ fault: Scenario.Fault?, seed: UInt64) throws -> (record: RunRecord, capacity: Rates) {
        var scenario = Scenario(name: "fleet", intent: "gateways go and come")
        scenario.capacity = 0.5
        scenario.network.gateways = 3
        scenario.faults = fault.map { [$0] } ?? []
        let workload = Workload(trace: trace, scenario: scenario, seconds: 300, seed: seed)
        let strategy = try #require(Strategy.named("headroom-lend"))
        let simulation = Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: seed)
        return (simulation.run(), workload.nominal)
    }

    private static let lost = Scenario.Span(from: 0.4, to: 1)

    /// Seconds of capacity that the provider served from one second to another, in its scarcest resource: how many tokens
    /// that is depends on whose turn it was.
    private static func delivered(_ run: (record: RunRecord, capacity: Rates), _ seconds: Range<Int>) -> Double {
        let steps = run.record.delivered[(seconds.lowerBound / 10)..<(seconds.upperBound / 10)]
        return steps.reduce(.zero, +).seconds(of: run.capacity)
    }

    /// Of all gateways together over capacity, on average over these seconds since the fault.
    private static func budgets(_ record: RunRecord, _ seconds: Range<Int>) -> Double {
        let budgets = record.committed[(second + seconds.lowerBound)..<(second + seconds.upperBound)]
        return budgets.reduce(0, +) / Double(budgets.count)
    }

    @Test(arguments: [Scenario.Fault.fleetReplaced(at: 0.4), .gatewayDown(1, during: lost)])
    func `ninety seconds after gateways have died 95 % of what would have been delivered is`(
        fault: Scenario.Fault
    ) throws {
        var (after, without) = (0.0, 0.0)
        for seed in Self.seeds {
            let run = try Self.run(fault, seed: seed)
            #expect(run.record.audit?.violation == nil)
            #expect(Self.budgets(run.record, 90..<120) >= 0.95, "\(run.record.committed[Self.second...])")
            // While the dead may still be serving, their part is withheld.
            #expect(run.record.committed[Self.second + 60] < 0.8)
            after += Self.delivered(run, 210..<300)
            without += try Self.delivered(Self.run(nil, seed: seed), 210..<300)
        }
        #expect(after >= 0.95 * without, "\(after) s of capacity, and \(without) s without the fault")
    }

    @Test(
        arguments: [
            Scenario.Fault.fleetReplaced(at: 0.4, saysGoodbye: true),
            .gatewayDown(1, during: lost, saysGoodbye: true),
        ])
    func `with goodbyes it is delivered again within two ticks`(fault: Scenario.Fault) throws {
        var (after, without) = (0.0, 0.0)
        for seed in Self.seeds {
            let run = try Self.run(fault, seed: seed)
            #expect(run.record.audit?.violation == nil)
            // Parts move with the traffic, and the one that gives comes down before the one that gets goes up.
            #expect(Self.budgets(run.record, 4..<34) >= 0.92, "\(run.record.committed[Self.second...])")
            after += Self.delivered(run, 130..<300)
            without += try Self.delivered(Self.run(nil, seed: seed), 130..<300)
        }
        #expect(after >= 0.95 * without, "\(after) s of capacity, and \(without) s without the fault")
    }
}
