import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `headroom approvals` and `headroom recommendations`: what waits for a person, and the person's word on it.
struct ProposalCommand: Sendable {
    let name: String
    /// How a person says yes and no.
    let yes: String
    let no: String
    let states: [String]
    let about: String

    static let approvals = ProposalCommand(
        name: "approvals", yes: "approve", no: "deny", states: ["pending", "approved", "denied", "expired"],
        about: """
            Changes beyond the policy's guardrails, and overrides and imports of contracts beyond its limits, wait here for
            a person of the role sre or admin; nobody decides on their own.
            """)
    static let recommendations = ProposalCommand(
        name: "recommendations", yes: "apply", no: "dismiss", states: ["pending", "applied", "dismissed", "expired"],
        about: """
            What automation would do in pools that do not move by themselves. A person of the role sre or admin applies
            it, or it expires.
            """)

    var help: String {
        """
        usage: headroom \(name) [list] [--state S] [--tenant T] [--pool P] [--full]
               headroom \(name) \(yes) ID --reason TEXT [--expires-in D]
               headroom \(name) \(no) ID --reason TEXT [--expires-in D]

        \(about)

          --state S           one of \(states.joined(separator: ", ")), or all; default pending
          --tenant T, --pool P
          --full              each with its evidence; without it, of a pool with many the largest changes
          --reason TEXT       why, for the audit log
          --expires-in D      how long the decision holds, as 90s, 15m, 12h, 30d, 8w; default what the policy says
        \(ServiceClient.help)
        """
    }

    func run(_ arguments: [String]) async throws -> Int32 {
        switch arguments.first {
        case yes, no: return try await decide(arguments[0], Array(arguments.dropFirst()))
        case "list": return try await list(Array(arguments.dropFirst()))
        case let word? where !word.hasPrefix("-"): throw UsageError("\"\(word)\": must be list, \(yes) or \(no)")
        default: return try await list(arguments)
        }
    }

    private func list(_ arguments: [String]) async throws -> Int32 {
        let options = ["--state": "S", "--tenant": "T", "--pool": "P"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json", "--full"], options: options)
        let state = arguments["--state"] ?? "pending"
        guard state == "all" || states.contains(state) else {
            throw UsageError("--state \"\(state)\": must be one of \(states.joined(separator: ", ")), all")
        }
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let pool: PoolID? = try arguments.identifier("--pool")
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/\(name)",
            query: [("state", state == "all" ? nil : state), ("tenant", tenant?.text), ("pool", pool?.text)])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        let blocks =
            arguments.has("--full")
            ? (answer.json[name]?.array ?? []).map { describe($0, isFull: true) } : summaries(of: answer.json)
        Terminal.print(
            blocks.isEmpty ? "none\(state == "all" ? "" : " is \(state)")" : blocks.joined(separator: "\n\n"))
        return 0
    }

    /// A pool with a few questions has each of them listed; of many the largest changes, in a line each.
    private func summaries(of answer: JSONNode) -> [String] {
        let proposals = answer[name]?.array ?? []
        return (answer["pools"]?.array ?? []).flatMap { pool in
            if pool["count"]?.number ?? 0 <= 2 {
                return proposals.filter { $0["pool"]?.string == pool["pool"]?.string }.map { describe($0) }
            }
            return [summary(pool, proposals)]
        }
    }

    private func summary(_ pool: JSONNode, _ proposals: [JSONNode]) -> String {
        func number(_ key: String) -> Int { Int(pool[key]?.number ?? 0) }
        let place = pool["pool"]?.string
        var lines = [
            "\(place ?? "all pools"): \(number("count")) \(name), \(number("raised")) raise a tenant and "
                + "\(number("lowered")) lower one; the largest:"
        ]
        var table = TextTable(["    ID", "TENANT", "STATE", "FROM", "TO", "UNTIL"])
        let movers = pool["movers"]?.array ?? []
        for mover in movers {
            // Of very many only the newest come one by one.
            guard let proposal = proposals.first(where: { $0["id"]?.number == mover.number }) else {
                table.add(["    " + AnswerText.id(mover), "-", "-", "-", "-", "-"])
                continue
            }
            let tier = proposal["override"]?["tier"]?.string.map { "tier \($0)" }
            let weight = proposal["override"]?["weight"]?.number.map { "weight \(GroupedNumber.plain($0))" }
            table.add([
                "    " + AnswerText.id(proposal["id"]), AnswerText.string(proposal["tenant"]),
                AnswerText.string(proposal["state"]), AnswerText.rates(proposal["from"]),
                tier ?? weight ?? AnswerText.rates(proposal["to"]), AnswerText.instant(proposal["until"]),
            ])
        }
        lines.append(table.text)
        let more = number("count") - movers.count
        lines.append(
            "    \(more > 0 ? "and \(more) more; " : "")the whole with its evidence: headroom "
                + "\(name)\(place.map { " --pool \($0)" } ?? "") --full")
        return lines.joined(separator: "\n")
    }

    /// - Parameter isFull: with every tenant that it changes, not only the first.
    private func describe(_ proposal: JSONNode, isFull: Bool = false) -> String {
        let place = AnswerText.string(proposal["pool"], or: "all pools")
        let isImport = proposal["kind"]?.string == "contracts"
        let subject = isImport ? "all tenants" : "\(AnswerText.string(proposal["tenant"])) in \(place)"
        var lines = [
            "\(AnswerText.id(proposal["id"]))  \(subject): "
                + "\(AnswerText.string(proposal["state"])), \(AnswerText.string(proposal["kind"])), asked by "
                + "\(AnswerText.string(proposal["author"])), until \(AnswerText.instant(proposal["until"]))"
        ]
        if let override = proposal["override"], !override.isNull {
            let tier = override["tier"]?.string.map { "tier \($0)" }
            let weight = override["weight"]?.number.map { "weight \(GroupedNumber.plain($0))" }
            let length = override["seconds"]?.number.map { "for \(GroupedNumber.duration(seconds: $0))" }
            lines.append("    to \([tier, weight, length].compactMap(\.self).joined(separator: " "))")
        } else if !isImport {
            lines.append("    from \(AnswerText.rates(proposal["from"])) to \(AnswerText.rates(proposal["to"]))")
        }
        let reason = AnswerText.string(proposal["reason"])
        lines.append("    why: \(reason)")
        // Automation's reason is the first sentence of its evidence too.
        let evidence = (proposal["evidence"]?.array ?? []).compactMap(\.string)
        lines += evidence.filter { $0 != reason }.map { "    \($0)" }
        let effects = proposal["effects"]?.array ?? []
        let shown = isFull ? effects : Array(effects.prefix(ProposalSummary.maxMovers))
        lines += shown.map { effect in
            "    \(AnswerText.string(effect["tenant"])): from \(AnswerText.rates(effect["from"])) to "
                + AnswerText.rates(effect["to"])
        }
        if effects.count > shown.count { lines.append("    and \(effects.count - shown.count) more: --full") }
        if let decision = proposal["decision"], !decision.isNull {
            lines.append(
                "    \(AnswerText.string(proposal["state"])) by \(AnswerText.string(decision["author"])): "
                    + "\(AnswerText.string(decision["reason"])), until \(AnswerText.instant(decision["until"]))")
        }
        return lines.joined(separator: "\n")
    }

    private func decide(_ verb: String, _ arguments: [String]) async throws -> Int32 {
        let options = Arguments.reasonAndEnd.merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options, maxPositionals: 1)
        let id = try arguments.id(shownBy: "\"headroom \(name)\"")
        let request = DecisionRequest(
            reason: try arguments.reason(), expiresInSeconds: try arguments.duration("--expires-in"))
        let answer = try await ServiceClient(arguments).call(
            "POST", "v1/\(name)/\(id)/\(verb)", body: request.encoded())
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else {
            Terminal.print(describe(answer.json))
        }
        return 0
    }
}
