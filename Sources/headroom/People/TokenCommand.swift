import Foundation
import HeadroomJSON
import HeadroomModel
import HeadroomStorage

/// `headroom token`: who may call the service.
enum TokenCommand {
    static let help = """
        usage: headroom token create --name NAME --role ROLE [--gateways A,B] [--pools …] [--tenants …]
                                     [--expires-in 30d] [--database FILE]
               headroom token list [--database FILE] [--json]
               headroom token revoke NAME [--database FILE]

        create prints the token's secret, once: only its SHA-256 is stored. Give it to the service's callers as
        "Authorization: Bearer SECRET". A running service knows new and revoked tokens within seconds.

          --name NAME       unique for ever, also once revoked
          --role ROLE       gateway  its own calls only, for the names in --gateways
                            viewer   may look at everything
                            success  viewer, and may raise or lower tenants
                            sre      viewer, and may approve, freeze, pin, roll back
                            admin    everything
          --gateways A,B    the gateway names that the token may speak for; needed by the role gateway. One may end
                            in .* for worker processes: litellm.* stands for litellm.1, litellm.2 and so on
          --pools A,B       limit the token to these pools; default all
          --tenants A,B     limit the token to these tenants; default all
          --expires-in D    as 90s, 15m, 12h, 30d, 8w; default never
          --database FILE   default \(Defaults.database)
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let rest = Array(arguments.dropFirst())
        switch arguments.first {
        case "create": return try await create(rest)
        case "list": return try await list(rest)
        case "revoke": return try await revoke(rest)
        default:
            throw UsageError(
                arguments.isEmpty ? "say create, list or revoke" : "\"\(arguments[0])\": must be create, list or revoke"
            )
        }
    }

    private static func create(_ arguments: [String]) async throws -> Int32 {
        let options = [
            "--name": "NAME", "--role": "ROLE", "--gateways": "A,B", "--pools": "A,B", "--tenants": "A,B",
            "--expires-in": "30d",
        ].merging(CommandDatabase.option) { first, _ in first }
        let arguments = try Arguments(arguments, options: options)
        guard let name = arguments["--name"] else { throw UsageError("--name is missing: who will hold the token") }
        guard GatewayID(name) != nil else { throw UsageError("--name \"\(name)\": must have \(GatewayID.rule)") }
        // Authors of the audit log that hold no token.
        guard ![Authorship.automation, "local"].contains(name) else {
            throw UsageError(
                "--name \"\(name)\": stands for Headroom itself or for a caller without a token; choose another")
        }
        let roles = Role.allCases.map(\.rawValue).joined(separator: ", ")
        guard let roleName = arguments["--role"] else { throw UsageError("--role is missing: one of \(roles)") }
        guard let role = Role(rawValue: roleName) else {
            throw UsageError("--role \"\(roleName)\": must be one of \(roles)")
        }
        let gateways: GatewayNames
        do {
            gateways = try GatewayNames(parsing: names("--gateways", arguments))
        } catch {
            throw UsageError("--gateways \(error)")
        }
        if role == .gateway, gateways.isEmpty {
            throw UsageError("--gateways is missing: the role gateway needs the gateway names that it may speak for")
        }
        if role != .gateway, !gateways.isEmpty {
            throw UsageError("--gateways: only the role gateway speaks for gateways, not \(role.rawValue)")
        }
        let pools: Set<PoolID>? = try identifiers("--pools", arguments)
        let tenants: Set<TenantID>? = try identifiers("--tenants", arguments)
        let lifetime = try arguments.duration("--expires-in")
        let now = CommandDatabase.now()
        let secret = AccessSecret.make()
        let database = try CommandDatabase.open(arguments)
        let token = try await database.tokens.create(
            name: name, role: role, secret: secret, gateways: gateways, pools: pools, tenants: tenants,
            expires: lifetime.map { now.adding(seconds: $0) }, at: now)
        let end = token.expires.map { ", until \(RFC3339.format(milliseconds: $0.milliseconds))" } ?? ""
        Terminal.error(
            "\(database.path): token \(name), role \(role.rawValue)\(end). Keep the secret: it is not stored.")
        Terminal.print(secret)
        return 0
    }

    /// `nil` when the option is not given.
    private static func identifiers<Kind>(
        _ option: String, _ arguments: Arguments
    ) throws(UsageError) -> Set<Identifier<Kind>>? {
        var identifiers: Set<Identifier<Kind>> = []
        for name in names(option, arguments) {
            guard let identifier = Identifier<Kind>(name) else {
                throw UsageError("\(option) \"\(name)\": a name must have \(Identifier<Kind>.rule)")
            }
            identifiers.insert(identifier)
        }
        return identifiers.isEmpty ? nil : identifiers
    }

    /// Separated by commas; the option may be repeated.
    private static func names(_ option: String, _ arguments: Arguments) -> [String] {
        arguments.all(option).flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map(String.init)
    }

    private static func list(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, flags: ["--json"], options: CommandDatabase.option)
        let now = CommandDatabase.now()
        let tokens = try await CommandDatabase.open(arguments, mustExist: true).tokens.all()
        if arguments.has("--json") {
            Terminal.print(bytes: json(tokens, now))
            return 0
        }
        var table = TextTable(["ID", "NAME", "ROLE", "STATE", "CREATED", "EXPIRES", "LIMITED TO"])
        for token in tokens {
            table.add([
                "\(token.id)", token.name, token.role.rawValue, state(of: token, now),
                RFC3339.format(milliseconds: token.created.milliseconds),
                token.expires.map { RFC3339.format(milliseconds: $0.milliseconds) } ?? "never", scope(of: token),
            ])
        }
        Terminal.print(table.text)
        return 0
    }

    private static func state(of token: AccessToken, _ now: Timestamp) -> String {
        if token.revoked != nil { return "revoked" }
        return token.isValid(at: now) ? "valid" : "expired"
    }

    private static func scope(of token: AccessToken) -> String {
        let parts = limits(of: token).filter { !$0.1.isEmpty }.map { "\($0.0) \($0.1.joined(separator: ","))" }
        return parts.isEmpty ? "-" : parts.joined(separator: "; ")
    }

    private static func limits(of token: AccessToken) -> [(String, [String])] {
        [
            ("gateways", token.gateways.texts), ("pools", (token.pools ?? []).sorted().map(\.text)),
            ("tenants", (token.tenants ?? []).sorted().map(\.text)),
        ]
    }

    private static func json(_ tokens: [AccessToken], _ now: Timestamp) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginArray()
        for token in tokens {
            writer.beginObject()
            writer.field("id", token.id)
            for (key, text) in [("name", token.name), ("role", token.role.rawValue), ("state", state(of: token, now))] {
                writer.key(key)
                writer.string(text)
            }
            for (key, instant) in [
                ("created_at", token.created), ("expires_at", token.expires), ("revoked_at", token.revoked),
            ] {
                writer.key(key)
                if let instant { writer.timestamp(milliseconds: instant.milliseconds) } else { writer.null() }
            }
            for (key, names) in limits(of: token) {
                writer.key(key)
                writer.beginArray()
                for name in names { writer.string(name) }
                writer.endArray()
            }
            writer.endObject()
        }
        writer.endArray()
        return writer.bytes + [UInt8(ascii: "\n")]
    }

    private static func revoke(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(arguments, options: CommandDatabase.option, maxPositionals: 1)
        guard let wanted = arguments.positionals.first else {
            throw UsageError("NAME is missing: \"headroom token list\" shows the tokens")
        }
        let database = try CommandDatabase.open(arguments, mustExist: true)
        let tokens = try await database.tokens.all()
        // A name may look like a number: it wins over the id.
        guard let token = tokens.first(where: { $0.name == wanted }) ?? tokens.first(where: { "\($0.id)" == wanted })
        else {
            throw CommandError("\(database.path): no token \"\(wanted)\"; \"headroom token list\" shows the tokens")
        }
        let isRevoked = try await database.tokens.revoke(name: token.name, at: CommandDatabase.now())
        Terminal.error("\(database.path): token \(token.name) \(isRevoked ? "is revoked" : "was revoked before")")
        return 0
    }
}
