import Foundation
import HeadroomHTTP
import HeadroomModel

/// `headroom conformance`: what a gateway must do, as JSON that any language can read, asked of a gate over HTTP, or seen when
/// a gateway takes it for Headroom.
enum ConformanceCommand {
    static let help = """
        usage: headroom conformance URL [--profile lending|drawing|all]
               headroom conformance vectors [--profile lending|drawing|all]
               headroom conformance serve [--listen HOST:PORT] [--pool POOL] [--lease-seconds N]

        With the address of a gate, plays stories to it and compares what it decides with what Headroom's own gate does.
        Each story is one POST: its lines as below, without "expect". The gate answers 200 and a line of JSON for each line
        but the first: what came of the step, or null where nothing is asked. What is law is compared: numbers may differ
        by a billionth, members may have any order, and so may the calls of expire, and those that go where nothing is
        enforced. For each story the first step that differs is printed with the rule that it breaks (the article
        GatewayRules); the exit status is 1 when there is one.

          --profile P  lending: buckets, order of service, settlement, refusals, the lease; drawing: the float besides; all:
                       breakers and kinds of tasks besides (all)

        With "serve", plays Headroom to a gateway for half a minute: polls, leases, deltas, old copies, failures, a new term, a
        hang-up, and what it reports, draws and says when it stops. Prints for each rule of the wire whether the gateway kept
        it; the exit status is 1 when one is broken, or no gateway came.

          --listen HOST:PORT  where (\(standard)); port 0 takes any free one
          --pool POOL         the pool that the gateway is sent (pool); its tenants are a and b
          --lease-seconds N   of what it is sent, 1 to 60 (6)

        "vectors" writes the same stories for a player of your own, each step with what Headroom's own gate does. They are
        the same in every run.

        One JSON object a line. {"story":NAME} begins a new gate at the instant 0. Every other line is one step: "at" is
        the instant in milliseconds, "do" the operation, "expect" what comes of it:
          load       "snapshot" is in force from now on, as GET /v1/allocations has it, until "lease_until"
          renew      the lease is renewed until "lease_until"
          clocks     "service_clocks" of an answer to telemetry
          enqueue    "call" asks for its turn; "expect": whether the gate takes it
          kind       a call for a task of "kind" asks, whose caller waits for "patience" seconds; "expect": the seconds until
                     it may go, null while its kind is paused. One that would wait for longer does not go
          dispatch   "expect": the calls that go, in order, each with the right it goes on
          expire     "expect": the calls whose patience has ended
          divert     "expect": the calls that only the breaker keeps back
          settle     the call "id" has ended and cost "actual"
          refused    the provider refused "id"; "expect": from when it may go again, null when it is given up
          observe    a provider's answer, typed, with what its headers say
          queues     "expect": what waits, by tenant and criticality
          start_drawing, draw, answer
                     the float (WireFormat §2.1): "expect" of draw is the request that is due, null for none; "expect"
                     of answer is the calls that go
        """

    private static let standard = ListenAddress(host: "127.0.0.1", port: 8420)

    static func run(_ arguments: [String]) async throws -> Int32 {
        let arguments = try Arguments(
            arguments,
            options: ["--profile": "NAME", "--listen": "HOST:PORT", "--pool": "POOL", "--lease-seconds": "N"],
            maxPositionals: 1)
        let name = arguments["--profile"] ?? "all"
        guard let profile = VectorStory.Profile(rawValue: name) else {
            throw UsageError("--profile \"\(name)\": must be lending, drawing or all")
        }
        guard let what = arguments.positionals.first else {
            throw UsageError("say what: the address of a gate, vectors, or serve")
        }
        if what == "serve" { return try await serve(arguments) }
        for option in ["--listen", "--pool", "--lease-seconds"] where arguments[option] != nil {
            throw UsageError("\(option) is for conformance serve")
        }
        guard what == "vectors" else { return try await ConformanceCheck(what, profile).run() == 0 ? 0 : 1 }
        Terminal.print(bytes: VectorStory.stories(of: profile).flatMap { $0.played() })
        return 0
    }

    private static func serve(_ arguments: Arguments) async throws -> Int32 {
        if arguments["--profile"] != nil { throw UsageError("--profile is for stories: conformance serve plays one") }
        let name = arguments["--pool"] ?? "pool"
        guard let pool = PoolID(name) else { throw UsageError("--pool \"\(name)\": must be a name of a pool") }
        let lease = try arguments.number("--lease-seconds", in: 1...60) ?? 6
        let listen: ListenAddress
        do throws(HTTPError) { listen = try arguments["--listen"].map(ListenAddress.init(parsing:)) ?? standard } catch
        {
            throw UsageError("--listen \"\(arguments["--listen"] ?? "")\": \(error.message)")
        }
        let timeline = Timeline(wall: { Int64(Date().timeIntervalSince1970 * 1000) })
        let play = ServicePlayServer(pool: pool, leaseSeconds: lease, time: timeline.source)
        let signals = StopSignals { play.end() }
        defer { signals.cancel() }
        let found = try await play.run(listen)
        return found.broken == 0 && found.hasCome ? 0 : 1
    }
}
