import HeadroomJSON
import HeadroomStorage

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
        usage: headroom audit verify [--head HEAD] [--database FILE]

        Goes through the whole audit log in FILE, beside a running service or without one, and says where it is not as it
        was written. Exit code 1 then. Prints the number and the hash of the last entry: kept elsewhere, they show that
        the log was not written anew from its beginning.

          --head HEAD       what this command printed earlier, or the service logged ("audit head 17 9f31…", hourly), or
                            headroom_audit_head_info of its metrics: it must still be in the log, so that rows that
                            were cut off the end, or a log that was written anew, are found
          --database FILE   default \(Defaults.database)
        """

    static func runVerify(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: ["--head": "HEAD"].merging(CommandDatabase.option) { $1 })
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
        return 0
    }
}
