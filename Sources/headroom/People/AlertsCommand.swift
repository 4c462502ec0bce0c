import HeadroomJSON
import HeadroomModel
import HeadroomStorage
import HeadroomWire

/// `headroom alerts`: what a person should look at, and what they say of it.
enum AlertsCommand {
    static let help = """
        usage: headroom alerts [list] [--state S] [--kind K] [--pool P] [--tenant T]
               headroom alerts acknowledge ID --reason TEXT
               headroom alerts mute ID --reason TEXT --expires-in D
               headroom alerts apply ID [--tenant T] --revision R

        An alert opens when something needs a person, and closes by itself when its cause is gone. acknowledge says that
        somebody looks after it. mute lets nobody be notified of it until the end, also when it comes again. apply makes the
        call that the alert recommends, with your token, as the list shows it and no other: the list prints its revision, and
        without one apply shows the call and makes none. What goes beyond your limits becomes a question to a second person.

          --state S           one of \(states.joined(separator: ", ")); default open and acknowledged
          --kind K            as starvation; "headroom alerts --state all" shows some
          --pool P
          --tenant T          alerts that are about this tenant; for apply, whose recommendation it is
          --revision R        of the recommendation that you have read
        \(Arguments.reasonHelp)
        \(ServiceClient.help)
        """

    private static let states = AlertState.allCases.map(\.rawValue) + ["all"]

    static func run(_ arguments: [String]) async throws -> Int32 {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "acknowledge": return try await act("acknowledge", isMute: false, rest)
        case "mute": return try await act("mute", isMute: true, rest)
        case "apply": return try await apply(rest)
        case "list": return try await list(rest)
        case let word? where !word.hasPrefix("-"):
            throw UsageError("\"\(word)\": must be list, acknowledge, mute or apply")
        default: return try await list(arguments)
        }
    }

    private static func list(_ arguments: [String]) async throws -> Int32 {
        let options = ["--state": "S", "--kind": "K", "--pool": "P", "--tenant": "T"]
            .merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        if let state = arguments["--state"], !states.contains(state) {
            throw UsageError("--state \"\(state)\": must be one of \(states.joined(separator: ", "))")
        }
        if let kind = arguments["--kind"], AlertKind(rawValue: kind) == nil {
            let kinds = AlertKind.allCases.map(\.rawValue)
            throw UsageError(
                "--kind \"\(kind)\": must be one of \(kinds.joined(separator: ", "))"
                    + NearestName.question(kind, among: kinds))
        }
        let pool: PoolID? = try arguments.identifier("--pool")
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/alerts",
            query: [
                ("state", arguments["--state"]), ("kind", arguments["--kind"]), ("pool", pool?.text),
                ("tenant", tenant?.text),
            ])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        let blocks = (answer.json["alerts"]?.array ?? []).map(describe)
        Terminal.print(blocks.isEmpty ? "no alerts" : blocks.joined(separator: "\n\n"))
        return 0
    }

    /// Members that are listed one by one; the count says how many more there are.
    private static let maxDescribed = 3

    private static func describe(_ alert: JSONNode) -> String {
        let id = AnswerText.id(alert["id"])
        let severity = AnswerText.string(alert["severity"])
        let tint: TerminalColor.Tint? = ["critical": .bad, "warning": .warning][severity]
        var head =
            "\(id)  \(TerminalColor.paint(severity, alert["closed_at"]?.isNull == false ? nil : tint)), "
            + "\(AnswerText.string(alert["kind"])), "
            + "\(AnswerText.string(alert["state"])), since \(AnswerText.instant(alert["since"]))"
        if alert["closed_at"]?.isNull == false { head += ", closed at \(AnswerText.instant(alert["closed_at"]))" }
        var lines = [head, "    \(AnswerText.string(alert["sentence"]))"]
        if let outcome = alert["outcome"]?.string { lines.append("    at its end: \(outcome)") }
        let members = alert["members"]?.array ?? []
        for (place, member) in members.prefix(maxDescribed).enumerated() {
            // The first one's sentence is part of the alert's own.
            if place > 0 { lines.append("    \(AnswerText.string(member["sentence"]))") }
            guard let recommendation = member["recommendation"], !recommendation.isNull else { continue }
            lines.append("    do: \(AnswerText.string(recommendation["sentence"]))")
            if recommendation["call"]?.isNull == false, alert["closed_at"]?.isNull != false {
                let tenant = members.count > 1 ? member["tenant"]?.string : nil
                lines.append("        " + command(id, tenant, recommendation))
            }
        }
        let more = (alert["count"]?.number ?? 0) - Double(maxDescribed)
        if more > 0 { lines.append("    and \(Int(more)) more; --json has the first 20") }
        if let acknowledged = alert["acknowledged"], !acknowledged.isNull {
            lines.append(
                "    acknowledged by \(AnswerText.string(acknowledged["author"])) at "
                    + "\(AnswerText.instant(acknowledged["at"])): \(AnswerText.string(acknowledged["reason"]))")
        }
        if let mute = alert["muted"], !mute.isNull {
            lines.append(
                "    muted by \(AnswerText.string(mute["author"])) until \(AnswerText.instant(mute["until"])): "
                    + AnswerText.string(mute["reason"]))
        }
        return lines.joined(separator: "\n")
    }

    /// The command that applies a recommendation as it is.
    private static func command(_ id: String, _ tenant: String?, _ recommendation: JSONNode) -> String {
        "headroom alerts apply \(id)\(tenant.map { " --tenant \($0)" } ?? "") --revision \(revision(of: recommendation))"
    }

    /// Of its words and its call: another call has another one. Eight digits tell the few that a person reads apart.
    private static func revision(of recommendation: JSONNode) -> String {
        String(SHA256.hexadecimalDigest(of: recommendation.encoded()).prefix(8))
    }

    private static func act(_ verb: String, isMute: Bool, _ arguments: [String]) async throws -> Int32 {
        let options = (isMute ? Arguments.reasonAndEnd : ["--reason": "TEXT"]).merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options, maxPositionals: 1)
        let id = try arguments.id(shownBy: "\"headroom alerts\"")
        let request = AlertRequest(
            reason: try arguments.reason(), expiresInSeconds: isMute ? try arguments.end() : nil)
        let answer = try await ServiceClient(arguments).call("POST", "v1/alerts/\(id)/\(verb)", body: request.encoded())
        Terminal.print(
            bytes: arguments.has("--json")
                ? answer.body + [UInt8(ascii: "\n")] : Array((describe(answer.json) + "\n").utf8))
        return 0
    }

    private static func apply(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T", "--revision": "R"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options, maxPositionals: 1)
        let id = try arguments.id(shownBy: "\"headroom alerts\"")
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let client = try ServiceClient(arguments)
        let alerts = try await client.call("GET", "v1/alerts").json["alerts"]?.array ?? []
        guard let alert = alerts.first(where: { $0["id"]?.number == Double(id) }) else {
            throw CommandError("no alert \(id) is open; \"headroom alerts\" lists them")
        }
        let offers = (alert["members"]?.array ?? []).filter { member in
            member["recommendation"]?["call"]?.isNull == false
                && (tenant == nil || member["tenant"]?.string == tenant?.text)
        }
        guard let recommendation = offers.first?["recommendation"], let call = recommendation["call"] else {
            throw CommandError("alert \(id) recommends no call\(tenant.map { " for \($0)" } ?? "")")
        }
        guard offers.count == 1 else {
            let names = offers.compactMap { $0["tenant"]?.string ?? $0["name"]?.string }.joined(separator: ", ")
            throw UsageError("alert \(id) is about several: name one of \(names) with --tenant")
        }
        guard arguments["--revision"] == revision(of: recommendation) else {
            let change = arguments["--revision"].map { "what it recommends is no longer revision \($0), and " } ?? ""
            throw CommandError(
                "alert \(id): \(change)nothing was done. It recommends: "
                    + "\(AnswerText.string(recommendation["sentence"])) The call is "
                    + "\(String(decoding: call.encoded(), as: UTF8.self)). To make it: "
                    + command("\(id)", tenant?.text, recommendation))
        }
        let body = call["body"].flatMap { $0.isNull ? nil : $0.encoded() }
        let answer = try await client.call(
            AnswerText.string(call["method"]), String(AnswerText.string(call["path"]).dropFirst()), body: body)
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else if answer.status == 202 {
            Terminal.print(
                "approval \(AnswerText.id(answer.json["approval"]?["id"])) is needed from a second person: "
                    + "\"headroom approvals\"")
        } else {
            Terminal.print("done: \(AnswerText.string(recommendation["sentence"]))")
        }
        return 0
    }
}
