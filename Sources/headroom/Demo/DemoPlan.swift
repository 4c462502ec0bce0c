import HeadroomModel
import HeadroomSimulator

/// The plan of a demo, fixed before it starts: the same options and seed give the same plan.
///
/// It is the simulator's scenario *morning* on the requests that are played, so `headroom simulate` measures the same.
struct DemoPlan: Sendable {
    /// As `policies/pools` names it, so that a plan on the demo's database finds its rules.
    static let pool: PoolID = "demo:sim-large"
    static let provider = "openai"
    static let model = "sim-large-2026-11-01"
    static let gateways: [GatewayID] = ["gw-1", "gw-2", "gw-3", "gw-4"]
    private static let scenarioName = "morning"
    /// What teams have without Headroom.
    static let rival = "shared-bucket"

    /// The demo's own starvation rule; a service waits five minutes.
    static let starvationSeconds = RunFigures.starvedSeconds
    /// The default speed aims at this: with the pipeline's calls five times as many are on their way.
    static let usualRate = 40.0
    static let maxRate = 100.0

    /// Where the requests come from, for people.
    let source: String
    let trace: Trace
    let seconds: Double
    let speed: Double
    let seed: UInt64
    let scenario: Scenario
    let workload: Workload
    let shares: FairShares
    /// The tenants of ``workload``, under names that tell their tier where they are invented.
    let roster: Roster
    /// The provider's contract.
    var capacity: Rates { workload.nominal }

    /// From here on the provider grants half of its contract, and says nothing.
    var dropSeconds: Double { spanOfDrop.lowerBound }
    var recoverySeconds: Double { spanOfDrop.upperBound }

    private var spanOfDrop: Range<Double> {
        scenario.provider.grants.first?.span.seconds(ofRun: seconds) ?? seconds..<seconds
    }

    /// When the pipeline's last task begins.
    var pipelineEndSeconds: Double {
        for case .pipeline(_, _, _, _, let span) in scenario.changes { return span.seconds(ofRun: seconds).upperBound }
        return seconds
    }

    /// The tenant whose pipeline overruns.
    var loud: Roster.Entry? { workload.loud.first.map { roster.entries[$0] } }

    init(_ options: DemoOptions) throws {
        seed = options.seed
        let whole: Trace
        if let path = options.trace {
            source = path == "-" ? "standard input" : path
            whole = try TraceFile.read(path, seed: seed)
        } else {
            source = "drawn by seed \(seed) from published statistics of such traces"
            // A tenth more than needed: a seed may draw a quiet start.
            let requests = max(DemoPlan.usualRate, 4 * (options.speed ?? 1)) * options.seconds * 1.1
            whole = SyntheticWorkload.trace(requests: Int(requests), seed: seed)
        }
        let speed = options.speed ?? whole.speed(forRate: DemoPlan.usualRate, seconds: options.seconds)
        let played = whole.played(seconds: options.seconds, speed: speed).folded(toLargest: Workload.maxTenants)
        // A trace that ends early ends the run: the rest would be silence.
        let length = (played.rows.last?.seconds ?? 0).rounded(.up)
        let seconds = length < 0.9 * options.seconds ? length : options.seconds
        guard seconds >= DemoOptions.secondsRange.lowerBound else {
            throw UsageError(
                "--speed \(DemoText.decimal(speed)): the trace ends after \(Int(length)) s at this speed; "
                    + "a demo plays at least \(Int(DemoOptions.secondsRange.lowerBound)) s")
        }
        let rate = Double(played.rows.count) / seconds
        guard rate <= DemoPlan.maxRate else {
            throw UsageError(
                "--speed \(DemoText.decimal(speed)): makes \(Int(rate)) requests a second; the demo plays at most "
                    + "\(Int(DemoPlan.maxRate)): --speed \(DemoText.decimal(speed * DemoPlan.maxRate / rate)) or so")
        }
        guard let scenario = ScenarioLibrary.named(DemoPlan.scenarioName) else {
            preconditionFailure("the scenario \(DemoPlan.scenarioName) comes with Headroom")
        }
        self.scenario = scenario
        self.speed = speed
        trace = played
        workload = Workload(trace: played, scenario: scenario, seconds: seconds, seed: seed)
        self.seconds = workload.seconds
        shares = FairShares(
            workload: workload, reference: Reference(workload: workload, scenario: scenario))
        roster = workload.roster.named(DemoPlan.names(of: played, workload))
    }

    /// The same minutes by another rule, on virtual time.
    func simulate(_ strategy: String) -> RunRecord {
        guard let strategy = Strategy.named(strategy) else { preconditionFailure("no strategy \(strategy)") }
        return Simulation(workload: workload, scenario: scenario, strategy: strategy, seed: seed).run()
    }

    /// Both sides of it by the simulator.
    var simulated: DemoResult {
        DemoResult(
            plan: self, with: RunFigures(simulate("headroom"), plan: shares, at: seconds),
            without: RunFigures(simulate(DemoPlan.rival), plan: shares, at: seconds), told: [])
    }

    /// Invented tenants are called by their tier, the largest of it first: `critical-1`, `free-3`.
    private static func names(of trace: Trace, _ workload: Workload) -> [TenantID] {
        var names = workload.roster.entries.map(\.tenant)
        guard trace.hasSyntheticTenants else { return names }
        let costs = workload.roster.entries.map { $0.demand.work(overSeconds: 60).seconds(of: workload.nominal) }
        var counts: [String: Int] = [:]
        for index in names.indices.sorted(by: { (-costs[$0], $0) < (-costs[$1], $1) }) {
            let tier = workload.roster.entries[index].tier
            counts[tier, default: 0] += 1
            names[index] = TenantID(unchecked: "\(tier)-\(counts[tier] ?? 0)")
        }
        return names
    }
}

extension DemoPlan {
    var policy: Policy {
        Policy(
            name: "demo", loop: LoopPolicy(expectedGateways: DemoPlan.gateways.count),
            starvation: StarvationPolicy(seconds: DemoPlan.starvationSeconds),
            pools: [PoolPolicy(pool: DemoPlan.pool, provider: DemoPlan.provider, nominal: capacity)])
    }

    var provider: ProviderModel.Settings {
        var settings = scenario.providerSettings(nominal: capacity, seconds: seconds)
        settings.model = DemoPlan.model
        return settings
    }

    /// What happens when, for people.
    var events: [(second: Double, text: String)] {
        [
            (dropSeconds, "the provider silently grants half"), (recoverySeconds, "full capacity again"),
            (pipelineEndSeconds, "the pipeline's last task begins"),
        ]
    }

    /// The first lines on the screen.
    var introduction: String {
        let tasks = workload.tasks.filter { $0.parent == nil && !workload.loud.contains($0.tenant) }
        let first = workload.tasks.filter { workload.loud.contains($0.tenant) && $0.next != nil && !$0.isNext }
        var lines = [
            "Trace: \(source), \(trace.rows.count) requests of \(trace.tenants.count) tenants in \(Int(seconds)) s "
                + "(\(DemoText.decimal(Double(trace.rows.count) / seconds)) a second, speed \(DemoText.decimal(speed))). "
                + "Agents make them: \(tasks.count) tasks of the quiet tenants, each eight calls that follow from each other."
        ]
        if trace.hasSyntheticTenants { lines.append("Its tenants are synthetic, called by their tier.") }
        if trace.hasDrawnLengths { lines.append("Some lengths are drawn: the trace does not tell all of them.") }
        lines += [
            "\(loud?.tenant.text ?? "Nobody")'s nightly pipeline overruns into the morning: \(first.count) tasks at a time "
                + "that fan out 40 to 80 calls at once, until second \(Int(pipelineEndSeconds)).",
            "Tiers, floors and urgency are invented, by seed \(seed).",
            "Provider: simulated, \(RateText.cell(capacity)); half of it from second \(Int(dropSeconds)) to "
                + "\(Int(recoverySeconds)), while its headers go on telling the contract.",
            "Without Headroom, on virtual time: one shared bucket at the contract's rates, and clients that retry as OpenAI's "
                + "library does.",
        ]
        return lines.joined(separator: "\n")
    }
}
