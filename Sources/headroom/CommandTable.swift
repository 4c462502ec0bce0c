import HeadroomModel
import HeadroomWire

/// The sub-commands of `headroom`. Each has a file of its own; this one only chooses.
enum CommandTable {
    static let version = "0.1.0"

    private static let commands: [Command] = [
        Command(
            name: "init", summary: "write policies to begin with", help: InitCommand.help, run: InitCommand.run),
        Command(
            name: "serve", summary: "run the control plane: the loop, its database, its HTTP server",
            help: ServeCommand.help, run: ServeCommand.run),
        Command(
            name: "gate", summary: "enforce allocations beside a gateway, for programs in any language",
            help: GateCommand.help, run: GateCommand.run),
        Command(
            name: "demo", summary: "the service with a simulated provider and four gateways that replay a trace",
            help: DemoCommand.help, run: DemoCommand.run),
        Command(
            name: "mock-provider", summary: "a model provider for trials without a key, with faults on command",
            help: MockProviderCommand.help, run: MockProviderCommand.run),
        Command(
            name: "status", summary: "the state of a running service", help: StatusCommand.help, run: StatusCommand.run),
        Command(
            name: "explain", summary: "why a tenant's number is what it is", help: ExplainCommand.help,
            run: ExplainCommand.run),
        Command(
            name: "generations", summary: "which snapshots there were, and what differs between two",
            help: GenerationsCommand.help, run: GenerationsCommand.run),
        Command(
            name: "override", summary: "raise or lower a tenant for a while", help: OverrideCommand.help,
            run: OverrideCommand.run),
        Command(
            name: "approvals", summary: "questions that wait for a decision", help: ProposalCommand.approvals.help,
            run: ProposalCommand.approvals.run),
        Command(
            name: "recommendations", summary: "changes that automation proposes and may not make",
            help: ProposalCommand.recommendations.help, run: ProposalCommand.recommendations.run),
        Command(
            name: "alerts", summary: "what a person should look at", help: AlertsCommand.help, run: AlertsCommand.run),
        Command(
            name: "slo", summary: "service levels: how far they were kept, and how fast they burn",
            help: LevelsCommand.help, run: LevelsCommand.run),
        Command(
            name: "freeze", summary: "keep the numbers of a pool, or of all", help: FreezeCommand.help,
            run: FreezeCommand.run),
        Command(
            name: "rollback", summary: "go back to an old generation's numbers", help: FreezeCommand.rollbackHelp,
            run: FreezeCommand.runRollback),
        Command(
            name: "capacity", summary: "pin a pool's capacity, or end that", help: CapacityCommand.help,
            run: CapacityCommand.run),
        Command(
            name: "allocate", summary: "solve one allocation problem", help: AllocateCommand.help,
            run: AllocateCommand.run),
        Command(
            name: "classify", summary: "type provider responses and read their limits", help: ClassifyCommand.help,
            run: ClassifyCommand.run),
        Command(
            name: "conformance", summary: "test a gateway in another language, as its service and as its caller",
            help: ConformanceCommand.help,
            run: ConformanceCommand.run),
        Command(
            name: "export", summary: "limits as files for HAProxy, Envoy and envoyproxy/ratelimit",
            help: ExportCommand.help,
            run: ExportCommand.run),
        Command(
            name: "plan", summary: "what a candidate policy would have done with recorded telemetry",
            help: PlanCommand.help, run: PlanCommand.run),
        Command(
            name: "simulate scoreboard", summary: "every strategy against every scenario",
            help: ScoreboardCommand.help, run: ScoreboardCommand.run),
        Command(
            name: "simulate", summary: "one run of the four actors on virtual time", help: SimulateCommand.help,
            run: SimulateCommand.run),
        Command(
            name: "policy check", summary: "check a directory of policies", help: PolicyCheckCommand.help,
            run: PolicyCheckCommand.run),
        Command(
            name: "tenants", summary: "import, list and change contracts", help: TenantsCommand.help,
            run: TenantsCommand.run),
        Command(
            name: "report starvation", summary: "who was starved, when, and why", help: ReportStarvationCommand.help,
            run: ReportStarvationCommand.run),
        Command(
            name: "report cost", summary: "who used how much, and what it cost", help: ReportCostCommand.help,
            run: ReportCostCommand.run),
        Command(
            name: "cost-breaker", summary: "whose spending is held back, and lifts of that",
            help: CostBreakerCommand.help, run: CostBreakerCommand.run),
        Command(
            name: "tasks", summary: "agent tasks over all gateways: list, stop, lift", help: TasksCommand.help,
            run: TasksCommand.run),
        Command(
            name: "audit verify", summary: "check that nobody changed the audit log", help: AuditCommand.verifyHelp,
            run: AuditCommand.runVerify),
        Command(
            name: "audit sign", summary: "let nobody change the audit log without its key", help: AuditCommand.signHelp,
            run: AuditCommand.runSign),
        Command(
            name: "audit export", summary: "the whole audit log, one JSON object a line",
            help: AuditCommand.exportHelp, run: AuditCommand.runExport),
        Command(
            name: "audit", summary: "who did what", help: AuditCommand.help, run: AuditCommand.run),
        Command(
            name: "token", summary: "create, list and revoke access tokens", help: TokenCommand.help,
            run: TokenCommand.run),
        Command(
            name: "migrate", summary: "bring a database to this version", help: MigrateCommand.help,
            run: MigrateCommand.run),
        Command(
            name: "backup", summary: "copy the database, beside a running service too", help: BackupCommand.help,
            run: BackupCommand.run),
        Command(
            name: "restore", summary: "put such a copy in the place of a database", help: BackupCommand.restoreHelp,
            run: BackupCommand.runRestore),
        Command(
            name: "completion", summary: "complete commands and options in bash, zsh and fish",
            help: CompletionCommand.help, run: CompletionCommand.run),
        Command(
            name: "man", summary: "manual pages", help: ManualCommand.help, run: ManualCommand.run),
    ]

    /// The help of each command, taken apart.
    static var pages: [HelpPage] { commands.map { HelpPage($0) } }

    private static func printUsage(to write: (String) -> Void) {
        let width = commands.map(\.name.count).max() ?? 0
        write("headroom \(version): renegotiates per-tenant LLM quotas all the time\n")
        write("usage: headroom COMMAND [OPTIONS]\n")
        for command in commands {
            write("  \(command.name.padding(toLength: width, withPad: " ", startingAt: 0))  \(command.summary)")
        }
        write("\n\"headroom help COMMAND\" tells more; \"headroom --version\" prints the version.")
        write("HEADROOM_URL and HEADROOM_TOKEN: the service that commands talk to, and the token for it.")
        write("--color auto|always|never: colour at a terminal, unless NO_COLOR is set; in files and pipes; nowhere.")
        write("Exit codes: 0 done, 1 failed, 2 wrong usage.")
    }

    /// The command that `arguments` name, and what stands behind its name.
    private static func match(_ arguments: [String]) -> (command: Command, rest: [String])? {
        for command in commands {
            let words = command.name.split(separator: " ").map(String.init)
            if arguments.starts(with: words) { return (command, Array(arguments.dropFirst(words.count))) }
        }
        return nil
    }

    static func run(_ arguments: [String]) async -> Int32 {
        do throws(UsageError) {
            return await runCommand(try TerminalColor.choose(arguments))
        } catch {
            Terminal.error("headroom: \(error.message)")
            return 2
        }
    }

    private static func runCommand(_ arguments: [String]) async -> Int32 {
        switch arguments.first {
        case nil:
            printUsage(to: Terminal.error)
            return 2
        case "--help", "-h", "help":
            // `headroom help policy check` is `headroom policy check --help`.
            let named = arguments.dropFirst().filter { $0 != "--help" && $0 != "-h" }
            if !named.isEmpty { return await runCommand(named + ["--help"]) }
            printUsage(to: Terminal.print)
            return 0
        case "--version":
            Terminal.print("headroom \(version)")
            return 0
        default:
            break
        }
        guard let (command, rest) = match(arguments) else { return refuse(arguments) }
        if rest.contains("--help") || rest.contains("-h") {
            Terminal.print(command.help)
            return 0
        }
        do {
            return try await command.run(rest)
        } catch let error as UsageError {
            fail(command, "\(error.message)\n\"headroom \(command.name) --help\" tells more.")
            return 2
        } catch let error as CommandError {
            fail(command, error.message)
            return 1
        } catch {
            fail(command, "\(error)")
            return 1
        }
    }

    private static func fail(_ command: Command, _ message: String) {
        Terminal.error("\(TerminalColor.paint("headroom \(command.name):", .bad, on: .error)) \(message)")
    }

    /// `arguments` name no command: those that begin with the same word are what would be right.
    private static func refuse(_ arguments: [String]) -> Int32 {
        let family = commands.filter { $0.name.hasPrefix(arguments[0] + " ") }
        if !family.isEmpty, arguments.contains("--help") || arguments.contains("-h") {
            Terminal.print(family.map(\.help).joined(separator: "\n\n"))
            return 0
        }
        // A command of two words is misspelled in the first one or in the second.
        let given = arguments.prefix(family.isEmpty ? 1 : 2).joined(separator: " ")
        let names = family.isEmpty ? commands.map(\.name) + commands.compactMap(\.family) : family.map(\.name)
        let near = NearestName.of(given, among: names).map { "did you mean \"headroom \($0)\"? " } ?? ""
        let wanted =
            family.isEmpty
            ? "\"headroom --help\" lists them"
            : "there is " + family.map { "\"\($0.name)\"" }.joined(separator: ", ")
        Terminal.error("headroom: there is no command \"\(given)\"; \(near)\(wanted)")
        return 2
    }
}

extension Command {
    /// The first of two words, as `policy` of `policy check`.
    fileprivate var family: String? {
        let words = name.split(separator: " ")
        return words.count > 1 ? String(words[0]) : nil
    }
}
