import HeadroomLoop
import HeadroomModel
import Synchronization

/// Headroom without its disk and its network: the real loop on ports in memory. Ledger and telemetry survive when it is
/// killed, as a database does.
struct SimulatedControlPlane: Sendable {
    let telemetry: MemoryTelemetry
    let board: MemoryBoard
    let ledger: MemoryLedger
    let rules: MemoryRules
    let checkpoints: MemoryCheckpoints
    let records = MemoryRecords()
    let audit: Audit
    /// `nil` while it is down.
    private(set) var loop: ControlLoop?

    init(rules: Rules, at now: Timestamp) {
        let audit = Audit(rules: rules, at: now)
        telemetry = MemoryTelemetry(audit: audit)
        board = MemoryBoard(audit: audit)
        ledger = MemoryLedger(audit: audit)
        checkpoints = MemoryCheckpoints { [telemetry] cursor in
            audit.note { $0.checkpoint() }
            telemetry.forget(before: cursor)
        }
        self.rules = MemoryRules(rules)
        self.audit = audit
        start(at: now)
    }

    mutating func start(at now: Timestamp) {
        loop = ControlLoop(
            telemetry: telemetry, rules: rules, ledger: ledger, board: board, records: records,
            checkpoints: checkpoints, at: now)
    }

    /// As by SIGKILL: what it held in memory is gone.
    mutating func kill() {
        loop = nil
        board.forget()
        audit.note { $0.endTerm() }
    }
}

/// A disk that is full or locked.
private struct DiskFault: Error {}

final class MemoryRules: RuleSource {
    private let state: Mutex<Rules>

    init(_ rules: Rules) {
        state = Mutex(rules)
    }

    var inForce: Rules { state.withLock { $0 } }

    func change(to rules: Rules) { state.withLock { $0 = rules } }

    func current() async throws -> Rules { inForce }
}

/// Stored telemetry, in the order of arrival, as far back as a start may read.
final class MemoryTelemetry: TelemetrySource {
    /// What a gateway sent at once.
    private struct Batch {
        let at: Timestamp
        /// Records in all batches before it.
        let first: Int
        let records: [TelemetryRecord]

        var end: Int { first + records.count }
    }

    private struct State {
        var batches: [Batch] = []
        var isLocked = false

        var count: Int { batches.last?.end ?? 0 }

        /// Readers stand near the end.
        func batch(holding record: Int) -> Int { (batches.lastIndex { $0.first <= record }) ?? 0 }
    }

    private let state = Mutex(State())
    private let audit: Audit

    init(audit: Audit) {
        self.audit = audit
    }

    /// Nothing can be read while it is locked.
    func toggleLock() { state.withLock { $0.isLocked.toggle() } }

    func append(_ records: [TelemetryRecord], at now: Timestamp) {
        state.withLock { $0.batches.append(Batch(at: now, first: $0.count, records: records)) }
        audit.note(at: now) { $0.answer(records: records.count) }
    }

    /// A checkpoint has taken it in: a start goes on from there.
    func forget(before cursor: TelemetryCursor) {
        state.withLock { $0.batches.removeFirst($0.batch(holding: Int(cursor.call))) }
    }

    func page(after cursor: TelemetryCursor, limit: Int) async throws -> TelemetryPage {
        try state.withLock { state in
            if state.isLocked { throw DiskFault() }
            let first = Int(cursor.call)
            let end = min(state.count, first + limit)
            var next = cursor
            next.call = Int64(end)
            var records: [TelemetryRecord] = []
            records.reserveCapacity(end - first)
            for batch in state.batches[state.batch(holding: first)...] where batch.first < end && batch.end > first {
                records += batch.records[max(0, first - batch.first)..<(min(batch.end, end) - batch.first)]
            }
            audit.note { auditor throws(AuditViolation) in try auditor.read(records, from: first) }
            return TelemetryPage(records: records, next: next, isLast: end == state.count)
        }
    }

    func cursor(at instant: Timestamp) async throws -> TelemetryCursor {
        state.withLock { state in
            var cursor = TelemetryCursor.start
            cursor.call = Int64(state.batches.first { $0.at >= instant }?.first ?? state.count)
            return cursor
        }
    }
}

final class MemoryLedger: SnapshotLedger {
    private struct State {
        var epoch: Int64 = 0
        var generation: Int64 = 0
        var last: Snapshot?
        /// What gateways may still be using, ascending by version.
        var sent: [SentBudget] = []
        var rememberingSeconds = 0.0
        var isFull = false
    }

    private let state = Mutex(State())
    private let audit: Audit

    init(audit: Audit) {
        self.audit = audit
    }

    /// Nothing can be written while it is full; numbers that were reserved before are left.
    func toggleFull() { state.withLock { $0.isFull.toggle() } }

    func begin(at now: Timestamp, rememberingSeconds: Double) async throws -> LedgerStart {
        try state.withLock { state in
            if state.isFull { throw DiskFault() }
            state.epoch = max(state.epoch + 1, now.milliseconds / 1000)
            state.rememberingSeconds = rememberingSeconds
            audit.note { $0.beginTerm() }
            return LedgerStart(epoch: state.epoch, last: state.last, budgets: state.sent)
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
            if state.isFull { throw DiskFault() }
            state.last = snapshot
            for index in state.sent.indices where state.sent[index].supersededAt == nil {
                state.sent[index].supersededAt = snapshot.issuedAt
            }
            let oldest = snapshot.issuedAt.adding(seconds: -state.rememberingSeconds)
            let current = Set(publication.parts.map(\.gateway))
            // The last of a gateway that is gone stays: it may live on its fallback.
            state.sent.removeAll { sent in
                sent.supersededAt.map { $0 < oldest } ?? false && current.contains(sent.gateway)
            }
            state.sent += publication.budgets
        }
        audit.note { auditor throws(AuditViolation) in try auditor.write(snapshot) }
    }

    func end() async throws {}
}

/// Burst credit as it was stored. Nobody reads explanations or answers questions in a simulation.
final class MemoryRecords: DecisionRecords {
    private struct Key: Hashable {
        let pool: PoolID
        let tenant: TenantID
    }

    private let balances = Mutex<[Key: CreditBalance]>([:])

    func credits() async throws -> [CreditBalance] {
        balances.withLock { $0.values.sorted { ($0.pool, $0.tenant) < ($1.pool, $1.tenant) } }
    }

    func record(_ outcome: DecisionOutcome, at now: Timestamp) async throws {
        balances.withLock { balances in
            for credit in outcome.credits { balances[Key(pool: credit.pool, tenant: credit.tenant)] = credit }
        }
    }
}

/// The newest generation, and who polls.
final class MemoryBoard: SnapshotPublishing {
    struct Contents: Sendable {
        var publication: Publication?
        var serviceClocks: [PoolID: [TenantID: Double]] = [:]
        var report: LoopReport?
        /// Ascending by gateway.
        var gateways: [GatewayPresence] = []
    }

    private let state = Mutex(Contents())
    private let audit: Audit

    init(audit: Audit) {
        self.audit = audit
    }

    var contents: Contents { state.withLock { $0 } }

    func publish(_ publication: Publication) {
        state.withLock { $0.publication = publication }
        audit.note { auditor throws(AuditViolation) in try auditor.publish(publication) }
    }

    func update(serviceClocks: [PoolID: [TenantID: Double]]) { state.withLock { $0.serviceClocks = serviceClocks } }

    func report(_ report: LoopReport) { state.withLock { $0.report = report } }

    func gateways(since: Timestamp) -> [GatewayPresence] {
        state.withLock { $0.gateways.filter { $0.lastSeen >= since } }
    }

    /// What a gateway is handed: from now on it may be in force there.
    func handOut(to gateway: GatewayID) -> Publication? {
        state.withLock { state in
            let index = state.gateways.firstIndex { $0.gateway == gateway }
            if let index { state.gateways[index].sent = state.publication?.whole.version }
            return state.publication
        }
    }

    /// A gateway that keeps a long poll open asks again at once, and says what it has.
    func acknowledge(_ version: SnapshotVersion?, by gateway: GatewayID) {
        state.withLock { state in
            let index = state.gateways.firstIndex { $0.gateway == gateway }
            if let index { state.gateways[index].applied = version }
        }
    }

    /// A poll by a gateway. Returns true when it was not known before.
    func note(_ presence: GatewayPresence) -> Bool {
        state.withLock { state in
            let index = state.gateways.firstIndex { $0.gateway >= presence.gateway } ?? state.gateways.count
            if index < state.gateways.count, state.gateways[index].gateway == presence.gateway {
                let isBack = presence.lastSeen.seconds(since: state.gateways[index].lastSeen) > 20
                var presence = presence
                presence.sent = state.gateways[index].sent
                state.gateways[index] = presence
                return isBack
            }
            state.gateways.insert(presence, at: index)
            return true
        }
    }

    func forget() { state.withLock { $0 = Contents() } }
}

extension Publication {
    /// What each gateway is given of each pool.
    fileprivate var budgets: [SentBudget] {
        parts.flatMap { part in
            part.snapshot.pools.map { pool in
                SentBudget(
                    version: whole.version, gateway: part.gateway, pool: pool.pool, budget: pool.budget,
                    fallback: pool.fallback, publishedAt: whole.issuedAt)
            }
        }
    }
}
