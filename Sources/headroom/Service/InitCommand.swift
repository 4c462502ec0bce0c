import Foundation
import Glibc
import HeadroomModel
import HeadroomPolicy
import HeadroomProviders

/// `headroom init`: policies to begin with, every key with its reason beside it.
enum InitCommand {
    static let help = """
        usage: headroom init [DIR] [--pool ID] [--provider NAME] [--rpm N] [--tpm N] [--itpm N] [--otpm N]
                             [--mode MODE] [--tiers NAMES]

        Writes DIR/rules.json5 (unless it is there) and a file for one pool into DIR/pools, both with comments, and never
        overwrites a file. DIR is \(Defaults.policies) by default. At a terminal it asks for what is not given.

          --pool ID         the upstream limit that tenants share, as ACCOUNT:MODELS: openai:gpt-4o
          --provider NAME   how its headers and errors are read: openai, anthropic, azure, bedrock, gemini, mistral, …
          --rpm N           requests per minute that the contract with the provider grants
          --tpm N           tokens per minute; --itpm and --otpm where input and output are limited apart
          --mode MODE       observe (gateways only count), recommend, guarded or full (default)
          --tiers NAMES     the tenants' classes, highest priority first: critical,premium,standard,free
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let rateOptions = Dictionary(uniqueKeysWithValues: Resource.allCases.map { ("--\($0.rateName)", "N") })
        let options = ["--pool": "ID", "--provider": "NAME", "--mode": "MODE", "--tiers": "NAMES"]
        let arguments = try Arguments(
            arguments, options: options.merging(rateOptions) { $1 }, maxPositionals: 1)
        let directory = arguments.positionals.first ?? Defaults.policies
        let tiers = try tiers(arguments)
        let pool = try PoolAnswers(arguments)

        let rulesPath = directory + "/rules.json5"
        let hasRules = FileManager.default.fileExists(atPath: rulesPath)
        guard !hasRules || tiers == nil else {
            throw CommandError("\(rulesPath) is there already, and is left as it is: change the tiers there")
        }
        try makeDirectory(directory + "/pools")
        try writeNew(pool.text, to: "\(directory)/pools/\(pool.fileName)")
        if !hasRules { try writeNew(rules(tiers: tiers), to: rulesPath) }
        do throws(PolicyError) {
            _ = try PolicyDirectory(path: directory).load()
        } catch {
            // A directory that was there before may have faults of its own.
            throw CommandError("the policies have faults:\n\(error)")
        }
        let option = directory == Defaults.policies ? "" : " --policies \(directory)"
        Terminal.error("\"headroom serve\(option)\" runs with them; \"headroom policy check \(directory)\" checks them")
        return 0
    }

    // MARK: Tiers

    /// As many as a person can tell apart; weights double from tier to tier.
    private static let maxTiers = 8

    private static func tiers(_ arguments: Arguments) throws(UsageError) -> [String]? {
        guard let text = arguments["--tiers"] else { return nil }
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        // A tier's name follows the rule of all names.
        let areGood = names.allSatisfy { TenantID($0) != nil } && Set(names).count == names.count
        guard areGood, (1...maxTiers).contains(names.count) else {
            throw UsageError(
                "--tiers \"\(text)\": must be 1 to \(maxTiers) different names with commas between, highest priority "
                    + "first; a name has \(TenantID.rule)")
        }
        return names
    }

    /// The rules that stand in the project's own `policies/`, with `tiers` in place of its tiers.
    private static func rules(tiers: [String]?) -> String {
        let text = String(decoding: PackageResources.rules_json5, as: UTF8.self)
        guard let tiers else { return text }
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let start = lines.firstIndex(of: "  tiers: ["), let end = lines[start...].firstIndex(of: "  ],"),
            let standard = lines.firstIndex(where: { $0.hasPrefix("  default_tier: ") })
        else { preconditionFailure("policies/rules.json5 has its tiers elsewhere") }
        // A tenant without a contract is in the middle.
        lines[standard] = "  default_tier: \"\(tiers[tiers.count / 2])\","
        lines.replaceSubrange(
            (start + 1)..<end,
            with: tiers.enumerated().map { index, name in
                let weight = 1 << (tiers.count - 1 - index)
                // As for the four standard tiers: the highest has no ceiling, and waits double.
                let ceiling = index == 0 ? "null" : "0.5"
                let wait = 15 << index
                return "    { name: \"\(name)\", weight: \(weight), ceiling_share: \(ceiling), "
                    + "longest_wait_seconds: \(wait) },"
            })
        return lines.joined(separator: "\n")
    }

    // MARK: Files

    private static func makeDirectory(_ path: String) throws(CommandError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw CommandError("\(path): cannot be made: \((error as NSError).localizedDescription)")
        }
    }

    /// Refuses when a file of that name is there already.
    private static func writeNew(_ text: String, to path: String) throws(CommandError) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            let reason = unsafe String(cString: strerror(errno))
            throw CommandError(
                errno == EEXIST
                    ? "\(path) is there already, and is left as it is: name another pool or another directory"
                    : "\(path): cannot be written: \(reason)")
        }
        do {
            try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: Data(text.utf8))
        } catch {
            throw CommandError("\(path): cannot be written: \((error as NSError).localizedDescription)")
        }
        Terminal.error("wrote \(path)")
    }
}

/// The statements of a pool's file, from options or from a person's answers.
private struct PoolAnswers {
    private let pool: PoolID
    private let provider: String?
    private let mode: PoolMode
    private var nominal = Rates()

    /// Throws ``UsageError`` when something is missing and nobody is at the terminal to be asked.
    init(_ arguments: Arguments) throws(UsageError) {
        pool = try PoolAnswers.pool(arguments)
        provider = try PoolAnswers.provider(arguments, of: pool)
        let modeName = arguments["--mode"] ?? PoolMode.full.name
        guard let mode = PoolMode.allCases.first(where: { $0.name == modeName }) else {
            let names = PoolMode.allCases.map(\.name)
            throw UsageError(
                "--mode \"\(modeName)\": must be one of \(names.joined(separator: ", "))")
        }
        self.mode = mode
        for resource in Resource.allCases {
            nominal[resource] = try arguments.rate("--\(resource.rateName)", in: 1...1e12)
        }
        guard nominal.isEmpty else { return }
        for (resource, name) in [(Resource.requests, "Requests"), (.tokens, "Tokens")] {
            let question = "\(name) per minute that the contract grants (empty: not limited): "
            guard let answer = Terminal.ask(question), !answer.isEmpty else { continue }
            guard let rate = RateText.parse(answer), (1...1e12).contains(rate) else {
                throw UsageError("\"\(answer)\": must be a number from 1 to 1e12, as 900000, 900,000, 900k or 0.9M")
            }
            nominal[resource] = rate
        }
        if nominal.isEmpty {
            throw UsageError("a rate is missing: what the contract grants, as --rpm 500 --tpm 200000")
        }
    }

    private static func pool(_ arguments: Arguments) throws(UsageError) -> PoolID {
        let question = "The pool, as ACCOUNT:MODELS (openai:gpt-4o): "
        guard var text = arguments["--pool"] ?? Terminal.ask(question) else {
            throw UsageError("--pool is missing: the upstream limit that tenants share, as --pool openai:gpt-4o")
        }
        if text.isEmpty { text = "openai:gpt-4o" }
        guard let pool = PoolID(text) else { throw UsageError("--pool \"\(text)\": must have \(PoolID.rule)") }
        return pool
    }

    /// `nil`: by the general rules.
    private static func provider(_ arguments: Arguments, of pool: PoolID) throws(UsageError) -> String? {
        guard let text = arguments["--provider"] else {
            let account = String(pool.text.prefix { $0 != ":" })
            return KnownProviders.names.contains(account) ? account : nil
        }
        guard KnownProviders.names.contains(text) else {
            throw UsageError(
                "--provider \"\(text)\": must be one of \(KnownProviders.names.joined(separator: ", ")). Leave it out "
                    + "for another provider: its answers are then read by the general rules")
        }
        return text
    }

    /// A file name for any pool.
    var fileName: String { "\(String(pool.text.map { ":@".contains($0) ? "-" : $0 })).json5" }

    var text: String {
        let rates = Resource.allCases.compactMap { resource in
            nominal[resource].map { "\(resource.rateName): \(Self.plain($0))" }
        }
        return """
            // One upstream limit that tenants share. A change is live at the next tick.
            {
              // ACCOUNT:MODELS, as gateways name it in telemetry.
              pool: "\(pool)",

              // How response headers and error bodies are read: openai, anthropic, azure, bedrock, gemini, mistral, …;
              // null for a provider without rules of its own.
              provider: \(provider.map { "\"\($0)\"" } ?? "null"),

              // The contract's capacity, per minute. Name only the resources that the provider limits: rpm, tpm, itpm,
              // otpm.
              nominal: { \(rates.joined(separator: ", ")) },

              // observe: gateways only count; begin with it where there is traffic already. recommend: changes wait for a
              // person. guarded: what is assured beyond need moves by itself. full: all of it, inside guardrails.
              mode: "\(mode.name)",

              // Seconds of its limit that the provider lets pass at once. 6 s is cautious; providers seldom publish it.
              provider_burst_seconds: 6,
              // Seconds of the budget that gateways let pass at once: a second less than the provider's.
              burst_seconds: 5,

              // Pools that take the work while this provider is overloaded, in this order.
              failover: [],

              // Whether the provider counts refused calls against the limit.
              counts_refused: false,

              // Whether to use a limit in the provider's headers that is above the contract's.
              accept_above_contract: false,

              // When Headroom is away gateways go on with the fallback. A number of seconds: so long after their lease they
              // refuse calls instead.
              closed_after_seconds: null,
            }

            """
    }

    private static func plain(_ rate: Double) -> String {
        Int64(exactly: rate).map(String.init) ?? "\(rate)"
    }
}
