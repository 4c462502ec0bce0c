import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `GET /v1/pools`: how each pool fares.
struct PoolRoutes: Sendable {
    let board: SnapshotBoard
    let steering: any SteeringDesk

    /// Tenants named as causes of a pool's pressure: the largest; a hundred small ones cause the rest.
    static let excessCount = 10

    var all: [Route] {
        [.person(.get, "/v1/pools", AccessRule.viewers, .scope) { call in try await list(call) }]
    }

    private func list(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["pool"])
        let scope = call.grant.scope
        let pool: PoolID? = try call.query("pool")
        let now = board.time.now()
        let said = try await asking { try await steering.steering() }
            .holding(at: now)
        let snapshot = board.current?.whole
        let answers = (board.newestReport?.pools ?? []).filter { scope.holds($0.pool) && (pool ?? $0.pool) == $0.pool }
            .map { report in
                // Of all tenants, and then those that may be seen.
                let excess = ExcessShares.largest(Self.excessCount, of: report).filter { scope.holds($0.tenant) }
                var report = report
                // How many, and who, are the same question.
                report.tenants.removeAll { !scope.holds($0.tenant) }
                report.retryStorm?.tenants.removeAll { !scope.holds($0) }
                return PoolAnswer(
                    report: report, allocation: snapshot?.pools.first { $0.pool == report.pool },
                    pin: said.pins.first { $0.pool == report.pool },
                    freezes: said.freezes.filter { ($0.pool ?? report.pool) == report.pool },
                    openQuestions: said.proposals.count { proposal in
                        proposal.state == .pending && (proposal.pool ?? report.pool) == report.pool
                            && proposal.concerns { scope.holds($0) }
                    }, excess: excess)
            }
        return .json(PeopleAnswer.pools(answers))
    }
}
