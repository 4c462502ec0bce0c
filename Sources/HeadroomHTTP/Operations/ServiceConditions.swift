import HeadroomModel
import Synchronization

/// Faults of the service beside its loop: shown in `/readyz` and `/metrics` for as long as they hold.
package final class ServiceConditions: Sendable {
    package enum Kind: String, CaseIterable, Sendable {
        /// Files were removed or replaced: what is stored will be lost.
        case databaseFiles = "database_files"
        /// The audit log is not as it was written.
        case auditChain = "audit_chain"
        /// Somebody set the wall clock.
        case clock
        /// Nothing is deleted for being old, since the clock is in doubt.
        case retention
        /// The certificate's files have changed to what cannot be served.
        case certificate
        /// Contracts that are kept as a file says are not as it says.
        case contractSync = "contract_sync"
        /// The database is not copied as it should be.
        case backup

        /// Served or stored data cannot be relied on.
        package var isFatal: Bool { self == .databaseFiles }
    }

    private let reasons = Mutex<[Kind: String]>([:])
    private let newestAuditHead = Mutex<(sequence: Int64, hash: String)?>(nil)

    private let lastBackup = Mutex<(at: Timestamp, bytes: Int64)?>(nil)

    package init() {}

    /// The newest copy of the database that was made on schedule; `nil` before.
    package var newestBackup: (at: Timestamp, bytes: Int64)? {
        get { lastBackup.withLock { $0 } }
        set { lastBackup.withLock { $0 = newValue } }
    }

    /// The newest row of the audit log when it was last noted; `nil` before.
    package var auditHead: (sequence: Int64, hash: String)? {
        get { newestAuditHead.withLock { $0 } }
        set { newestAuditHead.withLock { $0 = newValue } }
    }

    /// - Parameter reason: for people; `nil` when nothing is wrong.
    /// - Returns: true when it was not so before.
    @discardableResult package func set(_ kind: Kind, _ reason: String?) -> Bool {
        reasons.withLock { reasons in
            defer { reasons[kind] = reason }
            return (reasons[kind] == nil) != (reason == nil)
        }
    }

    /// In the order of ``Kind``; `nil` where nothing is wrong.
    package var all: [(kind: Kind, reason: String?)] {
        let reasons = reasons.withLock { $0 }
        return Kind.allCases.map { ($0, reasons[$0]) }
    }
}
