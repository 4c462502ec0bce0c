import HeadroomModel

/// Strategies against scenarios, on several traces and seeds.
package struct Scoreboard: Sendable {
    /// The runs to be made.
    package struct Plan: Sendable {
        package var traces: [(name: String, trace: Trace)]
        package var scenarios: [Scenario]
        package var strategies: [Strategy]
        package var seeds: [UInt64]
        /// Of each trace, at most.
        package var seconds: Double

        package init(
            traces: [(name: String, trace: Trace)], scenarios: [Scenario], strategies: [Strategy], seeds: [UInt64],
            seconds: Double
        ) {
            self.traces = traces
            self.scenarios = scenarios
            self.strategies = strategies
            self.seeds = seeds
            self.seconds = seconds
        }

        package var runCount: Int { traces.count * scenarios.count * strategies.count * seeds.count }
    }

    /// One run.
    package struct Entry: Sendable {
        package let trace: String
        package let scenario: String
        package let strategy: String
        package let seed: UInt64
        package let metrics: RunMetrics
        package let digest: UInt64
        /// A rule of the auditor's that the run broke.
        package let violation: AuditViolation?
    }

    /// In the order of scenarios, then strategies, traces and seeds.
    package let entries: [Entry]

    /// Runs everything, `width` traces × scenarios × seeds at a time; `progress` gets how many runs are done.
    package static func run(
        _ plan: Plan, width: Int, progress: @escaping @Sendable (Int) async -> Void
    ) async -> Scoreboard {
        let settings = plan.scenarios.indices.flatMap { scenario in
            plan.traces.indices.flatMap { trace in plan.seeds.map { (scenario, trace, $0) } }
        }
        var results: [Int: [Entry]] = [:]
        await withTaskGroup(of: (Int, [Entry]).self) { group in
            var next = 0
            func start() {
                guard next < settings.count else { return }
                let index = next
                let (scenario, trace, seed) = settings[index]
                next += 1
                group.addTask { (index, runAll(plan, plan.scenarios[scenario], plan.traces[trace], seed)) }
            }
            for _ in 0..<width { start() }
            for await (index, entries) in group {
                results[index] = entries
                start()
                await progress(results.values.reduce(0) { $0 + $1.count })
            }
        }
        let all = settings.indices.flatMap { results[$0] ?? [] }
        return Scoreboard(
            entries: plan.scenarios.flatMap { scenario in
                plan.strategies.flatMap { strategy in
                    all.filter { $0.scenario == scenario.name && $0.strategy == strategy.name }
                }
            })
    }

    /// All strategies on one workload.
    private static func runAll(
        _ plan: Plan, _ scenario: Scenario, _ trace: (name: String, trace: Trace), _ seed: UInt64
    ) -> [Entry] {
        let workload = Workload(trace: trace.trace, scenario: scenario, seconds: plan.seconds, seed: seed)
        let reference = Reference(workload: workload, scenario: scenario)
        var entries: [Entry] = []
        for strategy in plan.strategies {
            let (metrics, record) = judge(
                strategy, trace: trace.trace, workload: workload, reference: reference, scenario: scenario,
                seconds: plan.seconds, seed: seed)
            entries.append(
                Entry(
                    trace: trace.name, scenario: scenario.name, strategy: strategy.name, seed: seed, metrics: metrics,
                    digest: record.digest, violation: record.audit?.violation))
        }
        return entries
    }

    /// One run and what it is worth; where a tenant games, the same run without the game besides.
    package static func judge(
        _ strategy: Strategy, trace: Trace, workload: Workload, reference: Reference, scenario: Scenario,
        seconds: Double, seed: UInt64
    ) -> (metrics: RunMetrics, record: RunRecord) {
        let record = Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: seed).run()
        var honest: RunRecord?
        if !workload.gamers.isEmpty {
            var without = scenario
            without.changes.removeAll { $0.gamer != nil }
            honest =
                Simulation(
                    workload: Workload(trace: trace, scenario: without, seconds: seconds, seed: seed),
                    scenario: without, strategy: strategy, seed: seed
                ).run()
        }
        return (RunMetrics(record, workload: workload, reference: reference, honest: honest), record)
    }
}

/// A metric over several runs: the mean over all, and how far seeds differ.
package struct MeanSpread: Equatable, Sendable {
    package let mean: Double
    /// Standard deviation over seeds of the mean over traces; 0 with one seed.
    package let spread: Double
}

extension Scoreboard {
    /// `nil` when no run of the strategy in the scenario has a value. `scenario` `nil` is all of them.
    package func summary(_ metric: Metric, strategy: String, scenario: String?) -> MeanSpread? {
        let chosen = entries.filter { $0.strategy == strategy && (scenario == nil || $0.scenario == scenario) }
        let bySeed = Set(chosen.map(\.seed)).sorted().compactMap { seed -> Double? in
            let values = chosen.filter { $0.seed == seed }.compactMap { $0.metrics[metric] }
            return values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
        }
        guard !bySeed.isEmpty else { return nil }
        let mean = bySeed.reduce(0, +) / Double(bySeed.count)
        let squares = bySeed.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        let spread = bySeed.count > 1 ? (squares / Double(bySeed.count - 1)).squareRoot() : 0
        return MeanSpread(mean: mean, spread: spread)
    }

    /// The strategies, best first place shared: whose mean lies within the larger spread of the best one's.
    package func best(_ metric: Metric, of strategies: [String], scenario: String?) -> Set<String> {
        guard let isBetterLow = metric.isBetterLow else { return [] }
        let values = strategies.compactMap { name in
            summary(metric, strategy: name, scenario: scenario).map { (name: name, value: $0) }
        }
        let sign = isBetterLow ? 1.0 : -1.0
        guard let best = values.min(by: { sign * $0.value.mean < sign * $1.value.mean }) else { return [] }
        return Set(
            values.filter { sign * ($0.value.mean - best.value.mean) <= max($0.value.spread, best.value.spread) }
                .map(\.name))
    }
}
