import HeadroomJSON
import HeadroomModel

/// `headroom slo`: what tenants and Headroom itself are held to, and how far that was kept.
enum LevelsCommand {
    static let help = """
        usage: headroom slo [--tenant T] [--pool P] [--tier T] [--limit N]

        A tenant is satisfied while it gets what it is due, and no call of it waits for longer than its tier's should. Its
        tier says for which part of the time in which it wants something that must be so (satisfied_share). Burn says how
        many times faster the level is missed than it may be: at 1, all that a month allows is used up at its end.

        Lists the tiers, then tenants, those that burn fastest first, then Headroom's own levels.

          --tenant T, --pool P, --tier T
                              only these
          --limit N           tenants; default 20
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T", "--pool": "P", "--tier": "T", "--limit": "N"]
        let arguments = try Arguments(
            arguments, flags: ["--json"], options: options.merging(ServiceClient.option) { $1 })
        let limit = try arguments.integer("--limit", in: 0...10_000) ?? 20
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let pool: PoolID? = try arguments.identifier("--pool")
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/slos",
            query: [
                ("tenant", tenant?.text), ("pool", pool?.text), ("tier", arguments["--tier"]),
                ("limit", String(limit)),
            ])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else {
            Terminal.print(text(answer.json))
        }
        return 0
    }

    private static let windows = ["1h", "24h", "30d"]

    private static func text(_ answer: JSONNode) -> String {
        var tiers = TextTable(["TIER", "TENANTS", "OBJECTIVE"] + heads)
        for tier in answer["tiers"]?.array ?? [] {
            tiers.add(
                [AnswerText.string(tier["tier"]), AnswerText.number(tier["tenants"]), percent(tier["objective"])]
                    + kept(tier))
        }
        var blocks = [tiers.text]
        let rows = answer["tenants"]?.array ?? []
        if !rows.isEmpty {
            var tenants = TextTable(["TENANT", "POOL", "TIER", "OBJECTIVE"] + heads + ["LONGEST WAIT, LAST HOUR"])
            for row in rows {
                let wait = row["windows"]?["1h"]?["longest_wait_seconds"]?.number ?? 0
                let most = row["longest_wait_seconds"]?.number ?? 0
                tenants.add(
                    [
                        AnswerText.string(row["tenant"]), AnswerText.string(row["pool"]),
                        AnswerText.string(row["tier"]), percent(row["objective"]),
                    ] + kept(row) + [
                        "\(GroupedNumber.duration(seconds: wait)) of \(GroupedNumber.duration(seconds: most))"
                    ])
            }
            blocks.append(tenants.text)
            let more = Int(answer["tenant_count"]?.number ?? 0) - rows.count
            if more > 0 { blocks.append("and \(more) more: --limit shows them") }
        }
        let taskTiers = answer["task_tiers"]?.array ?? []
        if !taskTiers.isEmpty {
            var table = TextTable(["AGENT TASKS", "TENANTS", "AT MOST", "OBJECTIVE"] + heads)
            for row in taskTiers {
                table.add(
                    [
                        AnswerText.string(row["tier"]), AnswerText.number(row["tenants"]),
                        seconds(row["task_seconds"]), percent(row["objective"]),
                    ] + kept(row))
            }
            for row in answer["task_tenants"]?.array ?? [] {
                table.add(
                    [
                        AnswerText.string(row["tenant"]), AnswerText.string(row["tier"]),
                        seconds(row["task_seconds"]), percent(row["objective"]),
                    ] + kept(row))
            }
            blocks.append(table.text)
        }
        let service = answer["service"]?.array ?? []
        if !service.isEmpty {
            var own = TextTable(["HEADROOM ITSELF", "AGE NOW", "AT MOST", "OBJECTIVE"] + heads)
            for level in service {
                own.add(
                    [
                        AnswerText.string(level["level"]), seconds(level["age_seconds"]),
                        seconds(level["limit_seconds"]), percent(level["objective"]),
                    ] + kept(level))
            }
            blocks.append(own.text)
        }
        return blocks.joined(separator: "\n\n")
    }

    private static var heads: [String] { windows.map { "\($0) (BURN)" } }

    /// `99.2 % (0.8)`, of each window.
    private static func kept(_ row: JSONNode) -> [String] {
        windows.map { window in
            guard let sums = row["windows"]?[window], let attainment = sums["attainment"]?.number else { return "-" }
            let burn = sums["burn"]?.number ?? 0
            return "\(percent(attainment)) (\(GroupedNumber.plain((burn * 10).rounded() / 10)))"
        }
    }

    private static func percent(_ node: JSONNode?) -> String { node?.number.map(percent) ?? "-" }

    /// Two decimals: 99.95 % and 99.99 % are five times apart.
    private static func percent(_ share: Double) -> String {
        "\(GroupedNumber.plain((share * 10_000).rounded() / 100)) %"
    }

    private static func seconds(_ node: JSONNode?) -> String {
        node?.number.map { "\(GroupedNumber.plain(($0 * 10).rounded() / 10)) s" } ?? "-"
    }
}
