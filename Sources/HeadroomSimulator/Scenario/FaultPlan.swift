import HeadroomModel

/// A few minutes in which everything that can go wrong may go wrong at once, drawn by seed.
///
/// The check is not how well a run goes but that no rule of ``AuditRule`` is broken in it.
package struct FaultPlan: Sendable {
    package let seed: UInt64
    package let seconds: Double
    package let scenario: Scenario
    package let strategy: Strategy
    private let trace: Trace

    /// - Parameter replacesGateways: besides, gateways that go down may say goodbye, and the whole fleet may be replaced.
    package init(seed: UInt64, replacesGateways: Bool = false) {
        self.seed = seed
        var generator = SeededGenerator(seed: seed, stream: "fault plan")
        seconds = 60 + 120 * generator.drawUniform()
        var scenario = Scenario(name: "faults-\(seed)", intent: "Random faults by seed \(seed).")
        scenario.capacity = 0.3 + 1.5 * generator.drawUniform()
        scenario.provider = FaultPlan.provider(&generator)
        scenario.clients = FaultPlan.clients(&generator)
        scenario.network = FaultPlan.network(&generator)
        scenario.changes = FaultPlan.some(&generator, most: 3, FaultPlan.change)
        scenario.faults = FaultPlan.some(&generator, most: 6, FaultPlan.fault)
        if replacesGateways { FaultPlan.replaceGateways(&scenario, seed: seed) }
        self.scenario = scenario
        let gateways: [Strategy.Gateways] = [.draw, .draw, .lend, .lend, .plain]
        strategy = Strategy(
            name: "headroom", kind: .headroom(gateways[generator.drawIndex(below: gateways.count)]))
        let tenants = 1 + generator.drawIndex(below: Workload.maxTenants)
        trace = SyntheticWorkload.trace(requests: Int(seconds * SyntheticWorkload.requestsPerSecond), seed: seed)
            .folded(toLargest: tenants)
    }

    package func run() -> RunRecord {
        let workload = Workload(trace: trace, scenario: scenario, seconds: seconds, seed: seed)
        return Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: seed).run()
    }

    // MARK: Draws

    private typealias Generator = SeededGenerator

    private static func some<Element>(
        _ generator: inout Generator, most: Int, _ draw: (inout Generator) -> Element
    ) -> [Element] {
        (0..<generator.drawIndex(below: most + 1)).map { _ in draw(&generator) }
    }

    private static func happens(_ generator: inout Generator, _ share: Double) -> Bool {
        generator.drawUniform() < share
    }

    /// From the beginning once in ten times; its end may lie behind the run's.
    private static func span(_ generator: inout Generator, most: Double = 90) -> Scenario.Span {
        let from = happens(&generator, 0.1) ? 0 : generator.drawUniform()
        return Scenario.Span(from: from, seconds: 1 + most * generator.drawUniform() * generator.drawUniform())
    }

    private static func who(_ generator: inout Generator) -> Scenario.Who {
        switch generator.drawIndex(below: 4) {
        case 0: .rank(generator.drawIndex(below: 6))
        case 1: .every(1 + generator.drawIndex(below: 4))
        case 2: .criticality(Criticality.allCases[generator.drawIndex(below: 3)])
        default: .everyone
        }
    }

    private static func provider(_ generator: inout Generator) -> Scenario.Provider {
        var provider = Scenario.Provider()
        provider.headers = [.nominal, .truthful, .absent][generator.drawIndex(below: 3)]
        provider.burstSeconds = [1, 2, 6, 15, 60][generator.drawIndex(below: 5)]
        provider.countsRefused = happens(&generator, 0.3)
        provider.grants = some(&generator, most: 3) { (span(&$0), 0.05 + 1.5 * $0.drawUniform()) }
        if happens(&generator, 0.2) {
            provider.wave = Scenario.Wave(
                amplitude: 0.9 * generator.drawUniform(), periodSeconds: 4 + 60 * generator.drawUniform())
        }
        provider.overloads = some(&generator, most: 1) { (span(&$0), $0.drawUniform()) }
        if happens(&generator, 0.2) {
            provider.versionChange = Scenario.VersionChange(
                from: generator.drawUniform(), factor: 0.2 + generator.drawUniform())
        }
        return provider
    }

    private static func clients(_ generator: inout Generator) -> Scenario.Clients {
        var clients = Scenario.Clients()
        clients.estimateError = 0.9 * generator.drawUniform()
        if happens(&generator, 0.3) { clients.maxTokensFactor = 1...(1 + 10 * generator.drawUniform()) }
        clients.patienceSeconds = PerCriticality(
            interactive: 1 + 20 * generator.drawUniform(), nearRealTime: 5 + 60 * generator.drawUniform(),
            batch: 10 + 120 * generator.drawUniform())
        return clients
    }

    private static func network(_ generator: inout Generator) -> Scenario.Network {
        var network = Scenario.Network()
        network.gateways = 1 + generator.drawIndex(below: 6)
        network.pollLagSeconds = 6 * generator.drawUniform() * generator.drawUniform()
        network.lostPolls = happens(&generator, 0.4) ? 0.9 * generator.drawUniform() : 0
        network.telemetryDelaySeconds = happens(&generator, 0.3) ? 20 * generator.drawUniform() : 0
        return network
    }

    private static func change(_ generator: inout Generator) -> Scenario.WorkChange {
        switch generator.drawIndex(below: 5) {
        case 0:
            .times(
                4 * generator.drawUniform(), of: who(&generator), during: span(&generator),
                rampSeconds: 20 * generator.drawUniform())
        case 1: .silent(who(&generator), during: span(&generator))
        case 2:
            .resendsDenied(
                who(&generator), times: 1 + generator.drawIndex(below: 3), inStep: happens(&generator, 0.5))
        case 3: .junk(2 * generator.drawUniform(), of: who(&generator), during: span(&generator))
        default:
            .tasks(
                Scenario.TaskPlan(
                    users: 1 + generator.drawIndex(below: 10), calls: 1 + generator.drawIndex(below: 20),
                    atOnce: 1 + generator.drawIndex(below: 8), hasSubAgents: happens(&generator, 0.5)),
                of: who(&generator), from: generator.drawUniform(), withinSeconds: 30 * generator.drawUniform())
        }
    }

    /// From a stream of its own: the other draws of a seed stay.
    private static func replaceGateways(_ scenario: inout Scenario, seed: UInt64) {
        var generator = SeededGenerator(seed: seed, stream: "replaced gateways")
        for index in scenario.faults.indices {
            guard case .gatewayDown(let gateway, let span, _) = scenario.faults[index] else { continue }
            scenario.faults[index] = .gatewayDown(gateway, during: span, saysGoodbye: happens(&generator, 0.5))
        }
        scenario.faults += some(&generator, most: 2) {
            .gatewayDown($0.drawIndex(below: 6), during: span(&$0), saysGoodbye: true)
        }
        scenario.faults += some(&generator, most: 2) {
            .fleetReplaced(at: $0.drawUniform(), saysGoodbye: happens(&$0, 0.5))
        }
    }

    private static func fault(_ generator: inout Generator) -> Scenario.Fault {
        switch generator.drawIndex(below: 7) {
        case 0: .gatewayDown(generator.drawIndex(below: 6), during: span(&generator))
        case 1: .controlPlaneDown(span(&generator))
        case 2: .telemetryLate(seconds: 40 * generator.drawUniform(), during: span(&generator))
        case 3:
            .clockJump(
                gateway: generator.drawIndex(below: 6), at: generator.drawUniform(),
                seconds: 7200 * (generator.drawUniform() - 0.5))
        case 4: .ledgerFull(span(&generator))
        case 5: .telemetryLocked(span(&generator))
        default:
            .newRules(
                at: generator.drawUniform(),
                RuleChange(
                    nominalFactor: happens(&generator, 0.5) ? 0.3 + 1.5 * generator.drawUniform() : 1,
                    tierSteps: generator.drawIndex(below: 4),
                    lapsed: happens(&generator, 0.5) ? 1 + generator.drawIndex(below: 4) : nil))
        }
    }
}
