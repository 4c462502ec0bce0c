import HeadroomEnforcement
import HeadroomModel

extension SplitMix64 {
    init(seed: Int) { self.init(seed: UInt64(seed) &* 0x9E37_79B9_7F4A_7C15) }
}

let start = Timestamp(milliseconds: 1_793_000_000_000)
let never = start.adding(seconds: 1e9)

func after(_ seconds: Double) -> Timestamp { start.adding(seconds: seconds) }

func allocation(
    rpm: Double? = 600, tpm: Double? = 600_000, enforce: Bool = true, fallback: Rates = .none, burstSeconds: Double = 5,
    unlisted: Rates = Rates(rpm: 0, tpm: 0), tenants: [TenantAllocation] = []
) -> PoolAllocation {
    let budget = Rates(rpm: rpm, tpm: tpm)
    return PoolAllocation(
        pool: "pool", enforce: enforce, capacity: budget, nominal: budget, budget: budget, fallback: fallback,
        burstSeconds: burstSeconds, tenants: tenants.sorted { $0.tenant < $1.tenant }, unlisted: unlisted)
}

func tenant(
    _ id: TenantID, rpm: Double = 0, tpm: Double = 0, floor: Rates = .none, ceiling: Rates = .none,
    safe: Rates = .none, weight: Double = 1, clock: Double = 0
) -> TenantAllocation {
    TenantAllocation(
        tenant: id, assured: Rates(rpm: rpm, tpm: tpm), floor: floor, ceiling: ceiling, safe: safe, weight: weight,
        serviceClock: clock)
}

func gate(_ allocation: PoolAllocation?, leaseUntil: Timestamp = never) -> PoolGate {
    var gate = PoolGate(pool: "pool", gateway: "gw-1", at: start)
    gate.load(allocation, leaseUntil: leaseUntil, at: start)
    return gate
}

func call(
    _ id: Int, of tenant: TenantID, tokens: Double = 1000, _ criticality: Criticality = .interactive,
    at arrival: Timestamp = start, deadline: Timestamp = never, model: String? = nil
) -> WaitingCall {
    WaitingCall(
        id: id, tenant: tenant, criticality: criticality, estimate: Work(requests: 1, tokens: tokens),
        arrival: arrival, deadline: deadline, model: model)
}

extension PoolGate {
    /// Enqueues calls that must be taken.
    mutating func enqueue(_ calls: [WaitingCall], at now: Timestamp = start) {
        for call in calls { precondition(enqueue(call, at: now)) }
    }

    /// Dispatches each `step` seconds in `seconds`, each call settled at once at its estimate, and tells who was served
    /// what. Each of `busy` always has 20 calls of `tokens` waiting.
    mutating func run(
        from begin: Double = 0, seconds: Double, step: Double = 0.01, busy: [TenantID], tokens: Double = 1000,
        ids: inout Int
    ) -> [Dispatch] {
        var dispatched: [Dispatch] = []
        var waiting: [TenantID: Int] = [:]
        for record in queues(at: after(begin)) { waiting[record.tenant] = Int(record.depth) }
        for tick in 0..<Int((seconds / step).rounded()) {
            let now = after(begin + Double(tick + 1) * step)
            for tenant in busy {
                while waiting[tenant, default: 0] < 20 {
                    ids += 1
                    enqueue([call(ids, of: tenant, tokens: tokens, at: now)], at: now)
                    waiting[tenant, default: 0] += 1
                }
            }
            for dispatch in dispatch(at: now) {
                waiting[dispatch.call.tenant, default: 0] -= 1
                settle(dispatch.call.id, actual: dispatch.call.estimate, at: now)
                dispatched.append(dispatch)
            }
        }
        return dispatched
    }
}

extension [Dispatch] {
    func count(of tenant: TenantID) -> Int { count { $0.call.tenant == tenant } }
    func count(_ grant: CallRight) -> Int { count { $0.grant == grant } }
    var ids: [Int] { map(\.call.id) }
}
