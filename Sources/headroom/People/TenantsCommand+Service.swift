import HeadroomJSON
import HeadroomModel
import HeadroomPolicy
import HeadroomWire

// `headroom tenants` over a running service.
extension TenantsCommand {
    /// A database, or a service in its place.
    static let placeOptions = CommandDatabase.option.merging(ServiceClient.option) { $1 }

    /// The most that one answer lists.
    private static let pageCount = 1000

    /// Whether a service is named. `HEADROOM_URL` gives way to an option that means a database.
    ///
    /// - Parameter others: options that mean nothing to a service, besides `--database`.
    static func isRemote(_ arguments: Arguments, without others: String...) throws(UsageError) -> Bool {
        let local = (["--database"] + others).first { arguments[$0] != nil }
        guard let local else { return ServiceClient.isNamed(arguments) }
        guard arguments["--url"] == nil else {
            throw UsageError("\(local) and --url exclude each other: say where the contracts are")
        }
        return false
    }

    static func importFile(
        _ path: String, _ bytes: [UInt8], _ format: ContractImport.Format, _ arguments: Arguments
    ) async throws -> Int32 {
        let client = try ServiceClient(arguments)
        func send(_ query: (name: String, value: String?)) async throws -> ServiceClient.Answer {
            try await client.call(
                "POST", "v1/tenants/import", query: [query], body: bytes,
                type: format == .csv ? "text/csv" : "application/json")
        }
        let preview = try ContractImportAnswer.decode(try await send(("dry_run", "true")).body)
        guard try mayImport(preview, from: path, arguments) else { return 0 }
        // The service refuses when others have changed contracts since the preview, so that more would go.
        let done = try await send(("confirm", "\(preview.removed.count)"))
        if done.status == 202 {
            Terminal.print(waiting(done, then: "import the same contracts again"))
            return 0
        }
        Terminal.error(report(try ContractImportAnswer.decode(done.body), in: client.base.absoluteString))
        return 0
    }

    private static func waiting(_ answer: ServiceClient.Answer, then next: String) -> String {
        waiting(
            for: AnswerText.id(answer.json["approval"]?["id"]),
            because: (answer.json["reasons"]?.array ?? []).compactMap(\.string), then: next)
    }

    static func listFromService(_ arguments: Arguments) async throws -> Int32 {
        let client = try ServiceClient(arguments)
        var tenants: [JSONNode] = []
        var after: String?
        repeat {
            let page = try await client.call(
                "GET", "v1/tenants", query: [("limit", "\(pageCount)"), ("after", after)])
            tenants += page.json["tenants"]?.array ?? []
            after = page.json["next"]?.string
        } while after != nil
        if arguments.has("--json") {
            Terminal.print(bytes: JSONNode(.array(tenants)).encoded() + [UInt8(ascii: "\n")])
            return 0
        }
        var table = TextTable(["TENANT", "POOL", "TIER", "ASKED", "ASSURED", "CONSUMED", "BINDS", "STARVED"])
        for tenant in tenants {
            let name = AnswerText.string(tenant["tenant"])
            let pools = tenant["pools"]?.array ?? []
            if pools.isEmpty {
                table.add(
                    [name, "-", AnswerText.string(tenant["contract"]?["tier"], or: "(default)")]
                        + Array(repeating: "-", count: 5))
            }
            for pool in pools {
                table.add([
                    name, AnswerText.string(pool["pool"]), AnswerText.string(pool["tier"]),
                    AnswerText.rates(pool["asked"]), AnswerText.rates(pool["assured"]),
                    AnswerText.rates(pool["consumed"]), AnswerText.string(pool["constraint"]),
                    AnswerText.string(pool["starvation"]),
                ])
            }
        }
        Terminal.print(table.text)
        return 0
    }

    static func put(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: ServiceClient.option, maxPositionals: 1)
        guard let path = arguments.positionals.first else {
            throw UsageError("FILE is missing: one contract as JSON, or - for standard input")
        }
        let bytes = try Terminal.read(path)
        let document: JSONNode
        do { document = try JSONNode.parse(bytes) } catch {
            throw CommandError("\(path): \(JSONPosition(of: error.offset, in: bytes)): \(error.message)")
        }
        guard let tenant = document["tenant"]?.string.flatMap({ TenantID($0) }) else {
            throw CommandError("\(path): must be an object with \"tenant\": a name with \(TenantID.rule)")
        }
        let answer = try await ServiceClient(arguments).call("PUT", "v1/tenants/\(tenant)", body: bytes)
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else if answer.status == 202 {
            Terminal.print(waiting(answer, then: "put the same contract again"))
        } else {
            let terms = answer.json["pools"]?.array?.count ?? 0
            Terminal.print(
                "\(tenant): tier \(AnswerText.string(answer.json["tier"], or: "(default)")), terms in "
                    + "\(terms == 1 ? "1 pool" : "\(terms) pools")")
        }
        return 0
    }

    static func remove(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--yes"], options: ServiceClient.option, maxPositionals: 1)
        let tenant: TenantID = try arguments.identifier(at: 0, called: "TENANT")
        guard arguments.has("--yes") else {
            throw UsageError("this erases all that is stored of \(tenant), for good: add --yes if that is meant")
        }
        let answer = try await ServiceClient(arguments).call("DELETE", "v1/tenants/\(tenant)")
        if answer.status == 202 {
            Terminal.print(waiting(answer, then: "erase it again"))
            return 0
        }
        Terminal.error("\(tenant) is erased")
        return 0
    }
}
