import Glibc
import HeadroomModel

/// A database file that is open: the connection that writes it, and what belongs to a file.
final class SQLiteDatabase: Sendable {
    let writer: SQLiteConnection
    /// The migrations that opening it applied.
    let applied: [String]
    private let checkpointer: SQLiteCheckpointer
    private let files: DatabaseFiles
    private let lock: DatabaseLock?

    /// How long a service waits for a lock that another process has, in milliseconds: telemetry and acts are refused after
    /// it. A command has the time to wait for a whole import.
    private static let serviceBusyMilliseconds: Int32 = 1_000
    private static let commandBusyMilliseconds: Int32 = 5_000

    /// Blocks: call it when starting.
    init(
        path: String, use: Database.Use, auditKey: AuditKey?, at now: Timestamp, onLock: ((String) -> Void)?
    ) throws(StorageError) {
        guard !Database.isServer(path) else { throw StorageError.withoutServers(path) }
        try Self.checkIsFile(path)
        try Migrator.refuseForeignFile(path)
        if use == .service {
            lock = try DatabaseLock(databasePath: path)
        } else {
            DatabaseFiles.create(path)
            lock = nil
        }
        let executor = DiskExecutor(label: "headroom.writer")
        let busyMilliseconds =
            switch use {
            case .service: onLock == nil ? Self.serviceBusyMilliseconds : Int32(Database.startSeconds) * 1_000
            case .command: Self.commandBusyMilliseconds
            }
        let writer = try SQLiteConnection(
            path: path, access: .readWrite, executor: executor, busyMilliseconds: busyMilliseconds)
        self.writer = writer
        writer.auditKey = auditKey
        applied = try executor.performAndWait {
            if let onLock, try writer.isWriteLocked(forMilliseconds: Self.serviceBusyMilliseconds) {
                onLock(
                    "\(path): another program writes; the start waits for it, \(Database.startSeconds) seconds at most")
            }
            let applied = try Migrator(connection: writer).migrate(at: now)
            if use == .service { try writer.checkIntegrity() }
            return applied
        }
        checkpointer = try SQLiteCheckpointer(writer: writer)
        files = DatabaseFiles(path: path)
    }

    /// A connection that only reads, with a thread of its own.
    func reader(_ label: String) throws(StorageError) -> SQLiteConnection {
        let reader = try SQLiteConnection(path: writer.path, access: .readOnly, executor: DiskExecutor(label: label))
        reader.auditKey = writer.auditKey
        return reader
    }

    /// Once all connections are open.
    func restrictFiles() { files.restrict() }

    func beginServing() throws(StorageError) {
        try writer.executor.performAndWait { writer.busyMilliseconds = Self.serviceBusyMilliseconds }
    }

    /// A fault of the files under the running service; `nil` while all are in their places.
    var fault: String? { files.fault }

    /// What SQLite takes in this process.
    var memory: [MemoryShare] { [MemoryShare(owner: "sqlite", bytes: SQLiteConnection.memoryBytes)] }

    func finish() throws(StorageError) {
        try checkpointer.truncateLog()
    }

    /// SQLite takes some names for databases that end with the process; nothing acknowledged may.
    static func checkIsFile(_ path: String) throws(StorageError) {
        guard !Database.isServer(path) else {
            throw StorageError(
                code: .cannotOpen,
                message: "\(Database.withoutPassword(path)): is a server's database, and no file: \"pg_dump\" copies it"
            )
        }
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
