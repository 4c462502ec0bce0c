import HeadroomJSON
import HeadroomModel
import HeadroomPolicy
import HeadroomStorage
import HeadroomWire

/// `headroom tenants import` and `headroom tenants list`: what tenants have bought.
enum TenantsCommand {
    static let help = """
        usage: headroom tenants import FILE [--database FILE] [--policies DIR] [--format csv|json] [--dry-run | --yes]
               headroom tenants import FILE --url URL [--format csv|json] [--dry-run | --yes]
               headroom tenants list [--database FILE | --url URL] [--json]
               headroom tenants put FILE [--url URL] [--json]
               headroom tenants remove TENANT --yes [--url URL]

        import replaces all contracts by those in FILE (- is standard input), or none: every fault is named by its line.
        The format follows FILE's name; for standard input give --format. It shows which contracts are added, changed and
        removed, and asks. Without a terminal it goes on by itself when none is removed; --yes says that this is meant.
        --dry-run shows the difference and changes nothing. Once there are tokens, an import that would change more than one
        person may ("contracts" in the policy's rules.json5) waits for a second one: "headroom approvals".
        put sets one tenant's contract, an object as in the JSON below. remove erases a tenant: its contract and all that
        is stored of it, for good; --yes says that this is meant. Both take a service and the role admin.

          CSV    a header, then one row for each tenant × pool, columns in any order; between commas, semicolons or tabs:
                 tenant,tier,strategic,pool,floor_rpm,floor_tpm,floor_itpm,floor_otpm,
                 ceiling_rpm,ceiling_tpm,ceiling_itpm,ceiling_otpm
                 Only tenant must be there; an empty field states nothing. Rates are per minute. Where use is priced:
                 currency,period,most_micros,input_micros_per_million,cached_input_micros_per_million,
                 output_micros_per_million,request_micros
                 Money is in millionths of the currency's unit, period is day or month; the price of a row without a
                 pool is that of every pool that has none; cached input costs what input does where no price says
                 otherwise. Headers are read in any case, "Floor TPM" as floor_tpm, and
                 numbers with thousands apart, 1,200,000 (between semicolons 1.200.000). "contracts" in the policy's
                 rules.json5 maps the headers and the words for tiers of a CRM's export.
          JSON   [{"tenant":"acme","tier":"premium","strategic":true,
                   "pools":[{"pool":"openai:gpt-4o","floor":{"tpm":100000},"ceiling":{"rpm":400}}],
                   "cost":{"currency":"EUR","period":"month","most_micros":500000000,
                           "prices":[{"input_micros_per_million":2500000,"output_micros_per_million":10000000}]}}]

          --database FILE   default \(Defaults.database)
          --policies DIR    read the file as this policy says, and check tiers, pools, and that floors fit into each
                            pool's nominal capacity; a service always does both
          --url URL         a running service in place of a database; default HEADROOM_URL, for put and remove else
                            \(Defaults.url). A token, where the service asks for one, is taken from HEADROOM_TOKEN
          --json            list as the JSON above, which import takes back; from a service with how each tenant fares
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "import": return try await importFile(rest)
        case "list": return try await list(rest)
        case "put": return try await put(rest)
        case "remove": return try await remove(rest)
        default:
            let words = "import, list, put or remove"
            throw UsageError(arguments.isEmpty ? "say \(words)" : "\"\(arguments[0])\": must be \(words)")
        }
    }

    private static func importFile(_ arguments: [String]) async throws -> Int32 {
        let options = ["--policies": "DIR", "--format": "csv|json"].merging(placeOptions) { $1 }
        let arguments = try Arguments(arguments, flags: ["--yes", "--dry-run"], options: options, maxPositionals: 1)
        guard let path = arguments.positionals.first else {
            throw UsageError("FILE is missing: a .csv or .json file, or - for standard input")
        }
        guard !(arguments.has("--yes") && arguments.has("--dry-run")) else {
            throw UsageError("--yes and --dry-run exclude each other")
        }
        let format = try format(of: path, arguments)
        let isRemote = try isRemote(arguments, without: "--policies")
        let bytes = try Terminal.read(path)
        if isRemote { return try await importFile(path, bytes, format, arguments) }
        var policy: Policy?
        if let directory = arguments["--policies"] {
            do throws(PolicyError) {
                policy = try PolicyDirectory(path: directory).load()
            } catch {
                return refuse(error.faults.map(\.description))
            }
        }
        var contracts: [Contract]
        do throws(ContractImportError) {
            contracts = try ContractImport.parse(bytes, format: format, mapping: policy?.contracts ?? ContractPolicy())
            {
                policy?.faults(in: $0) ?? []
            }
        } catch {
            return refuse(error.faults.map { "\(path): \($0)" })
        }
        let database = try CommandDatabase.open(arguments, mustExist: arguments.has("--dry-run"))
        let old = try await database.contracts.all()
        contracts = ContractImport.completed(contracts, from: format, after: old)
        let difference = ContractDifference(from: old, to: contracts)
        let change = ContractImportAnswer(contracts, difference, isDryRun: false)
        guard try mayImport(change, from: path, arguments) else { return 0 }
        let hasTokens = try await !database.tokens.all().isEmpty
        let limit = ContractLimit(policy?.contracts ?? ContractPolicy(), canAsk: hasTokens)
        switch try await database.contracts.replaceAll(
            with: contracts, by: AuditLog.commandLine, at: CommandDatabase.now(), within: limit)
        {
        case .replaced: Terminal.error(report(change, in: database.path))
        case .awaitsApproval(let question):
            Terminal.print(
                waiting(
                    for: "\(question.id)", because: Array(question.evidence.prefix(1)),
                    then: "import the same contracts again"))
        }
        return 0
    }

    static func waiting(for approval: String, because reasons: [String], then next: String) -> String {
        "approval \(approval) is needed: \(reasons.joined(separator: "; ")). Nothing was changed; once a second person has "
            + "approved it, \(next)"
    }

    /// Shows what an import changes, and decides whether it goes on: a person says so, or `--yes`, or nothing is removed
    /// and nobody is there to ask. False when it was only to be shown, or the person said no.
    static func mayImport(
        _ change: ContractImportAnswer, from path: String, _ arguments: Arguments
    ) throws(CommandError) -> Bool {
        if arguments.has("--dry-run") {
            Terminal.print(change.summary)
            return false
        }
        Terminal.error(change.summary)
        if arguments.has("--yes") || change.changesNothing { return true }
        // A file that comes over standard input leaves nobody to answer there.
        if path != "-", Terminal.hasPerson {
            let isMeant = ["y", "yes"].contains(Terminal.ask("Replace all contracts? [y/N] ")?.lowercased())
            if !isMeant { Terminal.error("nothing was imported") }
            return isMeant
        }
        guard change.removed.count == 0 else {
            let count = change.removed.count
            throw CommandError(
                "\(count == 1 ? "1 contract" : "\(count) contracts") would be removed: add --yes if that is meant; "
                    + "nothing was imported")
        }
        return true
    }

    static func report(_ change: ContractImportAnswer, in place: String) -> String {
        "\(place): all contracts replaced by \(change.contracts), with terms in \(change.terms) tenant × pool"
    }

    private static func format(of path: String, _ arguments: Arguments) throws(UsageError) -> ContractImport.Format {
        if let text = arguments["--format"] {
            guard let format = ContractImport.Format(rawValue: text) else {
                throw UsageError("--format \"\(text)\": must be csv or json")
            }
            return format
        }
        let ending = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
        guard let format = ContractImport.Format(rawValue: ending) else {
            throw UsageError("\(path): its name ends neither in .csv nor in .json; say --format csv or --format json")
        }
        return format
    }

    private static func refuse(_ faults: [String]) -> Int32 {
        Terminal.error(faults.joined(separator: "\n"))
        Terminal.error("\(faults.count == 1 ? "1 fault" : "\(faults.count) faults"): nothing was imported")
        return 1
    }

    private static func list(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: placeOptions)
        if try isRemote(arguments) { return try await listFromService(arguments) }
        let contracts = try await CommandDatabase.open(arguments, mustExist: true).contracts.all()
        if arguments.has("--json") {
            Terminal.print(bytes: json(contracts))
            return 0
        }
        var table = TextTable(["TENANT", "TIER", "STRATEGIC", "POOL", "FLOOR", "CEILING"])
        for contract in contracts {
            let start = [contract.tenant.text, contract.tier ?? "(default)", contract.isStrategic ? "yes" : "no"]
            if contract.terms.isEmpty { table.add(start + ["-", "-", "-"]) }
            for terms in contract.terms {
                table.add(start + [terms.pool.text, RateText.cell(terms.floor), RateText.cell(terms.ceiling)])
            }
        }
        Terminal.print(table.text)
        return 0
    }

    private static func json(_ contracts: [Contract]) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for contract in contracts { writer.raw(ContractBody.encode(contract)) }
        writer.endArray()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}
