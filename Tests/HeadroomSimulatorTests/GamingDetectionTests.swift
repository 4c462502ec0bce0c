import HeadroomModel
import HeadroomSimulator
import Testing

/// How soon each gaming pattern is flagged, and who else is: on a workload drawn from published statistics, and on real
/// traces where they are beside the repository.
@Suite struct GamingDetectionTests {
    private static let drawn = "drawn"
    private static let sources =
        [drawn]
        + (RecordedTraces.areThere
            ? [
                "traces/azure-llm-2023-code", "traces/mooncake-fast25-conversation-a",
                "derived/servegen-deepseek-r1-h09-11.reconstructed",
            ] : [])
    private static let seeds: ClosedRange<UInt64> = 1...3
    /// Within this time a game is to be found.
    private static let maxSeconds = 600.0

    private static func trace(_ source: String, seconds: Double, seed: UInt64) throws -> Trace {
        if source == drawn {
            return SyntheticWorkload.trace(requests: Int(seconds * SyntheticWorkload.requestsPerSecond), seed: seed)
        }
        return try #require(try RecordedTraces.read(source, seed: seed))
    }

    @Test(arguments: PlantedGame.Pattern.allCases, sources)
    func `a game that needs no answer is flagged within ten minutes, and nobody else is`(
        pattern: PlantedGame.Pattern, source: String
    ) throws {
        let seconds = pattern == .honest || pattern == .renamed ? 1800 : 900.0
        for seed in Self.seeds {
            let trace = try Self.trace(source, seconds: seconds, seed: seed)
            let game = PlantedGame(pattern, in: trace, seconds: seconds, seed: seed)
            let found = game.play()
            let note = "\(pattern) in \(source), seed \(seed): \(found.map { "\($0.seconds) \($0.tenant) \($0.kind)" })"
            print(note)
            #expect(found.allSatisfy { $0.tenant == game.gamer && $0.kind == pattern.kind }, "\(note)")
            guard pattern != .honest else { continue }
            #expect((found.first?.seconds ?? .infinity) <= Self.maxSeconds, "\(note)")
        }
    }

    /// Through the gate, since the game is about its answers.
    @Test(arguments: sources)
    func `who sends denied work again as new is flagged within ten minutes of its first denial, and nobody else is`(
        source: String
    ) throws {
        for seed in Self.seeds {
            let trace = try Self.trace(source, seconds: 1200, seed: seed)
            let scenario = try #require(ScenarioLibrary.named("resent-denials"))
            let workload = Workload(trace: trace, scenario: scenario, seconds: 1200, seed: seed)
            let record = Simulation(
                workload: workload, scenario: scenario, strategy: try #require(Strategy.named("headroom-lend")),
                seed: seed
            ).run()
            let gamers = Set(workload.gamers.map { workload.roster.entries[$0].tenant })
            // What is not denied cannot be sent again.
            let firstDenial = try #require(workload.gamers.compactMap { record.firstDenials[$0] }.min())
            let flags = record.gamingFlags
            let found = flags.map { "\($0.second) \($0.tenant) \($0.flag.evidence)" }
            let note = "resent in \(source), seed \(seed), denied from \(firstDenial) s: \(found)"
            print(note)
            #expect(flags.allSatisfy { gamers.contains($0.tenant) && $0.flag.kind == .resentDenials }, "\(note)")
            #expect((flags.first?.second ?? .infinity) <= firstDenial + Self.maxSeconds, "\(note)")
        }
    }
}
