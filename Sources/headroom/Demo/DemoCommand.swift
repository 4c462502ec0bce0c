import HeadroomModel

/// `headroom demo`: the real service, a simulated provider, and four gateways that replay a trace, over real HTTP.
enum DemoCommand {
    static let help = """
        usage: headroom demo [--trace FILE] [--speed X] [--seconds N] [--seed N] [--port P] [--virtual] [--json]

        Starts the service on loopback with a database in a temporary directory, a simulated model provider, and four
        enforcement gateways. They poll allocations, enforce them, call the provider and post telemetry, all over HTTP.
        It plays a morning, the simulator's scenario "morning": agents of all tenants do tasks of some 40 s, one tenant's
        nightly pipeline overruns into it, and the provider silently grants half of its contract from a sixth to two
        thirds of the run.
        Beside it the same tasks go to a twin of the provider without Headroom, on virtual time: one shared bucket, and
        clients that retry as OpenAI's library does. The dashboard and the summary compare the two. After the summary the
        dashboard stays open until Ctrl-C, unless --seconds says how long the run is: then it ends by itself. Exit code 1
        when a line of telemetry was lost or a generation gave out more than the capacity estimate.

          --trace FILE   a trace (CSV: offset_ms,client,model,input_tokens,output_tokens; .gz is unpacked), - for
                         standard input. Rows without a client get synthetic tenants. Without it a workload is drawn
                         by seed from published statistics of such traces.
          --speed X      how much faster arrivals come than in the trace; all else runs in wall time. By default what
                         makes about 40 requests a second, or less when the trace would not last.
          --seconds N    length of the run, 10 to 3600; the program ends after it (240, and the dashboard stays open)
          --seed N       of everything that is drawn (1)
          --port P       of the service (8420; 0 takes any free one)
          --virtual      both sides by the simulator, without the service: minutes in a few seconds
          --json         the summary as JSON on standard output
        """

    static func run(_ arguments: [String]) async throws -> Int32 {
        let options = try DemoOptions(arguments)
        let plan = try DemoPlan(options)
        if options.isVirtual {
            let result = plan.simulated
            Terminal.print(
                options.isJSON ? result.json : plan.introduction + "\n\n" + result.lines.joined(separator: "\n"))
            return 0
        }
        let summary = try await Demo(plan: plan, options: options).run()
        return summary.isSound ? 0 : 1
    }
}

struct DemoOptions: Sendable {
    static let secondsRange = 10.0...3600.0

    /// A path, or `-`.
    let trace: String?
    let speed: Double?
    let seconds: Double
    /// The dashboard is served until a person ends it.
    let staysOpen: Bool
    let seed: UInt64
    let port: Int
    let isVirtual: Bool
    let isJSON: Bool

    init(_ arguments: [String]) throws(UsageError) {
        let arguments = try Arguments(
            arguments, flags: ["--json", "--virtual"],
            options: ["--trace": "FILE", "--speed": "X", "--seconds": "N", "--seed": "N", "--port": "P"])
        trace = arguments["--trace"]
        speed = try arguments.number("--speed", in: 0.001...100_000)
        let length = try arguments.number("--seconds", in: DemoOptions.secondsRange)
        seconds = length ?? 240
        staysOpen = length == nil
        seed = UInt64(try arguments.integer("--seed", in: 0...Int.max) ?? 1)
        port = try arguments.integer("--port", in: 0...65535) ?? 8420
        isVirtual = arguments.has("--virtual")
        isJSON = arguments.has("--json")
    }
}
