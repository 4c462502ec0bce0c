import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `/v1/overrides`: customer success raises or lowers a tenant for a while.
struct OverrideRoutes: Sendable {
    let board: SnapshotBoard
    let steering: any SteeringDesk
    let rules: any RuleSource

    private var time: TimeSource { board.time }

    private static let path = "/v1/overrides"

    var all: [Route] {
        [
            .person(.get, Self.path, AccessRule.viewers) { call in try await list(call) },
            .person(
                .post, Self.path, AccessRule.overriders, bodyLimit: Route.personBodyBytes
            ) { call in try await set(call) },
            .person(.delete, Self.path + "/{id}", AccessRule.overriders) { call in
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
        try call.requireScope(
            call.grant.scope.holds(request.tenant, in: request.pool),
            "\(request.tenant) in \(request.pool.map(\.text) ?? "all pools")")
        let now = time.now()
        let override = Override(
            tenant: request.tenant, pool: request.pool, tier: request.tier, weight: request.weight,
            authorship: Authorship(
                author: call.grant.author, reason: request.reason, at: now,
                until: now.adding(seconds: request.expiresInSeconds)))
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

    private func end(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let id = try call.number()
        guard try await visible(call).contains(where: { $0.id == id }) else {
            throw HTTPError(.noSuch, "no override \(id) is in force; GET \(Self.path) lists them")
        }
        let mayEndOthers = call.grant.hasRole(AccessRule.operators)
        try await asking {
            try await steering.endOverride(id, by: call.grant.author, mayEndOthers: mayEndOthers, at: time.now())
        }
        return .noContent
    }

    /// Those that hold now, and lie in the caller's scope.
    private func visible(_ call: PeopleCall) async throws(HTTPError) -> [Override] {
        let now = time.now()
        let held = try await asking { try await steering.steering() }
        return held.overrides.filter {
            $0.authorship.holds(at: now) && call.grant.scope.sees($0.tenant, in: $0.pool)
        }
    }
}
