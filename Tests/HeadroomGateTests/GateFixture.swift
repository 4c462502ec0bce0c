import Foundation
import FoundationNetworking
import HeadroomClient
import HeadroomGate
import HeadroomHTTP
import HeadroomJSON
import HeadroomModel
import Synchronization

let start = Timestamp(milliseconds: 1_793_000_000_000)

/// A gate on a free port whose clock only the test moves, and whose Headroom is the test.
final class GateFixture: Sendable {
    private final class Clock: Sendable {
        let now = Mutex(start)
    }

    let gate: Gate
    let base: URL
    private let clock: Clock

    /// Without pools there is no snapshot.
    static func run(
        _ pools: PoolAllocation..., defaults: GateDefaults = GateDefaults(pool: "pool"),
        settings change: (inout BudgetManager.Settings) -> Void = { _ in },
        body: (GateFixture) async throws -> Void
    ) async throws {
        let fixture = try GateFixture(defaults, change)
        if !pools.isEmpty { fixture.load(pools) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await fixture.gate.serve() }
            let result: Result<Void, any Error>
            do { result = .success(try await body(fixture)) } catch { result = .failure(error) }
            await fixture.gate.stopServing()
            try result.get()
        }
    }

    func load(_ pools: [PoolAllocation], generation: Int64 = 1) {
        gate.manager.load(
            Snapshot(
                version: SnapshotVersion(epoch: 1, generation: generation), issuedAt: start, leaseSeconds: 1e6,
                policy: "default@0", pools: pools),
            leaseUntil: start.adding(seconds: 1e6))
    }

    private init(_ defaults: GateDefaults, _ change: (inout BudgetManager.Settings) -> Void) throws {
        let clock = Clock()
        self.clock = clock
        let time = TimeSource { clock.now.withLock { $0 } }
        // Nothing listens there, and nothing is sent.
        var settings = BudgetManager.Settings(gateway: "gw-1", addresses: [URL(string: "http://127.0.0.1:1")!])
        settings.draws = false
        settings.cache = AnswerCache.Settings()
        // A call costs what it says.
        settings.defaultOutputTokens = 0
        change(&settings)
        gate = Gate(
            try BudgetManager(settings, time: time, seed: 1), defaults: defaults, boot: "b",
            time: time)
        let address = try gate.start(ListenAddress(host: "127.0.0.1", port: 0))
        base = URL(string: "http://\(address)")!
    }

    func advance(seconds: Double) {
        clock.now.withLock { $0 = $0.adding(seconds: seconds) }
        gate.manager.serve()
    }

    var now: Timestamp { clock.now.withLock { $0 } }

    /// Takes two slots, so that the pool of one call a second owes the second one's rest.
    func spend(aheadSeconds seconds: Double) async throws {
        for _ in 0..<2 {
            _ = try await slot()
            advance(seconds: status?.inFlight == 1 ? 1 - seconds : 0)
        }
    }

    var status: PoolBudget.Status? { gate.manager.poolStates.first?.status }

    func hasWaiting(_ count: Int) async { while status?.waiting != count { await Task.yield() } }

    struct Reply: Sendable {
        let status: Int
        let json: JSONNode
        let text: String
        private let response: HTTPURLResponse

        init(_ data: Data, _ response: HTTPURLResponse) {
            self.response = response
            status = response.statusCode
            text = String(decoding: data, as: UTF8.self)
            json = (try? JSONNode.parse(Array(data))) ?? JSONNode(.null)
        }

        func header(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
        subscript(key: String) -> JSONNode? { json[key] }
    }

    func ask(
        _ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:]
    ) async throws -> Reply {
        var request = URLRequest(url: URL(string: path, relativeTo: base)!)
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request, withinSeconds: 60)
        return Reply(data, response as! HTTPURLResponse)
    }

    func slot(_ fields: String = "") async throws -> Reply {
        try await ask("POST", "/v1/slots", #"{"tenant":"a","tokens":100\#(fields.isEmpty ? "" : "," + fields)}"#)
    }
}

func pool(
    _ id: PoolID = "pool", rpm: Double = 60, tpm: Double = 600_000, burstSeconds: Double = 1,
    tenants: [TenantAllocation] = []
) -> PoolAllocation {
    let budget = Rates(rpm: rpm, tpm: tpm)
    return PoolAllocation(
        pool: id, capacity: budget, nominal: budget, budget: budget, burstSeconds: burstSeconds,
        retry: PoolAllocation.Retry(afterMilliseconds: 1000, jitterMilliseconds: 0),
        tenants: [TenantAllocation(tenant: "a", assured: Rates(rpm: rpm, tpm: tpm))] + tenants,
        unlisted: Rates(rpm: 0, tpm: 0))
}
