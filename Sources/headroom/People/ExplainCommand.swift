import HeadroomJSON
import HeadroomModel

/// `headroom explain`: why a tenant's number is what it is.
enum ExplainCommand {
    static let help = """
        usage: headroom explain --tenant T --pool P [--generation N] [--json]

        Tells in sentences how a tenant's assured rate came about: what it asked for, what the pool has, its share, and
        what binds. A number that has not changed is explained by the generation that set it.

          --tenant T, --pool P
          --generation N      default the newest
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T", "--pool": "P", "--generation": "N"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        guard let tenant: TenantID = try arguments.identifier("--tenant") else {
            throw UsageError("--tenant is missing: whose number")
        }
        guard let pool: PoolID = try arguments.identifier("--pool") else {
            throw UsageError("--pool is missing: the number in which pool")
        }
        let generation = try arguments.integer("--generation", in: 1...Int.max)
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/explain",
            query: [("tenant", tenant.text), ("pool", pool.text), ("generation", generation.map(String.init))])
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else {
            let sentences = (answer.json["sentences"]?.array ?? []).compactMap(\.string)
            Terminal.print(sentences.joined(separator: "\n"))
        }
        return 0
    }
}
