import Glibc
import HeadroomModel

/// Copies of a database, each one file that is whole by itself. Made beside a running service or without one.
///
/// A copy has a name of its own only once it was read through, its audit log verified, and both it and its directory are on
/// the disk. Before, it is `NAME.partial`, which the next one with this name takes over if its maker was killed.
package enum DatabaseBackup {
    package struct Outcome: Equatable, Sendable {
        package var bytes: Int64
        /// Rows of the audit log, all as they were written.
        package var auditEntries: Int64
        /// The log is signed, and there was no key to check that.
        package var isSignatureUnchecked: Bool
        /// When the newest telemetry or generation in it came; `nil`: there is none.
        package var newest: Timestamp?
        /// Of the last start. The next one's is above it.
        package var epoch: Int64
    }

    /// Copies the database at `path` to `target`.
    ///
    /// Takes about as long as the disk needs to read and write it, and as much again to look it through; what is written meanwhile
    /// makes the log of `path` grow.
    /// - Parameters:
    ///   - replaces: whether a file at `target` is replaced; else it is a fault.
    ///   - goesOn: asked now and then; nothing is left once it says no.
    package static func make(
        of path: String, to target: String, replaces: Bool = false, auditKey: AuditKey? = nil, at now: Timestamp,
        while goesOn: @Sendable @escaping () -> Bool = { true }
    ) async throws(StorageError) -> Outcome {
        if !replaces, DatabaseLock.Identity(path: target) != nil {
            throw StorageError(
                code: .cannotOpen, message: "\(target): is there already; name another file, or replace it")
        }
        let copy = try await PartialCopy(of: path, to: target, epochAtLeast: 0, auditKey, at: now, while: goesOn)
        try copy.publish()
        return copy.outcome
    }

    /// Puts a copy of `backup` in the place of the database at `path`, which no service may have open.
    ///
    /// The database that was there stays as `kept`, whole by itself. The next start's epoch is above all that it had, and above
    /// `epoch`, so that gateways follow it.
    /// - Returns: besides what the copy holds, whether there was a database.
    package static func restore(
        _ backup: String, to path: String, keeping kept: String, above epoch: Int64 = 0, auditKey: AuditKey? = nil,
        at now: Timestamp, while goesOn: @Sendable @escaping () -> Bool = { true }
    ) async throws(StorageError) -> (outcome: Outcome, hasReplaced: Bool) {
        guard DatabaseLock.Identity(path: path) != nil else {
            let copy = try await PartialCopy(
                of: backup, to: path, epochAtLeast: epoch, auditKey, at: now, while: goesOn)
            try copy.publish()
            return (copy.outcome, false)
        }
        let lock = try DatabaseLock(databasePath: path)
        defer { withExtendedLifetime(lock) {} }
        let known = foldLog(of: path)
        let copy = try await PartialCopy(
            of: backup, to: path, epochAtLeast: max(epoch, known), auditKey, at: now, while: goesOn)
        // The log and its index of a database that could not be opened belong to it.
        for suffix in ["-wal", "-shm"] { _ = unsafe rename(path + suffix, kept + suffix) }
        // A second name, so that there is a database under the first one at each moment.
        guard unsafe link(path, kept) == 0 || rename(path, kept) == 0 else {
            throw fault(path, "cannot be kept as \(kept)")
        }
        try copy.publish()
        return (copy.outcome, true)
    }

    /// Puts all of the log into the file, so that the file alone is whole, and returns the epoch. As far as it can: what is
    /// replaced may be damaged.
    private static func foldLog(of path: String) -> Int64 {
        let executor = DiskExecutor(label: "headroom.replaced")
        guard let connection = try? SQLiteConnection(path: path, access: .readWrite, executor: executor) else {
            return 0
        }
        return
            (try? executor.performAndWait {
                try connection.truncateLog()
                return try connection.statement("SELECT epoch FROM ledger").first { $0.integer(0) } ?? 0
            }) ?? 0
    }

    fileprivate static func fault(_ path: String, _ what: String) -> StorageError {
        let code: StorageError.Code =
            switch errno {
            case ENOSPC, EDQUOT: .full
            case EACCES, EROFS, EPERM: .readOnly
            case EIO: .inputOutput
            default: .cannotOpen
            }
        let advice =
            switch code {
            case .full: "free some space on the disk"
            case .readOnly: "the directory must be writable for this user"
            default: "the directory must exist and be writable"
            }
        return StorageError(
            code: code, message: "\(path): \(what): \(unsafe String(cString: strerror(errno))); \(advice)")
    }
}

/// A copy that has been verified and has no name of its own yet. It goes unless it is published.
private final class PartialCopy {
    let outcome: DatabaseBackup.Outcome
    private let target: String
    private let file: LockedFile

    init(
        of path: String, to target: String, epochAtLeast: Int64, _ auditKey: AuditKey?, at now: Timestamp,
        while goesOn: @Sendable @escaping () -> Bool
    ) async throws(StorageError) {
        try SQLiteDatabase.checkIsFile(path)
        try SQLiteDatabase.checkIsFile(target)
        guard let identity = DatabaseLock.Identity(path: path) else {
            throw StorageError(code: .cannotOpen, message: "\(path): there is no such database")
        }
        guard identity != DatabaseLock.Identity(path: target) else {
            throw StorageError(code: .cannotOpen, message: "\(target): is the database itself; name another file")
        }
        try Migrator.refuseForeignFile(path)
        self.target = target
        let partial = target + ".partial"
        file = try LockedFile(partial)
        let source = try Copier(path, .readOnly)
        try await source.copy(to: partial, epochAtLeast: epochAtLeast, while: goesOn)
        let found = try Copier(partial, .inspection, auditKey)
        outcome = try await found.verified(bytes: file.size, at: now)
        try file.sync()
    }

    func publish() throws(StorageError) {
        guard unsafe rename(file.path, target) == 0 else { throw DatabaseBackup.fault(target, "cannot be named so") }
        file.isPublished = true
        // The name is on the disk once its directory is.
        let parent = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "."
        let directory = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        _ = fsync(directory)
        close(directory)
    }
}

/// A file for its owner only, which one process at a time may have: locked as a database is. It goes unless it is published.
private final class LockedFile {
    let path: String
    var isPublished = false
    private let descriptor: CInt

    init(_ path: String) throws(StorageError) {
        self.path = path
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DatabaseBackup.fault(path, "cannot be written") }
        guard DatabaseLock.take(descriptor) else {
            close(descriptor)
            throw StorageError(code: .busy, message: "\(path): another program makes this copy; wait for it")
        }
        guard ftruncate(descriptor, 0) == 0, fchmod(descriptor, 0o600) == 0 else {
            throw DatabaseBackup.fault(path, "cannot be written")
        }
    }

    deinit {
        if !isPublished { _ = unsafe unlink(path) }
        close(descriptor)
    }

    var size: Int64 {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? Int64(status.st_size) : 0
    }

    func sync() throws(StorageError) {
        guard fsync(descriptor) == 0 else { throw DatabaseBackup.fault(path, "cannot be written") }
    }
}

/// A connection's work, on its own thread.
private actor Copier {
    private let connection: SQLiteConnection
    private let audit: AuditReader

    nonisolated var unownedExecutor: UnownedSerialExecutor { connection.executor.unowned }

    init(_ path: String, _ access: SQLiteConnection.Access, _ auditKey: AuditKey? = nil) throws(StorageError) {
        connection = try SQLiteConnection(path: path, access: access, executor: DiskExecutor(label: "headroom.backup"))
        connection.auditKey = auditKey
        audit = AuditReader(connection: connection.portable)
    }

    func copy(to target: String, epochAtLeast: Int64, while goesOn: () -> Bool) throws(StorageError) {
        try connection.copy(to: target, epochAtLeast: epochAtLeast, while: goesOn)
    }

    /// Looks through the whole file.
    func verified(bytes: Int64, at now: Timestamp) async throws(StorageError) -> DatabaseBackup.Outcome {
        try connection.checkAll()
        let isSigned = try AuditLog(connection: connection.portable).head().code != nil
        let verified = try await audit.verify(at: now, checksSignature: connection.auditKey != nil)
        if let fault = verified.fault {
            throw StorageError(
                code: .corrupt,
                message:
                    "\(connection.path): entry \(fault.sequence) of the audit log is not as it was written: \(fault.detail); "
                    + "\"headroom audit verify\" tells the same of the database")
        }
        let newest =
            try connection.statement(
                """
                SELECT max(at) FROM (
                    SELECT max(received_ms) AS at FROM arrival UNION ALL SELECT max(issued_at_ms) FROM snapshot)
                """
            ).first { $0.isNull(0) ? nil : Timestamp(milliseconds: $0.integer(0)) } ?? nil
        let epoch = try connection.statement("SELECT epoch FROM ledger").first { $0.integer(0) } ?? 0
        return DatabaseBackup.Outcome(
            bytes: bytes, auditEntries: verified.sequence, isSignatureUnchecked: isSigned && connection.auditKey == nil,
            newest: newest, epoch: epoch)
    }
}
