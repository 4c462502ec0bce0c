import HeadroomDemand
import HeadroomModel
import HeadroomSimulator

/// A real trace told to the classifier as gateways would tell it, in which one tenant plays a game.
struct PlantedGame {
    /// What one tenant does besides, or in place of, what the trace says.
    enum Pattern: String, CaseIterable {
        case honest
        /// Every ten seconds it claims for four seconds to have three times its work in its queue, five calls at least.
        case vanishing
        /// Its calls wait for the loop's next turn, and four copies come with each turn.
        case inStep
        /// Four agents do its calls, and say after each that they need ten more.
        case unfinished
        /// From the twentieth minute on its batch work is called interactive.
        case renamed

        var kind: GamingFlag.Kind? {
            switch self {
            case .honest: nil
            case .vanishing: .vanishingDemand
            case .inStep: .loopSynchronised
            case .unfinished: .unfinishedTasks
            case .renamed: .interactiveJump
            }
        }
    }

    /// When a tenant was first flagged, since the game began.
    struct Found: Equatable {
        var tenant: TenantID
        var kind: GamingFlag.Kind
        var seconds: Double
    }

    static let pool: PoolID = "trace:pool"
    static let period = 2.0
    private static let start = Timestamp(milliseconds: 1_793_000_040_000)
    /// Of every call.
    private static let latency = 1.5

    let gamer: TenantID
    /// Of the trace, and of the virtual time.
    let tenants: Int
    let hours: Double
    private let pattern: Pattern
    private let begins: Double
    private let seconds: Double
    private var lines: [(at: Double, record: TelemetryRecord)] = []

    /// Who is silent before or during the game cannot play it.
    private static let leastCalls = 50

    /// The first `seconds` of `trace`; the tenant of the fourth-largest demand plays, of those that send calls enough.
    init(_ pattern: Pattern, in trace: Trace, seconds: Double, seed: UInt64) {
        let played = trace.played(seconds: seconds, speed: 1).folded(toLargest: Workload.maxTenants)
        let costs = played.totals.map { $0[.tokens] }
        let begins = pattern == .renamed ? 1200.0 : 0
        let sent = played.tenants.indices.map { tenant in
            let own = played.rows.filter { $0.tenant == tenant }
            let before = own.count { $0.seconds < begins }
            return begins == 0 ? own.count : min(before, own.count - before)
        }
        let ranked = played.tenants.indices.filter { sent[$0] >= Self.leastCalls }
            .sorted { (-costs[$0], $0) < (-costs[$1], $1) }
        let player = ranked[min(3, ranked.count - 1)]
        self.pattern = pattern
        self.seconds = seconds
        gamer = played.tenants[player]
        tenants = played.tenants.count
        hours = seconds / 3600
        self.begins = begins
        var random = SeededGenerator(seed: seed, stream: "planted game")
        let own = played.rows.filter { $0.tenant == player }
        for (number, row) in played.rows.enumerated() {
            let isPlayer = row.tenant == player
            var at = row.seconds + Self.latency
            if isPlayer, pattern == .inStep { at = Self.nextTurn(at) + 0.2 * random.drawUniform() }
            let task = isPlayer && pattern == .unfinished ? "agent-\(number % 4)" : nil
            // Half of the tenants do batch work, so that a mix has two sides.
            let isBatch = isPlayer ? pattern == .renamed && at < begins && number % 5 > 0 : row.tenant % 2 == 1
            tell(row, of: played.tenants[row.tenant], at: at, isBatch ? .batch : .interactive, task: task)
            if let task {
                add(
                    at,
                    .task(
                        TaskRecord(
                            at: Self.at(at), gateway: "gw-1", tenant: gamer, pool: Self.pool, task: task,
                            state: .progress, remainingRequests: 10)))
            }
        }
        guard !own.isEmpty else { return }
        switch pattern {
        case .vanishing: claim(own)
        case .inStep:
            for turn in 1..<Int(seconds / Self.period) {
                for _ in 0..<4 {
                    let row = own[random.drawIndex(below: own.count)]
                    tell(row, of: gamer, at: Double(turn) * Self.period + 0.2 * random.drawUniform(), .interactive)
                }
            }
        case .honest, .unfinished, .renamed: break
        }
        lines.sort { $0.at < $1.at }
    }

    /// A turn every two seconds; there is room for all that is wanted.
    func play() -> [Found] {
        let nominal = Rates(rpm: 1e6, tpm: 1e9)
        var estimator = DemandEstimator(
            pool: PoolPolicy(pool: Self.pool, nominal: nominal), settings: DemandEstimator.Settings(Policy()),
            at: Self.start)
        var entitlements: [Entitlement] = []
        var found: [Found] = []
        var next = 0
        for turn in 1...Int(seconds / Self.period) {
            let second = Double(turn) * Self.period
            while next < lines.count, lines[next].at <= second {
                estimator.fold(lines[next].record, at: Self.at(lines[next].at))
                next += 1
            }
            let tenants = estimator.estimate(at: Self.at(second), entitlements: entitlements).tenants
            entitlements = tenants.map { Entitlement(tenant: $0.tenant, rates: nominal) }
            for tenant in tenants {
                for flag in tenant.profile?.flags ?? []
                where !found.contains(where: { $0.tenant == tenant.tenant && $0.kind == flag.kind }) {
                    found.append(Found(tenant: tenant.tenant, kind: flag.kind, seconds: second - begins))
                }
            }
        }
        return found
    }

    private mutating func claim(_ own: [Trace.Row]) {
        let mean = own.reduce(0) { $0 + Double($1.inputTokens + $1.outputTokens) } / Double(own.count)
        for second in stride(from: 0.0, to: seconds, by: 10) {
            let claimed = max(5, 3 * own.count { $0.seconds >= second && $0.seconds < second + 10 })
            for (step, depth) in [(0.0, claimed), (4, 0)] {
                add(
                    second + step,
                    .queue(
                        QueueRecord(
                            at: Self.at(second + step), gateway: "gw-1", tenant: gamer, pool: Self.pool,
                            criticality: .interactive, depth: Int64(depth), tokens: Int64(mean * Double(depth)),
                            oldestAgeMilliseconds: 0)))
            }
        }
    }

    private mutating func tell(
        _ row: Trace.Row, of tenant: TenantID, at second: Double, _ criticality: Criticality, task: String? = nil
    ) {
        add(
            second,
            .call(
                CallRecord(
                    request: "r\(lines.count)", at: Self.at(second), gateway: "gw-1", tenant: tenant, pool: Self.pool,
                    criticality: criticality, task: task, outcome: .ok, latencyMilliseconds: 0,
                    inputTokens: row.inputTokens, outputTokens: row.outputTokens)))
    }

    private mutating func add(_ second: Double, _ record: TelemetryRecord) { lines.append((second, record)) }

    private static func nextTurn(_ second: Double) -> Double { (second / period).rounded(.up) * period }

    private static func at(_ second: Double) -> Timestamp { start.adding(seconds: second) }
}
