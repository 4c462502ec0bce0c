import Foundation
import HeadroomClient
import HeadroomModel
import Synchronization

let start = Timestamp(milliseconds: 1_793_000_000_000)

/// A manager without a Headroom, on a clock that only the test moves.
final class Fixture: Sendable {
    private final class Clock: Sendable {
        let now = Mutex(start)
    }

    let manager: BudgetManager
    private let clock: Clock

    init(directory: URL? = nil, settings change: (inout BudgetManager.Settings) -> Void = { _ in }) throws {
        let clock = Clock()
        self.clock = clock
        // Nothing listens there, and nothing is sent before `run()`.
        var settings = BudgetManager.Settings(
            gateway: "gw-1", addresses: [URL(string: "http://127.0.0.1:1")!], directory: directory)
        settings.draws = false
        // A call costs what it says.
        settings.defaultOutputTokens = 0
        change(&settings)
        manager = try BudgetManager(settings, time: TimeSource { clock.now.withLock { $0 } }, seed: 1)
    }

    var now: Timestamp { clock.now.withLock { $0 } }

    func advance(seconds: Double) {
        clock.now.withLock { $0 = $0.adding(seconds: seconds) }
        manager.serve()
    }

    func load(_ pools: PoolAllocation..., generation: Int64 = 1, leaseSeconds: Double = 1e6) {
        load(pools, generation: generation, leaseSeconds: leaseSeconds)
    }

    func load(_ pools: [PoolAllocation], generation: Int64 = 1, leaseSeconds: Double = 1e6) {
        manager.load(
            Snapshot(
                version: SnapshotVersion(epoch: 1, generation: generation), issuedAt: now, leaseSeconds: leaseSeconds,
                policy: "default@0", pools: pools.sorted { $0.pool < $1.pool }),
            leaseUntil: now.adding(seconds: leaseSeconds))
    }

    var waiting: Int { manager.poolStates.reduce(0) { $0 + $1.status.waiting } }
    var inFlight: Int { manager.poolStates.reduce(0) { $0 + $1.status.inFlight } }

    /// Until so many calls wait.
    func hasWaiting(_ count: Int) async { while waiting != count { await Task.yield() } }
}

func pool(
    _ id: PoolID = "pool", rpm: Double = 600, tpm: Double = 600_000, state: PoolState = .healthy,
    failover: [PoolID] = [], fallback: Rates = .none, burstSeconds: Double = 5, tenants: [TenantAllocation] = []
) -> PoolAllocation {
    let budget = Rates(rpm: rpm, tpm: tpm)
    return PoolAllocation(
        pool: id, state: state, capacity: budget, nominal: budget, budget: budget, fallback: fallback,
        burstSeconds: burstSeconds, failover: failover,
        retry: PoolAllocation.Retry(afterMilliseconds: 1000, jitterMilliseconds: 0),
        tenants: tenants.sorted { $0.tenant < $1.tenant }, unlisted: Rates(rpm: 0, tpm: 0))
}

func tenant(_ id: TenantID, rpm: Double = 0, tpm: Double = 0, safe: Rates = .none, clock: Double = 0)
    -> TenantAllocation
{
    TenantAllocation(tenant: id, assured: Rates(rpm: rpm, tpm: tpm), safe: safe, serviceClock: clock)
}

func call(
    _ tenant: TenantID = "a", pool: PoolID = "pool", _ criticality: Criticality = .interactive, tokens: Int = 100,
    maxWait: Duration = .seconds(1000)
) -> Call {
    Call(tenant: tenant, pool: pool, criticality: criticality, inputTokens: tokens, maxWait: maxWait)
}

/// A directory that goes with the value.
final class TemporaryDirectory {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "headroom-client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

/// What concurrent tasks did, in order.
final class Recorder<Element: Sendable>: Sendable {
    private let list = Mutex<[Element]>([])

    func append(_ element: Element) { list.withLock { $0.append(element) } }
    var elements: [Element] { list.withLock { $0 } }
    var count: Int { list.withLock { $0.count } }
}
