import HeadroomLoop
import HeadroomModel
import Synchronization

struct Refused: Error {}

/// Telemetry in memory; every table is one list.
final class MemoryTelemetry: TelemetrySource {
    private struct State {
        var records: [TelemetryRecord] = []
        var isBroken = false
    }

    private let state = Mutex(State())

    func append(_ records: [TelemetryRecord]) { state.withLock { $0.records += records } }

    func fail(_ isBroken: Bool) { state.withLock { $0.isBroken = isBroken } }

    func page(after cursor: TelemetryCursor, limit: Int) async throws -> TelemetryPage {
        try state.withLock { state in
            if state.isBroken { throw Refused() }
            let rest = state.records.dropFirst(Int(cursor.call))
            var next = cursor
            next.call += Int64(min(limit, rest.count))
            return TelemetryPage(records: Array(rest.prefix(limit)), next: next, isLast: rest.count <= limit)
        }
    }

    func cursor(at instant: Timestamp) async throws -> TelemetryCursor { .start }
}

/// A ledger in memory, which can be made to refuse.
final class MemoryLedger: SnapshotLedger {
    private struct State {
        var epoch: Int64 = 0
        var generation: Int64 = 0
        var snapshots: [Snapshot] = []
        var budgets: [SentBudget] = []
        var isFull = false
    }

    private let state = Mutex(State())

    var snapshots: [Snapshot] { state.withLock { $0.snapshots } }

    func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    func begin(at now: Timestamp, rememberingSeconds: Double) async throws -> LedgerStart {
        state.withLock { state in
            state.epoch = max(state.epoch + 1, now.milliseconds / 1000)
            return LedgerStart(epoch: state.epoch, last: state.snapshots.last, budgets: state.budgets)
        }
    }

    func reserveGeneration() async throws -> Int64 {
        state.withLock { state in
            state.generation += 1
            return state.generation
        }
    }

    func append(_ publication: Publication) async throws {
        let snapshot = publication.whole
        try state.withLock { state in
            if state.isFull { throw Refused() }
            state.snapshots.append(snapshot)
            for index in state.budgets.indices where state.budgets[index].supersededAt == nil {
                state.budgets[index].supersededAt = snapshot.issuedAt
            }
            state.budgets += publication.parts.flatMap { part in
                part.snapshot.pools.map { pool in
                    SentBudget(
                        version: snapshot.version, gateway: part.gateway, pool: pool.pool, budget: pool.budget,
                        fallback: pool.fallback, publishedAt: snapshot.issuedAt)
                }
            }
        }
    }

    func end() async throws {}
}

/// A board that keeps everything, and knows the gateways that a test names.
final class MemoryBoard: SnapshotPublishing {
    private struct State {
        var publications: [Publication] = []
        var reports: [LoopReport] = []
        var gateways: [GatewayPresence] = []
        var clocks: [PoolID: [TenantID: Double]] = [:]
    }

    private let state = Mutex(State())

    var publications: [Publication] { state.withLock { $0.publications } }
    var clocks: [PoolID: [TenantID: Double]] { state.withLock { $0.clocks } }

    /// Gateways that poll all the time, and acknowledge nothing.
    func join(_ gateways: [GatewayID]) {
        let always = Timestamp(milliseconds: .max / 2)
        state.withLock { state in
            state.gateways = gateways.sorted().map {
                GatewayPresence(gateway: $0, lastSeen: always, applied: nil, sent: nil)
            }
        }
    }

    /// As the board knows it from a poll at `now`: it has applied and been handed these.
    func poll(_ gateway: GatewayID, applied: SnapshotVersion?, sent: SnapshotVersion?, at now: Timestamp) {
        state.withLock { state in
            state.gateways.removeAll { $0.gateway == gateway }
            state.gateways.append(GatewayPresence(gateway: gateway, lastSeen: now, applied: applied, sent: sent))
            state.gateways.sort { $0.gateway < $1.gateway }
        }
    }

    /// As after a start: what was noted of polls is gone.
    func forgetGateways() { state.withLock { $0.gateways = [] } }

    func publish(_ publication: Publication) { state.withLock { $0.publications.append(publication) } }

    func update(serviceClocks: [PoolID: [TenantID: Double]]) { state.withLock { $0.clocks = serviceClocks } }

    func report(_ report: LoopReport) { state.withLock { $0.reports.append(report) } }

    func gateways(since: Timestamp) -> [GatewayPresence] {
        state.withLock { $0.gateways.filter { $0.lastSeen >= since } }
    }
}

/// Rules that a test changes.
final class MemoryRules: RuleSource {
    private let state: Mutex<Rules>

    init(_ rules: Rules) {
        state = Mutex(rules)
    }

    func change(_ body: (inout Rules) -> Void) { state.withLock { body(&$0) } }

    func current() async throws -> Rules { state.withLock { $0 } }
}

/// What decisions leave behind, in memory; it can be made to refuse.
final class MemoryRecords: DecisionRecords {
    private struct State {
        var outcomes: [DecisionOutcome] = []
        var stored: [CreditBalance] = []
        var isFull = false
    }

    private let state = Mutex(State())

    var outcomes: [DecisionOutcome] { state.withLock { $0.outcomes } }

    func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    func credits() async throws -> [CreditBalance] {
        try state.withLock { state in
            if state.isFull { throw Refused() }
            return state.stored
        }
    }

    func record(_ outcome: DecisionOutcome, at now: Timestamp) async throws {
        try state.withLock { state in
            if state.isFull { throw Refused() }
            state.outcomes.append(outcome)
        }
    }
}

/// The last checkpoint, and all roll-ups that came with any.
final class MemoryCheckpoints: CheckpointStore {
    private struct State {
        var checkpoint: Checkpoint?
        var rollups: [Rollup] = []
        var uses: [TenantUse] = []
        var erased: [ErasedTenant] = []
        var erasures: Int64 = 0
        var isFull = false
    }

    private let state = Mutex(State())

    var last: Checkpoint? { state.withLock { $0.checkpoint } }
    var rollups: [Rollup] { state.withLock { $0.rollups } }
    var uses: [TenantUse] { state.withLock { $0.uses } }

    func fill(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    /// What is stored of the tenant is gone; the loop has not heard of it.
    func erase(_ tenant: TenantID) {
        state.withLock { state in
            state.erasures += 1
            state.erased.append(ErasedTenant(id: state.erasures, fingerprint: tenant.text.fingerprint))
        }
    }

    func latest() async throws -> Checkpoint? { last }

    func erasures(after id: Int64) async throws -> [ErasedTenant] {
        state.withLock { $0.erased.filter { $0.id > id } }
    }

    func uses(since day: Int64) async throws -> [TenantUse] {
        state.withLock { state in state.uses.filter { $0.day >= day } }
    }

    func save(
        _ checkpoint: Checkpoint, rollups: [Rollup], priced: Set<TenantID>, erasedThrough: Int64
    ) async throws {
        try state.withLock { state in
            if state.isFull { throw Refused() }
            state.checkpoint = checkpoint
            state.rollups += rollups
            state.uses += rollups.filter { priced.contains($0.tenant) }.map(TenantUse.init)
            state.erased.removeAll { $0.id <= erasedThrough }
        }
    }
}
