import HeadroomModel
import Synchronization

/// The auditor of one run, as the loop's ports and the gateways share it.
final class Audit: Sendable {
    private struct State {
        var auditor: Auditor
        var violation: AuditViolation?
    }

    private let state: Mutex<State>

    init(rules: Rules, at now: Timestamp) {
        state = Mutex(State(auditor: Auditor(rules: rules, at: now)))
    }

    /// Tells the auditor of one step. Nothing behind the first violation is worth looking at.
    func note(at now: Timestamp? = nil, _ step: (inout Auditor) throws(AuditViolation) -> Void) {
        state.withLock { state in
            guard state.violation == nil else { return }
            if let now { state.auditor.advance(to: now) }
            do throws(AuditViolation) {
                try step(&state.auditor)
            } catch {
                state.violation = error
            }
        }
    }

    var hasFailed: Bool { state.withLock { $0.violation != nil } }

    var report: AuditReport {
        state.withLock { state in
            var report = state.auditor.report
            report.violation = state.violation
            return report
        }
    }
}
