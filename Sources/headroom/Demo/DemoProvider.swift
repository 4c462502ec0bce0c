import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomSimulator
import Synchronization

/// The simulated provider as an HTTP server on loopback: ``ProviderModel`` decides, this counts and waits.
///
/// A prompt's length is stated, not sent: `{"simulate":{"prompt_tokens":1200,"completion_tokens":300}}`.
final class DemoProvider: Sendable {
    static let path = "/v1/chat/completions"

    /// Attempts that came within one second.
    struct ServedSecond: Sendable {
        var attempts = 0
        var refused: [Resource: Int] = [:]

        var refusals: Int { refused.values.reduce(0, +) }
    }

    struct Log: Sendable {
        /// By second of the run.
        var seconds: [ServedSecond] = []
        /// The first at or after the drop; `nil` before there was one.
        var firstRefusalSeconds: Double?
        var firstRefusalResource: Resource?
    }

    private struct State {
        var model: ProviderModel
        var start: Timestamp
        var log = Log()
    }

    private let plan: DemoPlan
    private let time: TimeSource
    private let state: Mutex<State>
    private let server: Mutex<LocalServer?> = Mutex(nil)

    init(plan: DemoPlan, time: TimeSource) {
        self.plan = plan
        self.time = time
        state = Mutex(DemoProvider.state(plan, at: time.now()))
    }

    private static func state(_ plan: DemoPlan, at start: Timestamp) -> State {
        State(
            model: ProviderModel(
                settings: plan.provider, start: start, generator: SeededGenerator(seed: plan.seed, stream: "provider")),
            start: start)
    }

    /// Listens, and returns the port.
    func listen() throws -> UInt16 {
        var settings = ServerSettings(listen: ListenAddress(host: "127.0.0.1", port: 0))
        // Each call in flight waits in the server for its simulated latency.
        settings.callsInFlight = DemoGateway.maxCallsInFlight * DemoPlan.gateways.count * 2
        settings.stopSeconds = 1
        let completion = LocalServer.Call(
            .post, DemoProvider.path, bodyLimit: 4096, contentTypes: ["application/json"]
        ) { [self] request in
            let body = request.takeBody()
            return .later { [self] in LocalServer.Reply(await answer(body)) }
        }
        let started = LocalServer(settings: settings, calls: [completion], time: time)
        server.withLock { $0 = started }
        return try started.start().port
    }

    func run() async { await server.withLock { $0 }?.run() }

    func stop() async { await server.withLock { $0 }?.stop() }

    /// The run begins: full buckets, and the hidden schedule counts from `start`.
    func begin(at start: Timestamp) {
        state.withLock { $0 = DemoProvider.state(plan, at: start) }
    }

    var log: Log { state.withLock { $0.log } }

    /// The capacity that is really granted.
    func capacity(at now: Timestamp) -> Rates { state.withLock { $0.model.capacity(at: now) } }

    private func answer(_ body: [UInt8]) async -> HTTPResponse {
        guard let (input, output) = Self.lengths(body) else {
            let message = "simulate: must have prompt_tokens and completion_tokens, whole numbers"
            let error = #"{"error":{"message":"\#(message)","type":"invalid_request_error","param":null,"code":null}}"#
            return HTTPResponse(status: 400, type: "application/json", body: Array(error.utf8))
        }
        let now = time.now()
        let answer = state.withLock { state in
            let answer = state.model.answer(inputTokens: input, outputTokens: output, now: now)
            state.log.note(answer.verdict, atSecond: now.seconds(since: state.start), dropSeconds: plan.dropSeconds)
            return answer
        }
        try? await Task.sleep(for: .seconds(answer.latencySeconds))
        return HTTPResponse(
            status: answer.status, type: "application/json",
            headers: answer.headers.filter { $0.name != "content-type" }, body: Array(answer.body.utf8))
    }

    /// How long the prompt is that a gateway means, and how long the answer shall be.
    private static func lengths(_ body: [UInt8]) -> (input: Int64, output: Int64)? {
        guard let lengths = try? JSONNode.parse(body)["simulate"] else { return nil }
        func tokens(_ key: String) -> Int64? { lengths[key]?.number.flatMap { Int64(exactly: $0) } }
        guard let input = tokens("prompt_tokens"), let output = tokens("completion_tokens") else { return nil }
        return (input, output)
    }
}

extension DemoProvider.Log {
    fileprivate mutating func note(_ verdict: ProviderAnswer.Verdict, atSecond second: Double, dropSeconds: Double) {
        let index = max(0, Int(second))
        while seconds.count <= index { seconds.append(DemoProvider.ServedSecond()) }
        seconds[index].attempts += 1
        guard case .refused(let resource) = verdict else { return }
        seconds[index].refused[resource, default: 0] += 1
        if firstRefusalSeconds == nil, second >= dropSeconds {
            firstRefusalSeconds = second
            firstRefusalResource = resource
        }
    }

    /// Attempts and refusals between two seconds of the run.
    func sum(from: Double, to: Double) -> (attempts: Int, refusals: Int) {
        seconds.enumerated().filter { Double($0.offset) >= from && Double($0.offset) < to }
            .reduce((0, 0)) { ($0.0 + $1.element.attempts, $0.1 + $1.element.refusals) }
    }
}
