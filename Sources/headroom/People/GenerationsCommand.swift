import HeadroomJSON
import HeadroomModel

/// `headroom generations`: which there were, and what differs between two.
enum GenerationsCommand {
    static let help = """
        usage: headroom generations [--from T] [--to T] [--limit N]
               headroom generations A..B [--pool P] [--tenant T] [--limit N]

        Lists the generations that are kept, the newest first, with the pools in which numbers of tenants changed. A..B
        shows what differs between two of them: pools first, then the tenants whose assured rate moved most.

          --from T, --to T    RFC 3339, or milliseconds since 1970; "--to T --limit 1" is the one in force at T
          --pool P, --tenant T
                              only these
          --limit N           generations, or tenants a pool; default 20
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let options = ["--from": "T", "--to": "T", "--pool": "P", "--tenant": "T", "--limit": "N"]
        let arguments = try Arguments(
            arguments, flags: ["--json"], options: options.merging(ServiceClient.option) { $1 }, maxPositionals: 1)
        let limit = try arguments.integer("--limit", in: 1...1000) ?? 20
        return try await arguments.positionals.isEmpty
            ? list(arguments, limit) : difference(arguments.positionals[0], arguments, limit)
    }

    private static func list(_ arguments: Arguments, _ limit: Int) async throws -> Int32 {
        for option in ["--pool", "--tenant"] where arguments[option] != nil {
            throw UsageError("\(option) goes with two generations, as 1840..1842")
        }
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/generations",
            query: [("from", arguments["--from"]), ("to", arguments["--to"]), ("limit", String(limit))])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        var table = TextTable(["GENERATION", "ISSUED", "NUMBERS CHANGED OF"])
        for generation in answer.json["generations"]?.array ?? [] {
            let pools = (generation["pools"]?.array ?? []).map { pool in
                "\(AnswerText.number(pool["tenants"])) in \(AnswerText.string(pool["pool"]))"
            }
            table.add([
                AnswerText.id(generation["generation"]), AnswerText.instant(generation["issued_at"]),
                pools.isEmpty ? "-" : pools.joined(separator: ", "),
            ])
        }
        Terminal.print(table.text)
        if let next = answer.json["next"]?.string { Terminal.error("older ones follow: --to \(next)") }
        return 0
    }

    private static func difference(_ range: String, _ arguments: Arguments, _ limit: Int) async throws -> Int32 {
        for option in ["--from", "--to"] where arguments[option] != nil {
            throw UsageError("\(option) is for the list of generations: leave it out, or \(range)")
        }
        guard range.allSatisfy({ $0.isNumber || $0 == "." }), range.contains("..") else {
            throw UsageError("\"\(range)\": must be two generations, as 1840..1842")
        }
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/generations/\(range)",
            query: [("pool", arguments["--pool"]), ("tenant", arguments["--tenant"]), ("limit", String(limit))])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        let pools = answer.json["pools"]?.array ?? []
        if pools.isEmpty { Terminal.print("nothing that gateways enforce differs") }
        for pool in pools {
            Terminal.print(AnswerText.string(pool["pool"]))
            for (name, key) in [("state", "state"), ("mode", "mode"), ("capacity", "capacity"), ("budget", "budget")] {
                let (before, after) = (text(pool["before"]?[key]), text(pool["after"]?[key]))
                if before != after { Terminal.print("  \(name): \(before) -> \(after)") }
            }
            var table = TextTable(["  TENANT", "TIER", "WEIGHT", "ASSURED BEFORE", "ASSURED AFTER", "BINDING AFTER"])
            for tenant in pool["tenants"]?.array ?? [] {
                let (before, after) = (tenant["before"], tenant["after"])
                table.add([
                    "  " + AnswerText.string(tenant["tenant"]), change(before?["tier"], after?["tier"]),
                    change(before?["weight"], after?["weight"]), AnswerText.rates(before?["assured"]),
                    AnswerText.rates(after?["assured"]), AnswerText.string(after?["constraint"]),
                ])
            }
            let changed = Int(pool["tenants_changed"]?.number ?? 0)
            if changed > 0 { Terminal.print(table.text) }
            if changed > limit { Terminal.print("  and \(changed - limit) more: --limit \(min(1000, changed))") }
        }
        return 0
    }

    /// One value where both are the same.
    private static func change(_ before: JSONNode?, _ after: JSONNode?) -> String {
        let (old, new) = (text(before), text(after))
        return old == new ? new : "\(old) -> \(new)"
    }

    private static func text(_ node: JSONNode?) -> String {
        guard let node, !node.isNull else { return "-" }
        if let text = node.string { return text }
        if let number = node.number { return "\(number == number.rounded() ? String(Int64(number)) : String(number))" }
        return AnswerText.rates(node)
    }
}
