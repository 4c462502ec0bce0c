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
    let audit: Audit
    /// `nil` while it is down.
    private(set) var loop: ControlLoop?

    init(rules: Rules, at now: Timestamp) {
        let audit = Audit(rules: rules, at: now)
        telemetry = MemoryTelemetry(audit: audit)
        board = MemoryBoard(audit: audit)
        ledger = MemoryLedger(audit: audit)
        self.rules = MemoryRules(rules)
        self.audit = audit
        start(at: now)
    }

    mutating func start(at now: Timestamp) {
        loop = ControlLoop(telemetry: telemetry, rules: rules, ledger: ledger, board: board, at: now)
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

/// Stored telemetry, as one list in the order of arrival.
final class MemoryTelemetry: TelemetrySource {
    private struct State {
        var records: [TelemetryRecord] = []
        var arrivals: [Timestamp] = []
        var isLocked = false
    }

    private let state = Mutex(State())
    private let audit: Audit

    init(audit: Audit) {
        self.audit = audit
    }

    /// Nothing can be read while it is locked.
    func toggleLock() { state.withLock { $0.isLocked.toggle() } }

    func append(_ records: [TelemetryRecord], at now: Timestamp) {
        state.withLock { state in
            state.records += records
            state.arrivals += repeatElement(now, count: records.count)
        }
        audit.note(at: now) { $0.answer(records: records.count) }
    }

    func page(after cursor: TelemetryCursor, limit: Int) async throws -> TelemetryPage {
        try state.withLock { state in
            if state.isLocked { throw DiskFault() }
            let first = Int(cursor.call)
            let end = min(state.records.count, first + limit)
            var next = cursor
            next.call = Int64(end)
            let records = Array(state.records[first..<end])
            audit.note { auditor throws(AuditViolation) in try auditor.read(records, from: first) }
            return TelemetryPage(records: records, next: next, isLast: end == state.records.count)
        }
    }

    func cursor(at instant: Timestamp) async throws -> TelemetryCursor {
        state.withLock { state in
            var cursor = TelemetryCursor.start
            cursor.call = Int64(state.arrivals.firstIndex { $0 >= instant } ?? state.arrivals.count)
            return cursor
        }
    }
}

final class MemoryLedger: SnapshotLedger {
    private struct State {
        var epoch: Int64 = 0
        var generation: Int64 = 0
        var last: Snapshot?
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
            audit.note { $0.beginTerm() }
            return LedgerStart(epoch: state.epoch, last: state.last)
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
        }
        audit.note { auditor throws(AuditViolation) in try auditor.write(snapshot) }
    }

    func end() async throws {}
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

    /// A poll by a gateway. Returns true when it was not known before.
    func note(_ presence: GatewayPresence) -> Bool {
        state.withLock { state in
            let index = state.gateways.firstIndex { $0.gateway >= presence.gateway } ?? state.gateways.count
            if index < state.gateways.count, state.gateways[index].gateway == presence.gateway {
                let isBack = presence.lastSeen.seconds(since: state.gateways[index].lastSeen) > 20
                state.gateways[index] = presence
                return isBack
            }
            state.gateways.insert(presence, at: index)
            return true
        }
    }

    func forget() { state.withLock { $0 = Contents() } }
}
