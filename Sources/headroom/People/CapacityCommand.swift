import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `headroom capacity`: a capacity that a person vouches for, in place of the estimate.
enum CapacityCommand {
    static let help = """
        usage: headroom capacity pin POOL [--rpm N] [--tpm N] [--itpm N] [--otpm N] --reason TEXT --expires-in D
               headroom capacity unpin POOL

        A pinned rate holds whatever the observer makes of the upstream; rates that are not named are estimated as ever.
        "headroom status" shows pins. Takes the role sre or admin.

          --rpm N, …          requests, tokens, input tokens, output tokens per minute
        \(Arguments.reasonHelp)
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "pin": return try await pin(rest)
        case "unpin": return try await unpin(rest)
        default:
            throw UsageError(arguments.isEmpty ? "say pin or unpin" : "\"\(arguments[0])\": must be pin or unpin")
        }
    }

    private static func pin(_ arguments: [String]) async throws -> Int32 {
        let rateOptions = Resource.allCases.map { (resource: $0, option: "--\($0.rateName)") }
        let options = Dictionary(uniqueKeysWithValues: rateOptions.map { ($0.option, "N") })
            .merging(Arguments.reasonAndEnd) { $1 }.merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options, maxPositionals: 1)
        let pool: PoolID = try arguments.identifier(at: 0, called: "POOL")
        var capacity = Rates()
        for (resource, option) in rateOptions { capacity[resource] = try arguments.rate(option, in: 0...1e12) }
        guard !capacity.isEmpty else {
            throw UsageError("say a rate: \(rateOptions.map { "\($0.option) N" }.joined(separator: ", "))")
        }
        let request = PinRequest(
            capacity: capacity, reason: try arguments.reason(), expiresInSeconds: try arguments.end())
        let answer = try await ServiceClient(arguments).call(
            "PUT", "v1/pools/\(pool)/capacity", body: request.encoded())
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else {
            Terminal.print(
                "\(pool): capacity pinned at \(AnswerText.rates(answer.json["capacity"])) until "
                    + AnswerText.instant(answer.json["until"]))
        }
        return 0
    }

    private static func unpin(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: ServiceClient.option, maxPositionals: 1)
        let pool: PoolID = try arguments.identifier(at: 0, called: "POOL")
        _ = try await ServiceClient(arguments).call("DELETE", "v1/pools/\(pool)/capacity")
        Terminal.error("\(pool): the capacity is estimated again")
        return 0
    }
}
