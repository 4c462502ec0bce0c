import Foundation
import HeadroomHTTP
import HeadroomModel
import HeadroomSimulator

/// `headroom mock-provider`: a model provider for trials without a key, until SIGTERM or SIGINT.
enum MockProviderCommand {
    private static let standard = ListenAddress(host: "127.0.0.1", port: 8561)

    static let help = """
        usage: headroom mock-provider [--listen HOST:PORT] [--rpm N] [--tpm N] [--itpm N] [--otpm N]
                             [--headers contract|true|none] [--burst-seconds N] [--latency-ms N] [--output-tokens N]

        A model provider for trials without a key: OpenAI's and Anthropic's chat calls, whole or as a stream of events,
        with usage, rate limit headers, and a 429 with retry-after where a limit is used up. It has no model: an answer
        is as many words as the call asks for.

          --listen HOST:PORT  where to serve (\(standard)); port 0 takes any free one. Anyone who reaches it may call
          --rpm N             requests a minute (600, unless another limit is given)
          --tpm N             tokens a minute, input and output together (60000, unless another limit is given)
          --itpm N            input tokens a minute
          --otpm N            output tokens a minute
          --headers WHAT      the limits that its headers tell: the contract's whatever is granted (the default), the
                              true ones, or none
          --burst-seconds N   seconds of a limit that pass at once (6)
          --latency-ms N      how long an answer takes while the provider is idle (300); twice as long when it is full
          --output-tokens N   the length of an answer; a call's own bound makes it shorter (200)

        A prompt counts a token for each four bytes of its texts. A stream's events come together, after the latency.
        At most 1,024 calls are answered at once, and a call has at most 4 MiB; what is beyond gets a 503 or 413.

          POST /v1/chat/completions   OpenAI's call
          POST /v1/messages           Anthropic's call
          POST /admin/faults          what shall go wrong; this machine only, as the next two
          DELETE /admin/faults        all is well again
          GET /admin/state            limits, faults, and what was served and refused

        Faults are a JSON object. A key that is left out is as before:
          capacity        the part of the contract that is granted, 0.01 to 10; by default the headers know nothing of it
          outage          the part of the calls that are answered with an error, 0 to 1
          outage_status   that error's status, 500 to 599 (503)
          slow            answers take so many times as long, 1 to 100

        Example: half of the capacity is gone, and no header says so
          curl -sS http://127.0.0.1:8561/admin/faults -d '{"capacity":0.5}'
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments,
            options: [
                "--listen": "HOST:PORT", "--rpm": "N", "--tpm": "N", "--itpm": "N", "--otpm": "N", "--headers": "WHAT",
                "--burst-seconds": "N", "--latency-ms": "N", "--output-tokens": "N",
            ])
        let timeline = Timeline(wall: { Int64(Date().timeIntervalSince1970 * 1000) })
        let provider = MockProvider(
            try settings(arguments), outputTokens: try arguments.integer("--output-tokens", in: 1...16_384) ?? 200,
            seed: UInt64.random(in: 0...UInt64.max), time: timeline.source)
        let served = try provider.start(try address(arguments))
        Terminal.log(.info, "headroom mock-provider serves on http://\(served), \(provider.contract)")
        let (stops, stop) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingOldest(1))
        let signals = StopSignals { stop.yield() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await provider.run() }
            for await _ in stops { break }
            await provider.stop()
        }
        signals.cancel()
        Terminal.log(.info, "headroom mock-provider stopped")
        return 0
    }

    private static func address(_ arguments: Arguments) throws(UsageError) -> ListenAddress {
        guard let text = arguments["--listen"] else { return standard }
        do throws(HTTPError) { return try ListenAddress(parsing: text) } catch {
            throw UsageError("--listen \"\(text)\": \(error.message)")
        }
    }

    private static func settings(_ arguments: Arguments) throws(UsageError) -> ProviderModel.Settings {
        var contract = Rates.none
        for resource in Resource.allCases {
            guard let limit = try arguments.integer("--\(resource.rateName)", in: 1...1_000_000_000) else { continue }
            contract[resource] = Double(limit)
        }
        if contract.isEmpty { contract = Rates(rpm: 600, tpm: 60_000) }
        var settings = ProviderModel.Settings(model: "mock", nominal: contract)
        settings.burstSeconds = try arguments.number("--burst-seconds", in: 1...60) ?? settings.burstSeconds
        let latency = try arguments.number("--latency-ms", in: 0...60_000) ?? 300
        settings.latency.base = latency / 1000
        settings.latency.most = latency / 1000
        let headers = arguments["--headers"] ?? "contract"
        switch headers {
        case "contract": settings.headers = .nominal
        case "true": settings.headers = .truthful
        case "none": settings.headers = .absent
        default: throw UsageError("--headers \"\(headers)\": must be contract, true or none")
        }
        return settings
    }
}
