import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import HeadroomSimulator
import Synchronization

/// ``ProviderModel`` behind the wires of OpenAI and Anthropic: it decides, this reads, waits and writes.
final class MockProvider: Sendable {
    /// Each holds its body in memory while it waits for its answer.
    private static let maxCallsInFlight = 1024
    private static let maxBodyBytes = 4 << 20

    private struct State {
        var model: ProviderModel
        var outages: SeededGenerator
        var faults = MockFaults()
        var served = 0
        var refused = 0
        var failed = 0
        /// Of the calls that were served.
        var tokens = Work.zero
    }

    private let outputTokens: Int
    private let time: TimeSource
    private let latency: ProviderModel.Latency
    private let state: Mutex<State>
    private let server: Mutex<LocalServer?> = Mutex(nil)

    init(_ settings: ProviderModel.Settings, outputTokens: Int, seed: UInt64, time: TimeSource) {
        self.outputTokens = outputTokens
        self.time = time
        latency = settings.latency
        state = Mutex(
            State(
                model: ProviderModel(
                    settings: settings, start: time.now(), generator: SeededGenerator(seed: seed, stream: "provider")),
                outages: SeededGenerator(seed: seed, stream: "outages")))
    }

    /// For people.
    var contract: String { RateText.cell(state.withLock { $0.model.settings.nominal }) }

    /// Listens, and says where: port 0 has become a real one.
    func start(_ listen: ListenAddress) throws(HTTPError) -> ListenAddress {
        var settings = ServerSettings(listen: listen)
        settings.callsInFlight = MockProvider.maxCallsInFlight
        settings.stopSeconds = 2
        let started = LocalServer(settings: settings, calls: calls, time: time)
        server.withLock { $0 = started }
        return try started.start()
    }

    func run() async { await server.withLock { $0 }?.run() }

    func stop() async { await server.withLock { $0 }?.stop() }

    private var calls: [LocalServer.Call] {
        MockWire.allCases.map { wire in
            LocalServer.Call(
                .post, wire.path, bodyLimit: MockProvider.maxBodyBytes, contentTypes: ["application/json"],
                callers: .proxies
            ) { [self] request in
                let body = request.takeBody()
                return .later { [self] in LocalServer.Reply(await answer(body, on: wire)) }
            }
        } + [
            LocalServer.Call(.post, "/admin/faults", bodyLimit: 4096) { [self] request throws(HTTPError) in
                let body = request.takeBody()
                var faults = state.withLock { $0.faults }
                try faults.read(body)
                return .now(LocalServer.Reply(change(to: faults)))
            },
            LocalServer.Call(.delete, "/admin/faults") { [self] _ in .now(LocalServer.Reply(change(to: MockFaults())))
            },
            LocalServer.Call(.get, "/admin/state") { [self] _ in .now(LocalServer.Reply(report)) },
        ]
    }

    // MARK: Calls

    private func answer(_ body: [UInt8], on wire: MockWire) async -> HTTPResponse {
        let call: MockCall
        do throws(MockCall.Fault) {
            call = try MockCall(body, usualOutputTokens: outputTokens)
        } catch {
            return wire.error(status: 400, type: "invalid_request_error", error.message)
        }
        let now = time.now()
        let (answer, failure) = state.withLock { state -> (ProviderAnswer?, Int) in
            guard state.outages.drawUniform() >= state.faults.outage else {
                state.failed += 1
                return (nil, state.faults.outageStatus)
            }
            let answer = state.model.answer(
                inputTokens: Int64(call.inputTokens), outputTokens: Int64(call.outputTokens), now: now)
            if answer.verdict == .served {
                state.served += 1
                state.tokens += Work(inputTokens: Double(call.inputTokens), outputTokens: Double(call.outputTokens))
            } else {
                state.refused += 1
            }
            return (answer, 0)
        }
        guard let answer else {
            return wire.error(status: failure, type: wire.outageType(failure), "The provider has an outage.")
        }
        // Throws when the provider stops: then the answer may come at once.
        try? await Task.sleep(for: .seconds(answer.latencySeconds))
        return wire.response(answer, to: call, at: now)
    }

    // MARK: Faults

    private func change(to faults: MockFaults) -> HTTPResponse {
        state.withLock { state in
            state.faults = faults
            state.model.settings.capacity = [(0, faults.capacity)]
            state.model.settings.latency.base = latency.base * faults.slow
            state.model.settings.latency.most = latency.most * faults.slow
        }
        return report
    }

    private var report: HTTPResponse {
        let now = time.now()
        var writer = JSONWriter(capacity: 512)
        state.withLock { state in
            writer.beginObject()
            writer.field("contract", state.model.settings.nominal)
            writer.field("granted", state.model.capacity(at: now))
            writer.key("faults")
            state.faults.write(to: &writer)
            writer.field("served", state.served)
            writer.field("refused", state.refused)
            writer.field("failed", state.failed)
            writer.field("input_tokens", Int64(state.tokens[.inputTokens]))
            writer.field("output_tokens", Int64(state.tokens[.outputTokens]))
            writer.endObject()
        }
        return HTTPResponse(type: "application/json", body: writer.bytes)
    }
}

/// What goes wrong, on command.
struct MockFaults: Sendable {
    /// The part of the contract that is granted.
    var capacity = 1.0
    /// The part of the calls that are answered with an error.
    var outage = 0.0
    var outageStatus = 503
    /// So many times the latency.
    var slow = 1.0

    /// The keys of a JSON object; those that it does not have stay.
    mutating func read(_ body: [UInt8]) throws(HTTPError) {
        let node: JSONNode
        do throws(JSONError) { node = try JSONNode.parse(body) } catch {
            throw HTTPError(.badRequest, "no JSON: \(error.description)")
        }
        guard let members = node.members else {
            throw HTTPError(.badRequest, #"must be an object, as {"capacity":0.5}"#)
        }
        for member in members {
            func number(in range: ClosedRange<Double>) throws(HTTPError) -> Double {
                guard let number = member.value.number, range.contains(number) else {
                    throw HTTPError(
                        .badRequest,
                        "\(member.key): must be a number from \(range.lowerBound) to \(range.upperBound)")
                }
                return number
            }
            switch member.key {
            case "capacity": capacity = try number(in: 0.01...10)
            case "outage": outage = try number(in: 0...1)
            case "outage_status": outageStatus = Int(try number(in: 500...599))
            case "slow": slow = try number(in: 1...100)
            default:
                throw HTTPError(
                    .badRequest, "\(member.key): is no fault; there are capacity, outage, outage_status and slow")
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("capacity", finite: capacity)
        writer.field("outage", finite: outage)
        writer.field("outage_status", outageStatus)
        writer.field("slow", finite: slow)
        writer.endObject()
    }
}
