import HeadroomModel
import HeadroomSimulator
import Testing

/// How soon capacity is delivered again after gateways are lost or replaced (Model §6).
@Suite struct FleetTests {
    private static let trace = SyntheticWorkload.trace(requests: 1200, seed: 3)
    /// When the fault begins, of 300 s.
    private static let second = 120

    /// Twice the work that there is capacity for, at three gateways.
    private static func run(_ fault: Scenario.Fault, seed: UInt64 = 1) throws -> RunRecord {
        var scenario = Scenario(name: "fleet", intent: "gateways go and come")
        scenario.capacity = 0.5
        scenario.network.gateways = 3
        scenario.faults = [fault]
        let workload = Workload(trace: trace, scenario: scenario, seconds: 300, seed: seed)
        let strategy = try #require(Strategy.named("headroom-lend"))
        return Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: seed).run()
    }

    private static let lost = Scenario.Span(from: 0.4, to: 1)

    /// Tokens in the steps of ten seconds from one second to another, for each of them.
    private static func delivered(_ record: RunRecord, _ seconds: Range<Int>) -> Double {
        let steps = record.delivered[(seconds.lowerBound / 10)..<(seconds.upperBound / 10)]
        return steps.reduce(0) { $0 + $1[.tokens] } / Double(steps.count)
    }

    /// Of all gateways together over capacity, on average over these seconds since the fault.
    private static func budgets(_ record: RunRecord, _ seconds: Range<Int>) -> Double {
        let budgets = record.committed[(second + seconds.lowerBound)..<(second + seconds.upperBound)]
        return budgets.reduce(0, +) / Double(budgets.count)
    }

    @Test(arguments: [Scenario.Fault.fleetReplaced(at: 0.4), .gatewayDown(1, during: lost)], [1, 2, 3] as [UInt64])
    func `ninety seconds after gateways have died 95 % of capacity is delivered again`(
        fault: Scenario.Fault, seed: UInt64
    ) throws {
        let record = try Self.run(fault, seed: seed)
        #expect(record.audit?.violation == nil)
        #expect(Self.budgets(record, 90..<120) >= 0.95, "\(record.committed[Self.second...])")
        // While the dead may still be serving, their part is withheld.
        #expect(record.committed[Self.second + 60] < 0.8)
        let before = Self.delivered(record, 60..<120)
        let after = Self.delivered(record, 210..<300)
        #expect(after >= 0.95 * before, "\(before) before, \(after) after")
    }

    @Test(
        arguments: [
            Scenario.Fault.fleetReplaced(at: 0.4, saysGoodbye: true),
            .gatewayDown(1, during: lost, saysGoodbye: true),
        ], [1, 2, 3] as [UInt64])
    func `with goodbyes it is delivered again within two ticks`(fault: Scenario.Fault, seed: UInt64) throws {
        let record = try Self.run(fault, seed: seed)
        #expect(record.audit?.violation == nil)
        // Parts move with the traffic, and the one that gives comes down before the one that gets goes up.
        #expect(Self.budgets(record, 4..<34) >= 0.92, "\(record.committed[Self.second...])")
        let before = Self.delivered(record, 60..<120)
        let after = Self.delivered(record, 130..<300)
        #expect(after >= 0.95 * before, "\(before) before, \(after) after")
    }
}
