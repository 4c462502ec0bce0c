import HeadroomModel
import HeadroomWire

/// Series for plots: a pool's past, and a tenant's.
struct HistoryRoutes: Sendable {
    let records: any RecordReading
    let time: TimeSource

    /// Steps in an answer where the caller does not say how long one is: as many as a plot has room for.
    private static let standardSteps: Int64 = 300
    /// Steps in any answer; `next` says where to go on.
    private static let maxSteps: Int64 = 750
    private static let maxLeaders: Int64 = 20

    var all: [Route] {
        [.person(.get, "/v1/history", AccessRule.viewers, .scope) { call in try await history(call) }]
    }

    private func history(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["pool", "tenant", "from", "to", "step", "top"])
        guard let pool: PoolID = try call.query("pool", isRequired: true) else {
            throw HTTPError(.badRequest, "pool is missing")
        }
        let tenant: TenantID? = try call.query("tenant")
        let scope = call.grant.scope
        try call.requireScope(scope.holds(pool), "the pool \(pool)")
        try call.requireScope(tenant.map(scope.holds) ?? (scope.tenants == nil), tenant?.text ?? "a pool as a whole")
        let leaders = try call.query("top", in: 0...Self.maxLeaders) ?? 0
        guard leaders == 0 || tenant == nil else {
            throw HTTPError(.badRequest, "top is for a pool as a whole: leave out tenant, or top")
        }
        let to = try call.instant("to") ?? time.now()
        let from = try call.instant("from") ?? to.adding(seconds: -3600)
        guard from < to else { throw HTTPError(.badRequest, "from must lie before to") }
        let span = (to.milliseconds - from.milliseconds) / 1000
        let step = HistoryQuery.step(
            atLeast: try call.query("step", in: 60...31_622_400) ?? span / Self.standardSteps)
        // Whole steps: the first and the last one are not less than the others.
        let width = step * 1000
        let first = from.milliseconds / width * width
        let end = (to.milliseconds + width - 1) / width * width
        let last = min(end, first + Self.maxSteps * width)
        let query = HistoryQuery(
            pool: pool, tenant: tenant, from: Timestamp(milliseconds: first), to: Timestamp(milliseconds: last),
            stepSeconds: step, leaders: Int(leaders))
        let found: HistoryRecords
        do { found = try await records.history(query) } catch { throw .unreadable(error) }
        let acts = found.acts.map(PersonsAct.init).filter { act in
            act.concerns(pool, tenant) && (scope.isWhole || act.tenant.map { scope.holds($0) } ?? false)
        }
        let next = last < end ? Timestamp(milliseconds: last) : nil
        return .json(HistorySeries(found, query, acts: acts, next: next).encoded())
    }
}
