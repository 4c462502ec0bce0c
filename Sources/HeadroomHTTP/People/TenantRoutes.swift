import HeadroomJSON
import HeadroomModel
import HeadroomWire

/// `GET /v1/tenants`: what tenants have bought and how they fare, a page at a time.
struct TenantRoutes: Sendable {
    let board: SnapshotBoard
    let contracts: any ContractDesk

    private static let standardLimit = 100
    private static let maxLimit: Int64 = 1000

    private enum Order: String, CaseIterable { case tenant, worst }

    var all: [Route] {
        [.person(.get, "/v1/tenants", AccessRule.viewers, .scope) { call in try await list(call) }]
    }

    /// A tenant's place among the reports: the pool's and its own there.
    private typealias Place = (pool: Int, tenant: Int)

    private func list(_ call: PeopleCall) async throws(HTTPError) -> HTTPResponse {
        try call.check(query: ["pool", "tenant", "after", "limit", "order"])
        let scope = call.grant.scope
        let pool: PoolID? = try call.query("pool")
        let tenant: TenantID? = try call.query("tenant")
        let after: TenantID? = try call.query("after")
        let limit = try call.query("limit", in: 1...Self.maxLimit).map { Int($0) } ?? Self.standardLimit
        let order = try call.choice("order", of: Order.allCases, named: \.rawValue) ?? .tenant
        let bought = try await asking { try await contracts.contracts() }
        let reports = (board.newestReport?.pools ?? []).filter { scope.holds($0.pool) && (pool ?? $0.pool) == $0.pool }

        var places: [TenantID: [Place]] = [:]
        for (index, report) in reports.enumerated() {
            for (offset, entry) in report.tenants.enumerated() {
                places[entry.tenant, default: []].append((index, offset))
            }
        }
        var contractsByTenant: [TenantID: Contract] = [:]
        for var contract in bought where places[contract.tenant] != nil || contract.concerns(pool) {
            contract.terms.removeAll { !scope.holds($0.pool) }
            contractsByTenant[contract.tenant] = contract
        }
        var names = Set(places.keys).union(contractsByTenant.keys)
            .filter { name in
                scope.holds(name) && (tenant ?? name) == name && (after.map { name > $0 } ?? true)
            }
            .sorted()
        if order == .worst {
            let waits = names.map { name in
                places[name, default: []].map { reports[$0.pool].tenants[$0.tenant].underservedSeconds }.max() ?? 0
            }
            names = names.indices.sorted { (waits[$1], names[$0]) < (waits[$0], names[$1]) }.map { names[$0] }
        }
        let page = names.prefix(limit)
        let snapshot = board.current?.whole
        let answers = page.map { name in
            let inPools = places[name, default: []].map { place in
                let report = reports[place.pool]
                return TenantAnswer.InPool(
                    pool: report.pool, report: report.tenants[place.tenant],
                    allocation: snapshot?.allocation(of: name, in: report.pool))
            }
            return TenantAnswer(tenant: name, contract: contractsByTenant[name], pools: inPools)
        }
        // Those ordered by need have no place to go on from.
        let next = order == .tenant && names.count > limit ? page.last : nil
        return .json(PeopleAnswer.tenants(answers, next: next))
    }
}

extension Contract {
    /// A contract without terms concerns all pools.
    fileprivate func concerns(_ pool: PoolID?) -> Bool {
        pool == nil || terms.isEmpty || terms.contains { $0.pool == pool }
    }
}

extension Snapshot {
    /// By halving, since a pool may list a hundred thousand tenants.
    fileprivate func allocation(of tenant: TenantID, in pool: PoolID) -> TenantAllocation? {
        guard let tenants = pools.first(where: { $0.pool == pool })?.tenants else { return nil }
        var low = 0
        var high = tenants.count
        while low < high {
            let middle = (low + high) / 2
            if tenants[middle].tenant < tenant { low = middle + 1 } else { high = middle }
        }
        return low < tenants.count && tenants[low].tenant == tenant ? tenants[low] : nil
    }
}
