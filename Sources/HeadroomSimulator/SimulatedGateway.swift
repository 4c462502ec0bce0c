import HeadroomEnforcement
import HeadroomModel

/// An enforcement gateway without its network: the product's gate and lease, and reports that wait to be sent.
struct SimulatedGateway: Sendable {
    let id: GatewayID
    var gate: PoolGate
    var holder = SnapshotHolder()
    var estimator = TokenEstimator()
    var isUp = true
    /// The next time at which the gate is asked again; `nil` when nothing waits.
    var plannedWake: Timestamp?
    /// Not flushed yet.
    var reports: [TelemetryRecord] = []
    /// Flushed and not stored yet, oldest first, each with the time from which the control plane has it.
    var outbox: [(due: Timestamp, records: [TelemetryRecord])] = []
    /// Answers so far, to tell which one's headers are reported.
    var answers = 0
    /// What a rival's loop decided, on its way here.
    var pending: PoolAllocation?

    init(_ id: GatewayID, at now: Timestamp) {
        self.id = id
        gate = PoolGate(pool: Simulation.pool, gateway: id, at: now)
    }

    /// A new process in the place of this one: it knows nothing.
    mutating func restart(at now: Timestamp) {
        self = SimulatedGateway(id, at: now)
    }

    func estimate(_ job: Job, of tenant: TenantID) -> Work {
        if let most = job.maxTokens {
            return estimator.estimate(for: tenant, inputTokens: Double(job.inputTokens), maxTokens: Double(most))
        }
        var work = job.cost * job.estimateFactor
        work[.requests] = 1
        return work
    }

    /// What it may spend at `now`; `nil` when it is down or not bounded.
    func budget(at now: Timestamp) -> Rates? {
        guard isUp, let allocation = gate.allocation, allocation.enforce else { return nil }
        if case .expired = holder.lease.state(at: now) { return allocation.fallback }
        return allocation.budget
    }

    /// What its tenants may spend together where each has a rate of its own and nobody lends.
    func walls(in resource: Resource) -> Double {
        guard isUp, let allocation = gate.allocation else { return 0 }
        return allocation.tenants.reduce(0) { $0 + ($1.assured[resource] ?? 0) }
    }
}
