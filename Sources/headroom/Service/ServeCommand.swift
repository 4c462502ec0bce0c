import Dispatch
import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomStorage
import Synchronization

/// `headroom serve`: the service, until SIGTERM or SIGINT.
enum ServeCommand {
    static let help = """
        usage: headroom serve [--database FILE] [--policies DIR] [--listen HOST:PORT]
                              [--tls-certificate FILE --tls-key FILE | --tls-ends-at-proxy]
                              [--proxy-user-header NAME --trusted-proxies RANGES]
                              [--sync-contracts PATH [--every D]]
                              [--backup-directory DIR [--backup-every D] [--backup-keep N]]
                              [--open-metrics] [--accept-clock] [--log text|json] [--audit-key FILE]
                              [--snapshot-memory MIB]

        Runs the control plane: reads telemetry, decides, publishes allocations over HTTP.

          --database FILE       SQLite file, made if it is not there (\(Defaults.database)); built with the trait
                                PostgreSQL, every command also takes a server's URL, as postgres://user@host/name
          --policies DIR        rules.json5 and pools/*.json5, reloaded when they change (\(Defaults.policies))
          --listen HOST:PORT    where to serve (\(ListenAddress.standard)); other addresses than loopback need tokens
          --tls-certificate FILE, --tls-key FILE
                                serves TLS: PEM, the certificate before those that signed it, and its key. Files that
                                change are loaded within two seconds, at SIGHUP at once; open connections go on
          --tls-ends-at-proxy   says that a proxy in front ends TLS, so that another address than loopback may be served
          --proxy-user-header NAME, --trusted-proxies RANGES
                                a proxy in front signs people in: whom it names in this header acts as the token of
                                that name, without its secret. Believed from these addresses only, as 10.0.0.7,10.1.0.0/16;
                                the proxy has to take the header off what comes from outside
          --sync-contracts PATH
                                keeps contracts as this .csv or .json file says, or all such files of this directory
                                together, as "headroom tenants import" reads them. What cannot be taken changes nothing
                                and is an alert; what changes more than "contracts" in rules.json5 lets one person change
                                waits for a person's approval
          --every D             how often the file is read, as 30s, 15m or 12h (5m)
          --backup-directory DIR
                                copies the database there, each copy verified, as headroom-20261125T161500Z.sqlite; while
                                that fails there is an alert. A directory of this service's own ("headroom help backup")
          --backup-every D      how often, as 15m, 1h or 1d (1h; at least 1m)
          --backup-keep N       how many of them are kept (24)
          --accept-clock        says that the clock is right although it is far ahead of what is stored: without it, a
                                start after a longer stop than telemetry is kept deletes nothing
          --audit-key FILE      signs the audit log: who can write the database, but has not the key, can change nothing
                                in it unseen ("headroom help audit sign"); default HEADROOM_AUDIT_KEY
          --snapshot-memory MIB
                                the most that past generations and encoded answers may take beside the generation in
                                force, half of it each: with less, gateways are sent whole snapshots in place of changes
                                more often (\(SnapshotBoard.defaultMemoryBytes >> 20); at least \(snapshotMemory.lowerBound))
          --log text|json       the log on standard error: lines that begin with their time in UTC and their level, or
                                one JSON object a line (text)
          --open-metrics        lets anyone read /metrics; it names tenants, so it asks for a viewer's token otherwise,
                                once there are tokens

        Without tokens only programs on this machine are served: requests must name a loopback host, and must not come
        from another site's page or through a proxy.

        "headroom init" writes policies to begin with.

        The port is taken before a file is touched. A start beside a program that writes into the database waits for it,
        for \(Database.startSeconds) seconds at most, and says so.

        SIGTERM and SIGINT end it in order: long polls are answered, telemetry in flight is committed, and the database
        file alone is whole, so that it may be copied. SIGHUP reads the policies as they are: a pool whose file was
        removed stays in force until then, with a warning in /readyz. It reads the certificate, too.
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        FreedMemory.spare()
        let arguments = try Arguments(
            arguments, flags: ["--tls-ends-at-proxy", "--open-metrics", "--accept-clock"],
            options: [
                "--database": "FILE", "--policies": "DIR", "--listen": "HOST:PORT", "--tls-certificate": "FILE",
                "--tls-key": "FILE", "--log": "text|json", "--audit-key": "FILE", "--proxy-user-header": "NAME",
                "--trusted-proxies": "RANGES", "--sync-contracts": "PATH", "--every": "D", "--snapshot-memory": "MIB",
                "--backup-directory": "DIR", "--backup-every": "D", "--backup-keep": "N",
            ])
        var configuration = ServiceConfiguration()
        if let database = arguments["--database"] { configuration.database = database }
        if let listen = arguments["--listen"] {
            do {
                configuration.listen = try ListenAddress(parsing: listen)
            } catch {
                throw UsageError("--listen \"\(listen)\": \(error.message)")
            }
        }
        let policies = arguments["--policies"] ?? Defaults.policies
        guard FileManager.default.fileExists(atPath: policies) else {
            let words = policies == Defaults.policies ? "" : " \(policies)"
            throw CommandError(
                "\(policies): there are no policies here: \"headroom init\(words)\" writes some to begin with, "
                    + "--policies DIR names those you have")
        }
        configuration.policies = .directory(policies)
        configuration.tlsEndsAtProxy = arguments.has("--tls-ends-at-proxy")
        configuration.certificate = try certificate(arguments)
        configuration.auditKey = try AuditKeyFile.read(arguments)
        configuration.trustedProxy = try trustedProxy(arguments)
        configuration.openMetrics = arguments.has("--open-metrics")
        if let mebibytes = try arguments.integer("--snapshot-memory", in: snapshotMemory) {
            configuration.snapshotBytes = mebibytes << 20
        }
        configuration.contracts = try contracts(arguments)
        configuration.backups = try backups(arguments)

        configuration.acceptsClock = arguments.has("--accept-clock")

        let format = try LogFormat(arguments)
        let log: @Sendable (LogLevel, String) -> Void = { Terminal.log($0, $1, format) }
        configuration.log = log

        // A signal that comes while the service starts must do no harm either.
        HangupSignal.ignore()
        let service = try await Service(configuration)
        let hangup = HangupSignal { service.reloadFromDisk() }
        let signals = StopSignals { service.stop() }
        let url = "\(configuration.scheme)://\(service.address)"
        log(.info, "headroom serves on \(url), database \(Database.withoutPassword(configuration.database))")
        try await service.run()
        signals.cancel()
        hangup.cancel()
        log(.info, "headroom stopped")
        return 0
    }

    /// In MiB. Below the least, most answers would be made anew for each poll.
    private static let snapshotMemory = 8...65_536

    /// A CRM's export is made once a day, or once an hour; a person who corrects it does not want to wait.
    private static let syncSeconds = 300.0

    private static func contracts(_ arguments: Arguments) throws(UsageError) -> ContractSync.Source? {
        let seconds = try arguments.duration("--every")
        guard let path = arguments["--sync-contracts"] else {
            if seconds != nil { throw UsageError("--every goes with --sync-contracts PATH") }
            return nil
        }
        guard FileManager.default.fileExists(atPath: path) else {
            throw UsageError("--sync-contracts \"\(path)\": must be a .csv or .json file, or a directory of such files")
        }
        return ContractSync.Source(path: path, everySeconds: seconds ?? syncSeconds)
    }

    private static func backups(_ arguments: Arguments) throws(UsageError) -> BackupSchedule? {
        let (seconds, keep) = (
            try arguments.duration("--backup-every"), try arguments.integer("--backup-keep", in: 1...10_000)
        )
        guard let directory = arguments["--backup-directory"] else {
            if seconds != nil || keep != nil {
                throw UsageError("--backup-every and --backup-keep go with --backup-directory DIR")
            }
            return nil
        }
        guard (try? FileManager.default.contentsOfDirectory(atPath: directory)) != nil else {
            throw UsageError("--backup-directory \"\(directory)\": must be a directory that is there")
        }
        if let seconds, seconds < 60 { throw UsageError("--backup-every: must be at least 1m") }
        var schedule = BackupSchedule(directory: directory)
        if let seconds { schedule.everySeconds = seconds }
        if let keep { schedule.keep = keep }
        return schedule
    }

    private static func trustedProxy(_ arguments: Arguments) throws(UsageError) -> TrustedProxy? {
        let header = arguments["--proxy-user-header"]
        let ranges = arguments["--trusted-proxies"]
        if header == nil, ranges == nil { return nil }
        guard let header, let ranges else {
            throw UsageError("--proxy-user-header NAME and --trusted-proxies RANGES belong together")
        }
        let isName =
            !header.isEmpty
            && header.utf8.allSatisfy { byte in
                byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
                    || (byte < 128 && Character(Unicode.Scalar(byte)).isLetter)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
        guard isName, !["authorization", "cookie", "host"].contains(header.lowercased()) else {
            throw UsageError("--proxy-user-header \"\(header)\": must be a header's name, as X-Forwarded-User")
        }
        let addresses = try ranges.split(separator: ",").map { text throws(UsageError) in
            guard let range = AddressRange(String(text)) else {
                throw UsageError("--trusted-proxies \"\(text)\": must be an address or a range, as 10.1.0.0/16")
            }
            return range
        }
        return TrustedProxy(header: header, addresses: addresses)
    }

    private static func certificate(_ arguments: Arguments) throws(UsageError) -> CertificateFiles? {
        switch (arguments["--tls-certificate"], arguments["--tls-key"]) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            guard !arguments.has("--tls-ends-at-proxy") else {
                throw UsageError("--tls-ends-at-proxy says that this service speaks clear text; leave it out")
            }
            return CertificateFiles(certificate: certificate, key: key)
        case (nil, _): throw UsageError("--tls-key needs --tls-certificate FILE beside it")
        case (_, nil): throw UsageError("--tls-certificate needs --tls-key FILE beside it")
        }
    }
}

/// SIGTERM and SIGINT as a call; the second one ends the process at once.
final class StopSignals {
    private let sources: [any DispatchSourceSignal]

    init(_ stop: @escaping @Sendable () -> Void) {
        sources = [SIGTERM, SIGINT].map { number in
            // The signal goes to the source, not to the default action.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                stop()
                signal(number, SIG_DFL)
            }
            source.resume()
            return source
        }
    }

    func cancel() {
        for source in sources { source.cancel() }
    }
}

/// SIGHUP as a call.
final class HangupSignal {
    private let source: any DispatchSourceSignal

    init(_ reload: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeSignalSource(signal: SIGHUP, queue: .global())
        source.setEventHandler(handler: reload)
        source.resume()
    }

    func cancel() { source.cancel() }

    /// Takes away the default action, which is the end of the process.
    static func ignore() { signal(SIGHUP, SIG_IGN) }
}

/// Set by a signal, read by the run.
final class Interruption: Sendable {
    private let flag = Atomic(false)

    func note() { flag.store(true, ordering: .relaxed) }
    var wasNoted: Bool { flag.load(ordering: .relaxed) }

    /// Until a person ends the program.
    func wait() async {
        while !wasNoted { try? await Task.sleep(for: .milliseconds(200)) }
    }
}
