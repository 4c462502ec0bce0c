import HeadroomLoop
import HeadroomModel
import Synchronization

/// The real loop on ports in memory, fed one stretch of recorded telemetry a tick. Nothing is stored and nobody polls.
struct PlanLoop: Sendable {
    private let ports: PlanPorts
    private let loop: ControlLoop

    init(_ rules: Rules, at now: Timestamp) {
        ports = PlanPorts(rules)
        loop = ControlLoop(
            telemetry: ports, rules: ports, ledger: ports, board: ports, records: ports, checkpoints: ports, at: now)
    }

    func tick(_ records: [TelemetryRecord], at now: Timestamp) async -> LoopReport {
        ports.add(records)
        return await loop.tick(at: now)
    }

    /// Ascending by pool.
    var inForce: [PoolAllocation] { ports.inForce }

    /// The newest for each kind, tenant and pool, with the time at which it was first asked.
    var questions: [Proposal] { ports.questions }
}

private final class PlanPorts: Sendable {
    private struct State {
        var waiting: [TelemetryRecord] = []
        var read: Int64 = 0
        var generation: Int64 = 0
        var publication: Publication?
        var questions: [Proposal] = []
    }

    private let state = Mutex(State())
    private let rules: Rules

    /// Nobody was new when the recording began, and who is new in it is judged by what the rules come to once it is
    /// known: what a tenant consumed then was bounded by the rules of then, and is no measure of these.
    init(_ rules: Rules) {
        var rules = rules
        rules.policy.trust.halfConfidenceCalls = 0
        self.rules = rules
    }

    func add(_ records: [TelemetryRecord]) { state.withLock { $0.waiting += records } }

    var inForce: [PoolAllocation] { state.withLock { $0.publication?.whole.pools ?? [] } }

    var questions: [Proposal] { state.withLock { $0.questions } }
}

extension PlanPorts: TelemetrySource {
    func page(after cursor: TelemetryCursor, limit: Int) async throws(StorageError) -> TelemetryPage {
        state.withLock { state in
            let records = Array(state.waiting.prefix(limit))
            state.waiting.removeFirst(records.count)
            state.read += Int64(records.count)
            var next = cursor
            next.call = state.read
            return TelemetryPage(records: records, next: next, isLast: state.waiting.isEmpty)
        }
    }

    func cursor(at instant: Timestamp) async throws(StorageError) -> TelemetryCursor { .start }
}

extension PlanPorts: RuleSource {
    func current() async throws(StorageError) -> Rules { rules }
}

extension PlanPorts: SnapshotLedger {
    func begin(at now: Timestamp, rememberingSeconds: Double) async throws(StorageError) -> LedgerStart {
        LedgerStart(epoch: 1, last: nil)
    }

    func reserveGeneration() async throws(StorageError) -> Int64 {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    func append(_ publication: Publication) async throws(StorageError) {}
    func end() async throws(StorageError) {}
}

extension PlanPorts: SnapshotPublishing {
    func publish(_ publication: Publication) { state.withLock { $0.publication = publication } }
    func update(serviceClocks: [PoolID: [TenantID: Double]]) {}
    func report(_ report: LoopReport) {}
    func gateways(since: Timestamp) -> [GatewayPresence] { [] }
}

extension PlanPorts: DecisionRecords {
    func credits() async throws(StorageError) -> [CreditBalance] { [] }

    func record(_ outcome: DecisionOutcome, at now: Timestamp) async throws(StorageError) {
        state.withLock { state in
            for question in outcome.questions {
                let known = state.questions.firstIndex { $0.kind == question.kind && $0.pool == question.pool }
                if let known {
                    // All that was asked for over the replay, each tenant as it was asked for last.
                    let tenants = Set(question.changes.map(\.tenant))
                    state.questions[known].changes.removeAll { tenants.contains($0.tenant) }
                    state.questions[known].changes.insert(contentsOf: question.changes, at: 0)
                } else {
                    state.questions.append(question)
                }
            }
        }
    }
}

extension PlanPorts: CheckpointStore {
    func latest() async throws(StorageError) -> Checkpoint? { nil }
    func erasures(after id: Int64) async throws(StorageError) -> [ErasedTenant] { [] }
    func uses(since day: Int64) async throws(StorageError) -> [TenantUse] { [] }
    func save(
        _ checkpoint: Checkpoint, rollups: [Rollup], capacities: [PoolRollup], uses: [ModelUse],
        taskTimes: [TaskTimeRollup], priced: Set<TenantID>, erasedThrough: Int64
    ) async throws(StorageError) {}
}
