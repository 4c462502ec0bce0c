import Foundation
import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct ScoreboardTests {
    private static let trace = SyntheticWorkload.trace(requests: 1200, seed: 4)

    private static func plan(_ strategies: [String], _ scenarios: [String], seeds: [UInt64]) throws -> Scoreboard.Plan {
        Scoreboard.Plan(
            traces: [("drawn", trace)], scenarios: try scenarios.map { try #require(ScenarioLibrary.named($0)) },
            strategies: try strategies.map { try #require(Strategy.named($0)) }, seeds: seeds, seconds: 300)
    }

    @Test func `runs come in the order of the plan, whatever runs beside what`() async throws {
        let plan = try Self.plan(["fcfs", "oracle"], ["steady-shortage", "silent-drop"], seeds: [1, 2])
        let narrow = await Scoreboard.run(plan, width: 1) { _ in }
        let wide = await Scoreboard.run(plan, width: 4) { _ in }
        #expect(narrow.entries.count == plan.runCount)
        #expect(narrow.entries.map(\.digest) == wide.entries.map(\.digest))
        #expect(narrow.entries.map(\.metrics) == wide.entries.map(\.metrics))
        #expect(narrow.entries.map(\.seed) == [1, 2, 1, 2, 1, 2, 1, 2])
        #expect(narrow.entries.prefix(4).allSatisfy { $0.scenario == "steady-shortage" })
    }

    @Test func `a summary is the mean over seeds with its spread, and a tie is within it`() async throws {
        let board = await Scoreboard.run(
            try Self.plan(["static-equal", "oracle"], ["steady-shortage"], seeds: [1, 2, 3]))
        let values = board.entries.filter { $0.strategy == "static-equal" }.compactMap { $0.metrics[.shortfall] }
        let mean = values.reduce(0, +) / 3
        let summary = try #require(board.summary(.shortfall, strategy: "static-equal", scenario: nil))
        #expect(abs(summary.mean - mean) < 1e-12)
        let square = values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 2
        #expect(abs(summary.spread - square.squareRoot()) < 1e-12)
        #expect(board.best(.shortfall, of: ["static-equal", "oracle"], scenario: "steady-shortage") == ["oracle"])
        #expect(board.best(.shortfall, of: ["static-equal"], scenario: nil) == ["static-equal"])
    }

    @Test func `draws come about as near to the reference as one who knows everything, and walls waste most`()
        async throws
    {
        let board = await Scoreboard.run(
            try Self.plan(["oracle", "headroom", "static-equal"], ["steady-shortage"], seeds: [1, 2]))
        let shortfall = ["oracle", "headroom", "static-equal"].compactMap {
            board.summary(.shortfall, strategy: $0, scenario: nil)?.mean
        }
        // The oracle knows all that is, and remembers nothing that was: it can be beaten.
        #expect(shortfall[1] <= 1.15 * shortfall[0] && 2 * shortfall[0] < shortfall[2], "\(shortfall)")
    }

    @Test(.enabled(if: RecordedTraces.areThere)) func `on a real trace the order is the same`() async throws {
        guard let trace = try RecordedTraces.read("traces/azure-llm-2023-code") else { return }
        var plan = try Self.plan(["headroom", "fcfs", "oracle"], ["silent-drop"], seeds: [1])
        plan.traces = [("azure-code", trace)]
        plan.seconds = 900
        let board = await Scoreboard.run(plan)
        let shortfall = ["oracle", "headroom", "fcfs"].compactMap {
            board.summary(.shortfall, strategy: $0, scenario: nil)?.mean
        }
        #expect(shortfall == shortfall.sorted(), "\(shortfall)")
        let refused = ["headroom", "fcfs"].compactMap {
            board.summary(.refusedShare, strategy: $0, scenario: nil)?.mean
        }
        #expect(refused[0] < 0.1 && refused[1] > 0.3, "\(refused)")
    }
}

extension Scoreboard {
    fileprivate static func run(_ plan: Plan) async -> Scoreboard { await run(plan, width: 2) { _ in } }
}
