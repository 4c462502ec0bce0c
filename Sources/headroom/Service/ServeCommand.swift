import Dispatch
import Foundation
import HeadroomHTTP

/// `headroom serve`: the service, until SIGTERM or SIGINT.
enum ServeCommand {
    static let help = """
        usage: headroom serve [--database FILE] [--policies DIR] [--listen HOST:PORT] [--tls-ends-at-proxy]
                              [--open-metrics] [--accept-clock]

        Runs the control plane: reads telemetry, decides, publishes allocations over HTTP.

          --database FILE       SQLite file, made if it is not there (\(Defaults.database))
          --policies DIR        rules.json5 and pools/*.json5, reloaded when they change (\(Defaults.policies))
          --listen HOST:PORT    where to serve (\(ListenAddress.standard)); other addresses than loopback need tokens
          --tls-ends-at-proxy   says that a proxy in front ends TLS, so that another address than loopback may be served
          --accept-clock        says that the clock is right although it is far ahead of what is stored: without it, a
                                start after a longer stop than telemetry is kept deletes nothing
          --open-metrics        lets anyone read /metrics; it names tenants, so it asks for a viewer's token otherwise,
                                once there are tokens

        Without tokens only programs on this machine are served: requests must name a loopback host, and must not come
        from another site's page or through a proxy.

        Standard error is the log: each line begins with its time in UTC and its level. "headroom init" writes policies to
        begin with.

        SIGTERM and SIGINT end it in order: long polls are answered, telemetry in flight is committed, and the database
        file alone is whole, so that it may be copied. SIGHUP reads the policies as they are: a pool whose file was
        removed stays in force until then, with a warning in /readyz.
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--tls-ends-at-proxy", "--open-metrics", "--accept-clock"],
            options: ["--database": "FILE", "--policies": "DIR", "--listen": "HOST:PORT"])
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
        configuration.openMetrics = arguments.has("--open-metrics")

        configuration.acceptsClock = arguments.has("--accept-clock")

        // A signal that comes while the service starts must do no harm either.
        HangupSignal.ignore()
        let service = try await Service(configuration)
        let hangup = HangupSignal { service.reloadPolicies() }
        let signals = StopSignals { service.stop() }
        Terminal.log(.info, "headroom serves on http://\(service.address), database \(configuration.database)")
        try await service.run()
        signals.cancel()
        hangup.cancel()
        Terminal.log(.info, "headroom stopped")
        return 0
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
