import HeadroomModel
import HeadroomWire

/// How tenants fared: `GET /v1/slos`, attainment and burn of service levels, and `GET /v1/starvation`, who was starved.
struct LevelRoutes: Sendable {
    let records: any RecordReading
    let rules: any RuleSource
    let board: SnapshotBoard

    /// Tenants × pools in an answer: by default, and at most.
    private static let standardLimit: Int64 = 200
    private static let maxLimit: Int64 = 10_000

    var all: [Route] {
        [
            .person(.get, "/v1/slos", AccessRule.viewers, .scope) { call in try await levels(call) },
            .person(.get, "/v1/starvation", AccessRule.viewers, .scope) { call in try await starvation(call) },
        ]
    }

    private func starvation(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["from", "to", "tenant", "pool"])
        let tenant: TenantID? = try call.query("tenant")
        let pool: PoolID? = try call.query("pool")
        let to = try call.instant("to") ?? board.time.now()
        let from = try call.instant("from") ?? to.adding(seconds: -30 * 86_400)
        guard from < to else { throw HTTPError(.badRequest, "from must lie before to") }
        let shown = try shown(call, tenant, pool)
        // What goes on is taken from the tick that the alerts are made of, so that both say the same.
        let ongoing = board.newestReport?.ongoingStarvation ?? []
        let found: [StarvedTenant]
        do { found = try await records.starvation(from: from, to: to, ongoing: ongoing) } catch {
            throw .unreadable(error)
        }
        return .json(
            StarvationAnswer(found.filter { shown($0.tenant, $0.pool) }, from: from, to: to).encoded())
    }

    /// Whether something of a tenant in a pool was asked for and may be seen.
    private func shown(
        _ call: PeopleCall, _ tenant: TenantID?, _ pool: PoolID?
    ) throws(HTTPError) -> (TenantID, PoolID) -> Bool {
        let scope = call.grant.scope
        if let tenant { try call.requireScope(scope.holds(tenant), "the tenant \(tenant)") }
        if let pool { try call.requireScope(scope.holds(pool), "the pool \(pool)") }
        return { scope.holds($0, in: $1) && (tenant == nil || tenant == $0) && (pool == nil || pool == $1) }
    }

    private func levels(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["tenant", "pool", "tier", "limit"])
        let tenant: TenantID? = try call.query("tenant")
        let pool: PoolID? = try call.query("pool")
        let shown = try shown(call, tenant, pool)
        let now = board.time.now()
        let rules = try await rules.rules().holding(at: now)
        let tier = try call.choice("tier", of: rules.policy.tiers.map(\.name), named: { $0 })
        let limit = try call.query("limit", in: 0...Self.maxLimit) ?? Self.standardLimit
        var found: LevelRecords
        do { found = try await records.levels(at: now) } catch { throw .unreadable(error) }
        found.tenants.removeAll { !shown($0.tenant, $0.pool) }
        // A task calls in any pool.
        found.tasks.removeAll {
            !call.grant.scope.holds($0.tenant, in: nil) || pool != nil || (tenant ?? $0.tenant) != $0.tenant
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
