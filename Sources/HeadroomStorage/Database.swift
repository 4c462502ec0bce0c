import Glibc
import HeadroomModel

/// Headroom's SQLite file: opened, checked, migrated, and the stores on it.
///
/// One connection writes, and all that write share its thread; telemetry is read on another.
package final class Database: Sendable {
    package enum Use: Sendable {
        /// Serves: only one at a time may.
        case service
        /// A command of a few rows, which may run beside a service.
        case command
    }

    package let path: String
    // Readers before writers: they close in this order, and only a writer that closes last empties the log.
    package let telemetryReader: TelemetryReader
    package let records: RecordReader
    package let audit: AuditReader
    package let telemetry: TelemetryStore
    package let contracts: ContractStore
    package let tokens: TokenStore
    package let snapshots: SnapshotStore
    package let steering: SteeringStore
    package let decisions: DecisionStore
    package let alerts: AlertStore
    package let ownLevels: OwnLevelStore
    package let checkpoints: RollupStore
    /// Reads and signs the audit log on the connection that writes.
    package let auditSigner: AuditReader
    /// The migrations that opening it applied.
    package let applied: [String]

    package let clockMark: ClockMark

    private let writer: SQLiteConnection
    private let checkpointer: SQLiteCheckpointer
    private let files: DatabaseFiles
    private let lock: DatabaseLock?

    /// How long a service waits for a lock that another process has, in milliseconds: telemetry and acts are refused after
    /// it. A command has the time to wait for a whole import.
    private static let serviceBusyMilliseconds: Int32 = 1_000
    private static let commandBusyMilliseconds: Int32 = 5_000
    /// How long the start of a service waits: nobody is served yet, and a program that copies or repairs the file takes
    /// seconds.
    package static let startSeconds = 30

    /// Blocks: call it when starting.
    /// - Parameters:
    ///   - time: the one clock of the process: what a caller enters as of now holds now.
    ///   - onLock: takes the sentence that the start waits for another program. With it a service waits for locks up to
    ///     ``startSeconds`` each until ``beginServing()``.
    package init(
        path: String, use: Use, coding: SnapshotStore.Coding, settings: TelemetrySettings = TelemetrySettings(),
        auditKey: AuditKey? = nil, time: TimeSource, onLock: ((String) -> Void)? = nil
    ) throws(StorageError) {
        let now = time.now()
        try Self.checkIsFile(path)
        try Migrator.refuseForeignFile(path)
        self.path = path
        if use == .service {
            lock = try DatabaseLock(databasePath: path)
        } else {
            DatabaseFiles.create(path)
            lock = nil
        }
        let executor = DiskExecutor(label: "headroom.writer")
        let busyMilliseconds =
            switch use {
            case .service: onLock == nil ? Self.serviceBusyMilliseconds : Int32(Self.startSeconds) * 1_000
            case .command: Self.commandBusyMilliseconds
            }
        let writer = try SQLiteConnection(
            path: path, access: .readWrite, executor: executor, busyMilliseconds: busyMilliseconds)
        self.writer = writer
        writer.auditKey = auditKey
        applied = try executor.performAndWait {
            if let onLock, try writer.isWriteLocked(forMilliseconds: Self.serviceBusyMilliseconds) {
                onLock("\(path): another program writes; the start waits for it, \(Self.startSeconds) seconds at most")
            }
            let applied = try Migrator(connection: writer).migrate(at: now)
            if use == .service { try writer.checkIntegrity() }
            try AuditLog(connection: writer).signIfNew()
            return applied
        }
        checkpointer = try SQLiteCheckpointer(writer: writer)
        telemetry = try TelemetryStore(connection: writer, settings: settings, now: now)
        telemetryReader = try TelemetryReader(path: path)
        contracts = ContractStore(connection: writer)
        tokens = TokenStore(connection: writer)
        snapshots = SnapshotStore(connection: writer, coding: coding)
        steering = SteeringStore(connection: writer, coding: coding, time: time)
        decisions = try DecisionStore(connection: writer)
        alerts = AlertStore(connection: writer, time: time)
        ownLevels = OwnLevelStore(connection: writer)
        checkpoints = try RollupStore(connection: writer)
        let reader = try SQLiteConnection(
            path: path, access: .readOnly, executor: DiskExecutor(label: "headroom.records"))
        reader.auditKey = auditKey
        records = try RecordReader(connection: reader, coding: coding)
        audit = AuditReader(connection: reader)
        auditSigner = AuditReader(connection: writer)
        clockMark = ClockMark(connection: writer)
        files = DatabaseFiles(path: path)
        files.restrict()
    }

    /// The start is over: from here on a service waits for locks as long as its callers may.
    package func beginServing() throws(StorageError) {
        try writer.executor.performAndWait { writer.busyMilliseconds = Self.serviceBusyMilliseconds }
    }

    /// A fault of the files under the running service; `nil` while all are in their places.
    package var fileFault: String? { files.fault }

    /// What SQLite takes in this process, and what is held of who reports.
    package var memory: [MemoryShare] {
        [
            MemoryShare(owner: "sqlite", bytes: SQLiteConnection.memoryBytes),
            MemoryShare(owner: "reporters", bytes: telemetry.memoryBytes),
        ]
    }

    /// Empties the write-ahead log, so that the database file alone is whole. The last call before a service ends;
    /// blocks for a second at most.
    package func finish() throws(StorageError) {
        try checkpointer.truncateLog()
    }

    /// Deletes a bounded part of what `policy` keeps no longer, some 10,000 rows of each kind at most, and returns how many rows: call again
    /// until that is none.
    ///
    /// The ledger and the explanations are each bounded by the policy's bytes. What people said goes as long after its
    /// end as minutes are kept; the audit log stays.
    package func prune(_ policy: TelemetryPolicy, at now: Timestamp) async throws(StorageError) -> Int {
        func before(hours: Double) -> Timestamp { now.adding(seconds: -hours * 3600) }
        let ledger = before(hours: policy.ledgerHours)
        var deleted = try await telemetry.prune(before: before(hours: policy.rawHours))
        deleted += try await snapshots.prune(before: ledger, maxBytes: policy.ledgerBytes)
        deleted += try await decisions.prune(
            keepingSeconds: policy.ledgerHours * 3600, maxBytes: policy.ledgerBytes)
        deleted += try await checkpoints.prune(.minute, before: before(hours: policy.minuteDays * 24))
        deleted += try await checkpoints.prune(.hour, before: before(hours: policy.hourDays * 24))
        deleted += try await checkpoints.prune(.day, before: before(hours: policy.hourDays * 24))
        deleted += try await decisions.pruneEvents(before: before(hours: policy.hourDays * 24))
        try await checkpoints.pruneUses(at: now)
        deleted += try await steering.prune(before: before(hours: policy.minuteDays * 24))
        deleted += try await alerts.prune(before: before(hours: policy.minuteDays * 24))
        deleted += try await ownLevels.prune(before: before(hours: policy.minuteDays * 24))
        // One that a kill interrupted.
        if try await contracts.continueErasures() { deleted += 1 }
        return deleted
    }

    /// SQLite takes some names for databases that end with the process; nothing acknowledged may.
    static func checkIsFile(_ path: String) throws(StorageError) {
        guard !path.isEmpty, path != ":memory:" else {
            throw StorageError(code: .cannotOpen, message: "\"\(path)\" is no name of a file; give one that stays")
        }
        var status = stat()
        guard unsafe stat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
            throw StorageError(
                code: .cannotOpen, message: "\(path): is a directory; name a file in it, as \(path)/headroom.sqlite")
        }
    }
}
