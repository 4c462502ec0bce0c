import HeadroomModel
import HeadroomWire

/// `/v1/generations`: which there were, and what differs between two.
struct GenerationRoutes: Sendable {
    let records: any RecordReading
    let time: TimeSource

    private static let maxListed: Int64 = 1000
    private static let maxTenants: Int64 = 10_000

    var all: [Route] {
        [
            .person(.get, "/v1/generations", AccessRule.viewers, .scope) { call in try await list(call) },
            .person(.get, "/v1/generations/{id}", AccessRule.viewers, .scope) { call in
                try await difference(call)
            },
        ]
    }

    private func list(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["from", "to", "limit"])
        // Up to and with the one of this millisecond.
        let to = try call.instant("to") ?? time.now().adding(seconds: 0.001)
        let from = try call.instant("from") ?? Timestamp(milliseconds: 0)
        guard from < to else { throw HTTPError(.badRequest, "from must lie before to") }
        let limit = Int(try call.query("limit", in: 1...Self.maxListed) ?? 100)
        let found = try await reading {
            try await records.generations(from: from, to: to, limit: limit)
        }
        let scope = call.grant.scope
        return .json(
            GenerationAnswer.list(found, next: found.count == limit ? found.last?.issuedAt : nil) { scope.holds($0) })
    }

    private func difference(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["pool", "tenant", "limit"])
        let (first, last) = try range(call.segment("id"))
        let scope = call.grant.scope
        let pool: PoolID? = try call.query("pool")
        let tenant: TenantID? = try call.query("tenant")
        try call.requireScope(pool.map { scope.holds($0) } ?? true, pool?.text ?? "")
        try call.requireScope(tenant.map { scope.holds($0) } ?? true, tenant?.text ?? "")
        let limit = Int(try call.query("limit", in: 1...Self.maxTenants) ?? 100)
        let before = try await snapshot(first)
        let after = try await snapshot(last)
        var pools = GenerationDifference(from: before, to: after).pools
        pools.removeAll { !scope.holds($0.pool) || (pool ?? $0.pool) != $0.pool }
        for place in pools.indices {
            pools[place].tenants.removeAll { !scope.holds($0.tenant) || (tenant ?? $0.tenant) != $0.tenant }
        }
        return .json(GenerationAnswer.difference(from: before, to: after, pools, limit: limit))
    }

    /// `1840..1842`.
    private func range(_ text: String) throws(HTTPError) -> (Int64, Int64) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[1].isEmpty, let first = Int64(parts[0]), let last = Int64(parts[2]), first > 0,
            last > 0
        else {
            throw HTTPError(
                .badRequest, "\"\(text)\" in the path names no two generations; two are as 1840..1842")
        }
        return (first, last)
    }

    private func snapshot(_ generation: Int64) async throws(HTTPError) -> Snapshot {
        let found = try await reading { try await records.snapshot(generation: generation) }
        guard let found else {
            throw HTTPError(
                .noSuch,
                "generation \(generation) was not published, or is no longer kept; GET /v1/generations lists those that are"
            )
        }
        return found
    }

    private func reading<Value: Sendable>(
        _ read: () async throws -> Value
    ) async throws(HTTPError) -> Value {
        do { return try await read() } catch { throw .unreadable(error) }
    }
}
