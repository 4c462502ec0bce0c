import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `/v1/overrides`: customer success raises or lowers a tenant for a while.
struct OverrideRoutes: Sendable {
    let board: SnapshotBoard
    let steering: any SteeringDesk
    let rules: any RuleSource
    let preview: OverridePreviewing

    private var time: TimeSource { board.time }

    private static let path = "/v1/overrides"

    var all: [Route] {
        [
            .person(.get, Self.path, AccessRule.viewers, .scope) { call in try await list(call) },
            .person(
                .post, Self.path, AccessRule.overriders, .scope, bodyLimit: Route.personBodyBytes
            ) { call in try await set(call) },
            .person(
                .post, Self.path + "/preview", AccessRule.overriders, .scope, bodyLimit: Route.personBodyBytes
            ) { call in try await preview(call) },
            .person(.delete, Self.path + "/{id}", AccessRule.overriders, .scope) { call in
                try await end(call)
            },
        ]
    }

    private func list(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["tenant", "pool"])
        let tenant: TenantID? = try call.query("tenant")
        let pool: PoolID? = try call.query("pool")
        let found = try await visible(call).filter { override in
            (tenant ?? override.tenant) == override.tenant && (pool == nil || (override.pool ?? pool) == pool)
        }
        return .json(PeopleAnswer.overrides(found))
    }

    private func set(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let rules = try await rules.rules()
        let request = try reading {
            try OverrideRequest.decode(call.body, policy: rules.policy)
        }
        try requireScope(call, request.tenant, in: request.pool)
        let now = time.now()
        let override = Override(request, by: call.grant.author, at: now)
        // A tenant may be raised before it is first seen, so an unknown name is no error.
        let known = KnownTenants(rules, board)
        let warnings =
            known.contains(request.tenant)
            ? []
            : [
                "no contract and no telemetry names \(request.tenant) yet"
                    + known.question(request.tenant) { call.grant.scope.holds($0) }
            ]
        let reasons = OverrideCheck.reasonsForApproval(of: override, under: rules)
        let pendingSeconds = rules.policy.overrideLimits.pendingHours * 3600
        let outcome = try await asking {
            try await steering.set(
                override, askingUntil: reasons.isEmpty ? nil : now.adding(seconds: pendingSeconds))
        }
        switch outcome {
        case .set(let override):
            return .json(status: 201, PeopleAnswer.override(override, warnings: warnings))
        case .awaitsApproval(let proposal):
            return .json(
                status: 202, PeopleAnswer.approvalNeeded(proposal, reasons: reasons, warnings: warnings))
        }
    }

    /// The effect that the same body would have as an override. Nothing is stored.
    private func preview(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let now = time.now()
        let rules = try await rules.rules().holding(at: now)
        let request = try reading {
            try OverrideRequest.decode(call.body, policy: rules.policy)
        }
        let scope = call.grant.scope
        try requireScope(call, request.tenant, in: request.pool)
        let override = Override(request, by: call.grant.author, at: now)
        let reports = (board.newestReport?.pools ?? []).filter { report in
            (request.pool ?? report.pool) == report.pool && scope.holds(report.pool)
                && report.tenants.contains { $0.tenant == request.tenant }
        }
        let effects = reports.map { report in
            let pool = rules.policy.pool(report.pool)
            var effects =
                pool.map { preview(override, report, $0, rules, now) } ?? OverrideEffects(changes: [])
            effects.changes.removeAll { !scope.holds($0.tenant) }
            return (report: report, effects: effects)
        }
        return .json { writer in
            writer.beginObject()
            writer.field("reasons", OverrideCheck.reasonsForApproval(of: override, under: rules))
            writer.field("pools", each: effects) { writer, pool in
                writer.effects(of: request.tenant, on: pool.report, pool.effects)
            }
            writer.endObject()
        }
    }

    private func end(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let id = try call.number()
        guard let override = try await visible(call).first(where: { $0.id == id }) else {
            throw HTTPError(.noSuch, "no override \(id) is in force; GET \(Self.path) lists them")
        }
        // One in all pools is seen from each of them, and ends in all of them.
        try requireScope(call, override.tenant, in: override.pool)
        let mayEndOthers = call.grant.hasRole(AccessRule.operators)
        try await asking {
            try await steering.endOverride(id, by: call.grant.author, mayEndOthers: mayEndOthers, at: time.now())
        }
        return .noContent
    }

    private func requireScope(_ call: PeopleCall, _ tenant: TenantID, in pool: PoolID?) throws(HTTPError) {
        try call.requireScope(
            call.grant.scope.holds(tenant, in: pool), "\(tenant) in \(pool.map(\.text) ?? "all pools")")
    }

    /// Those that hold now, and of which the caller sees something.
    private func visible(_ call: PeopleCall) async throws(HTTPError) -> [Override] {
        let now = time.now()
        let held = try await asking { try await steering.steering() }
        return held.overrides.filter {
            $0.authorship.holds(at: now) && call.grant.scope.sees($0.tenant, in: $0.pool)
        }
    }
}

extension Override {
    fileprivate init(_ request: OverrideRequest, by author: String, at now: Timestamp) {
        self.init(
            tenant: request.tenant, pool: request.pool, tier: request.tier, weight: request.weight,
            authorship: Authorship(
                author: author, reason: request.reason, at: now, until: now.adding(seconds: request.expiresInSeconds)))
    }
}

extension JSONWriter {
    /// Effects that an answer lists; the largest come first.
    private static var maxEffects: Int { 200 }

    fileprivate mutating func effects(of tenant: TenantID, on report: PoolReport, _ effects: OverrideEffects) {
        let resources: [Resource] = [.tokens, .inputTokens, .requests]
        beginObject()
        field("pool", report.pool.text)
        field("resource", resources.first { report.nominal[$0] != nil }?.rateName)
        field("changed", effects.changes.count)
        field("effects", each: effects.changes.prefix(Self.maxEffects)) { $0.change($1) }
        field("unmoved", effects.unmoved?.text(of: tenant))
        endObject()
    }
}
