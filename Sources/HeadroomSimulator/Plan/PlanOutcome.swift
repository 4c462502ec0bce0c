import HeadroomModel

/// The changes that a candidate policy would have made: each tenant's assured rate and service by pool, before and
/// after, and what the candidate would have asked people.
package struct PlanOutcome: Sendable {
    /// Means over the replay, per minute.
    package struct Standing: Sendable {
        package var assured = Work.zero
        package var served = Work.zero
    }

    package struct Tenant: Sendable {
        package let tenant: TenantID
        package let pool: PoolID
        package var tier = ""
        package var asked = Work.zero
        package var before = Standing()
        package var after = Standing()
        /// One point for each step of ``PlanOutcome/stepSeconds``: per minute, in the pool's main resource.
        package var series: [Point] = []

        /// Served after over served before, less 1; 0 where nothing was wanted.
        package func change(in resource: Resource) -> Double {
            before.served[resource] > 0 ? after.served[resource] / before.served[resource] - 1 : 0
        }
    }

    package struct Point: Sendable {
        package var asked = 0.0
        package var before = 0.0
        package var after = 0.0
        var seconds = 0.0
    }

    /// A stretch of the replay, and whether it was known line by line or by minute only.
    package struct Stretch: Sendable {
        package let from: Timestamp
        package let to: Timestamp
        package let isByMinute: Bool
    }

    package let stretches: [Stretch]
    package let from: Timestamp
    package let seconds: Double
    package let stepSeconds: Double
    /// Ascending by pool, then tenant.
    package private(set) var tenants: [Tenant] = []
    /// In the order in which they were first asked.
    package private(set) var questions: [Proposal] = []
    /// Lines of pools that the candidate does not name.
    package private(set) var leftOut: [PoolID: Int] = [:]

    private let policy: Policy
    private var places: [PoolID: [TenantID: Int]] = [:]
    private var services: [PoolID: (before: PlanService, after: PlanService)] = [:]

    /// Points of a line; more would not be seen.
    private static let maxPoints = 300

    init(rules: Rules, parts: [PlanReplay.Part]) {
        policy = rules.policy
        stretches = parts.map { Stretch(from: $0.from, to: $0.to, isByMinute: $0.source == .minutes) }
        from = parts.first?.from ?? Timestamp(milliseconds: 0)
        seconds = parts.last?.to.seconds(since: from) ?? 0
        stepSeconds = max(60, (seconds / Double(Self.maxPoints)).rounded(.up))
    }

    /// The resource in which a pool's numbers are stated: tokens where it limits them.
    package func resource(of pool: PoolID) -> Resource {
        let limited = resources(of: pool)
        return limited.contains(.tokens) ? .tokens : limited.first ?? .requests
    }

    /// Those that the pool limits.
    package func resources(of pool: PoolID) -> [Resource] {
        Array((policy.pool(pool)?.nominal.resources ?? []).members)
    }

    /// The policy's, highest priority first.
    package var tierNames: [String] { policy.tiers.map(\.name) }

    func policyRate(of pool: PoolID, _ resource: Resource) -> Double { policy.pool(pool)?.nominal[resource] ?? 0 }

    // MARK: Adding up

    mutating func leaveOut(_ pool: PoolID) { leftOut[pool, default: 0] += 1 }

    /// One tick: what was seen and decided in the `length` seconds from `start` on.
    mutating func add(
        _ report: LoopReport, before: [PoolAllocation], after: [PoolAllocation], from start: Timestamp,
        seconds length: Double
    ) {
        for pool in report.pools {
            let demands = pool.tenants.map { (tenant: $0.tenant, demand: $0.demand) }
            let old = before.first { $0.pool == pool.pool }
            let new = after.first { $0.pool == pool.pool }
            var service = services[pool.pool] ?? (PlanService(), PlanService())
            let servedBefore = service.before.rates(old, demands: demands, capacity: pool.estimated)
            let servedAfter = service.after.rates(new, demands: demands, capacity: pool.estimated)
            services[pool.pool] = service
            let assuredBefore = assured(old)
            let assuredAfter = assured(new)
            let resource = resource(of: pool.pool)
            let step = Int(start.seconds(since: from) / stepSeconds)
            for (index, tenant) in pool.tenants.enumerated() {
                let place = place(of: tenant, in: pool.pool)
                let part = length / max(seconds, length)
                tenants[place].tier = tenant.tier
                tenants[place].asked += tenant.asked.work(overSeconds: 60) * part
                tenants[place].before.served += servedBefore[index].work(overSeconds: 60) * part
                tenants[place].after.served += servedAfter[index].work(overSeconds: 60) * part
                let own = (assuredBefore[tenant.tenant] ?? .none, assuredAfter[tenant.tenant] ?? .none)
                tenants[place].before.assured += own.0.work(overSeconds: 60) * part
                tenants[place].after.assured += own.1.work(overSeconds: 60) * part
                tenants[place].note(
                    asked: tenant.asked[resource] ?? 0, before: own.0[resource] ?? 0, after: own.1[resource] ?? 0,
                    step: step, seconds: length)
            }
        }
    }

    mutating func finish(questions: [Proposal]) {
        self.questions = questions.sorted {
            ($0.authorship.at, $0.pool?.text ?? "") < ($1.authorship.at, $1.pool?.text ?? "")
        }
        for index in tenants.indices { tenants[index].average() }
        tenants.sort { ($0.pool, $0.tenant) < ($1.pool, $1.tenant) }
        places = [:]
    }

    private func assured(_ allocation: PoolAllocation?) -> [TenantID: Rates] {
        Dictionary(uniqueKeysWithValues: (allocation?.tenants ?? []).map { ($0.tenant, $0.assured) })
    }

    private mutating func place(of tenant: TenantReport, in pool: PoolID) -> Int {
        if let place = places[pool]?[tenant.tenant] { return place }
        places[pool, default: [:]][tenant.tenant] = tenants.count
        tenants.append(Tenant(tenant: tenant.tenant, pool: pool))
        return tenants.count - 1
    }
}

extension PlanOutcome.Tenant {
    fileprivate mutating func note(asked: Double, before: Double, after: Double, step: Int, seconds: Double) {
        while series.count <= step { series.append(PlanOutcome.Point()) }
        series[step].asked += asked * seconds
        series[step].before += before * seconds
        series[step].after += after * seconds
        series[step].seconds += seconds
    }

    fileprivate mutating func average() {
        for index in series.indices where series[index].seconds > 0 {
            series[index].asked /= series[index].seconds
            series[index].before /= series[index].seconds
            series[index].after /= series[index].seconds
        }
    }
}
