import Glibc
import HeadroomJSON

/// `headroom status`: how a running service fares.
enum StatusCommand {
    static let help = """
        usage: headroom status [--url URL] [--json] [--watch [--times N]]

        Says whether the service is ready and why not, what it last published, how each pool fares and why its capacity
        is what it is, what waits for a person, which tenants have been underserved longest, which gateways are behind,
        and what is withheld for those that vanished. Exit code 0 when it is ready, 1 when it is not or does not answer.
        A token, where the service asks for one, is taken from HEADROOM_TOKEN.

          --url URL   default \(Defaults.url)
          --json      the service's answers as one JSON object
          --watch     again every two seconds, until Ctrl-C, also while the service does not answer
          --times N   end after N times, with the exit code of the last
        """

    private static let watchSeconds = 2.0
    /// Of a terminal: to its first line, and everything behind it cleared.
    private static let clear = "\u{1B}[H\u{1B}[J"

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--json", "--watch"], options: ServiceClient.option.merging(["--times": "N"]) { $1 })
        let client = try ServiceClient(arguments)
        let times = try arguments.integer("--times", in: 1...1_000_000)
        guard arguments.has("--watch") else {
            if times != nil { throw UsageError("--times goes with --watch") }
            return try await show(client, asJSON: arguments.has("--json"), before: "")
        }
        let isScreen = isatty(STDOUT_FILENO) == 1 && !arguments.has("--json")
        var count = 0
        while true {
            count += 1
            var code: Int32 = 1
            do {
                code = try await show(
                    client, asJSON: arguments.has("--json"), before: isScreen ? clear : count > 1 ? "\n" : "")
            } catch let error as CommandError {
                // What stood there is no longer so.
                if isScreen { Terminal.print(bytes: Array(clear.utf8)) }
                Terminal.error(error.message)
            }
            if count == times { return code }
            try await Task.sleep(for: .seconds(watchSeconds))
        }
    }

    private static func show(_ client: ServiceClient, asJSON: Bool, before: String) async throws -> Int32 {
        let readiness = try await client.send("GET", "readyz")
        guard readiness.json["ready"]?.bool != nil || readiness.status == 401 else {
            throw CommandError(
                "\(client.base.absoluteString)/readyz: answers \(readiness.status), but not as Headroom does; "
                    + "is it another service?")
        }
        let status = ServiceStatus(
            readiness: readiness.json, pools: try await client.call("GET", "v1/pools").json["pools"]?.array ?? [],
            worst: try await client.call(
                "GET", "v1/tenants", query: [("order", "worst"), ("limit", "\(ServiceStatus.worstCount)")]
            ).json["tenants"]?.array ?? [],
            gateways: try await client.call("GET", "v1/gateways").json["gateways"]?.array ?? [])
        if asJSON {
            Terminal.print(bytes: status.json)
        } else {
            Terminal.print(before + status.text)
        }
        return status.isReady ? 0 : 1
    }
}

/// The text of `headroom status`, made of the service's answers.
struct ServiceStatus {
    /// Tenants that are looked at first.
    static let worstCount = 5

    let readiness: JSONNode
    let pools: [JSONNode]
    /// Longest underserved first.
    let worst: [JSONNode]
    let gateways: [JSONNode]

    var isReady: Bool { readiness["ready"]?.bool ?? false }
}

extension ServiceStatus {
    var text: String {
        var lines = [TerminalColor.paint(isReady ? "ready" : "not ready", isReady ? .good : .bad)]
        lines += strings("reasons").map { "  \($0)" }
        lines += strings("warnings").map { "  \(TerminalColor.paint("warning:", .warning)) \($0)" }
        if let epoch = readiness["epoch"]?.number, let generation = readiness["generation"]?.number {
            let age = readiness["published_age_seconds"]?.number.map { ", published \(seconds($0)) ago" } ?? ""
            lines.append("generation \(Int64(epoch)).\(Int64(generation))\(age)")
        }
        for table in [poolTable, notes, tenantTable, gatewayTable] where !table.isEmpty { lines += ["", table] }
        return lines.joined(separator: "\n")
    }

    private var poolTable: String {
        if pools.isEmpty { return "" }
        var table = TextTable([
            "POOL", "STATE", "MODE", "RATE", "NOMINAL", "CAPACITY", "BUDGET", "ASSURED", "CONSUMED", "WHY", "SURE",
            "STARVED",
        ])
        for pool in pools {
            let starved = (pool["starved_tenants"]?.members ?? []).compactMap(\.value.number).reduce(0, +)
            let start = [pool["pool"], pool["state"], pool["mode"]].map { AnswerText.string($0) }
            let end = [
                AnswerText.string(pool["capacity_reason"]),
                pool["confidence"]?.number.map { "\(Int(($0 * 100).rounded())) %" } ?? "-", "\(Int(starved))",
            ]
            for (place, rate) in (pool["nominal"]?.members ?? []).enumerated() {
                let rates = ["nominal", "capacity", "budget", "assured", "consumed"].map {
                    AnswerText.number(pool[$0]?[rate.key])
                }
                let isFirst = place == 0
                table.add(
                    (isFirst ? start : ["", "", ""]) + [rate.key] + rates + (isFirst ? end : ["", "", ""]),
                    tints: isFirst
                        ? [1: tint(pool["state"]), 11: starved > 0 ? .bad : nil].compactMapValues(\.self) : [:])
            }
        }
        return table.text
    }

    private func tint(_ state: JSONNode?) -> TerminalColor.Tint? {
        switch state?.string {
        case "healthy": .good
        case "open": .bad
        default: .warning
        }
    }

    /// Notes on pools, and questions that wait for a person.
    private var notes: String {
        pools.flatMap { pool -> [String] in
            let name = AnswerText.string(pool["pool"])
            var notes: [String] = []
            let questions = pool["open_questions"]?.number ?? 0
            if questions > 0 {
                notes.append(
                    "\(name): \(Int(questions)) \(questions == 1 ? "question waits" : "questions wait") for a person; "
                        + "see \"headroom approvals\" and \"headroom recommendations\"")
            }
            if let pin = pool["pin"], !pin.isNull {
                notes.append(
                    "\(name): pinned at \(AnswerText.rates(pin["capacity"])) by \(AnswerText.string(pin["author"])) "
                        + "until \(AnswerText.instant(pin["until"])): \(AnswerText.string(pin["reason"]))")
            }
            notes += (pool["freezes"]?.array ?? []).map { freeze in
                "\(name): frozen by \(AnswerText.string(freeze["author"])) until "
                    + "\(AnswerText.instant(freeze["until"])): \(AnswerText.string(freeze["reason"]))"
            }
            let broken = (pool["models"]?.members ?? []).filter { ["open", "half_open"].contains($0.value.string) }
            notes += broken.map { "\(name): the breaker of \($0.key) is \($0.value.string ?? "")" }
            if let since = pool["upstream"]?["billing_failure_since"], !since.isNull {
                notes.append(
                    "\(name): the provider has refused the account for want of money since "
                        + "\(AnswerText.instant(since)); no retry helps, see its billing page")
            }
            if let storm = pool["retry_storm"], !storm.isNull {
                let tenants = (storm["tenants"]?.array ?? []).compactMap(\.string).joined(separator: ", ")
                notes.append(
                    "\(name): a retry storm of \(tenants), one wave every \(AnswerText.number(storm["period_seconds"])) s"
                )
            }
            return notes
        }.joined(separator: "\n")
    }

    private var tenantTable: String {
        var table = TextTable(["UNDERSERVED", "POOL", "FOR", "STARVED", "ASKED", "ASSURED", "CONSUMED"])
        var isEmpty = true
        for tenant in worst {
            for pool in tenant["pools"]?.array ?? [] {
                guard let underserved = pool["underserved_seconds"]?.number, underserved > 0 else { continue }
                isEmpty = false
                table.add([
                    AnswerText.string(tenant["tenant"]), AnswerText.string(pool["pool"]), seconds(underserved),
                    AnswerText.string(pool["starvation"]), AnswerText.rates(pool["asked"]),
                    AnswerText.rates(pool["assured"]), AnswerText.rates(pool["consumed"]),
                ])
            }
        }
        return isEmpty ? "" : table.text
    }

    private var gatewayTable: String {
        if gateways.isEmpty { return "" }
        var table = TextTable(["GATEWAY", "APPLIED", "BEHIND BY", "LAST SEEN", "WITHHELD FOR IT", "UNTIL"])
        for gateway in gateways {
            let withheld = gateway["withheld"]?.array ?? []
            table.add([
                AnswerText.string(gateway["gateway"]), AnswerText.string(gateway["applied"]),
                gateway["drift_seconds"]?.number.map(seconds) ?? "-", AnswerText.instant(gateway["last_seen"]),
                withheld.map { "\(AnswerText.string($0["pool"])): \(AnswerText.rates($0["rates"]))" }
                    .joined(separator: "; "),
                AnswerText.instant(withheld.first?["until"]),
            ])
        }
        return table.text
    }

    private func strings(_ key: String) -> [String] { (readiness[key]?.array ?? []).compactMap(\.string) }

    private func seconds(_ seconds: Double) -> String {
        "\((seconds * 10).rounded() / 10) s"
    }

    /// `/readyz`, and beside it the pools, the worst tenants and the gateways.
    var json: [UInt8] {
        var members = readiness.members ?? []
        for (key, nodes) in [("pools", pools), ("worst_tenants", worst), ("gateways", gateways)] {
            members.append(JSONMember(key: key, value: JSONNode(.array(nodes))))
        }
        return JSONNode(.object(members)).encoded() + [UInt8(ascii: "\n")]
    }
}
