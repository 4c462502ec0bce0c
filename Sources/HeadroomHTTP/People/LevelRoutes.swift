import HeadroomModel
import HeadroomWire

/// `GET /v1/slos`: attainment and burn of service levels, of tenants, tiers and Headroom itself.
struct LevelRoutes: Sendable {
    let records: any RecordReading
    let rules: any RuleSource
    let board: SnapshotBoard

    /// Tenants × pools in an answer: by default, and at most.
    private static let standardLimit: Int64 = 200
    private static let maxLimit: Int64 = 10_000

    var all: [Route] {
        [.person(.get, "/v1/slos", AccessRule.viewers) { call in try await levels(call) }]
    }

    private func levels(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["tenant", "pool", "tier", "limit"])
        let tenant: TenantID? = try call.query("tenant")
        let pool: PoolID? = try call.query("pool")
        let scope = call.grant.scope
        if let tenant { try call.requireScope(scope.holds(tenant), "the tenant \(tenant)") }
        if let pool { try call.requireScope(scope.holds(pool), "the pool \(pool)") }
        let now = board.time.now()
        let rules = try await rules.rules().holding(at: now)
        let tier = try call.choice("tier", of: rules.policy.tiers.map(\.name), named: { $0 })
        let limit = try call.query("limit", in: 0...Self.maxLimit) ?? Self.standardLimit
        var found: LevelRecords
        do { found = try await records.levels(at: now) } catch { throw .unreadable(error) }
        found.tenants.removeAll { level in
            !scope.holds(level.tenant, in: level.pool) || tenant.map { $0 != level.tenant } ?? false
                || pool.map { $0 != level.pool } ?? false
        }
        let report = board.newestReport
        var ages: [OwnLevel: Double] = [:]
        for level in OwnLevel.allCases { ages[level] = report.flatMap { level.ageSeconds(of: $0, at: now) } }
        return .json(
            LevelAnswer(
                found, under: rules, ages: ages, showsOwn: tenant == nil && pool == nil && tier == nil, tier: tier,
                limit: Int(limit), at: now
            ).encoded())
    }
}
