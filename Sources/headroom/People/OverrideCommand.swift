import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `headroom override`: raise or lower a tenant for a while.
enum OverrideCommand {
    static let help = """
        usage: headroom override set --tenant T [--pool P] [--tier TIER] [--weight W] --reason TEXT --expires-in D
               headroom override list [--tenant T] [--pool P]
               headroom override end ID

        set gives a tenant another tier or weight, in one pool or in all, from the next tick until it ends. What goes
        beyond the policy's override_limits waits for a second person: "headroom approvals" shows it.
        end needs no reason; one may end one's own, and the roles sre and admin any.

          --tenant T, --pool P
          --tier TIER         one of the policy's
          --weight W          in place of the tier's weight
        \(Arguments.reasonHelp)
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "set": return try await set(rest)
        case "list": return try await list(rest)
        case "end": return try await end(rest)
        default:
            throw UsageError(
                arguments.isEmpty ? "say set, list or end" : "\"\(arguments[0])\": must be set, list or end")
        }
    }

    private static func set(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T", "--pool": "P", "--tier": "TIER", "--weight": "W"]
            .merging(Arguments.reasonAndEnd) { $1 }.merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        guard let tenant: TenantID = try arguments.identifier("--tenant") else {
            throw UsageError("--tenant is missing: whom to raise or lower")
        }
        let weight = try arguments.number("--weight", in: SteeringLimits.weights)
        guard arguments["--tier"] != nil || weight != nil else {
            throw UsageError("--tier or --weight is missing: say what is to be in its place")
        }
        let request = OverrideRequest(
            tenant: tenant, pool: try arguments.identifier("--pool"), tier: arguments["--tier"], weight: weight,
            reason: try arguments.reason(), expiresInSeconds: try arguments.end())
        let answer = try await ServiceClient(arguments).call("POST", "v1/overrides", body: request.encoded())
        for warning in (answer.json["warnings"]?.array ?? []).compactMap(\.string) {
            Terminal.error("warning: \(warning)")
        }
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else if answer.status == 202 {
            let approval = answer.json["approval"]
            let id = AnswerText.id(approval?["id"])
            let reasons = (answer.json["reasons"]?.array ?? []).compactMap(\.string).map { "  \($0)" }
            Terminal.print((["approval \(id) is needed from a second person:"] + reasons).joined(separator: "\n"))
            Terminal.error("\"headroom approvals approve \(id) --reason TEXT\" gives it")
        } else {
            Terminal.print(sentence(answer.json))
        }
        return 0
    }

    private static func sentence(_ override: JSONNode) -> String {
        let place = override["pool"]?.string.map { "in \($0)" } ?? "in all pools"
        let tier = override["tier"]?.string.map { "in the tier \($0)" }
        let weight = override["weight"]?.number.map { "at the weight \(GroupedNumber.plain($0))" }
        let what = [tier, weight].compactMap(\.self).joined(separator: " ")
        return
            "override \(AnswerText.id(override["id"])): \(AnswerText.string(override["tenant"])) is \(what) \(place) "
            + "until \(AnswerText.instant(override["until"]))"
    }

    private static func list(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T", "--pool": "P"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let pool: PoolID? = try arguments.identifier("--pool")
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/overrides", query: [("tenant", tenant?.text), ("pool", pool?.text)])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        var table = TextTable(["ID", "TENANT", "POOL", "TIER", "WEIGHT", "BY", "UNTIL", "REASON"])
        for override in answer.json["overrides"]?.array ?? [] {
            table.add([
                AnswerText.id(override["id"]), AnswerText.string(override["tenant"]),
                AnswerText.string(override["pool"], or: "(all)"), AnswerText.string(override["tier"]),
                override["weight"]?.number.map(GroupedNumber.plain) ?? "-", AnswerText.string(override["author"]),
                AnswerText.instant(override["until"]), AnswerText.string(override["reason"]),
            ])
        }
        Terminal.print(table.text)
        return 0
    }

    private static func end(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: ServiceClient.option, maxPositionals: 1)
        let id = try arguments.id(shownBy: "\"headroom override list\"")
        _ = try await ServiceClient(arguments).call("DELETE", "v1/overrides/\(id)")
        Terminal.error("override \(id) is ended")
        return 0
    }
}
