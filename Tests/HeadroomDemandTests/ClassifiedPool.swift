import HeadroomDemand
import HeadroomModel

/// A pool's estimator on a timeline of its own, with a turn every two seconds.
final class ClassifiedPool {
    static let pool: PoolID = "demo:pool"
    /// The start of a minute.
    static let start = Timestamp(milliseconds: 1_793_000_040_000)
    static let nominal = Rates(rpm: 60_000, tpm: 60_000_000)

    var estimator: DemandEstimator
    /// Ascending by tenant; whoever is not here is entitled to nothing.
    var entitlements: [Entitlement] = []
    private(set) var last: PoolDemand?
    /// The last.
    var turn = 0.0
    private var calls = 0

    init(_ policy: Policy = Policy(demand: DemandPolicy(margin: 1))) {
        estimator = DemandEstimator(
            pool: PoolPolicy(pool: Self.pool, nominal: Self.nominal), settings: DemandEstimator.Settings(policy),
            at: Self.start)
    }

    static func at(_ second: Double) -> Timestamp { start.adding(seconds: second) }

    /// A call that ended at `second`; each is work of its own unless `request` says otherwise.
    func call(
        _ second: Double, _ outcome: Outcome = .ok, by tenant: TenantID = "acme", request: String? = nil,
        attempt: Int = 1, criticality: Criticality = .interactive, input: Int64? = 900, output: Int64? = nil,
        maxTokens: Int64? = nil, counted: Int64? = nil, latency: Double = 0, queued: Double = 0,
        task: String? = nil, parent: String? = nil
    ) {
        calls += 1
        fold(
            .call(
                CallRecord(
                    request: request ?? "r\(calls)", at: Self.at(second), gateway: "gw-1", tenant: tenant,
                    pool: Self.pool, criticality: criticality, task: task, parent: parent, attempt: attempt,
                    outcome: outcome, latencyMilliseconds: latency * 1000, queuedMilliseconds: queued * 1000,
                    inputTokens: input, outputTokens: output ?? (outcome == .ok ? 100 : nil), maxTokens: maxTokens,
                    countedTokens: counted)), at: second)
    }

    func queue(
        _ second: Double, _ tenant: TenantID = "acme", depth: Int64, tokens: Int64, oldest: Double = 0,
        criticality: Criticality = .interactive
    ) {
        fold(
            .queue(
                QueueRecord(
                    at: Self.at(second), gateway: "gw-1", tenant: tenant, pool: Self.pool, criticality: criticality,
                    depth: depth, tokens: tokens, oldestAgeMilliseconds: oldest * 1000)), at: second)
    }

    func task(
        _ second: Double, _ name: String, _ state: TaskRecord.State, tenant: TenantID = "acme", parent: String? = nil,
        requests: Int64? = nil, tokens: Int64? = nil
    ) {
        fold(
            .task(
                TaskRecord(
                    at: Self.at(second), gateway: "gw-1", tenant: tenant, pool: Self.pool, task: name, parent: parent,
                    state: state, remainingRequests: requests, remainingTokens: tokens)), at: second)
    }

    func fold(_ record: TelemetryRecord, at second: Double) {
        turns(to: second)
        estimator.fold(record, at: Self.at(second))
    }

    /// Takes all turns up to `second`, and says what there is then.
    @discardableResult
    func demand(at second: Double) -> PoolDemand {
        turns(to: second)
        last = estimator.estimate(at: Self.at(second), entitlements: entitlements)
        return last!
    }

    func tenant(_ tenant: TenantID = "acme", at second: Double) -> TenantDemand? {
        demand(at: second).tenants.first { $0.tenant == tenant }
    }

    private func turns(to second: Double) {
        // A day's pause needs no 43,200 turns.
        if second - turn > 7200 { turn = second - 60 }
        while turn + 2 <= second {
            turn += 2
            last = estimator.estimate(at: Self.at(turn), entitlements: entitlements)
        }
    }
}
