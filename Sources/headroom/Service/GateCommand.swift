import Foundation
import HeadroomClient
import HeadroomGate
import HeadroomHTTP
import HeadroomModel

/// `headroom gate`: the budget manager beside a gateway, until SIGTERM or SIGINT.
enum GateCommand {
    private static let standard = ListenAddress(host: "127.0.0.1", port: 8421)

    static let help = """
        usage: headroom gate [--listen HOST:PORT | --unix PATH] [--url URL]… [--name NAME] [--directory DIR]
                             [--pool POOL] [--tenant TENANT] [--trust-callers] [--unknown-pools refuse|pass]
                             [--before-allocations pass|refuse] [--default-output N]
                             [--cache-megabytes N [--cache-similarity X] [--cache-seconds N] [--cache-tools]
                             [--cache-group TENANT,TENANT…]…]

        Enforces Headroom's allocations for programs in any language. A program asks it for a slot before each call to the
        model, and says afterwards how the call ended. When Headroom is away, the last allocations' fallback is enforced.

          --listen HOST:PORT    where to serve (\(standard)); an address of loopback, as the gate asks for no token
          --unix PATH           serve on a Unix socket instead
          --url URL             Headroom's address (\(Defaults.url)); given more than once: those to ask in turn
          --name NAME           the gateway's name at Headroom (gate); each process needs one of its own, as gate-1
          --directory DIR       keeps the last allocations, and telemetry while Headroom is away
          --pool POOL           the pool of requests that name none
          --tenant TENANT       the tenant of requests that name none
          --trust-callers       /check also takes tenant and pool from what callers write themselves, where the proxy
                                names none: headroom.tenant in W3C baggage, and the fairness IDs of others
          --unknown-pools WHAT  calls for a pool that Headroom does not know: refuse (the default), or pass without a
                                limit
          --before-allocations WHAT
                                calls before the first allocations have come: pass without a limit (the default), or
                                refuse. Later a pool's policy says it (closed_after_seconds)
          --default-output N    tokens of an answer that sets no bound (300), until the tenant's own answers are known,
                                or Headroom's mean of the pool

          --cache-megabytes N   keeps answers, to use them again; without it there is no cache
          --cache-similarity X  how alike two questions are at least (0.95); 1: only the same question
          --cache-seconds N     how long an answer is used (3600)
          --cache-tools         also for tool work
          --cache-group TENANT,TENANT…
                                tenants that use each other's answers; others have only their own

        Agent tasks are held to the budgets of Headroom's policy (task_budgets); "headroom tasks" lists them.

        The token of role gateway, where Headroom asks for one, is taken from HEADROOM_TOKEN.

          POST /v1/slots            waits for a slot, or answers 429 with what to do
          POST /v1/slots/ID/done    how the call ended; with ?status=200 also without JSON
          DELETE /v1/slots/ID       the call was not sent
          GET /check                the same for proxies that only ask: 200 or 429, with ?deny=403 for nginx
          POST /v1/missed           calls that passed without asking, as the gate was away
          POST /v1/cache/lookup     an answer that was kept, or {"hit":null}
          POST /v1/cache            keeps an answer
          GET /v1/state, /metrics   what it enforces, and why

        Example:
          curl -sS http://127.0.0.1:8421/v1/slots -d '{"tenant":"acme","pool":"demo:sim-large","tokens":1200}'
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--cache-tools", "--trust-callers"],
            options: [
                "--listen": "HOST:PORT", "--unix": "PATH", "--url": "URL", "--name": "NAME", "--directory": "DIR",
                "--pool": "POOL", "--tenant": "TENANT", "--unknown-pools": "WHAT", "--before-allocations": "WHAT",
                "--default-output": "N",
                "--cache-megabytes": "N",
                "--cache-similarity": "X", "--cache-seconds": "N", "--cache-group": "TENANT,TENANT",
            ])
        let listen = try address(arguments)
        var settings = BudgetManager.Settings(
            gateway: try name("--name", arguments) ?? "gate", addresses: try addresses(arguments),
            token: ServiceClient.setting("HEADROOM_TOKEN"))
        if let directory = arguments["--directory"] { settings.directory = URL(filePath: directory) }
        settings.cache = try cache(arguments)
        settings.unknownPools = try unlimitedCalls("--unknown-pools", arguments) ?? settings.unknownPools
        settings.beforeAllocations = try unlimitedCalls("--before-allocations", arguments) ?? settings.beforeAllocations
        if let tokens = try arguments.integer("--default-output", in: 0...10_000_000) {
            settings.defaultOutputTokens = tokens
        }
        let defaults = GateDefaults(
            tenant: try name("--tenant", arguments), pool: try name("--pool", arguments),
            trustsCallers: arguments.has("--trust-callers"))

        let timeline = Timeline(wall: { Int64(Date().timeIntervalSince1970 * 1000) })
        let manager: BudgetManager
        do {
            manager = try BudgetManager(settings)
        } catch let error as BudgetManager.SettingsError {
            throw CommandError(error.description)
        }
        let boot = String(UInt32.random(in: 0...UInt32.max), radix: 36)
        let gate = Gate(manager, defaults: defaults, boot: boot, time: timeline.source)
        let served = try gate.start(listen)
        let place = served.path.map { "unix:\($0)" } ?? "http://\(served)"
        Terminal.log(
            .info, "headroom gate \(settings.gateway) serves on \(place), Headroom at \(settings.addresses[0])")
        let (stops, stop) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let signals = StopSignals { stop.yield() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await gate.run() }
            group.addTask { await watch(gate) }
            for await _ in stops { break }
            await gate.stop()
            group.cancelAll()
        }
        signals.cancel()
        if let path = served.path { try? FileManager.default.removeItem(atPath: path) }
        Terminal.log(.info, "headroom gate stopped")
        return 0
    }

    /// Says when Headroom goes away and when it is back.
    private static func watch(_ gate: Gate) async {
        var last: BudgetManager.State.Lease = .none
        var problem: String?
        while !Task.isCancelled {
            // Throws when the gate stops; the loop's condition says so.
            try? await Task.sleep(for: .seconds(1))
            let state = gate.manager.state
            if let found = state.problem, found != problem { Terminal.log(.warning, "Headroom: \(found)") }
            problem = state.problem
            if state.lease == .expired, last != .expired {
                Terminal.log(.warning, "the lease has run out: the fallback is in force until Headroom answers")
            } else if case .live = state.lease, last == .expired || last == .none {
                Terminal.log(.info, "allocations \(state.version ?? "") are in force")
            }
            last = state.lease
        }
    }

    private static func address(_ arguments: Arguments) throws -> ListenAddress {
        if let path = arguments["--unix"] {
            guard arguments["--listen"] == nil else { throw UsageError("give --listen or --unix, not both") }
            return ListenAddress(path: path)
        }
        guard let text = arguments["--listen"] else { return standard }
        let address: ListenAddress
        do { address = try ListenAddress(parsing: text) } catch {
            throw UsageError("--listen \"\(text)\": \(error.message)")
        }
        guard address.isLoopback else {
            throw UsageError(
                "--listen \"\(text)\": the gate asks for no token, so it serves its own machine only: 127.0.0.1 or [::1]"
            )
        }
        return address
    }

    private static func unlimitedCalls(
        _ option: String, _ arguments: Arguments
    ) throws(UsageError) -> BudgetManager.UnlimitedCalls? {
        guard let text = arguments[option] else { return nil }
        guard let choice = BudgetManager.UnlimitedCalls(rawValue: text) else {
            throw UsageError("\(option) \"\(text)\": must be refuse or pass")
        }
        return choice
    }

    private static func addresses(_ arguments: Arguments) throws(UsageError) -> [URL] {
        var texts = arguments.all("--url")
        if texts.isEmpty { texts = [ServiceClient.setting("HEADROOM_URL") ?? Defaults.url] }
        return try texts.map { text throws(UsageError) in
            guard let url = URL(string: text), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
                throw UsageError("--url \"\(text)\": must be as \(Defaults.url)")
            }
            return url
        }
    }

    private static func cache(_ arguments: Arguments) throws(UsageError) -> AnswerCache.Settings? {
        guard let megabytes = try arguments.integer("--cache-megabytes", in: 1...1_000_000) else { return nil }
        var policy = CachePolicy()
        if let similarity = try arguments.number("--cache-similarity", in: 0.5...1) { policy.similarity = similarity }
        if let seconds = try arguments.integer("--cache-seconds", in: 1...31_536_000) {
            policy.timeToLive = .seconds(seconds)
        }
        if arguments.has("--cache-tools") { policy.work.insert(.tool) }
        var settings = AnswerCache.Settings(policy: policy)
        settings.maxBytes = megabytes << 20
        settings.maxAnswers = 1_000_000
        for (index, text) in arguments.all("--cache-group").enumerated() {
            for name in text.split(separator: ",") {
                guard let tenant = TenantID(String(name)) else {
                    throw UsageError("--cache-group \"\(text)\": \(name) must be \(TenantID.rule)")
                }
                guard settings.policies[tenant] == nil else {
                    throw UsageError("--cache-group \"\(text)\": \(name) is in another group already")
                }
                var shared = policy
                shared.group = String(index + 1)
                settings.policies[tenant] = shared
            }
        }
        return settings
    }

    private static func name<Kind>(_ option: String, _ arguments: Arguments) throws(UsageError) -> Identifier<Kind>? {
        guard let text = arguments[option] else { return nil }
        guard let name = Identifier<Kind>(text) else {
            throw UsageError("\(option) \"\(text)\": must be \(Identifier<Kind>.rule)")
        }
        return name
    }
}
