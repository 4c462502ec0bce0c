import HeadroomEnforcement
import HeadroomModel

/// An enforcement gateway without its network: the product's gate and lease, and reports that wait to be sent.
struct SimulatedGateway: Sendable {
    /// The answer to a draw in one of ``Workload/pools``, and when it arrives.
    struct AnswerOnItsWay: Sendable {
        let due: Timestamp
        let pool: Int
        let answer: DrawAnswer
    }

    let id: GatewayID
    /// One for each of ``Workload/pools``.
    var gates: [PoolGate]
    var holder = SnapshotHolder()
    var estimator = TokenEstimator()
    var isUp = true
    /// The next time at which the gate is asked again; `nil` when nothing waits.
    var plannedWake: Timestamp?
    /// Not flushed yet.
    var reports: [TelemetryRecord] = []
    /// Flushed and not stored yet, oldest first, each with the time from which the control plane has it.
    var outbox: [(due: Timestamp, records: [TelemetryRecord])] = []
    /// Draws on their way to the control plane, and answers on their way back, each with when it arrives; ascending,
    /// as far as the network keeps the order.
    var draws: [(due: Timestamp, request: DrawRequest)] = []
    var drawAnswers: [AnswerOnItsWay] = []
    /// Names its process.
    private(set) var boot = 1
    private let isDrawing: Bool
    /// Answers so far, to tell which one's headers are reported.
    var answers = 0
    /// A rival's decisions, on their way here.
    var pending: [PoolAllocation] = []

    init(_ id: GatewayID, pools: [PoolID], isDrawing: Bool, boot: Int = 1, at now: Timestamp) {
        self.id = id
        self.isDrawing = isDrawing
        self.boot = boot
        gates = pools.map { PoolGate(pool: $0, gateway: id, at: now) }
        if isDrawing {
            for pool in gates.indices { gates[pool].startDrawing(boot: String(boot), at: now) }
        }
    }

    /// A new process in the place of this one: it knows nothing. What the old one sent may still arrive.
    mutating func restart(at now: Timestamp) {
        let sent = draws
        self = SimulatedGateway(id, pools: gates.map(\.pool), isDrawing: isDrawing, boot: boot + 1, at: now)
        draws = sent
    }

    /// Another process under a name of its own in the place of this one.
    mutating func replace(at now: Timestamp) {
        let name = GatewayID(unchecked: id.text.prefix { $0 != "." } + ".\(boot + 1)")
        self = SimulatedGateway(name, pools: gates.map(\.pool), isDrawing: isDrawing, boot: boot + 1, at: now)
    }

    /// When a gate has to be asked again; `nil` when nothing waits.
    mutating func nextWake(after now: Timestamp) -> Timestamp? {
        var next: Timestamp?
        for pool in gates.indices {
            if let wake = gates[pool].wakeInPlace(after: now) { next = min(next ?? wake, wake) }
        }
        return next
    }

    func estimate(_ job: Job, of tenant: TenantID) -> Work {
        if let most = job.maxTokens {
            return estimator.estimate(for: tenant, inputTokens: Double(job.inputTokens), maxTokens: Double(most))
        }
        var work = job.cost * job.estimateFactor
        work[.requests] = 1
        return work
    }

    /// Its budget of a pool at `now`; `nil` when it is down or not bounded.
    func budget(of pool: Int, at now: Timestamp) -> Rates? {
        guard isUp, let allocation = gates[pool].allocation, allocation.enforce else { return nil }
        if case .expired = holder.lease.state(at: now) { return allocation.fallback }
        return allocation.budget
    }

    /// The budget of a pool's tenants together where each has a rate of its own and nobody lends.
    func walls(of pool: Int, in resource: Resource) -> Double {
        guard isUp, let allocation = gates[pool].allocation else { return 0 }
        return allocation.tenants.reduce(0) { $0 + ($1.assured[resource] ?? 0) }
    }
}

extension PoolGate {
    /// Asked as what may change: to be read only, it would be copied out of its array.
    fileprivate mutating func wakeInPlace(after now: Timestamp) -> Timestamp? { nextWake(after: now) }
}
