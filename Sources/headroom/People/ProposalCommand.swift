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
        usage: headroom \(name) [list] [--state S] [--tenant T] [--pool P]
               headroom \(name) show ID
               headroom \(name) \(yes) ID --revision R --reason TEXT [--expires-in D] [--tenants T,T]
               headroom \(name) \(no) ID --revision R --reason TEXT [--expires-in D] [--tenants T,T]

        \(about)

        The list names the largest changes of each; show prints all of them. Both print the revision, which changes with what
        is asked for: a decision on what has changed since you read it is refused, and says what changed.

          --state S           one of \(states.joined(separator: ", ")), or all; default pending
          --tenant T, --pool P
          --revision R        the revision that you have read
          --reason TEXT       why, for the audit log
          --expires-in D      how long the decision holds, as 90s, 15m, 12h, 30d, 8w; default what the policy says
          --tenants T,T       decide for these tenants alone, at most 500; the others keep waiting
        \(ServiceClient.help)
        """
    }

    func run(_ arguments: [String]) async throws -> Int32 {
        switch arguments.first {
        case yes, no: return try await decide(arguments[0], Array(arguments.dropFirst()))
        case "list": return try await list(Array(arguments.dropFirst()))
        case "show": return try await show(Array(arguments.dropFirst()))
        case let word? where !word.hasPrefix("-"): throw UsageError("\"\(word)\": must be list, show, \(yes) or \(no)")
        default: return try await list(arguments)
        }
    }

    private func list(_ arguments: [String]) async throws -> Int32 {
        let options = ["--state": "S", "--tenant": "T", "--pool": "P"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
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
        let blocks = (answer.json[name]?.array ?? []).map { describe($0) }
        Terminal.print(
            blocks.isEmpty ? "none\(state == "all" ? "" : " is \(state)")" : blocks.joined(separator: "\n\n"))
        return 0
    }

    private func show(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--json"], options: ServiceClient.option, maxPositionals: 1)
        let id = try arguments.id(shownBy: "\"headroom \(name)\"")
        let answer = try await ServiceClient(arguments).call("GET", "v1/\(name)/\(id)")
        Terminal.print(
            arguments.has("--json")
                ? String(decoding: answer.body, as: UTF8.self) : describe(answer.json, isWhole: true))
        return 0
    }

    /// Of one question in a list.
    private static let maxListedChanges = 5

    /// - Parameter isWhole: with every change, not only the largest.
    private func describe(_ proposal: JSONNode, isWhole: Bool = false) -> String {
        let place = AnswerText.string(proposal["pool"], or: "all pools")
        let isImport = proposal["kind"]?.string == "contracts"
        let changes = proposal["changes"]?.array ?? []
        let count = Int(proposal["change_count"]?.number ?? 0)
        let subject =
            if isImport, proposal["tenant"]?.string == Proposal.allTenants.text {
                "all tenants"
            } else if count == 0 {
                "\(AnswerText.string(proposal["tenant"])) in \(place)"
            } else {
                "\(place), \(count) tenant\(count == 1 ? "" : "s"), "
                    + "\(Int(proposal["raised"]?.number ?? 0)) more and \(Int(proposal["lowered"]?.number ?? 0)) less"
            }
        var lines = [
            "\(AnswerText.id(proposal["id"])), revision \(AnswerText.id(proposal["revision"]))  \(subject): "
                + "\(AnswerText.string(proposal["state"])), \(AnswerText.string(proposal["kind"])), asked by "
                + "\(AnswerText.string(proposal["author"])), until \(AnswerText.instant(proposal["until"]))"
        ]
        if let override = proposal["override"], !override.isNull {
            let tier = override["tier"]?.string.map { "tier \($0)" }
            let weight = override["weight"]?.number.map { "weight \(GroupedNumber.plain($0))" }
            let length = override["seconds"]?.number.map { "for \(GroupedNumber.duration(seconds: $0))" }
            lines.append("    to \([tier, weight, length].compactMap(\.self).joined(separator: " "))")
        }
        let reason = AnswerText.string(proposal["reason"])
        lines.append("    why: \(reason)")
        // Automation's reason is the first sentence of its evidence too.
        let evidence = (proposal["evidence"]?.array ?? []).compactMap(\.string)
        lines += evidence.filter { $0 != reason }.map { "    \($0)" }
        let shown = isWhole ? changes : Array(changes.prefix(Self.maxListedChanges))
        if !shown.isEmpty { lines.append(table("TENANT", shown)) }
        if count > shown.count {
            lines.append("    and \(count - shown.count) more: headroom \(name) show \(AnswerText.id(proposal["id"]))")
        }
        let effects = proposal["effects"]?.array ?? []
        if isWhole, !effects.isEmpty { lines.append(table("WHAT IT DOES TO OTHERS", effects)) }
        if let decision = proposal["decision"], !decision.isNull {
            lines.append(
                "    \(AnswerText.string(proposal["state"])) by \(AnswerText.string(decision["author"])): "
                    + "\(AnswerText.string(decision["reason"])), until \(AnswerText.instant(decision["until"]))")
        }
        return lines.joined(separator: "\n")
    }

    private func table(_ heading: String, _ changes: [JSONNode]) -> String {
        var table = TextTable(["    \(heading)", "FROM", "TO"])
        for change in changes {
            table.add([
                "    " + AnswerText.string(change["tenant"]), AnswerText.rates(change["from"]),
                AnswerText.rates(change["to"]),
            ])
        }
        return table.text
    }

    private func decide(_ verb: String, _ arguments: [String]) async throws -> Int32 {
        let options = Arguments.reasonAndEnd.merging(ServiceClient.option) { $1 }
            .merging(["--tenants": "T,T", "--revision": "R"]) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options, maxPositionals: 1)
        let tenants = try arguments["--tenants"].map { text in
            try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
                guard let tenant = TenantID(String(name)) else {
                    throw UsageError("--tenants \"\(name)\": must be names, separated by commas: \(TenantID.rule)")
                }
                return tenant
            }
        }
        let id = try arguments.id(shownBy: "\"headroom \(name)\"")
        guard let revision = arguments["--revision"].flatMap({ Int64($0) }), revision > 0 else {
            throw UsageError(
                "--revision must be the number that \"headroom \(name) show \(id)\" prints: the revision that you have read"
            )
        }
        let request = DecisionRequest(
            reason: try arguments.reason(), revision: revision,
            expiresInSeconds: try arguments.duration("--expires-in"), tenants: tenants)
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
