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
    /// An outage that an explanation names is looked for so far around it.
    private static let outageReachMilliseconds: Int64 = 3_600_000
    private static let longestPeriodSeconds = 35.0 * 86_400

    var all: [Route] {
        [
            .person(.get, "/v1/explain", AccessRule.viewers, .scope) { call in try await explain(call) },
            .person(.get, "/v1/audit", AccessRule.operators, .everything("the audit log")) { call in
                try await audit(call)
            },
        ]
    }

    private func explain(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["tenant", "pool", "generation", "at", "from", "to"])
        guard let pool: PoolID = try call.query("pool", isRequired: true) else {
            throw HTTPError(.badRequest, "pool is missing")
        }
        if let from = try call.instant("from") { return try await tell(pool, from: from, call) }
        guard let tenant: TenantID = try call.query("tenant", isRequired: true) else {
            throw HTTPError(.badRequest, "tenant is missing; without one, from and to ask for a pool's story")
        }
        guard try call.instant("to") == nil else { throw HTTPError(.badRequest, "to needs from: a period has both") }
        try call.requireScope(call.grant.scope.holds(tenant, in: pool), "\(tenant) in \(pool)")
        var generation = try call.query("generation", in: 1...Int64.max)
        let at = try call.instant("at")
        if let at {
            guard generation == nil else {
                throw HTTPError(.badRequest, "at and generation say the same: leave one of them out")
            }
            generation = try await self.generation(at: at)
        }
        if let generation, let newest = board.current?.version.generation, generation > newest {
            throw HTTPError(.noSuch, "generation \(generation) has not been published; the newest is \(newest)")
        }
        let explanation: Explanation?
        do {
            explanation = try await records.explanation(of: tenant, in: pool, generation: generation)
        } catch {
            throw .unreadable(error)
        }
        guard var explanation else {
            let when = generation.map { "in generation \($0), or it is no longer kept" } ?? "that is still kept"
            let question = try await meaning(tenant, pool, call)
            throw HTTPError(.noSuch, "there is no number of \(tenant) in \(pool) \(when)\(question)")
        }
        // Causes and room are those of now. A caller that may see one tenant only must not learn of others.
        let isNow = generation == nil
        let mayName = call.grant.scope.tenants == nil
        let report = isNow && mayName ? board.newestReport?.pools.first { $0.pool == pool } : nil
        let excess = report.map { ExcessShares.largest(Self.excessCount, of: $0) } ?? []
        // A tenant that is paused after it was slowed to nothing keeps its number, and its chain.
        if isNow, explanation.tenant.breaker != nil,
            let stands = board.newestReport?.costBreaks.first(where: {
                $0.subject == .tenant(tenant) && $0.state.isHeld
            })
        {
            explanation.tenant.breaker = stands
        }
        let room = isNow ? board.current?.awaitingRoom(tenant, in: pool) : nil
        var answer = ExplanationAnswer(
            explanation, excess: excess, room: room, strategicFactor: try await strategicFactor(in: explanation),
            now: board.time.now())
        answer.sentences += try await circumstances(of: pool, at: at ?? explanation.at)
        return .json(answer.encoded())
    }

    /// The one in force at `instant`.
    private func generation(at instant: Timestamp) async throws(HTTPError) -> Int64 {
        let found: [GenerationSummary]
        do {
            found = try await records.generations(
                from: Timestamp(milliseconds: 0), to: Timestamp(milliseconds: instant.milliseconds + 1), limit: 1)
        } catch { throw .unreadable(error) }
        guard let generation = found.first?.version.generation else {
            throw HTTPError(.noSuch, "no generation of that time is kept; GET /v1/generations lists those that are")
        }
        return generation
    }

    /// `nil` as well where the weight was made under other rules than those of now, since nobody knows how.
    private func strategicFactor(in explanation: Explanation) async throws(HTTPError) -> Double? {
        let rules = try await rules.rules()
        let (tenant, pool) = (explanation.tenant.tenant, explanation.pool.pool)
        guard rules.contracts[tenant]?.isStrategic == true,
            rules.weight(of: tenant, in: pool) == explanation.tenant.weight
        else { return nil }
        return rules.policy.strategicFactor
    }

    /// Sentences on an outage of the provider that `instant` lies in, and on policies that were edited within the hour
    /// before it.
    private func circumstances(of pool: PoolID, at instant: Timestamp) async throws(HTTPError) -> [String] {
        let minute = instant.milliseconds / 60_000 * 60_000
        let query = HistoryQuery(
            pool: pool, from: Timestamp(milliseconds: minute - Self.outageReachMilliseconds),
            to: Timestamp(milliseconds: minute + Self.outageReachMilliseconds), stepSeconds: 60)
        let facts = PeriodFacts(query, try await history(query))
        return PeriodText(facts).circumstances(at: instant)
    }

    private func history(_ query: HistoryQuery) async throws(HTTPError) -> HistoryRecords {
        do { return try await records.history(query) } catch { throw .unreadable(error) }
    }

    /// A period's story: of a tenant, or of the pool as a whole.
    private func tell(_ pool: PoolID, from: Timestamp, _ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        for name in ["at", "generation"] where try call.target.value(name) != nil {
            throw HTTPError(.badRequest, "\(name) asks for a moment, from and to for a period: leave one of them out")
        }
        let scope = call.grant.scope
        let tenant: TenantID? = try call.query("tenant")
        try call.requireScope(scope.holds(pool), "the pool \(pool)")
        try call.requireScope(tenant.map(scope.holds) ?? (scope.tenants == nil), tenant?.text ?? "a pool as a whole")
        let to = try call.instant("to") ?? board.time.now()
        guard from < to else { throw HTTPError(.badRequest, "from must lie before to") }
        guard to.seconds(since: from) <= Self.longestPeriodSeconds else {
            throw HTTPError(.badRequest, "a story is of 35 days at most; /v1/history has longer times")
        }
        // Whole minutes up to three days; hours then.
        let step: Int64 = to.seconds(since: from) <= 3 * 86_400 ? 60 : 3600
        let width = step * 1000
        let query = HistoryQuery(
            pool: pool, from: Timestamp(milliseconds: from.milliseconds / width * width),
            to: Timestamp(milliseconds: (to.milliseconds + width - 1) / width * width), stepSeconds: step,
            leaders: scope.tenants == nil ? Self.excessCount : 0)
        let whole = try await history(query)
        var acts = whole.acts
        var own: [Rollup] = []
        var standing: PeriodFacts.Standing?
        if let tenant {
            var ofTenant = query
            ofTenant.tenant = tenant
            ofTenant.leaders = 0
            let found = try await history(ofTenant)
            (own, acts) = (found.tenant, found.acts)
            let rules = try await rules.rules()
            standing = PeriodFacts.Standing(
                tier: rules.tier(of: tenant, in: pool).name,
                strategicFactor: rules.contracts[tenant]?.isStrategic == true ? rules.policy.strategicFactor : nil)
        }
        let concerned = acts.map(PersonsAct.init).filter { act in
            act.concerns(pool, tenant) && (scope.isWhole || act.tenant.map { scope.holds($0) } ?? false)
        }
        var facts = PeriodFacts(query, whole, own: own, tenant: tenant, acts: concerned, standing: standing)
        if let tenant, scope.holds(tenant, in: nil) {
            do {
                facts.tasks =
                    TaskTimesAnswer(
                        try await records.taskTimes(from: query.from, to: query.to, tenant: tenant),
                        usual: try await records.taskTimes(
                            from: query.from.adding(seconds: -TaskTimesAnswer.usualSeconds), to: query.from,
                            tenant: tenant),
                        paces: [], from: query.from, to: query.to
                    ).rows
            } catch { throw .unreadable(error) }
        }
        return .json(PeriodAnswer(facts).encoded())
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
