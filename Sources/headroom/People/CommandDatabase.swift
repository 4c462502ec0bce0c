import Foundation
import HeadroomModel
import HeadroomStorage

/// The database, a file or a server's, of a command of a few rows, which may run beside a service.
enum CommandDatabase {
    static let option = ["--database": "FILE"]

    /// - Parameter mustExist: a command that only looks does not leave an empty file where a name was misspelt.
    /// - Parameter coding: by default none: most commands neither publish nor read what was published.
    static func open(
        _ arguments: Arguments, mustExist: Bool = false, coding: SnapshotStore.Coding = noSnapshots
    ) throws -> Database {
        let path = arguments["--database"] ?? Defaults.database
        if mustExist, !Database.isServer(path), !FileManager.default.fileExists(atPath: path) {
            throw CommandError(
                "\(path): no such database; name it with --database FILE, or make one with \"headroom migrate\"")
        }
        return try Database(
            path: path, use: .command, coding: coding, auditKey: try AuditKeyFile.read(arguments), time: TimeSource(now)
        )
    }

    static let noSnapshots = SnapshotStore.Coding(
        encode: { _ in throw CommandError("a command publishes no snapshots") },
        decode: { _ in throw CommandError("a command reads no snapshots") })

    static func now() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }
}

/// The file with the key that signs the audit log: `--audit-key`, else `HEADROOM_AUDIT_KEY`.
enum AuditKeyFile {
    static let option = ["--audit-key": "FILE"]

    /// `nil` where none is named.
    static func read(_ arguments: Arguments) throws(CommandError) -> AuditKey? {
        guard let path = arguments["--audit-key"] ?? ServiceClient.setting("HEADROOM_AUDIT_KEY") else { return nil }
        guard let key = AuditKey(try Terminal.read(path)) else {
            throw CommandError(
                "\(path): a key has at least \(AuditKey.leastBytes) bytes; \"openssl rand -out FILE 32\" makes one")
        }
        return key
    }
}
