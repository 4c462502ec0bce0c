import HeadroomStorage

/// `headroom migrate`: brings a database to this program's schema without starting a service.
enum MigrateCommand {
    static let help = """
        usage: headroom migrate [--database FILE]
               headroom migrate --from FILE --database postgres://USER@HOST/NAME

        Applies the migrations that FILE lacks, and prints the name of each. Makes the file where there is none.
        "headroom serve" does the same when it starts. Refuses a database from a newer Headroom, and one whose applied
        migrations read differently now.

        With --from it copies a database file to an empty database of a PostgreSQL server: contracts, tokens, what people
        said, the audit log to the byte, sums, decisions and the ledger, but no raw telemetry. No service may have either
        open. The service that is started there outranks the one before. FILE stays as it is.

          --database FILE   default \(Defaults.database)
          --from FILE       what is copied
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: ["--from": "FILE"].merging(CommandDatabase.option) { $1 })
        if let file = arguments["--from"] { return try await copy(file, arguments) }
        let database = try CommandDatabase.open(arguments)
        for name in database.applied { Terminal.print(name) }
        if database.applied.isEmpty { Terminal.error("\(database.path): nothing to do") }
        return 0
    }

    private static func copy(_ file: String, _ arguments: Arguments) async throws -> Int32 {
        guard let server = arguments["--database"] else {
            throw UsageError("--database is missing: the URL of an empty database, as postgres://user@host/name")
        }
        for (table, rows) in try Database.copy(file, to: server, at: CommandDatabase.now()) {
            Terminal.print("\(table) \(rows)")
        }
        let audit = try await CommandDatabase.open(arguments).audit
            .verify(at: CommandDatabase.now(), checksSignature: false)
        if let fault = audit.fault {
            throw CommandError("entry \(fault.sequence) of the audit log is not as it was written: \(fault.detail)")
        }
        Terminal.error(
            "\(Database.withoutPassword(server)): all of it, and \(audit.sequence) entries of the audit log as written")
        return 0
    }
}
