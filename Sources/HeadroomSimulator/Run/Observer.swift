import HeadroomEnforcement
import HeadroomModel

/// The rivals' view of a run, and the service clocks of all tenants. Headroom does not use it: it has its own
/// telemetry.
struct Observer: Sendable {
    /// Seconds that are kept.
    private static let kept = 64
    /// The window of ``PoolObservation/Tenant/demand``.
    static let windowSeconds = 20
    /// Half-lives of where work arrives, of a tenant's and of everyone's, as Headroom's own estimator has them.
    private static let tenantHalfLife = 42.0
    private static let gatewayHalfLife = 7.0

    private let tenantCount: Int
    private let gatewayCount: Int
    /// The current second, from the start of the run.
    private var second = 0
    /// By tenant, then by second modulo ``kept``.
    private var arrivals: [Work]
    private var backlogs: [Work]
    /// By tenant.
    private(set) var waiting: [Work]
    private var servedInSecond: [Work]
    private var servedInPeriod: [Work]
    /// Seconds of the pool, fading: by tenant and gateway, and by gateway.
    private var tenantTraffic: [Double]
    private var gatewayTraffic: [Double]
    private(set) var clocks = ServiceClocks()

    init(tenantCount: Int, gatewayCount: Int) {
        self.tenantCount = tenantCount
        self.gatewayCount = gatewayCount
        arrivals = Array(repeating: .zero, count: tenantCount * Observer.kept)
        backlogs = arrivals
        waiting = Array(repeating: .zero, count: tenantCount)
        servedInSecond = waiting
        servedInPeriod = waiting
        tenantTraffic = Array(repeating: 0, count: tenantCount * gatewayCount)
        gatewayTraffic = Array(repeating: 0, count: gatewayCount)
    }

    mutating func arrive(_ job: Job, _ estimate: Work) {
        arrivals[job.tenant * Observer.kept + second % Observer.kept] += estimate
        waiting[job.tenant] += estimate
        tenantTraffic[job.tenant * gatewayCount + job.gateway] += estimate[.tokens] + 1
        gatewayTraffic[job.gateway] += estimate[.tokens] + 1
    }

    /// A refused call waits again.
    mutating func wait(_ tenant: Int, _ estimate: Work) { waiting[tenant] += estimate }

    /// A call was sent, or will not be.
    mutating func leave(_ tenant: Int, _ estimate: Work) {
        waiting[tenant].amounts = pointwiseMax((waiting[tenant] - estimate).amounts, .zero)
    }

    mutating func serve(_ job: Job) {
        servedInSecond[job.tenant] += job.cost
        servedInPeriod[job.tenant] += job.cost
    }

    /// The next second begins.
    mutating func advance(roster: Roster, rules: Rules, capacity: Rates) {
        clocks.advance(
            roster.entries.indices.map { index in
                let entry = roster.entries[index]
                return ServiceClocks.Activity(
                    tenant: entry.tenant, served: servedInSecond[index],
                    weight: rules.weight(of: entry.tenant, in: Simulation.pool),
                    waiting: waiting[index][.requests] > 0.5 ? entry.criticality : nil)
            }, seconds: 1, capacity: capacity)
        for index in servedInSecond.indices {
            servedInSecond[index] = .zero
            backlogs[index * Observer.kept + second % Observer.kept] = waiting[index]
        }
        second += 1
        for index in 0..<tenantCount { arrivals[index * Observer.kept + second % Observer.kept] = .zero }
        let slow = decay(1, halfLife: Observer.tenantHalfLife)
        let fast = decay(1, halfLife: Observer.gatewayHalfLife)
        for index in tenantTraffic.indices { tenantTraffic[index] *= slow }
        for index in gatewayTraffic.indices { gatewayTraffic[index] *= fast }
    }

    /// A rival's view of each tenant at the end of its period.
    mutating func observation(workload: Workload, rules: Rules, periodSeconds: Double) -> [PoolObservation.Tenant] {
        let observed = workload.roster.entries.indices.map { index in
            let entry = workload.roster.entries[index]
            let pool = workload.pools[workload.homes[index]]
            return PoolObservation.Tenant(
                tenant: entry.tenant, tier: entry.tier, weight: rules.weight(of: entry.tenant, in: pool.id),
                floor: entry.floor,
                ceiling: rules.tier(of: entry.tenant, in: pool.id).ceilingShare.map { pool.nominal * $0 } ?? .none,
                demand: demand(of: index).rates(overSeconds: 60, of: pool.nominal.resources),
                consumed: servedInPeriod[index].rates(overSeconds: periodSeconds, of: pool.nominal.resources),
                demandEachSecond: demandEachSecond(of: index, periodSeconds: periodSeconds, nominal: pool.nominal))
        }
        for index in servedInPeriod.indices { servedInPeriod[index] = .zero }
        return observed
    }

    /// Where work arrives, for dividing rates over gateways.
    func shares(_ tenants: [TenantID], gateways: [GatewayID]) -> [GatewayShare] {
        gateways.indices.map { gateway in
            var share = GatewayShare(gateway: gateways[gateway], budgetWeight: gatewayTraffic[gateway])
            for tenant in tenants.indices {
                share.demand[tenants[tenant]] = tenantTraffic[tenant * gatewayCount + gateway]
            }
            return share
        }
    }

    /// Per minute.
    private func demand(of tenant: Int) -> Work {
        let window = min(Observer.windowSeconds, max(1, second))
        var sum = Work.zero
        for back in 0..<window {
            sum += arrivals[tenant * Observer.kept + (second - back + Observer.kept) % Observer.kept]
        }
        return sum * (60 / Double(window)) + waiting[tenant] * (60 / Double(Observer.windowSeconds))
    }

    private func demandEachSecond(of tenant: Int, periodSeconds: Double, nominal: Rates) -> [Rates] {
        let count = min(second, min(Observer.kept - 2, Int(periodSeconds.rounded(.up))))
        return (0..<count).reversed().map { back in
            let slot = tenant * Observer.kept + (second - 1 - back) % Observer.kept
            let work = arrivals[slot] * 60 + backlogs[slot] * (60 / Double(Observer.windowSeconds))
            return work.rates(overSeconds: 60, of: nominal.resources)
        }
    }
}
