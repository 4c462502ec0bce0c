import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `/v1/alerts`: what a person should look at, and a person's word on it.
struct AlertRoutes: Sendable {
    let alerts: any AlertDesk
    let time: TimeSource

    private static let path = "/v1/alerts"
    /// More than people read; older ones are closed ones.
    private static let maxListed = 500

    var all: [Route] {
        [
            .person(.get, Self.path, AccessRule.viewers, .scope) { call throws(HTTPError) in try await list(call) },
            .person(
                .post, Self.path + "/{id}/acknowledge", AccessRule.operators, .scope, bodyLimit: Route.personBodyBytes
            ) {
                call throws(HTTPError) in try await acknowledge(call)
            },
            .person(.post, Self.path + "/{id}/mute", AccessRule.operators, .scope, bodyLimit: Route.personBodyBytes) {
                call throws(HTTPError) in try await mute(call)
            },
        ]
    }

    private func list(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["state", "kind", "pool", "tenant"])
        let states: Set<AlertState>? =
            switch try call.target.value("state") {
            // Without a word, those that somebody has still to do something about.
            case nil: [.open, .acknowledged]
            case "all": nil
            default: try call.choice("state", of: AlertState.allCases, named: \.rawValue).map { [$0] }
            }
        let kind = try call.choice("kind", of: AlertKind.allCases, named: \.rawValue)
        let pool: PoolID? = try call.query("pool")
        let tenant: TenantID? = try call.query("tenant")
        let found = try await asking { () async throws(SteeringError) in
            try await alerts.alerts(in: states, limit: Self.maxListed)
        }
        let shown = found.compactMap { visible($0, call) }.filter { alert in
            (kind ?? alert.key.kind) == alert.key.kind && (pool == nil || alert.key.pool == pool)
                && (tenant == nil || alert.members.contains { $0.tenant == tenant })
        }
        return .json(AlertAnswer.list(shown))
    }

    private func acknowledge(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let id = try call.number()
        let request = try reading { () throws(BodyError) in try AlertRequest.decode(call.body, isMute: false) }
        try await requireScope(id, call)
        // It ends with the alert; storage asks for an end all the same.
        let authorship = authorship(request.reason, 1, call)
        let alert = try await asking { () async throws(SteeringError) in
            try await alerts.acknowledge(id, as: authorship)
        }
        return .json(AlertAnswer.one(alert))
    }

    private func mute(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let id = try call.number()
        let request = try reading { () throws(BodyError) in try AlertRequest.decode(call.body, isMute: true) }
        try await requireScope(id, call)
        let authorship = authorship(request.reason, request.expiresInSeconds ?? 0, call)
        let alert = try await asking { () async throws(SteeringError) in try await alerts.mute(id, as: authorship) }
        return .json(AlertAnswer.one(alert))
    }

    private func authorship(_ reason: String, _ seconds: Double, _ call: PeopleCall) -> Authorship {
        let now = time.now()
        return Authorship(author: call.grant.author, reason: reason, at: now, until: now.adding(seconds: seconds))
    }

    /// An alert speaks for all of its pool: a reader who may see a part of it must not silence the rest.
    private func requireScope(_ id: Int64, _ call: PeopleCall) async throws(HTTPError) {
        let scope = call.grant.scope
        if scope.isWhole { return }
        let found = try await asking { () async throws(SteeringError) in
            try await alerts.alerts(in: nil, limit: Self.maxListed)
        }
        guard let alert = found.first(where: { $0.id == id }) else {
            throw HTTPError(.noSuch, "there is no alert \(id); GET /v1/alerts lists them")
        }
        try call.requireScope(
            scope.tenants == nil && alert.key.pool.map(scope.holds) ?? false,
            scope.tenants == nil
                ? alert.key.pool.map { "the pool \($0)" } ?? "the service as a whole"
                : "an alert of all tenants")
    }

    /// The part of it that the caller may see: its pools, and of alerts about tenants its tenants.
    private func visible(_ alert: Alert, _ call: PeopleCall) -> Alert? {
        let scope = call.grant.scope
        if scope.isWhole { return alert }
        // What concerns the whole service names gateways and files.
        guard let pool = alert.key.pool else { return nil }
        return scope.holds(pool) ? alert.showing { scope.holds($0) } : nil
    }
}
