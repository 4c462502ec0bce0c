import HeadroomJSON
import HeadroomStorage
import HeadroomWire

/// `headroom audit`: who did what.
enum AuditCommand {
    static let help = """
        usage: headroom audit [--after N] [--limit N] [--json]

        The log of what people did, oldest first: one entry a line. Each entry's hash covers the one before it, and the
        newest one's is kept apart as well, so that "headroom audit verify" finds what was changed, put in or taken out. A
        service verifies the log when it starts. Takes the role sre or admin.

          --after N           only what follows the entry N; default 0
          --limit N           1 to 1000; default 100
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let options = ["--after": "N", "--limit": "N"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        let after = try arguments.integer("--after", in: 0...Int.max)
        let limit = try arguments.integer("--limit", in: 1...1000)
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/audit", query: [("after", after.map(String.init)), ("limit", limit.map(String.init))])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        var table = TextTable(["N", "AT", "BY", "ACTION", "DETAIL"])
        for entry in answer.json["entries"]?.array ?? [] {
            let detail = entry["detail"].map { String(decoding: $0.encoded(), as: UTF8.self) } ?? ""
            table.add([
                AnswerText.id(entry["sequence"]), AnswerText.instant(entry["at"]), AnswerText.string(entry["author"]),
                AnswerText.string(entry["action"]), detail,
            ])
        }
        Terminal.print(table.text)
        report(answer.json["verified"])
        if let next = answer.json["next"]?.number { Terminal.error("more follows: --after \(Int64(next))") }
        return 0
    }

    /// Prints the service's result of verifying the log.
    private static func report(_ verified: JSONNode?) {
        guard let verified, let sequence = verified["sequence"]?.number else { return }
        if let detail = verified["fault"]?["detail"]?.string {
            return Terminal.error("NOT AS IT WAS WRITTEN: \(detail)")
        }
        Terminal.error("verified up to entry \(Int64(sequence)), \(AnswerText.string(verified["hash"]))")
    }

    static let verifyHelp = """
        usage: headroom audit verify [--head HEAD] [--audit-key FILE] [--database FILE]

        Goes through the whole audit log in FILE, beside a running service or without one, and says where it is not as it
        was written. Exit code 1 then. Prints the number and the hash of the last entry: kept elsewhere, they show that
        the log was not written anew from its beginning.

          --head HEAD       what this command printed earlier, or the service logged ("audit head 17 9f31…", hourly), or
                            headroom_audit_head_info of its metrics: it must still be in the log, so that rows that
                            were cut off the end, or a log that was written anew, are found
          --audit-key FILE  the key that signs the log, so that the same is found without a noted head; default
                            HEADROOM_AUDIT_KEY
          --database FILE   default \(Defaults.database)
        """

    static func runVerify(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments,
            options: ["--head": "HEAD"].merging(CommandDatabase.option) { $1 }.merging(AuditKeyFile.option) { $1 })
        let noted = try arguments["--head"].map { text throws(UsageError) in
            guard let head = AuditHead(text) else {
                throw UsageError(
                    "--head \"\(text)\": must be a row's number and its hash, as \"17 9f31…\", or the hash alone")
            }
            return head
        }
        let database = try CommandDatabase.open(arguments, mustExist: true)
        let found = try await database.audit.verify(at: CommandDatabase.now(), noted: noted)
        if let fault = found.fault {
            throw CommandError("\(database.path): entry \(fault.sequence): \(fault.detail)")
        }
        Terminal.print("\(found.sequence) \(found.hash)")
        Terminal.error("\(database.path): all \(found.sequence) entries are as they were written")
        if try await database.audit.isSigned, try AuditKeyFile.read(arguments) == nil {
            Terminal.error("the log is signed, and the signature was not checked: name its key by --audit-key")
        }
        return 0
    }

    static let signHelp = """
        usage: headroom audit sign --audit-key FILE [--database FILE]

        Goes through the whole audit log and signs it, once; from then on every act signs it anew. Whoever can write the
        database, but has no key, can then neither change nor cut the log unseen. The service needs the key too
        (headroom serve --audit-key), and commands that write into the database take it from HEADROOM_AUDIT_KEY. An empty
        log needs no signing: it is signed from its first row on.

          --audit-key FILE  at least \(AuditKey.leastBytes) bytes, as "openssl rand -out FILE 32" makes; default HEADROOM_AUDIT_KEY
          --database FILE   default \(Defaults.database)
        """

    static func runSign(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, options: CommandDatabase.option.merging(AuditKeyFile.option) { $1 })
        guard try AuditKeyFile.read(arguments) != nil else { throw UsageError("--audit-key FILE is missing") }
        let database = try CommandDatabase.open(arguments, mustExist: true)
        let found = try await database.auditSigner.sign(at: CommandDatabase.now())
        if let fault = found.fault {
            throw CommandError("\(database.path): not signed: entry \(fault.sequence): \(fault.detail)")
        }
        Terminal.print("\(found.sequence) \(found.hash)")
        Terminal.error("\(database.path): all \(found.sequence) entries are signed")
        return 0
    }

    static let exportHelp = """
        usage: headroom audit export [--database FILE]

        Prints the whole audit log, oldest first, one JSON object a line, as GET /v1/audit has them: number, time (RFC 3339,
        UTC), author, action, detail, hash. Beside a running service or without one.

          --database FILE   default \(Defaults.database)
        """

    static func runExport(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: CommandDatabase.option)
        let database = try CommandDatabase.open(arguments, mustExist: true)
        var last: Int64 = 0
        while true {
            let entries = try await database.audit.entries(after: last, limit: 1000)
            guard let newest = entries.last else { return 0 }
            var bytes: [UInt8] = []
            for entry in entries {
                var writer = JSONWriter()
                writer.auditEntry(entry)
                bytes += writer.bytes + [UInt8(ascii: "\n")]
            }
            Terminal.print(bytes: bytes)
            last = newest.sequence
        }
    }
}
