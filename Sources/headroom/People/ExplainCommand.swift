import HeadroomJSON
import HeadroomModel

/// `headroom explain`: why a tenant's number is what it is.
enum ExplainCommand {
    static let help = """
        usage: headroom explain --tenant T --pool P [--generation N | --at TIME] [--json]
               headroom explain [--tenant T] --pool P --from TIME [--to TIME] [--for-tenant] [--json]

        Tells in sentences how a tenant's assured rate came about: what it asked for, what the pool has, its share, and
        what binds. A number that has not changed is explained by the generation that set it.

        --from tells a period instead: what the tenant asked for and got, how long it waited, which refusals it met, what
        the provider delivered, who else took how much, and what people changed. Without --tenant it is the pool's story.

          --tenant T, --pool P
          --generation N      default the newest
          --at TIME           the one that was in force then; RFC 3339, or milliseconds since 1970
          --from TIME, --to TIME
                              the period, 35 days at most; --to is now by default
          --for-tenant        a text that can be sent to the tenant as it is: it names nobody else
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let named = [
            "--tenant": "T", "--pool": "P", "--generation": "N", "--at": "TIME", "--from": "TIME", "--to": "TIME",
        ]
        let arguments = try Arguments(
            arguments, flags: ["--json", "--for-tenant"], options: named.merging(ServiceClient.option) { $1 })
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let isPeriod = arguments["--from"] != nil
        guard tenant != nil || isPeriod else { throw UsageError("--tenant is missing: whose number") }
        guard let pool: PoolID = try arguments.identifier("--pool") else {
            throw UsageError("--pool is missing: the number in which pool")
        }
        guard !arguments.has("--for-tenant") || isPeriod && tenant != nil else {
            throw UsageError("--for-tenant is the text of a period: it needs --tenant and --from")
        }
        let generation = try arguments.integer("--generation", in: 1...Int.max)
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/explain",
            query: [
                ("tenant", tenant?.text), ("pool", pool.text), ("generation", generation.map(String.init)),
                ("at", arguments["--at"]), ("from", arguments["--from"]), ("to", arguments["--to"]),
            ])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else {
            let text = arguments.has("--for-tenant") ? "for_tenant" : "sentences"
            let sentences = (answer.json[text]?.array ?? []).compactMap(\.string)
            Terminal.print(sentences.joined(separator: "\n"))
        }
        return 0
    }
}
