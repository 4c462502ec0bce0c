import HeadroomModel
import Synchronization

/// The pools of this gateway: those of the snapshot, and those that calls named before there was one.
final class PoolBudgets: Sendable {
    private let settings: BudgetManager.Settings
    private let seed: UInt64
    private let time: TimeSource
    private let reporter: Reporter
    private let tasks: TaskBudgets?
    private let boot: String
    private let draw: (@Sendable (DrawRequest) -> Void)?
    private let pools = Mutex<[PoolID: PoolBudget]>([:])
    private let alarm: Mutex<Alarm?> = Mutex(nil)

    /// Names that no snapshot has: callers could send any number of them.
    private static let maxUnknownPools = 256

    /// - Parameter draw: as of ``PoolBudget``.
    init(
        _ settings: BudgetManager.Settings, seed: UInt64, boot: String, time: TimeSource, reporter: Reporter,
        tasks: TaskBudgets?, draw: (@Sendable (DrawRequest) -> Void)?
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

    subscript(pool: PoolID) -> PoolBudget? { pools.withLock { $0[pool] } }

    /// Ascending by id.
    var all: [PoolBudget] { pools.withLock { Array($0.values) }.sorted { $0.pool < $1.pool } }

    /// A pool that no snapshot names lets everything pass, and counts it.
    func pool(for id: PoolID) throws(Refusal) -> PoolBudget {
        let found: PoolBudget? = pools.withLock { pools in
            if let known = pools[id] { return known }
            guard pools.count < Self.maxUnknownPools else { return nil }
            let made = make(id)
            pools[id] = made
            return made
        }
        guard let found else {
            throw Refusal(
                .fail, "there is no pool \(id): Headroom's policies name the pools, and GET /v1/pools lists them")
        }
        return found
    }

    private func make(_ pool: PoolID) -> PoolBudget {
        PoolBudget(
            pool: pool, gateway: settings.gateway, maxCalls: settings.maxCalls, seed: seed, time: time,
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
        let named = pools.withLock { pools in
            for allocation in snapshot.pools where pools[allocation.pool] == nil {
                pools[allocation.pool] = make(allocation.pool)
            }
            return pools
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
