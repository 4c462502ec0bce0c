import HeadroomModel

/// Headroom's database: opened, checked, migrated, and the stores on it.
///
/// One connection writes, and all that write share its thread; telemetry is read on another.
package final class Database: Sendable {
    package enum Use: Sendable {
        /// Serves: only one at a time may.
        case service
        /// A command of a few rows, which may run beside a service.
        case command
    }

    /// The file; of a server the URL without its password.
    package let path: String
    // Readers before writers: they close in this order, and only a writer of SQLite that closes last empties the log.
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

    private let engine: SQLDatabase

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
        self.path = Self.withoutPassword(path)
        engine = try SQLDatabase(path: path, use: use, auditKey: auditKey, at: now, onLock: onLock)
        applied = engine.applied
        let writer = engine.writer
        try writer.executor.performAndWait { try AuditLog(connection: writer).signIfNew() }
        telemetry = try TelemetryStore(connection: writer, settings: settings, now: now)
        telemetryReader = try TelemetryReader(connection: engine.reader("headroom.reader"))
        contracts = ContractStore(connection: writer)
        tokens = TokenStore(connection: writer)
        snapshots = SnapshotStore(connection: writer, coding: coding)
        steering = SteeringStore(connection: writer, coding: coding, time: time)
        decisions = try DecisionStore(connection: writer)
        alerts = AlertStore(connection: writer, time: time)
        ownLevels = OwnLevelStore(connection: writer)
        checkpoints = try RollupStore(connection: writer)
        let reader = try engine.reader("headroom.records")
        records = try RecordReader(connection: reader, coding: coding)
        audit = AuditReader(connection: reader)
        auditSigner = AuditReader(connection: writer)
        clockMark = ClockMark(connection: writer)
        engine.restrictFiles()
    }

    /// Whether `path` is no file but the URL of a PostgreSQL server, as libpq takes it.
    package static func isServer(_ path: String) -> Bool {
        path.hasPrefix("postgres://") || path.hasPrefix("postgresql://")
    }

    /// `postgres://user:password@host/name` without `:password`; a file's path as it is.
    package static func withoutPassword(_ path: String) -> String {
        guard isServer(path), let scheme = path.firstRange(of: "://") else { return path }
        let authority = path[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
            return path
        }
        return String(path[..<colon] + path[at...])
    }

    /// Readers with threads of their own, for work that takes seconds, so that nothing else waits for it.
    package func readers(
        coding: SnapshotStore.Coding
    ) throws(StorageError) -> (telemetry: TelemetryReader, records: RecordReader) {
        (
            try TelemetryReader(connection: engine.reader("headroom.reader")),
            try RecordReader(connection: engine.reader("headroom.records"), coding: coding)
        )
    }

    /// The start is over: from here on a service waits for locks as long as its callers may.
    package func beginServing() throws(StorageError) {
        try engine.beginServing()
    }

    /// A fault of the files under the running service; `nil` while all are in their places.
    package var fileFault: String? { engine.fault }

    /// What the engine takes in this process, and what is held of who reports.
    package var memory: [MemoryShare] {
        engine.memory + [MemoryShare(owner: "reporters", bytes: telemetry.memoryBytes)]
    }

    /// Empties the write-ahead log, so that the database file alone is whole. The last call before a service ends;
    /// blocks for a second at most.
    package func finish() throws(StorageError) {
        try engine.finish()
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
}
