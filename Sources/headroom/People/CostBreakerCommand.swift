import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `headroom cost-breaker`: whose spending is held back, and lifts of that.
enum CostBreakerCommand {
    static let help = """
        usage: headroom cost-breaker [list]
               headroom cost-breaker lift --tenant T | --task-kind K --reason TEXT --expires-in D
               headroom cost-breaker end ID

        The cost breaker slows, and then pauses, a tenant or a kind of agent task whose spending is projected to cross its
        ceiling before the window ends; cost_breaker in policies/rules.json5 states ceilings and window. list shows those
        that are held or past half of their ceilings, and the lifts in force. A lift lets one spend on until it ends; "end"
        ends it early. lift and end take the role sre or admin.

          --tenant T          the tenant that may spend on
          --task-kind K       the kind of task that may, of all tenants
        \(Arguments.reasonHelp)
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        switch arguments.first {
        case "lift": return try await lift(Array(arguments.dropFirst()))
        case "end": return try await end(Array(arguments.dropFirst()))
        case "list": return try await list(Array(arguments.dropFirst()))
        default: return try await list(arguments)
        }
    }

    private static func list(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: ServiceClient.option)
        let answer = try await ServiceClient(arguments).call("GET", "v1/cost-breaker")
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        guard answer.json["on"]?.bool == true else {
            Terminal.print("There are no ceilings: cost_breaker in policies/rules.json5 states them.")
            return 0
        }
        var table = TextTable(["SUBJECT", "STATE", "SPENT", "PROJECTED", "CEILING", "UNTIL"])
        for subject in answer.json["subjects"]?.array ?? [] {
            let due = subject["due"]?.string.map { _ in ", at \(AnswerText.instant(subject["due"]))" } ?? ""
            table.add([
                name(subject), AnswerText.string(subject["state"]) + due, money(subject["spent_micros"]),
                "\(money(subject["projected_micros"])) (\(money(subject["projected_least_micros"])) to "
                    + "\(money(subject["projected_most_micros"])))",
                "\(money(subject["ceiling_micros"])) \(AnswerText.string(subject["currency"]))",
                AnswerText.instant(subject["until"]),
            ])
        }
        var lifts = TextTable(["LIFT", "SUBJECT", "BY", "UNTIL", "REASON"])
        for lift in answer.json["lifts"]?.array ?? [] {
            lifts.add([
                AnswerText.id(lift["id"]), name(lift), AnswerText.string(lift["author"]),
                AnswerText.instant(lift["until"]), AnswerText.string(lift["reason"]),
            ])
        }
        Terminal.print(table.text)
        if answer.json["lifts"]?.array?.isEmpty == false { Terminal.print("\n" + lifts.text) }
        return 0
    }

    private static func lift(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T", "--task-kind": "K"].merging(Arguments.reasonAndEnd) { $1 }
            .merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let kind = arguments["--task-kind"]
        guard let subject = tenant.map(CostSubject.tenant) ?? kind.map(CostSubject.taskKind),
            (tenant == nil) != (kind == nil)
        else { throw UsageError("say either --tenant T or --task-kind K: who may spend on") }
        let request = LiftRequest(
            subject: subject, reason: try arguments.reason(), expiresInSeconds: try arguments.end())
        let answer = try await ServiceClient(arguments).call("POST", "v1/cost-breaker/lifts", body: request.encoded())
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else {
            Terminal.print(
                "lift \(AnswerText.id(answer.json["id"])): \(subject) may spend on until "
                    + AnswerText.instant(answer.json["until"]))
        }
        return 0
    }

    private static func end(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: ServiceClient.option, maxPositionals: 1)
        let id = try arguments.id(shownBy: "\"headroom cost-breaker\"")
        _ = try await ServiceClient(arguments).call("DELETE", "v1/cost-breaker/lifts/\(id)")
        Terminal.error("lift \(id) is ended")
        return 0
    }

    private static func name(_ node: JSONNode) -> String {
        node["tenant"]?.string ?? "task kind \(AnswerText.string(node["task_kind"]))"
    }

    private static func money(_ node: JSONNode?) -> String { node?.number.map(CostBreak.money) ?? "-" }
}
