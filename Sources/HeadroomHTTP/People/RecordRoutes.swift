import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// Records of the past: explanations and the audit log.
struct RecordRoutes: Sendable {
    let records: any RecordReading
    let steering: any SteeringDesk
    let rules: any RuleSource
    let auditVerification: @Sendable () async -> AuditVerification?
    let board: SnapshotBoard

    private static let maxEntries: Int64 = 1000
    /// Tenants that an explanation names as causes: as many as one remembers.
    private static let excessCount = 5

    var all: [Route] {
        [
            .person(.get, "/v1/explain", AccessRule.viewers) { call in try await explain(call) },
            .person(.get, "/v1/audit", AccessRule.operators) { call in try await audit(call) },
        ]
    }

    private func explain(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["tenant", "pool", "generation"])
        guard let tenant: TenantID = try call.query("tenant", isRequired: true),
            let pool: PoolID = try call.query("pool", isRequired: true)
        else { throw HTTPError(.badRequest, "tenant and pool are missing") }
        let generation = try call.query("generation", in: 1...Int64.max)
        try call.requireScope(call.grant.scope.holds(tenant, in: pool), "\(tenant) in \(pool)")
        if let generation, let newest = board.current?.version.generation, generation > newest {
            throw HTTPError(.noSuch, "generation \(generation) has not been published; the newest is \(newest)")
        }
        let explanation: Explanation?
        do {
            explanation = try await records.explanation(of: tenant, in: pool, generation: generation)
        } catch {
            throw .unreadable(error)
        }
        guard let explanation else {
            let when = generation.map { "in generation \($0), or it is no longer kept" } ?? "that is still kept"
            let question = try await meaning(tenant, pool, call)
            throw HTTPError(.noSuch, "there is no number of \(tenant) in \(pool) \(when)\(question)")
        }
        // A caller that may see one tenant only must not learn of others.
        let report = call.grant.scope.tenants == nil ? board.newestReport?.pools.first { $0.pool == pool } : nil
        let excess = report.map { ExcessShares.largest(Self.excessCount, of: $0) } ?? []
        let room = generation == nil ? board.current?.awaitingRoom(tenant, in: pool) : nil
        return .json(ExplanationAnswer(explanation, excess: excess, room: room, now: board.time.now()).encoded())
    }

    /// The pool or the tenant that was probably meant, as a question; empty when both are known.
    private func meaning(_ tenant: TenantID, _ pool: PoolID, _ call: PeopleCall) async throws(HTTPError) -> String {
        let rules = try await rules.rules()
        let scope = call.grant.scope
        guard rules.policy.pool(pool) != nil else {
            let pools = rules.policy.pools.map(\.pool).filter { scope.holds($0) }
            return NearestName.question(pool.text, among: pools.map(\.text))
        }
        let known = KnownTenants(rules, board)
        return known.contains(tenant) ? "" : known.question(tenant) { scope.holds($0) }
    }

    private func audit(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["after", "limit"])
        try call.requireScope(call.grant.scope.isWhole, "the audit log")
        let after = try call.query("after", in: 0...Int64.max) ?? 0
        let limit = try call.query("limit", in: 1...Self.maxEntries) ?? 100
        let entries = try await asking {
            try await steering.audit(after: after, limit: Int(limit))
        }
        return .json(
            PeopleAnswer.audit(
                entries, next: entries.count == Int(limit) ? entries.last?.sequence : nil,
                verified: await auditVerification()))
    }
}
