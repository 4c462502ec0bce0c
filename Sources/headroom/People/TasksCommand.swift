import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `headroom tasks`: agent tasks over all gateways, a kill switch for one, and lifts of what holds one back.
enum TasksCommand {
    static let help = """
        usage: headroom tasks [list] [--tenant T]
               headroom tasks times [--tenant T] [--last D]
               headroom tasks stop TASK [--tenant T] --reason TEXT --expires-in D
               headroom tasks lift TASK [--tenant T] --reason TEXT --expires-in D

        Agent tasks as gateways report them: what each has used together with the tasks that it has started, over all gateways,
        beside what it may use. task_budgets in policies/rules.json5, and a contract's own, state budgets. list shows those that
        are held back first, then those that began a tree, the last used first.

        stop refuses all calls of the task and of the tasks below it, from the next tick on, until it ends; calls that are on
        their way go on. lift ends a stop, and lets the task go beyond its own budget for a while; what is above it still
        holds it. Both take the role success, sre or admin; what another person has said takes sre or admin.

        times shows how long tasks took that ended, how much of that their calls waited for quota, and what is usual: those
        first that waited longest.

          --last D            times: how far back, as 90s, 15m, 12h, 30d; 1h by default
          --tenant T          whose tasks; for stop and lift where several tenants have such a task, or it was not seen yet
        \(Arguments.reasonHelp)
        \(ServiceClient.help)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        switch arguments.first {
        case "stop": return try await rule("stop", Array(arguments.dropFirst()))
        case "lift": return try await rule("lift", Array(arguments.dropFirst()))
        case "times": return try await times(Array(arguments.dropFirst()))
        case "list": return try await list(Array(arguments.dropFirst()))
        default: return try await list(arguments)
        }
    }

    private static func list(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/tasks" + (tenant.map { "?tenant=\($0)" } ?? ""))
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        let tasks = answer.json["tasks"]?.array ?? []
        guard !tasks.isEmpty else {
            Terminal.print("No agent tasks were heard of for an hour.")
            return 0
        }
        var table = TextTable([
            "TENANT", "TASK", "KIND", "STATE", "CALLS", "TOKENS", "MONEY", "STARTED", "DEPTH", "GATEWAYS", "LAST SEEN",
        ])
        for task in tasks {
            table.add([
                AnswerText.string(task["tenant"]), AnswerText.string(task["task"]), task["task_kind"]?.string ?? "-",
                state(task), amount(task, "calls"), amount(task, "tokens"), amount(task, "micros"),
                amount(task, "fan_out"), task["depth"]?.number.map(GroupedNumber.plain) ?? "-",
                (task["gateways"]?.array ?? []).compactMap(\.string).joined(separator: ","),
                AnswerText.instant(task["seen_at"]),
            ])
        }
        Terminal.print(table.text)
        if let leftOut = answer.json["left_out"]?.number, leftOut > 0 {
            Terminal.print(
                "\(GroupedNumber.whole(leftOut)) more are not listed; --tenant T does not list more of one tenant")
        }
        return 0
    }

    private static func times(_ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T", "--last": "D"].merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options)
        let tenant: TenantID? = try arguments.identifier("--tenant")
        let seconds = try arguments.duration("--last") ?? 3600
        let from = Timestamp(milliseconds: Int64(saturating: (Date().timeIntervalSince1970 - seconds) * 1000))
        let answer = try await ServiceClient(arguments).call(
            "GET", "v1/task-times?from=\(from.milliseconds)" + (tenant.map { "&tenant=\($0)" } ?? ""))
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
            return 0
        }
        let kinds = answer.json["kinds"]?.array ?? []
        guard !kinds.isEmpty else {
            Terminal.print("No agent task ended in that time, and none is in progress.")
            return 0
        }
        var table = TextTable([
            "TENANT", "KIND", "TASKS", "P50", "P95", "WAITED", "USUAL P50", "CALLS", "RETRIES", "REFUSED",
            "IN PROGRESS",
        ])
        for kind in kinds {
            func seconds(_ key: String) -> String { kind[key]?.number.map(TaskText.seconds) ?? "-" }
            func count(_ key: String) -> String { kind[key]?.number.map(GroupedNumber.whole) ?? "-" }
            table.add([
                AnswerText.string(kind["tenant"]), kind["task_kind"]?.string ?? "-", count("tasks"),
                seconds("p50_seconds"), seconds("p95_seconds"),
                kind["waited_share"]?.number.map(GroupedNumber.percent) ?? "-", seconds("usual_p50_seconds"),
                count("calls"), count("retries"), count("refused"), count("running"),
            ])
        }
        Terminal.print(table.text)
        return 0
    }

    private static func rule(_ verdict: String, _ arguments: [String]) async throws -> Int32 {
        let options = ["--tenant": "T"].merging(Arguments.reasonAndEnd) { $1 }.merging(ServiceClient.option) { $1 }
        let arguments = try Arguments(arguments, flags: ["--json"], options: options, maxPositionals: 1)
        guard let task = arguments.positionals.first else {
            throw UsageError("name the task, as \"headroom tasks\" shows it")
        }
        let request = TaskRulingRequest(
            tenant: try arguments.identifier("--tenant"), task: task, reason: try arguments.reason(),
            expiresInSeconds: try arguments.end())
        let answer = try await ServiceClient(arguments).call(
            "POST", "v1/tasks/\(verdict)", body: request.encoded())
        if arguments.has("--json") {
            Terminal.print(bytes: answer.body + [UInt8(ascii: "\n")])
        } else {
            let what = verdict == "stop" ? "is stopped" : "may go on"
            Terminal.print(
                "the task \(AnswerText.string(answer.json["task"])) of \(AnswerText.string(answer.json["tenant"])) \(what) until "
                    + AnswerText.instant(answer.json["until"]))
        }
        return 0
    }

    private static func state(_ task: JSONNode) -> String {
        let state = AnswerText.string(task["state"])
        if state == "held" { return "no \(AnswerText.string(task["held"]))" }
        if let author = task["ruling"]?["author"]?.string { return "\(state) by \(author)" }
        return task["exhausted"]?.string.map { "\(state) (\($0))" } ?? state
    }

    /// What was used, and what may be.
    private static func amount(_ task: JSONNode, _ name: String) -> String {
        func text(_ number: Double) -> String {
            name == "micros" ? CostBreak.money(number) : GroupedNumber.whole(number)
        }
        let used = task["used"]?[name]?.number.map(text) ?? "-"
        return task["limits"]?[name]?.number.map { "\(used)/\(text($0))" } ?? used
    }
}
