import HeadroomModel
import HeadroomSimulator
import Testing

/// How soon each gaming pattern is flagged in real traces, and who else is.
@Suite(.enabled(if: RecordedTraces.areThere)) struct GamingDetectionTests {
    private static let traces = [
        "traces/azure-llm-2023-code", "traces/mooncake-fast25-conversation-a",
        "derived/servegen-deepseek-r1-h09-11.reconstructed",
    ]
    private static let seeds: ClosedRange<UInt64> = 1...3

    @Test(arguments: PlantedGame.Pattern.allCases)
    func `a game that needs no answer is flagged within ten minutes, and nobody else is`(
        pattern: PlantedGame.Pattern
    ) throws {
        for name in Self.traces {
            for seed in Self.seeds {
                let trace = try #require(try RecordedTraces.read(name, seed: seed))
                let game = PlantedGame(pattern, in: trace, seconds: 1800, seed: seed)
                let found = game.play()
                let note = "\(pattern) in \(name), seed \(seed): \(found)"
                print(note)
                #expect(found.allSatisfy { $0.tenant == game.gamer && $0.kind == pattern.kind }, "\(note)")
                guard pattern != .honest else { continue }
                #expect((found.first?.seconds ?? .infinity) <= 600, "\(note)")
            }
        }
    }

    /// Through the gate, since the game is about its answers.
    @Test(arguments: traces)
    func `who sends denied work again as new is flagged within ten minutes where it is denied, and nobody else is`(
        name: String
    ) throws {
        for seed in Self.seeds {
            let trace = try #require(try RecordedTraces.read(name, seed: seed))
            let scenario = try #require(ScenarioLibrary.named("resent-denials"))
            let workload = Workload(trace: trace, scenario: scenario, seconds: 1200, seed: seed)
            let record = Simulation(
                workload: workload, scenario: scenario, strategy: try #require(Strategy.named("headroom-lend")),
                seed: seed
            ).run()
            let gamers = Set(workload.gamers.map { workload.roster.entries[$0].tenant })
            let note =
                "\(name), seed \(seed): \(record.gamingFlags.map { "\($0.second) \($0.tenant) \($0.flag.evidence)" })"
            print(note)
            #expect(
                record.gamingFlags.allSatisfy { gamers.contains($0.tenant) && $0.flag.kind == .resentDenials },
                "\(note)")
            // Two of its resends are told in the first ten minutes, where it takes about five: WhatTenantsNeed.
            if name.contains("deepseek"), seed == 3 { continue }
            #expect((record.gamingFlags.first?.second ?? .infinity) <= 600, "\(note)")
        }
    }
}
