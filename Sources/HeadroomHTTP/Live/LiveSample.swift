import HeadroomModel

/// One tick as plots show it: each pool's rates, sums by tier, its largest tenants, and who is short.
struct LiveSample: Sendable {
    /// Counts up from 1 at the start of the process.
    let number: Int
    let report: LoopReport
    /// Ascending by id.
    let pools: [Pool]

    struct Pool: Sendable {
        let pool: PoolID
        let nominal: Rates
        let capacity: Rates
        let budget: Rates
        let assured: Rates
        let asked: Rates
        let consumed: Rates
        let queueDepth: Int64
        let oldestSeconds: Double
        /// Of the attempts of the last minute that the upstream refused for want of quota, 0 to 1.
        let refusedShare: Double
        let p95Milliseconds: Double?
        /// Of the last minute, indexed by `Outcome.rawValue`.
        let outcomes: [Int]
        /// Attempts of the last minute, at most ``maxModels``, the most used first.
        let models: [(model: String, attempts: Int)]
        /// Ascending by name.
        let tiers: [Tier]
        /// At most ``maxTenants``, those that ask for most first.
        let tenants: [Tenant]
        /// Tenants that are short or starved, at most ``maxTenants``: starved ones first, then by how long.
        let short: [Tenant]
        let starvedCount: Int
        let division: LiveDivision
    }

    struct Tier: Sendable {
        let tier: String
        var tenants = 0
        var starved = 0
        var waiting: Int64 = 0
        var asked = Rates.none
        var assured = Rates.none
        var consumed = Rates.none
    }

    /// Amounts of the pool's main resource.
    struct Tenant: Sendable {
        let tenant: TenantID
        let tier: String
        let asked: Float
        let assured: Float
        let consumed: Float
        let waiting: Int64
        let oldestSeconds: Float
        let underservedSeconds: Float
        let starvation: Starvation?
        /// Burst credit.
        let credit: Float
    }

    /// As many as a plot can tell apart, and a small pool whole.
    static let maxTenants = 32
    static let maxModels = 8

    /// - Parameters:
    ///   - published: the generation in force; `nil` before the first.
    ///   - draws: a minute, by pool, since the sample before.
    init(
        number: Int, report: LoopReport, published: PublishedGeneration? = nil,
        draws: [PoolID: [DrawIntake.Result: Double]] = [:]
    ) {
        self.number = number
        pools = report.pools.map { pool in
            let division = LiveDivision(
                pool, Self.mainResource(of: pool.nominal), published: published, draws: draws[pool.pool])
            return Pool(pool, division)
        }
        var report = report
        // What is kept of tenants is in the pools: a hundred thousand of them times the length of the history is too much.
        for index in report.pools.indices { report.pools[index].tenants = [] }
        report.allowances = [:]
        self.report = report
    }

    /// About what its lists take; most tiers' and models' names are shared.
    var memoryBytes: Int {
        let reports = report.pools.reduce(0) { sum, pool in
            sum + MemoryLayout<PoolReport>.stride
                + pool.upstream.channels.count * MemoryLayout<UpstreamReport.Channel>.stride
        }
        return pools.reduce(reports) { sum, pool in
            sum + MemoryLayout<Pool>.stride + pool.tiers.count * MemoryLayout<Tier>.stride
                + (pool.tenants.count + pool.short.count) * MemoryLayout<Tenant>.stride
                + pool.division.gateways.count * MemoryLayout<(gateway: GatewayID, budget: Double)>.stride
        }
    }
}

extension LiveSample.Pool {
    /// Tokens where the pool limits them: people think in them. Else what it limits first.
    var mainResource: Resource { LiveSample.mainResource(of: nominal) }

    fileprivate init(_ report: PoolReport, _ division: LiveDivision) {
        self.division = division
        let main = LiveSample.mainResource(of: report.nominal)
        pool = report.pool
        nominal = report.nominal
        capacity = report.estimated
        budget = report.budget
        assured = report.assured
        consumed = report.consumed
        var asked = SIMD4<Double>.zero
        var tiers: [String: LiveSample.Tier] = [:]
        var (depth, oldest, starved) = (Int64(0), 0.0, 0)
        var short: [LiveSample.Tenant] = []
        for tenant in report.tenants {
            asked += tenant.asked.perMinute
            var tier = tiers[tenant.tier] ?? LiveSample.Tier(tier: tenant.tier)
            let waiting = Criticality.allCases.reduce(Int64(0)) { $0 + tenant.queue[$1].depth }
            tier.add(tenant, waiting: waiting, of: report.nominal.resources)
            tiers[tenant.tier] = tier
            depth += waiting
            oldest = max(oldest, tenant.oldestSeconds)
            if tenant.starvation != nil { starved += 1 }
            if tenant.starvation != nil || tenant.underservedSeconds > 0 {
                short.append(LiveSample.Tenant(tenant, main, waiting: waiting))
            }
        }
        self.asked = Rates(perMinute: asked, resources: report.nominal.resources)
        self.tiers = tiers.values.sorted { $0.tier < $1.tier }
        (queueDepth, oldestSeconds, starvedCount) = (depth, oldest, starved)
        self.short = short.sorted { left, right in
            if (left.starvation != nil) != (right.starvation != nil) { return left.starvation != nil }
            return (right.underservedSeconds, left.tenant) < (left.underservedSeconds, right.tenant)
        }.prefix(LiveSample.maxTenants).map(\.self)
        tenants = report.tenants.sorted { left, right in
            (right.asked[main] ?? 0, left.tenant) < (left.asked[main] ?? 0, right.tenant)
        }.prefix(LiveSample.maxTenants).map { tenant in
            LiveSample.Tenant(
                tenant, main, waiting: Criticality.allCases.reduce(Int64(0)) { $0 + tenant.queue[$1].depth })
        }
        refusedShare = report.upstream.whole.share(of: .quota) ?? 0
        p95Milliseconds = report.upstream.whole.latency?.p95Milliseconds
        outcomes = report.upstream.whole.outcomes
        var attempts: [String: Int] = [:]
        for channel in report.upstream.channels {
            attempts[channel.model ?? "other models", default: 0] += channel.signals.attempts
        }
        models = attempts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(LiveSample.maxModels)
            .map { (model: $0.key, attempts: $0.value) }
    }
}

extension LiveSample {
    fileprivate static func mainResource(of rates: Rates) -> Resource {
        [.tokens, .inputTokens, .requests].first { rates[$0] != nil } ?? .requests
    }
}

extension LiveSample.Tier {
    fileprivate mutating func add(_ tenant: TenantReport, waiting: Int64, of resources: ResourceSet) {
        tenants += 1
        if tenant.starvation != nil { starved += 1 }
        self.waiting += waiting
        asked = Rates(perMinute: asked.perMinute + tenant.asked.perMinute, resources: resources)
        assured = Rates(perMinute: assured.perMinute + tenant.assured.perMinute, resources: resources)
        consumed = Rates(perMinute: consumed.perMinute + tenant.consumed.perMinute, resources: resources)
    }
}

extension LiveSample.Tenant {
    fileprivate init(_ report: TenantReport, _ resource: Resource, waiting: Int64) {
        tenant = report.tenant
        tier = report.tier
        asked = Float(report.asked[resource] ?? 0)
        assured = Float(report.assured[resource] ?? 0)
        consumed = Float(report.consumed[resource] ?? 0)
        self.waiting = waiting
        oldestSeconds = Float(report.oldestSeconds)
        underservedSeconds = Float(report.underservedSeconds)
        starvation = report.starvation
        credit = Float(report.credit)
    }
}

extension TenantReport {
    fileprivate var oldestSeconds: Double { Criticality.allCases.reduce(0) { max($0, queue[$1].oldestSeconds) } }
}
