import HeadroomModel
import HeadroomSimulator
import Testing

/// Who is said to game the loop in runs of whole traces, honest and not.
@Suite struct GamingFlagTests {
    private func run(_ trace: Trace, _ name: String, seconds: Double) throws -> (Workload, RunRecord) {
        let scenario = try #require(ScenarioLibrary.named(name))
        let workload = Workload(trace: trace, scenario: scenario, seconds: seconds, seed: 1)
        let simulation = Simulation(
            workload: workload, scenario: scenario, strategy: try #require(Strategy.named("headroom-lend")), seed: 1)
        return (workload, simulation.run())
    }

    @Test func `nobody honest is flagged in a shortage, a drop and an overload`() throws {
        let trace = SyntheticWorkload.trace(requests: 2400, seed: 3)
        for name in ["steady-shortage", "silent-drop", "overload", "noisy-neighbour"] {
            let (_, record) = try run(trace, name, seconds: 600)
            #expect(record.gamingFlags.isEmpty, "\(name): \(record.gamingFlags.map(\.flag.evidence))")
        }
    }

    @Test(.enabled(if: RecordedTraces.areThere))
    func `who sends denied work again as new is flagged within ten minutes, and nobody else`() throws {
        guard let trace = try RecordedTraces.read("traces/azure-llm-2023-conv-a") else { return }
        let (workload, record) = try run(trace, "resent-denials", seconds: 1200)
        let gamers = Set(workload.gamers.map { workload.roster.entries[$0].tenant })
        let flagged = Set(record.gamingFlags.map(\.tenant))
        #expect(flagged == gamers, "\(record.gamingFlags.map { "\($0.second) \($0.tenant) \($0.flag.evidence)" })")
        #expect(record.gamingFlags.allSatisfy { $0.second <= 600 })
    }
}
