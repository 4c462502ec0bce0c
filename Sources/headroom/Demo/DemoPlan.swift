import HeadroomModel
import HeadroomSimulator

/// The plan of a demo, fixed before it starts: the same options and seed give the same plan.
struct DemoPlan: Sendable {
    /// As `policies/pools` names it, so that a plan on the demo's database finds its rules.
    static let pool: PoolID = "demo:sim-large"
    static let provider = "openai"
    static let model = "sim-large-2026-11-01"
    static let gateways: [GatewayID] = ["gw-1", "gw-2", "gw-3", "gw-4"]

    /// The demo's own starvation rule; a service waits five minutes.
    static let starvationSeconds = 10.0
    /// The default speed aims at this, and four gateways in one process play no more.
    static let usualRate = 60.0
    static let maxRate = 500.0
    /// As many as one screen and one summary can show.
    private static let maxTenants = 64

    /// One request on its way to a gateway.
    struct Arrival: Sendable {
        /// Since the start of the run.
        let seconds: Double
        /// Of ``Roster/entries``.
        let tenant: Int
        let inputTokens: Int64
        let outputTokens: Int64
    }

    /// Where the requests come from, for people.
    let source: String
    let trace: Trace
    let seconds: Double
    let speed: Double
    let seed: UInt64
    /// The provider's contract: the mean demand of the requests that are played.
    let capacity: Rates
    let roster: Roster
    /// For each of ``gateways``, ascending by time.
    let arrivals: [[Arrival]]

    /// From here on the provider grants half of its contract, and says nothing.
    var dropSeconds: Double { seconds / 6 }
    var recoverySeconds: Double { seconds * 2 / 3 }
    static let dropFactor = 0.5

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
        let played = whole.played(seconds: options.seconds, speed: speed).folded(toLargest: DemoPlan.maxTenants)
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
        self.seconds = seconds
        self.speed = speed
        capacity = played.total.rates(overSeconds: seconds, of: [ResourceSet(.requests), ResourceSet(.tokens)])
            .map { max(1, $1.rounded()) }
        let dealt = Roster(trace: played, seconds: seconds, capacity: capacity, seed: seed, urgency: .byTier)
        let names = DemoPlan.names(of: played, dealt, capacity: capacity)
        trace = played.named(names)
        roster = dealt.named(names)
        arrivals = DemoPlan.route(trace, seed: seed)
    }

    /// Invented tenants are called by their tier, the largest of it first: `critical-1`, `free-3`.
    private static func names(of trace: Trace, _ roster: Roster, capacity: Rates) -> [TenantID] {
        var names = trace.tenants
        guard trace.hasSyntheticTenants else { return names }
        let costs = trace.totals.map { $0.seconds(of: capacity) }
        var counts: [String: Int] = [:]
        for index in names.indices.sorted(by: { (-costs[$0], $0) < (-costs[$1], $1) }) {
            let tier = roster.entries[index].tier
            counts[tier, default: 0] += 1
            names[index] = TenantID(unchecked: "\(tier)-\(counts[tier] ?? 0)")
        }
        return names
    }

    /// Each tenant has its own uneven split over the gateways, by seed.
    private static func route(_ trace: Trace, seed: UInt64) -> [[Arrival]] {
        var generator = SeededGenerator(seed: seed, stream: "routes")
        let weights = trace.tenants.map { _ in gateways.map { _ in generator.drawExponential(mean: 1) } }
        var arrivals = gateways.map { _ in [Arrival]() }
        for row in trace.rows {
            let own = weights[row.tenant]
            var target = generator.drawUniform() * own.reduce(0, +)
            let gateway = own.firstIndex { weight in
                target -= weight
                return target < 0
            }
            arrivals[gateway ?? own.count - 1].append(
                Arrival(
                    seconds: row.seconds, tenant: row.tenant, inputTokens: row.inputTokens,
                    outputTokens: row.outputTokens))
        }
        return arrivals
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
        var settings = ProviderModel.Settings(model: DemoPlan.model, nominal: capacity)
        settings.capacity = [(dropSeconds, DemoPlan.dropFactor), (recoverySeconds, 1)]
        return settings
    }

    /// How long a caller waits before it gives up.
    static func patienceSeconds(_ criticality: Criticality) -> Double { criticality == .batch ? 120 : 10 }

    /// The first lines on the screen.
    var introduction: String {
        var lines = [
            "Trace: \(source), \(trace.rows.count) requests of \(trace.tenants.count) tenants in \(Int(seconds)) s "
                + "(\(DemoText.decimal(Double(trace.rows.count) / seconds)) a second, speed \(DemoText.decimal(speed)))."
        ]
        if trace.hasSyntheticTenants { lines.append("Its tenants are synthetic, called by their tier.") }
        if trace.hasDrawnLengths { lines.append("Some lengths are drawn: the trace does not tell all of them.") }
        lines += [
            "Tiers and floors are invented, by seed \(seed); the free tier's work is batch, that of the others interactive.",
            "Provider: simulated, \(RateText.cell(capacity)), which is the mean demand of what is played; half of it "
                + "from second \(Int(dropSeconds)) to \(Int(recoverySeconds)), while its headers go on telling the contract.",
            "This demo calls a tenant starved after \(Int(DemoPlan.starvationSeconds)) s under 70 % of what it is due; "
                + "a service waits 5 minutes.",
        ]
        return lines.joined(separator: "\n")
    }
}
