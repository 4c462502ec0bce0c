import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import Synchronization

/// `headroom backup`: a copy of the database that is whole and verified.
enum BackupCommand {
    static let help = """
        usage: headroom backup FILE [--database FILE] [--replace] [--audit-key FILE]

        Copies the database to FILE, beside a running service or without one. The copy is one file, as the database was at
        one moment. It is called FILE only once all of it was read again, its audit log was verified, and it is on the disk.
        "headroom restore" puts it in the place of a database; "headroom serve --backup-directory" makes such copies by
        itself.

          --database FILE   default \(Defaults.database)
          --replace         a FILE that is there is replaced
          --audit-key FILE  also checks the audit log's signature; default HEADROOM_AUDIT_KEY
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--replace"], options: CommandDatabase.option.merging(AuditKeyFile.option) { $1 },
            maxPositionals: 1)
        guard let target = arguments.positionals.first else {
            throw UsageError("FILE is missing: where the copy goes, as backups/headroom.sqlite")
        }
        let auditKey = try AuditKeyFile.read(arguments)
        let outcome = try await untilInterrupted { goesOn in
            try await DatabaseBackup.make(
                of: arguments["--database"] ?? Defaults.database, to: target, replaces: arguments.has("--replace"),
                auditKey: auditKey, at: CommandDatabase.now(), while: goesOn)
        }
        Terminal.print(outcome.sentence(of: target))
        return 0
    }

    static let restoreHelp = """
        usage: headroom restore FILE [--database FILE] [--above EPOCH] [--audit-key FILE]

        Puts a copy of FILE, which "headroom backup" made, in the place of the database. FILE is read through and its audit
        log verified first. No service may have the database open. A database that was there stays beside it, as
        NAME.replaced-20261125T161500Z. What came after FILE was made is lost: telemetry, decisions, and what people said.

        Gateways follow the service that is started on it, since its epoch is above every earlier one: above that of the
        database that it replaces, and at least the seconds since 1970. On another machine whose clock may be behind, say
        --above with what a gateway has: the number before the dot of "applied" in the gate's /v1/state.

          --database FILE   default \(Defaults.database)
          --above EPOCH     the next start's epoch is above this one, too
          --audit-key FILE  also checks the audit log's signature; default HEADROOM_AUDIT_KEY
        """

    static func runRestore(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments,
            options: ["--above": "EPOCH"].merging(CommandDatabase.option) { $1 }.merging(AuditKeyFile.option) { $1 },
            maxPositionals: 1)
        guard let backup = arguments.positionals.first else {
            throw UsageError("FILE is missing: what \"headroom backup\" made")
        }
        let path = arguments["--database"] ?? Defaults.database
        let above = try arguments.integer("--above", in: 0...1 << 52) ?? 0
        let auditKey = try AuditKeyFile.read(arguments)
        let now = CommandDatabase.now()
        let kept = "\(path).replaced-\(now.fileStamp)"
        let (outcome, hasReplaced) = try await untilInterrupted { goesOn in
            try await DatabaseBackup.restore(
                backup, to: path, keeping: kept, above: Int64(above), auditKey: auditKey, at: now, while: goesOn)
        }
        Terminal.print(outcome.sentence(of: path))
        if hasReplaced { Terminal.print("the database that was there is \(kept)") }
        return 0
    }

    /// A signal ends the work in order, so that no half of a copy is left.
    private static func untilInterrupted<Result>(
        _ work: (_ goesOn: @escaping @Sendable () -> Bool) async throws -> Result
    ) async throws -> Result {
        let isInterrupted = Interruption()
        let signals = StopSignals { isInterrupted.note() }
        defer { signals.cancel() }
        return try await work { !isInterrupted.wasNoted }
    }
}

extension DatabaseBackup.Outcome {
    /// One line for the terminal and the log.
    func sentence(of path: String) -> String {
        let size = GroupedNumber.plain((Double(bytes) / 1e5).rounded() / 10)
        let age = newest.map { "newest row of \(RFC3339.format(milliseconds: $0.milliseconds))" } ?? "no telemetry yet"
        let signature = isSignatureUnchecked ? "; its signature was not checked: name the key by --audit-key" : ""
        return
            "\(path): \(size) MB, \(age), epoch \(epoch), \(auditEntries) entries of the audit log as they were written"
            + signature
    }
}

extension Timestamp {
    /// `20261125T161500Z`: names of files sort by time.
    var fileStamp: String {
        RFC3339.format(milliseconds: milliseconds).filter { !"-:".contains($0) }.prefix { $0 != "." && $0 != "Z" } + "Z"
    }
}
