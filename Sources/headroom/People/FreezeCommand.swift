import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `headroom freeze` and `headroom rollback`: keep the numbers that there are, or those that there were.
enum FreezeCommand {
    static let help = """
        usage: headroom freeze POOL | --all --reason TEXT --expires-in D
               headroom freeze list
               headroom freeze end ID

        A frozen pool keeps its numbers, and its budgets go on following the capacity. list shows roll-backs too, and
        end ends either. Takes the role sre or admin.

          --all               every pool
        \(Arguments.reasonHelp)
        \(ServiceClient.help)
        """

    static let rollbackHelp = """
        usage: headroom rollback GENERATION [--pool P] --reason TEXT --expires-in D

        Publishes the numbers of an old generation as a new one, and keeps them until that ends; "headroom freeze list"
        shows it, "headroom freeze end ID" ends it. Takes the role sre or admin.

          --pool P            default all pools
        \(Arguments.reasonHelp)
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        switch arguments.first {
        case "list": return try await list(Array(arguments.dropFirst()))
        case "end": return try await end(Array(arguments.dropFirst()))
        default: return try await freeze(arguments)
        }
    }

    private static func freeze(_ arguments: [String]) async throws -> Int32 {
        let options = Arguments.reasonAndEnd.merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json", "--all"], options: options, maxPositionals: 1)
        guard arguments.has("--all") != !arguments.positionals.isEmpty else {
            throw UsageError("say either POOL or --all; \"list\" shows freezes, \"end ID\" ends one")
        }
        let pool: PoolID? = arguments.has("--all") ? nil : try arguments.identifier(at: 0, called: "POOL")
        return try await post(
            "v1/freeze",
            FreezeRequest(pool: pool, reason: try arguments.reason(), expiresInSeconds: try arguments.end()), arguments)
    }

    static func runRollback(_ arguments: [String]) async throws -> Int32 {
        let options = ["--pool": "P"].merging(Arguments.reasonAndEnd) { $1 }.merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options, maxPositionals: 1)
        guard let text = arguments.positionals.first else {
            throw UsageError("GENERATION is missing: the number of an earlier one")
        }
        guard let generation = Int64(text), generation > 0 else {
            throw UsageError("\"\(text)\": must be the number of an earlier generation, as 1842")
        }
        return try await post(
            "v1/rollback",
            FreezeRequest(
                pool: try arguments.identifier("--pool"), generation: generation, reason: try arguments.reason(),
                expiresInSeconds: try arguments.end()), arguments)
    }

    private static func post(_ path: String, _ request: FreezeRequest, _ arguments: Arguments) async throws -> Int32 {
        let answer = try await ServiceClient(arguments).call("POST", path, body: request.encoded())
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        let freeze = answer.json
        let generation = freeze["generation"]?.number.map { " at the numbers of generation \(GroupedNumber.plain($0))" }
        Terminal.print(
            "freeze \(AnswerText.id(freeze["id"])): \(AnswerText.string(freeze["pool"], or: "all pools"))"
                + "\(generation ?? "") until \(AnswerText.instant(freeze["until"]))")
        return 0
    }

    private static func list(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: ServiceClient.option)
        let answer = try await ServiceClient(arguments).call("GET", "v1/freeze")
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        var table = TextTable(["ID", "POOL", "GENERATION", "BY", "UNTIL", "REASON"])
        for freeze in answer.json["freezes"]?.array ?? [] {
            table.add([
                AnswerText.id(freeze["id"]), AnswerText.string(freeze["pool"], or: "(all)"),
                AnswerText.id(freeze["generation"]), AnswerText.string(freeze["author"]),
                AnswerText.instant(freeze["until"]), AnswerText.string(freeze["reason"]),
            ])
        }
        Terminal.print(table.text)
        return 0
    }

    private static func end(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: ServiceClient.option, maxPositionals: 1)
        let id = try arguments.id(shownBy: "\"headroom freeze list\"")
        _ = try await ServiceClient(arguments).call("DELETE", "v1/freeze/\(id)")
        Terminal.error("freeze \(id) is ended")
        return 0
    }
}
