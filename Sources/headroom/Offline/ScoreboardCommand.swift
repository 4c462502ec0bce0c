import HeadroomJSON
import HeadroomModel
import HeadroomSimulator

/// `headroom simulate scoreboard`: every strategy against every scenario.
enum ScoreboardCommand {
    static let help = """
        usage: headroom simulate scoreboard [--quick] [--traces FILE,FILE] [--scenarios NAME,NAME]
                                            [--strategies NAME,NAME] [--seeds N|A-B] [--minutes N]
                                            [--html FILE] [--json]

        Runs every strategy in every scenario on every trace with seeds 1 to N, and prints a table a scenario: the mean
        over traces and seeds, ± how far seeds differ. What lies within the spread of the best is a tie: both bear a *.
        Where agents are at work a second table has how long their tasks took, by tier, in seconds.
        Progress goes to standard error. --json has every single run.

          --quick         three scenarios: \(ScenarioLibrary.quick.joined(separator: ", "))
          --traces F,F    CSV traces (.gz is unpacked); without it workloads drawn by seed
          --scenarios S   only these; all but \(ScenarioLibrary.slow.joined(separator: ", "))
          --strategies S  only these
          --seeds N|A-B   1 to N, or A to B; 1 to 1000 (3)
          --minutes N     of each trace, at most; 1 to 1440 (60)
          --html FILE     a page with the tables besides
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--json", "--quick"],
            options: [
                "--traces": "FILE,FILE", "--scenarios": "NAME,NAME", "--strategies": "NAME,NAME", "--seeds": "N",
                "--minutes": "N", "--html": "FILE",
            ])
        func list(_ option: String) -> [String]? {
            arguments[option].map { $0.split(separator: ",").map(String.init) }
        }
        let seeds = try seedRange(arguments)
        let seconds = 60 * (try arguments.number("--minutes", in: 1...1440) ?? 60)
        let names =
            list("--scenarios")
            ?? (arguments.has("--quick")
                ? ScenarioLibrary.quick : ScenarioLibrary.all.map(\.name).filter { !ScenarioLibrary.slow.contains($0) })
        let plan = Scoreboard.Plan(
            traces: try list("--traces")?.map { (name: $0, trace: try TraceFile.read($0, seed: 1)) }
                ?? [(name: "drawn", trace: SimulateCommand.synthetic(seconds, seed: 1))],
            scenarios: try names.map(SimulateCommand.scenario),
            strategies: try list("--strategies")?.map(SimulateCommand.strategy) ?? Strategy.all,
            seeds: seeds.map(UInt64.init), seconds: seconds)

        let clock = ContinuousClock()
        let begun = clock.now
        let board = await Scoreboard.run(plan, width: 2) { done in
            let took = (clock.now - begun) / .seconds(1)
            let left = took / Double(done) * Double(plan.runCount - done)
            Terminal.error("\(done) of \(plan.runCount) runs, about \(Int(left.rounded(.up))) s left")
        }
        if let path = arguments["--html"] { try Terminal.write(ScoreboardReport(board, plan: plan).html, to: path) }
        Terminal.print(arguments.has("--json") ? board.json : board.text(plan))
        let broken = board.entries.filter { $0.violation != nil }
        for entry in broken {
            Terminal.error(
                "seed \(entry.seed), trace \(entry.trace), scenario \(entry.scenario), strategy \(entry.strategy): "
                    + (entry.violation?.description ?? ""))
        }
        return broken.isEmpty ? 0 : 1
    }

    private static func seedRange(_ arguments: Arguments) throws -> ClosedRange<Int> {
        guard let ends = arguments["--seeds"]?.split(separator: "-"), ends.count == 2 else {
            return 1...(try arguments.integer("--seeds", in: 1...1000) ?? 3)
        }
        guard let first = Int(ends[0]), let last = Int(ends[1]), 1 <= first, first <= last, last <= 1000 else {
            throw UsageError("--seeds: must be a number or a range such as 11-13, from 1 to 1000")
        }
        return first...last
    }
}

extension Scoreboard {
    private typealias Column = (metric: Metric, title: String, isPercent: Bool)

    /// The columns on agents' tasks.
    private static let taskColumns: [Column] = [
        (.tasksCompleted, "tasks %", true), (.taskMedianCritical, "crit p50", false),
        (.taskP95Critical, "crit p95", false), (.taskMedianPremium, "prem p50", false),
        (.taskP95Premium, "prem p95", false), (.taskMedianStandard, "std p50", false),
        (.taskP95Standard, "std p95", false), (.taskMedianFree, "free p50", false), (.taskP95Free, "free p95", false),
    ]

    private static let columns: [Column] = [
        (.shortfall, "shortfall", false), (.shortfallWhileDown, "in drop", false), (.useful, "useful", false),
        (.utilisation, "util", false), (.starvedMinutes, "starved", false), (.satisfactionCritical, "crit", false),
        (.satisfactionPremium, "prem", false), (.satisfactionStandard, "std", false),
        (.satisfactionFree, "free", false), (.quietCritical, "q crit", false), (.quietPremium, "q prem", false),
        (.quietStandard, "q std", false), (.quietFree, "q free", false), (.worstQuietTenant, "q worst", false),
        (.inversions, "inv %", true), (.refusedShare, "429 %", true),
        (.overcommittedSeconds, "over s", false), (.reversals, "rev/h", false), (.estimateError, "est err", false),
        (.gamingGain, "gain", false),
    ]

    /// A table for each scenario, and one for all of them.
    fileprivate func text(_ plan: Plan) -> String {
        let scenarios: [Scenario?] = plan.scenarios.map { $0 } + (plan.scenarios.count > 1 ? [nil] : [])
        return scenarios.map { scenario in
            let title = scenario.map { "\($0.name): \($0.intent)" } ?? "all scenarios"
            let strategies = plan.strategies.map(\.name)
            var text = title + "\n" + table(Self.columns, strategies, scenario: scenario?.name)
            if let scenario, summary(.tasksCompleted, strategy: strategies[0], scenario: scenario.name) != nil {
                let columns = Self.taskColumns.filter { column in
                    strategies.contains { summary(column.metric, strategy: $0, scenario: scenario.name) != nil }
                }
                text += "\n\n" + table(columns, strategies, scenario: scenario.name)
            }
            return text
        }.joined(separator: "\n\n")
    }

    private func table(_ columns: [Column], _ strategies: [String], scenario: String?) -> String {
        var table = TextTable(["strategy"] + columns.map(\.title))
        let best = columns.map { self.best($0.metric, of: strategies, scenario: scenario) }
        for strategy in strategies {
            let cells = columns.indices.map { index -> String in
                let column = columns[index]
                guard let value = summary(column.metric, strategy: strategy, scenario: scenario) else { return "-" }
                let factor = column.isPercent ? 100.0 : 1
                let spread = value.spread > 0 ? "±" + SimulationResult.figure(value.spread * factor) : ""
                let mark = best[index].contains(strategy) ? "*" : ""
                return SimulationResult.figure(value.mean * factor) + spread + mark
            }
            table.add([strategy] + cells)
        }
        return table.text
    }

    fileprivate var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("runs")
        writer.beginArray()
        for entry in entries {
            writer.beginObject()
            writer.field("scenario", entry.scenario)
            writer.field("strategy", entry.strategy)
            writer.field("trace", entry.trace)
            writer.field("seed", entry.seed)
            writer.field("digest", String(entry.digest, radix: 16))
            writer.key("metrics")
            SimulationResult.write(entry.metrics, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
