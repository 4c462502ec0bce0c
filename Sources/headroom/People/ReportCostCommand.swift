import HeadroomJSON
import HeadroomModel

/// `headroom report cost`: who used how much, and what it cost.
enum ReportCostCommand {
    static let help = """
        usage: headroom report cost [--month YYYY-MM | --from TIME --to TIME] [--by WHAT] [--csv | --json]

        Sums what is recorded of the time, at the price of the tenant's contract, or else at the price of the pool's policy
        that held then; beside it what the provider bills for it. Use without a price is listed as unpriced, and is in no
        sum. The lines add up to the totals, and the totals are the same whatever --by says. Of a month that goes on, the
        totals are projected to its end: as if the last 24 hours went on. What gateways' own caches answered cost nothing;
        "saved" is what it would have cost.

          --month YYYY-MM     in UTC; default the present one
          --from TIME, --to TIME
                              RFC 3339; whole hours count
          --by WHAT           tenant (the default), pool, model, criticality or task-kind; "(not reported)" is use whose
                              lines name no model or no task_kind
          --csv               for a spreadsheet: amounts with a decimal point, no separators
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let named = ["--month": "YYYY-MM", "--from": "TIME", "--to": "TIME", "--by": "WHAT"]
        let arguments = try Arguments(
            arguments, flags: ["--json", "--csv"], options: named.merging(ServiceClient.option) { $1 })
        var (from, to) = (arguments["--from"], arguments["--to"])
        if let month = arguments["--month"] {
            guard from == nil, to == nil else { throw UsageError("say either --month or --from and --to") }
            (from, to) = try range(of: month)
        }
        let by = arguments["--by"] ?? "tenant"
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/costs", query: [("from", from), ("to", to), ("by", by)])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else if arguments.has("--csv") {
            Terminal.print(csv(answer.json, by: by))
        } else {
            Terminal.print(table(answer.json, by: by))
        }
        return 0
    }

    private static func range(of month: String) throws(UsageError) -> (String?, String?) {
        guard let start = RFC3339.parse("\(month)-01T00:00:00Z"), start >= 0 else {
            throw UsageError("--month \"\(month)\": must be a month from 1970 on, as 2026-11")
        }
        let days = CivilMonth(containing: Timestamp(milliseconds: start).day).days
        func text(_ day: Int64) -> String { RFC3339.format(milliseconds: Timestamp(day: day).milliseconds) }
        return (text(days.lowerBound), text(days.upperBound))
    }

    private static let counts = ["requests", "input_tokens", "cached_input_tokens", "output_tokens"]

    private static func key(_ line: JSONNode) -> String { line["key"]?.string ?? "(not reported)" }

    /// RFC 4180: a model's name may have anything in it.
    private static func quoted(_ cell: String) -> String {
        cell.contains { ",\"\n\r".contains($0) } ? "\"\(cell.replacing("\"", with: "\"\""))\"" : cell
    }

    private static func csv(_ answer: JSONNode, by: String) -> String {
        var rows: [[String]] = [
            [by, "currency", "cost", "provider_currency", "provider_cost"] + counts + ["saved_requests", "saved"]
        ]
        for line in answer["costs"]?.array ?? [] {
            let named: [String] = [
                key(line), line["currency"]?.string ?? "", money(line["cost_micros"]) ?? "unpriced",
                line["provider_currency"]?.string ?? "", money(line["provider_micros"]) ?? "unpriced",
            ]
            let saved = [AnswerText.id(line["saved_requests"]), money(line["saved_micros"]) ?? "unpriced"]
            rows.append(named + counts.map { AnswerText.id(line[$0]) } + saved)
        }
        return rows.map { $0.map(quoted).joined(separator: ",") }.joined(separator: "\n")
    }

    private static func table(_ answer: JSONNode, by: String) -> String {
        var table = TextTable(
            [by.uppercased(), "COST", "PROVIDER'S BILL", "REQUESTS", "INPUT TOKENS", "OF THEM CACHED", "OUTPUT TOKENS"])
        for line in answer["costs"]?.array ?? [] {
            let cost = money(line["cost_micros"]).map { "\($0) \(AnswerText.string(line["currency"]))" }
            let bill = money(line["provider_micros"]).map { "\($0) \(AnswerText.string(line["provider_currency"]))" }
            table.add([key(line), cost ?? "unpriced", bill ?? "unpriced"] + counts.map { AnswerText.number(line[$0]) })
        }
        func sum(_ name: String, _ amount: String) -> String {
            let totals = (answer[name]?.array ?? []).compactMap { total in
                money(total[amount]).map { "\($0) \(AnswerText.string(total["currency"]))" }
            }
            return totals.isEmpty ? "no use with a price" : totals.joined(separator: ", ")
        }
        var lines = [
            "\(AnswerText.instant(answer["from"])) to \(AnswerText.instant(answer["to"]))", table.text,
            "total: \(sum("totals", "cost_micros")); the provider's bill: \(sum("provider_totals", "cost_micros"))",
        ]
        if answer["saved_totals"]?.array?.isEmpty == false {
            lines.append("saved by gateways' caches: \(sum("saved_totals", "saved_micros"))")
        }
        if answer["projected_until"]?.string != nil {
            lines.append(
                "projected to \(AnswerText.instant(answer["projected_until"])), if the last 24 hours go on: "
                    + "\(sum("totals", "projected_micros")); the provider's bill: "
                    + sum("provider_totals", "projected_micros"))
        }
        return lines.joined(separator: "\n")
    }

    /// Millionths as units: `12.345678`.
    private static func money(_ node: JSONNode?) -> String? {
        guard let micros = node?.number.flatMap({ Int64(exactly: $0) }) else { return nil }
        let (units, rest) = micros.quotientAndRemainder(dividingBy: 1_000_000)
        let digits = String(rest)
        return "\(units)." + String(repeating: "0", count: 6 - digits.count) + digits
    }
}
