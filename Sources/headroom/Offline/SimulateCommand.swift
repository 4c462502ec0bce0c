import HeadroomModel
import HeadroomSimulator

/// `headroom simulate`: one run of the simulator, on virtual time.
enum SimulateCommand {
    static let help = """
        usage: headroom simulate [--trace FILE] [--scenario NAME|FILE] [--strategy NAME] [--seed N]
                                 [--minutes N] [--html FILE] [--json]
               headroom simulate scoreboard …

        One run: a trace under a scenario, enforced by a strategy, by the same loop and gateways as in production but
        on virtual time. The same arguments give the same run. Prints every metric that has a value. An auditor checks every
        snapshot that Headroom publishes and what gateways make of it; at the first rule broken the run stops, says what
        is needed to replay it, and exits with 1.

          --trace FILE     a trace (CSV: offset_ms,client,model,input_tokens,output_tokens; .gz is unpacked), - for
                           standard input. Without it a workload is drawn by seed from published statistics.
          --scenario NAME  one of Headroom's, or a JSON5 file such as those in Sources/HeadroomSimulator/Scenarios
                           (steady-shortage)
          --strategy NAME  who divides the pool (headroom)
          --seed N         of everything that is drawn (1)
          --minutes N      of the trace, at most; 1 to 1440 (60)
          --html FILE      a page with plots besides: capacity, and each tenant's demand, allocation and service
          --json           as JSON

        Scenarios:
        \(ScenarioLibrary.all.map { "  \($0.name): \($0.intent)" }.joined(separator: "\n"))
        Strategies: \(Strategy.all.map(\.name).joined(separator: ", "))
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--json"],
            options: [
                "--trace": "FILE", "--scenario": "NAME|FILE", "--strategy": "NAME", "--seed": "N", "--minutes": "N",
                "--html": "FILE",
            ])
        let seed = UInt64(try arguments.integer("--seed", in: 0...Int.max) ?? 1)
        let seconds = 60 * (try arguments.number("--minutes", in: 1...1440) ?? 60)
        let scenario = try scenario(arguments["--scenario"] ?? "steady-shortage")
        let strategy = try strategy(arguments["--strategy"] ?? "headroom")
        let trace =
            try arguments["--trace"].map { try TraceFile.read($0, seed: seed) } ?? synthetic(seconds, seed: seed)

        let workload = Workload(trace: trace, scenario: scenario, seconds: seconds, seed: seed)
        let reference = Reference(workload: workload, scenario: scenario)
        let clock = ContinuousClock()
        let begun = clock.now
        let (metrics, record) = Scoreboard.judge(
            strategy, trace: trace, workload: workload, reference: reference, scenario: scenario, seconds: seconds,
            seed: seed)
        let took = (clock.now - begun) / .seconds(1)
        if let violation = record.audit?.violation {
            let given = ["--trace", "--scenario", "--strategy", "--seed", "--minutes"].compactMap { option in
                arguments[option].map { "\(option) \($0)" }
            }
            Terminal.error(
                "second \(violation.at.seconds(since: Simulation.start)), \(violation)\n"
                    + "This replays it: headroom simulate \(given.joined(separator: " ")) (seed \(seed))")
            return 1
        }
        let result = SimulationResult(
            scenario: scenario, strategy: strategy, seed: seed, workload: workload, metrics: metrics, record: record)
        Terminal.error(
            "\(DemoText.decimal(workload.seconds / 60)) min of virtual time in \(DemoText.decimal(took)) s: "
                + "\(DemoText.decimal(took * 3600 / workload.seconds)) s an hour")
        if let path = arguments["--html"] {
            let report = RunReport(
                scenario: scenario, strategy: strategy, seed: seed, workload: workload, metrics: metrics,
                record: record)
            try Terminal.write(report.html, to: path)
        }
        Terminal.print(arguments.has("--json") ? result.json : result.text)
        return 0
    }

    static func synthetic(_ seconds: Double, seed: UInt64) -> Trace {
        SyntheticWorkload.trace(requests: Int(seconds * SyntheticWorkload.requestsPerSecond), seed: seed)
    }

    /// One that comes with Headroom, else a file.
    static func scenario(_ name: String) throws -> Scenario {
        if let known = ScenarioLibrary.named(name) { return known }
        guard name.contains("/") || name.contains(".") else {
            let names = ScenarioLibrary.all.map(\.name).joined(separator: ", ")
            throw UsageError("--scenario \"\(name)\": must be a JSON5 file or one of \(names)")
        }
        do {
            return try Scenario.read(try Terminal.read(name))
        } catch let error as ScenarioError {
            throw CommandError("\(name) is no scenario: \(error.message)")
        }
    }

    static func strategy(_ name: String) throws -> Strategy {
        guard let strategy = Strategy.named(name) else {
            let names = Strategy.all.map(\.name).joined(separator: ", ")
            throw UsageError("--strategy \"\(name)\": must be one of \(names)")
        }
        return strategy
    }
}
