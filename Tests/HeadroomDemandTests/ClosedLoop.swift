import HeadroomDecision
import HeadroomModel

/// Tenants whose work waits until their assured rate lets it go, what the classifier makes of their telemetry, and what
/// the decision makes of that: a turn every two seconds. Nothing is lent, so that the assured rate is all there is.
struct ClosedLoop {
    struct Tenant {
        /// Calls a second that it really has, on average.
        var calls: Double
        /// How many times its real queue it says that it has.
        var claimed = 1.0
        /// It works for a minute in three, three times as much, and hardly at all in between.
        var worksInBursts = false
        var tasks = Tasks.none
    }

    /// What its calls belong to.
    enum Tasks {
        case none
        /// Four at a time, of so many calls each, which they tell truly.
        case honest(calls: Int)
        /// Four that always say they need as much more, and never complete.
        case endless
    }

    /// Calls that each of a tenant's four tasks has made.
    private struct Progress {
        var calls = [0, 0, 0, 0]
        var rounds = [0, 0, 0, 0]
    }

    /// The pool delivers ten calls a second.
    static let tokensPerCall = 100_000.0
    /// Work that has waited longer is given up.
    private static let patienceSeconds = 60.0

    var tenants: [TenantID: Tenant]
    /// Its own calls that each was served.
    private(set) var served: [TenantID: Double] = [:]
    /// Who was said to game the loop at any time.
    private(set) var flagged: Set<TenantID> = []
    private var waiting: [TenantID: Double] = [:]
    private var progress: [TenantID: Progress] = [:]
    private var allowed: [TenantID: Double] = [:]
    private var rates: [TenantID: Rates] = [:]
    private let pool = ClassifiedPool(Policy())
    private let policy = PoolPolicy(pool: ClassifiedPool.pool, nominal: ClassifiedPool.nominal)
    private var allocator = PoolAllocator(pool: ClassifiedPool.pool, at: ClassifiedPool.start)
    private var second = 0.0
    private var random: SplitMix64

    init(_ tenants: [TenantID: Tenant], seed: UInt64) {
        self.tenants = tenants
        random = SplitMix64(seed: seed)
    }

    mutating func run(seconds: Double) {
        while second < seconds {
            for tenant in tenants.keys.sorted() {
                served[tenant, default: 0] += serve(tenant)
            }
            second += 2
            decide()
        }
    }

    /// Two seconds of one tenant. Returns the calls that went.
    private mutating func serve(_ id: TenantID) -> Double {
        let tenant = tenants[id]!
        let rate = (rates[id]?[.tokens] ?? 0) / 60 / Self.tokensPerCall
        let isBurst = second.truncatingRemainder(dividingBy: 180) < 60
        let share = tenant.worksInBursts ? (isBurst ? 3 : 0.1) : 1
        let arrived = 2 * tenant.calls * share * .random(in: 0.5...1.5, using: &random)
        let queue = min(waiting[id, default: 0] + arrived, arrived + Self.patienceSeconds * tenant.calls)
        let room = min(allowed[id, default: 0], 1) + 2 * rate
        let calls = min(queue, room).rounded(.down)
        allowed[id] = room - calls
        waiting[id] = queue - calls
        for call in 0..<Int(calls) {
            pool.call(
                second + 2 * (Double(call) + 0.5) / calls, by: id, input: 90_000, output: 10_000,
                task: task(of: id, call % 4))
        }
        let claimed = (waiting[id]! * tenant.claimed).rounded()
        pool.queue(second + 1.9, id, depth: Int64(claimed), tokens: Int64(claimed * Self.tokensPerCall))
        tell(of: id, calls: Int(calls))
        return calls
    }

    private func task(of id: TenantID, _ slot: Int) -> String? {
        if case .none = tenants[id]!.tasks { return nil }
        return "\(id)-\(slot)-\(progress[id]?.rounds[slot] ?? 0)"
    }

    /// What the tenant says of its tasks.
    private mutating func tell(of id: TenantID, calls: Int) {
        for slot in 0..<4 {
            guard let name = task(of: id, slot) else { return }
            var left = 20
            if case .honest(let length) = tenants[id]!.tasks {
                progress[id, default: Progress()].calls[slot] += (calls - slot + 3) / 4
                left = length - progress[id]!.calls[slot]
                guard left > 0 else {
                    pool.task(second + 1.9, name, .completed, tenant: id)
                    progress[id]!.calls[slot] = 0
                    progress[id]!.rounds[slot] += 1
                    continue
                }
                // A task that has not begun needs nothing yet.
                if left == length { continue }
            }
            pool.task(
                second + 1.9, name, .progress, tenant: id, requests: Int64(left),
                tokens: Int64(Double(left) * Self.tokensPerCall))
        }
    }

    private mutating func decide() {
        let now = ClassifiedPool.at(second)
        let demand = pool.demand(at: second)
        for tenant in demand.tenants where tenant.isDiscounted { flagged.insert(tenant.tenant) }
        let decision = allocator.decide(
            policy,
            capacity: PoolCapacity(
                pool: policy.pool, capacity: policy.nominal, nominal: policy.nominal),
            demand: demand, under: Rules(policy: Policy(pools: [policy])).holding(at: now), at: now)
        rates = Dictionary(uniqueKeysWithValues: decision.allocation.tenants.map { ($0.tenant, $0.assured) })
        pool.entitlements = decision.entitlements
    }
}
