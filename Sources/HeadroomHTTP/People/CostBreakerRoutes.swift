import HeadroomModel
import HeadroomWire

/// `/v1/cost-breaker`: whose spending is held back or near its ceiling, and people's lifts of that.
struct CostBreakerRoutes: Sendable {
    let steering: any SteeringDesk
    let rules: any RuleSource
    let board: SnapshotBoard

    var all: [Route] {
        [
            .person(.get, "/v1/cost-breaker", AccessRule.viewers, .scope) { call in try await list(call) },
            .person(
                .post, "/v1/cost-breaker/lifts", AccessRule.operators, .scope, bodyLimit: Route.personBodyBytes
            ) { call in try await lift(call) },
            .person(.delete, "/v1/cost-breaker/lifts/{id}", AccessRule.operators, .scope) { call in try await end(call)
            },
        ]
    }

    private func list(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let policy = try await rules.rules().policy.costBreaker
        let lifts = try await lifts().filter { call.grant.scope.holds($0.subject) }
        let stands = (board.newestReport?.costBreaks ?? []).filter { call.grant.scope.holds($0.subject) }
        return .json(PeopleAnswer.costBreaker(policy, stands, lifts: lifts))
    }

    private func lift(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let request = try reading { try LiftRequest.decode(call.body) }
        try requireScope(call, request.subject)
        guard try await rules.rules().policy.costBreaker.ceiling(of: request.subject) != nil else {
            throw HTTPError(
                .badRequest,
                "\(request.subject) has no ceiling: cost_breaker in policies/rules.json5 states ceilings")
        }
        let now = board.time.now()
        let wanted = CostLift(
            subject: request.subject,
            authorship: Authorship(
                author: call.grant.author, reason: request.reason, at: now,
                until: now.adding(seconds: request.expiresInSeconds)))
        let lift = try await asking { try await steering.lift(wanted) }
        return .json(status: 201, PeopleAnswer.lift(lift))
    }

    private func end(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let id = try call.number()
        guard let lift = try await lifts().first(where: { $0.id == id }) else {
            throw HTTPError(.noSuch, "no lift \(id) is in force; GET /v1/cost-breaker lists them")
        }
        try requireScope(call, lift.subject)
        try await asking { try await steering.endLift(id, by: call.grant.author, at: board.time.now()) }
        return .noContent
    }

    private func lifts() async throws(HTTPError) -> [CostLift] {
        let now = board.time.now()
        let held = try await asking { try await steering.steering() }
        return held.costLifts.filter { $0.authorship.holds(at: now) }
    }

    // MARK: Scope

    private func requireScope(_ call: PeopleCall, _ subject: CostSubject) throws(HTTPError) {
        try call.requireScope(
            call.grant.scope.holds(subject) && call.grant.scope.pools == nil, "\(subject) in all pools together")
    }
}
