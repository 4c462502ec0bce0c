import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// Settings of an SRE on whole pools: pinned capacities, freezes, roll-backs. All with a reason and an end.
struct PoolSteeringRoutes: Sendable {
    let steering: any SteeringDesk
    let rules: any RuleSource
    let time: TimeSource

    private static let capacity = "/v1/pools/{id}/capacity"

    var all: [Route] {
        let bytes = Route.personBodyBytes
        let operators = AccessRule.operators
        return [
            .person(.put, Self.capacity, operators, .scope, bodyLimit: bytes) { call in
                try await pin(call)
            },
            .person(.delete, Self.capacity, operators, .scope) { call in try await unpin(call) },
            .person(.get, "/v1/freeze", AccessRule.viewers, .scope) { call in try await freezes(call) },
            .person(.post, "/v1/freeze", operators, .scope, bodyLimit: bytes) { call in
                try await freeze(call, isRollback: false)
            },
            .person(.delete, "/v1/freeze/{id}", operators, .scope) { call in try await endFreeze(call) },
            .person(.post, "/v1/rollback", operators, .scope, bodyLimit: bytes) { call in
                try await freeze(call, isRollback: true)
            },
        ]
    }

    // MARK: Capacity

    private func pin(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let id: PoolID = try call.identifier()
        try requireScope(call, id)
        guard let pool = try await rules.rules().policy.pool(id) else {
            throw HTTPError(.noSuch, "the policy has no pool \(id); GET /v1/pools lists them")
        }
        let request = try reading { try PinRequest.decode(call.body, pool: pool) }
        let pin = CapacityPin(
            pool: id, capacity: request.capacity,
            authorship: authorship(call, request.reason, request.expiresInSeconds))
        try await asking { try await steering.pin(pin) }
        return .json(PeopleAnswer.pin(pin))
    }

    private func unpin(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let pool: PoolID = try call.identifier()
        try requireScope(call, pool)
        try await asking {
            try await steering.unpin(pool, by: call.grant.author, at: time.now())
        }
        return .noContent
    }

    // MARK: Freezes

    private func freezes(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let found = try await held().filter { $0.pool.map(call.grant.scope.holds) ?? true }
        return .json(PeopleAnswer.freezes(found))
    }

    private func freeze(_ call: PeopleCall, isRollback: Bool) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let policy = try await rules.rules().policy
        let request = try reading {
            try FreezeRequest.decode(call.body, policy: policy, isRollback: isRollback)
        }
        try requireScope(call, request.pool)
        let wanted = Freeze(
            pool: request.pool, generation: request.generation,
            authorship: authorship(call, request.reason, request.expiresInSeconds))
        let freeze = try await asking { try await steering.freeze(wanted) }
        return .json(status: 201, PeopleAnswer.freeze(freeze))
    }

    private func endFreeze(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: [])
        let id = try call.number()
        guard let freeze = try await held().first(where: { $0.id == id }) else {
            throw HTTPError(.noSuch, "no freeze \(id) is in force; GET /v1/freeze lists them")
        }
        try requireScope(call, freeze.pool)
        try await asking {
            try await steering.endFreeze(id, by: call.grant.author, at: time.now())
        }
        return .noContent
    }

    private func held() async throws(HTTPError) -> [Freeze] {
        let now = time.now()
        let held = try await asking { try await steering.steering() }
        return held.freezes.filter { $0.authorship.holds(at: now) }
    }

    // MARK: Parts

    /// A change of a pool concerns all of its tenants. `nil`: all pools.
    private func requireScope(_ call: PeopleCall, _ pool: PoolID?) throws(HTTPError) {
        let scope = call.grant.scope
        try call.requireScope(
            scope.tenants == nil && (pool.map(scope.holds) ?? (scope.pools == nil)),
            scope.tenants == nil ? pool.map { "the pool \($0)" } ?? "all pools together" : "a pool with all its tenants"
        )
    }

    private func authorship(_ call: PeopleCall, _ reason: String, _ seconds: Double) -> Authorship {
        let now = time.now()
        return Authorship(author: call.grant.author, reason: reason, at: now, until: now.adding(seconds: seconds))
    }
}
