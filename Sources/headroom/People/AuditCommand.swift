import HeadroomJSON

/// `headroom audit`: who did what.
enum AuditCommand {
    static let help = """
        usage: headroom audit [--after N] [--limit N] [--json]

        The log of what people did, oldest first: one entry a line. Each entry's hash covers the one before it, so that
        none can be changed or taken out unseen. Takes the role sre or admin.

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
        if let next = answer.json["next"]?.number { Terminal.error("more follows: --after \(Int64(next))") }
        return 0
    }
}
