import HeadroomLoop
import HeadroomMemoryStores
import HeadroomModel

/// Headroom without its disk and its network: the real loop on ports in memory. Ledger and telemetry survive when it is
/// killed, as a database does.
struct SimulatedControlPlane: Sendable {
    let telemetry: MemoryTelemetry
    let board: MemoryBoard
    let ledger: MemoryLedger
    let rules: MemoryRules
    let checkpoints: MemoryCheckpoints
    let records = MemoryRecords(keepsHistory: false)
    let audit: Audit
    /// `nil` while it is down.
    private(set) var loop: ControlLoop?

    init(rules: Rules, at now: Timestamp) {
        let audit = Audit(rules: rules, at: now)
        telemetry = MemoryTelemetry { records, first in
            audit.note { auditor throws(AuditViolation) in try auditor.read(records, from: first) }
        }
        board = MemoryBoard(keepsHistory: false) { publication in
            audit.note { auditor throws(AuditViolation) in try auditor.publish(publication) }
        }
        ledger = MemoryLedger(
            keepsHistory: false, onBegin: { audit.note { $0.beginTerm() } },
            onAppend: { snapshot in
                audit.note { auditor throws(AuditViolation) in try auditor.write(snapshot) }
            })
        checkpoints = MemoryCheckpoints(keepsHistory: false) { [telemetry] cursor in
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

    /// A gateway's telemetry is stored, and acknowledged.
    func store(_ records: [TelemetryRecord], at now: Timestamp) {
        telemetry.append(records, at: now)
        audit.note(at: now) { $0.answer(records: records.count) }
    }

    /// As by SIGKILL: what it held in memory is gone.
    mutating func kill() {
        loop = nil
        board.forget()
        audit.note { $0.endTerm() }
    }
}
