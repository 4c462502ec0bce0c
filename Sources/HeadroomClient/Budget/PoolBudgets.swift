import HeadroomModel
import Synchronization

/// The pools of this gateway: those of the snapshot, and those that calls named before there was one.
final class PoolBudgets: Sendable {
    private struct State {
        var pools: [PoolID: PoolBudget] = [:]
        /// By the snapshot in force; `nil` before the first one.
        var named: Set<PoolID>?
        var unknownCalls = 0

        func names(_ pool: PoolID) -> Bool { named?.contains(pool) ?? false }
    }

    private let settings: BudgetManager.Settings
    private let seed: UInt64
    private let time: TimeSource
    private let reporter: Reporter
    private let tasks: TaskBudgets
    private let boot: String
    private let draw: (@Sendable (DrawRequest) -> Void)?
    private let state = Mutex(State())
    private let alarm: Mutex<Alarm?> = Mutex(nil)

    /// Names that no snapshot has: callers could send any number of them.
    private static let maxUnknownPools = 256

    /// - Parameter draw: as of ``PoolBudget``.
    init(
        _ settings: BudgetManager.Settings, seed: UInt64, boot: String, time: TimeSource, reporter: Reporter,
        tasks: TaskBudgets, draw: (@Sendable (DrawRequest) -> Void)?
    ) {
        self.settings = settings
        self.seed = seed
        self.time = time
        self.reporter = reporter
        self.tasks = tasks
        self.boot = boot
        self.draw = draw
        alarm.withLock { $0 = Alarm(time: time) { [weak self] in self?.serve() } }
    }

    subscript(pool: PoolID) -> PoolBudget? { state.withLock { $0.pools[pool] } }

    /// Ascending by id.
    var all: [PoolBudget] { state.withLock { Array($0.pools.values) }.sorted { $0.pool < $1.pool } }

    /// Calls since the start for pools that the snapshot did not name.
    var unknownCalls: Int { state.withLock { $0.unknownCalls } }

    /// Before the first snapshot every pool lets everything pass, and counts it. One that the snapshot does not name is
    /// mostly a misspelled one: ``BudgetManager/Settings/unknownPools`` says what becomes of its calls.
    func pool(for id: PoolID) throws(Refusal) -> PoolBudget {
        enum Found {
            case pool(PoolBudget)
            case unknown(named: Set<PoolID>)
            case tooMany, early
        }
        let found: Found = state.withLock { state in
            if let named = state.named, !state.names(id) {
                state.unknownCalls += 1
                if settings.unknownPools == .refuse { return .unknown(named: named) }
            }
            if state.named == nil, settings.beforeAllocations == .refuse { return .early }
            if let known = state.pools[id] { return .pool(known) }
            guard state.pools.count < Self.maxUnknownPools else { return .tooMany }
            let made = make(id)
            state.pools[id] = made
            return .pool(made)
        }
        switch found {
        case .pool(let budget): return budget
        case .unknown(let named):
            let question = NearestName.question(id.text, among: named.map(\.text).sorted())
            throw Refusal(
                .fail,
                "Headroom knows no pool \(id)\(question.isEmpty ? "." : question) Its policies name the pools, and GET /v1/pools "
                    + "lists them")
        case .early:
            throw Refusal(
                .wait, retryAfter: .seconds(1),
                "no allocations have come from Headroom yet, and until then no call passes here")
        case .tooMany:
            throw Refusal(
                .fail, "there is no pool \(id): Headroom's policies name the pools, and GET /v1/pools lists them")
        }
    }

    /// Why nothing limits the pool's calls; `nil` where Headroom names it.
    func warning(of pool: PoolID) -> String? {
        state.withLock { state in
            if state.named == nil { return "no allocations have come from Headroom yet: every call passes" }
            return state.names(pool) ? nil : "Headroom knows no pool \(pool): its calls pass without a limit"
        }
    }

    private func make(_ pool: PoolID) -> PoolBudget {
        PoolBudget(
            pool: pool, gateway: settings.gateway, maxCalls: settings.maxCalls,
            defaultOutputTokens: settings.defaultOutputTokens, seed: seed, time: time,
            reporter: reporter, tasks: tasks, draw: draw,
            wake: { [weak self] instant in self?.alarm.withLock { $0 }?.ring(by: instant) },
            healthy: { [weak self] failover, model in
                for id in failover where id != pool {
                    if let other = self?[id], other.takes(model: model) { return other }
                }
                return nil
            })
    }

    /// A pool that the snapshot does not name any more is not enforced.
    func load(_ snapshot: Snapshot, leaseUntil: Timestamp) {
        let named = state.withLock { state in
            for allocation in snapshot.pools where state.pools[allocation.pool] == nil {
                state.pools[allocation.pool] = make(allocation.pool)
            }
            state.named = Set(snapshot.pools.map(\.pool))
            return state.pools
        }
        var gone = Set(named.keys)
        for allocation in snapshot.pools {
            named[allocation.pool]?.load(
                allocation, epoch: snapshot.version.epoch, boot: boot, leaseUntil: leaseUntil)
            gone.remove(allocation.pool)
        }
        for pool in gone.sorted() {
            named[pool]?.load(nil, epoch: snapshot.version.epoch, boot: boot, leaseUntil: leaseUntil)
        }
    }

    func renew(leaseUntil: Timestamp) {
        for pool in all { pool.renew(leaseUntil: leaseUntil) }
    }

    func serve() {
        for pool in all { pool.serve() }
    }
}
