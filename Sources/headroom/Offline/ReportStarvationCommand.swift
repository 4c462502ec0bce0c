import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import HeadroomWire

/// `headroom report starvation`: who was starved, when, and why, from the sums by minute and by hour.
enum ReportStarvationCommand {
    static let help = """
        usage: headroom report starvation [--days N] [--url URL | --database FILE] [--json]

        A tenant is starved in a pool while, for longer than the policy's time, it gets less than the policy's share of
        what it asks for and is entitled to. The report names every tenant that was, the longest starved first. It counts
        from the first underserved second on, as the alert does.

          WHY delivery      it did not get what it was given: look at its gateways and its retries
              shortage      the pool had lost capacity: look at the provider
          SPELLS            starved times with less than an hour between them; --json lists each
          WAIT              the longest wait of a queued call meanwhile
          GOT               tokens that it got of those that it asked for meanwhile

          --days N          how far to look back; default 30. Minutes are kept for 35 days unless the policy says
                            otherwise; older data is by hours
          --url URL         ask a running service, as HEADROOM_URL does; its token is taken from HEADROOM_TOKEN
          --database FILE   read the file, which has spells up to the last minute; default \(Defaults.database), where no service is named
          --json            one object: from, to, and the tenants with their spells
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let options = ["--days": "N"].merging(CommandDatabase.option) { first, _ in first }
            .merging(ServiceClient.option) { first, _ in first }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        let days = try arguments.number("--days", in: 0.01...3_660) ?? 30
        if arguments["--url"] != nil, arguments["--database"] != nil {
            throw UsageError("say either --url or --database")
        }
        let body =
            arguments["--database"] == nil && ServiceClient.isNamed(arguments)
            ? try await ask(arguments, days: days) : try await read(arguments, days: days)
        if arguments.has("--json") {
            Terminal.print(bytes: body + [UInt8(ascii: "\n")])
        } else {
            Terminal.print(text(try JSONNode.parse(body)))
        }
        return 0
    }

    private static func read(_ arguments: Arguments, days: Double) async throws -> [UInt8] {
        let to = CommandDatabase.now()
        let from = to.adding(seconds: -days * 86_400)
        let database = try CommandDatabase.open(arguments, mustExist: true)
        return StarvationAnswer(
            try await database.records.starvation(from: from, to: to, ongoing: []), from: from, to: to
        ).encoded()
    }

    /// By the service's clock, which the report's end is left to.
    private static func ask(_ arguments: Arguments, days: Double) async throws -> [UInt8] {
        let from = CommandDatabase.now().adding(seconds: -days * 86_400)
        return try await ServiceClient(arguments).call(
            "GET", "v1/starvation", query: [("from", String(from.milliseconds))]
        ).body
    }

    private static func text(_ answer: JSONNode) -> String {
        let tenants = answer["tenants"]?.array ?? []
        guard !tenants.isEmpty else {
            return
                "Nobody was starved from \(AnswerText.instant(answer["from"])) to \(AnswerText.instant(answer["to"]))."
        }
        var table = TextTable(["TENANT", "POOL", "STARVED", "SPELLS", "LONGEST", "FIRST", "LAST", "WHY", "WAIT", "GOT"])
        for tenant in tenants {
            table.add([
                AnswerText.string(tenant["tenant"]), AnswerText.string(tenant["pool"]),
                minutes(tenant["starved_seconds"]), "\(tenant["spells"]?.array?.count ?? 0)",
                minutes(tenant["longest_spell_seconds"]), AnswerText.instant(tenant["first"]),
                AnswerText.instant(tenant["last"]), AnswerText.string(tenant["reason"]),
                "\(AnswerText.number(tenant["longest_wait_seconds"])) s", got(tenant),
            ])
        }
        return table.text
    }

    private static func minutes(_ seconds: JSONNode?) -> String {
        "\(TextTable.number((seconds?.number ?? 0) / 60)) min"
    }

    private static func got(_ tenant: JSONNode) -> String {
        guard let asked = tenant["asked_tokens"]?.number, asked > 0 else { return "-" }
        return "\(TextTable.number((tenant["counted_tokens"]?.number ?? 0) / asked * 100)) %"
    }
}
