import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `GET /v1/live`: how everything fares now, as a long poll that is answered each tick; and `GET /v1/live/series`, the last
/// minutes of one pool as columns for plots.
struct LiveRoutes: Sendable {
    let board: SnapshotBoard
    let history: LiveHistory

    /// A browser's proxies cut a request that is quiet for a minute.
    private static let maxWaitSeconds: Int64 = 25
    private static let standardTenants = 8

    var all: [Route] {
        let viewers = AccessRule.roles(AccessRule.viewers)
        return [
            Route(method: .get, pattern: "/v1/live", access: viewers, reach: .scope) {
                target, grant throws(HTTPError) in
                let call = PeopleCall(
                    target: target, pattern: "/v1/live", grant: grant, body: [], contentType: nil)
                let query = try LiveQuery(call)
                return HTTPHandler(answer: { exchange in .init(await: exchange, query, grant.scope, history, board) })
            },
            Route(method: .get, pattern: "/v1/live/series", access: viewers, reach: .scope) {
                target, grant throws(HTTPError) in
                let call = PeopleCall(
                    target: target, pattern: "/v1/live/series", grant: grant, body: [], contentType: nil)
                let query = try SeriesQuery(call)
                return HTTPHandler(answer: { exchange in
                    let body = LiveAnswer.series(history.samples, query, grant.scope)
                    return .response(.live(body, to: exchange))
                })
            },
        ]
    }

    struct LiveQuery: Sendable {
        /// The number of the newest tick that the caller has seen; 0: none.
        let after: Int
        let waitSeconds: Int64
        let pool: PoolID?
        /// Of each pool.
        let tenants: Int

        init(_ call: PeopleCall) throws(HTTPError) {
            try call.check(query: ["after", "wait", "pool", "tenants"])
            after = Int(try call.query("after", in: 0...Int64(Int32.max)) ?? 0)
            waitSeconds = try call.query("wait", in: 0...LiveRoutes.maxWaitSeconds) ?? 0
            pool = try call.query("pool")
            tenants =
                Int(
                    try call.query("tenants", in: 0...Int64(LiveSample.maxTenants))
                        ?? Int64(LiveRoutes.standardTenants))
        }
    }

    struct SeriesQuery: Sendable {
        let pool: PoolID
        let tenants: Int
        let tenant: TenantID?
        let seconds: Int64
        /// At most so many; more samples are thinned out.
        let points: Int

        init(_ call: PeopleCall) throws(HTTPError) {
            try call.check(query: ["pool", "tenants", "tenant", "seconds", "points"])
            guard let pool: PoolID = try call.query("pool", isRequired: true) else {
                throw HTTPError(.badRequest, "pool is missing: add pool=NAME to the query")
            }
            self.pool = pool
            tenants = Int(try call.query("tenants", in: 0...Int64(LiveSample.maxTenants)) ?? 0)
            tenant = try call.query("tenant")
            seconds = try call.query("seconds", in: 10...3600) ?? 900
            points = Int(try call.query("points", in: 10...1000) ?? 300)
            let scope = call.grant.scope
            try call.requireScope(scope.holds(pool), "the pool \(pool)")
            if let tenant { try call.requireScope(scope.holds(tenant), "the tenant \(tenant)") }
        }
    }
}

extension HTTPAnswer {
    /// Parked until a tick that the caller has not seen; then, or when the time is up, the newest.
    fileprivate init(
        await exchange: HTTPExchange, _ query: LiveRoutes.LiveQuery, _ scope: AccessGrant.Scope,
        _ history: LiveHistory, _ board: SnapshotBoard
    ) {
        let now = MonotonicClock.milliseconds()
        if query.waitSeconds > 0 {
            let deadline = exchange.waitsUntil ?? now + query.waitSeconds * 1000
            exchange.waitsUntil = deadline
            if now < deadline, history.park(exchange, after: query.after, until: deadline) {
                self = .parked
                return
            }
        }
        self = .response(.live(LiveAnswer.state(query, scope, history, board), to: exchange))
    }
}

extension HTTPResponse {
    /// JSON, in gzip to those who take it when that is worth while.
    fileprivate static func live(_ body: [UInt8], to exchange: HTTPExchange) -> HTTPResponse {
        let plain = HTTPResponse.json(body)
        guard body.count > 1400, exchange.takesGzip else { return plain }
        return HTTPResponse(status: plain.status, prepared: plain.prepared.compressed())
    }
}
