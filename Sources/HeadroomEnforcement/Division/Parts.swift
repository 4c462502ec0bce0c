import HeadroomModel

/// Divides a pool's allocation over gateways, so that not one unit is lost or handed out twice.
///
/// Over the gateways every number sums to the whole's: budget, fallback, unlisted, assured and safe rates, the parts by
/// criticality (which again sum to the assured rate at each gateway), plain, and ceilings. Within each gateway
/// Σ assured + unlisted ≤ budget and Σ safe ≤ fallback, in every resource: what does not fit where the tenant's traffic
/// is moves to where there is room. Capacity, nominal capacity and float stay the pool's. Where ``Room`` has cut the
/// budgets, so that together they do not hold what is assured, the sums are lower, and those that lost by it await room.
///
/// *Ceilings are divided*, although that may fence a tenant in whose traffic moves faster than the minute of demand:
/// a ceiling promises the most that a tenant may get, and a gateway sees only its own part of what it gets. Were the
/// whole ceiling given to each, it would bind at none. Each gateway's part of `plain` is its assured part and a share of
/// what is above; of a ceiling its part of `plain` and a share of what is above: the order of the three holds everywhere.
public struct Parts: Sendable {
    /// Gateways beyond the first `maxParts` - 1 by id share the last part evenly; the units that this does not divide
    /// evenly stay unused.
    public var maxParts: Int
    /// No part of a budget is less than one of these per burst while the budget allows it.
    public var meanRequest: Work

    public init(maxParts: Int = 64, meanRequest: Work = Bucket.oneRequest) {
        self.maxParts = maxParts
        self.meanRequest = meanRequest
    }

    /// A tenth of the budget is divided evenly, so that a gateway without work can begin at once; for assured rates,
    /// which follow a minute and not ten seconds, 15 % (ControlLaw, rule 4).
    private static let evenBudget = 0.10
    private static let evenAssured = 0.15

    // MARK: Budgets

    /// Each gateway's wanted part, by where work arrives, ascending by gateway: ``Room`` is asked for it.
    public func budgets(of whole: PoolAllocation, over traffic: PoolTraffic) -> [GatewayBudget] {
        guard traffic.gateways.count > maxParts else { return columns(of: whole, over: traffic) }
        let grouped = columns(of: whole, over: traffic.grouped(from: maxParts - 1))
        let members = traffic.gateways.dropFirst(maxParts - 1)
        let last = grouped[maxParts - 1]
        return grouped.prefix(maxParts - 1)
            + members.map {
                GatewayBudget(
                    gateway: $0, budget: Parts.each(last.budget, of: members.count),
                    fallback: Parts.each(last.fallback, of: members.count))
            }
    }

    private func columns(of whole: PoolAllocation, over traffic: PoolTraffic) -> [GatewayBudget] {
        guard !traffic.gateways.isEmpty else { return [] }
        var divider = UnitDivider(count: traffic.gateways.count)
        let budgets = divide(whole.budget, by: traffic.loads, whole.burstSeconds, &divider)
        let fallbacks = divide(
            whole.fallback, by: traffic.fallbackWeights.map { SIMD4(repeating: $0) }, whole.burstSeconds, &divider)
        return traffic.gateways.indices.map {
            GatewayBudget(gateway: traffic.gateways[$0], budget: budgets[$0], fallback: fallbacks[$0])
        }
    }

    /// An even part, at least the 10 % and one mean request per burst where there is so much; the rest by weight, in each
    /// resource by what arrives there of it: a gateway of short calls has more requests than tokens.
    private func divide(
        _ whole: Rates, by weights: [SIMD4<Double>], _ burstSeconds: Double, _ divider: inout UnitDivider
    ) -> [Rates] {
        let count = Double(weights.count)
        var parts = [Rates](repeating: .none, count: weights.count)
        for resource in whole.resources.members {
            let rate = whole[resource] ?? 0
            let shares = Parts.normalised(weights.map { $0[resource.rawValue] })
            let oneRequest = burstSeconds > 0 ? meanRequest[resource] * 60 / burstSeconds : 0
            let even = max(Parts.evenBudget * rate / count, min(oneRequest, rate / count))
            for index in shares.indices { divider.weights[index] = even + (rate - even * count) * shares[index] }
            divider.divide(rate.rounded(.down))
            for index in shares.indices { parts[index][resource] = divider.units[index] }
        }
        return parts
    }

    // MARK: Rights within budgets

    /// - Parameter budgets: each gateway's, ascending by gateway as in `traffic`; `nil`: as work arrives.
    /// - Returns: ascending by gateway; empty without gateways.
    public func divide(
        _ whole: PoolAllocation, over traffic: PoolTraffic, within budgets: [GatewayBudget]? = nil
    ) -> [(gateway: GatewayID, allocation: PoolAllocation)] {
        let budgets = budgets ?? self.budgets(of: whole, over: traffic)
        precondition(budgets.count == traffic.gateways.count, "a budget for each gateway")
        guard !budgets.isEmpty else { return [] }
        guard budgets.count > maxParts else {
            return zip(traffic.gateways, allocations(of: whole, over: traffic, within: budgets)).map { ($0, $1) }
        }
        let members = budgets.dropFirst(maxParts - 1)
        let most = members.reduce(SIMD4<Double>.zero) { pointwiseMax($0, $1.budget.perMinute) }
        let maxFallback = members.reduce(SIMD4<Double>.zero) { pointwiseMax($0, $1.fallback.perMinute) }
        let group = GatewayBudget(
            gateway: budgets[maxParts - 1].gateway,
            budget: Rates(perMinute: most * Double(members.count), resources: whole.budget.resources),
            fallback: Rates(perMinute: maxFallback * Double(members.count), resources: whole.fallback.resources))
        let parts = allocations(
            of: whole, over: traffic.grouped(from: maxParts - 1), within: budgets.prefix(maxParts - 1) + [group])
        // Identical bodies, but for those that await room.
        let each = parts[maxParts - 1].part(forEachOf: members.count)
        return zip(traffic.gateways, parts).prefix(maxParts - 1).map { ($0, $1) }
            + members.map { ($0.gateway, each.lowered(to: $0)) }
    }

    /// A column a gateway.
    private func allocations(
        of whole: PoolAllocation, over traffic: PoolTraffic, within budgets: [GatewayBudget]
    ) -> [PoolAllocation] {
        let columns = budgets.count
        var divider = UnitDivider(count: columns)
        let shares = demandShares(whole.tenants, in: traffic) + Parts.normalised(traffic.budgetWeights)
        let assured = RightsTable(
            whole.tenants.map(\.assured) + [whole.unlisted], by: shares, within: budgets.map(\.budget), &divider)
        let safe = RightsTable(whole.tenants.map(\.safe), by: shares, within: budgets.map(\.fallback), &divider)
        var bounds = TenantBounds(whole.tenants, assured: assured.cells, shares: shares, columns: columns)
        bounds.divide(&divider)

        return budgets.indices.map { column in
            var part = whole
            part.budget = budgets[column].budget
            part.fallback = budgets[column].fallback
            part.taskKinds = whole.taskKinds.map { $0.part(of: part.budget, in: whole.budget) }
            part.unlisted = Rates(
                perMinute: assured.cells[whole.tenants.count * columns + column], resources: whole.unlisted.resources)
            for (row, entry) in whole.tenants.enumerated() {
                let cell = row * columns + column
                part.tenants[row].assured = Rates(
                    perMinute: assured.cells[cell], resources: entry.assured.resources)
                part.tenants[row].safe = Rates(perMinute: safe.cells[cell], resources: entry.safe.resources)
                bounds.read(cell, into: &part.tenants[row])
                if assured.isCut[row] { part.tenants[row].constraint = .awaitingRoom }
            }
            return part
        }
    }

    /// Row by row, a row a tenant of the whole: its share of what it has at each gateway.
    private func demandShares(_ tenants: [TenantAllocation], in traffic: PoolTraffic) -> [Double] {
        let columns = traffic.gateways.count
        let even = Parts.evenAssured / Double(columns)
        // Of a tenant that nothing is known of.
        let unknown = Parts.normalised(traffic.budgetWeights).map { even + (1 - Parts.evenAssured) * $0 }
        var shares: [Double] = []
        shares.reserveCapacity((tenants.count + 1) * columns)
        var next = 0
        for tenant in tenants {
            while next < traffic.tenants.count, traffic.tenants[next] < tenant.tenant { next += 1 }
            var sum = 0.0
            let isKnown = next < traffic.tenants.count && traffic.tenants[next] == tenant.tenant
            if isKnown { for column in 0..<columns { sum += traffic.demand[next * columns + column] } }
            if sum > 0 {
                for column in 0..<columns {
                    let share = traffic.demand[next * columns + column] / sum
                    shares.append(even + (1 - Parts.evenAssured) * share)
                }
            } else {
                shares += unknown
            }
        }
        return shares
    }

    private static func normalised(_ weights: [Double]) -> [Double] {
        let sum = weights.reduce(0, +)
        return weights.map { sum > 0 ? $0 / sum : 1 / Double(weights.count) }
    }

    /// One of `count` even parts, rounded down, so that together they never exceed the whole.
    private static func each(_ rates: Rates, of count: Int) -> Rates {
        Rates(perMinute: (rates.perMinute / Double(count)).rounded(.down), resources: rates.resources)
    }
}

extension Parts {
    public func divide(
        _ whole: PoolAllocation, over shares: [GatewayShare]
    ) -> [(gateway: GatewayID, allocation: PoolAllocation)] {
        divide(whole, over: PoolTraffic(shares))
    }
}

extension PoolAllocation {
    fileprivate func part(forEachOf count: Int) -> PoolAllocation {
        let each = (part: SIMD4(repeating: 1.0), of: SIMD4(repeating: Double(count)))
        return scaled(by: each, safe: each)
    }

    /// Its rights in proportion, where its budget is lower than these were made for.
    fileprivate func lowered(to own: GatewayBudget) -> PoolAllocation {
        let isCut = pointwiseMin(own.budget.perMinute, budget.perMinute) != budget.perMinute
        let isSafeCut = pointwiseMin(own.fallback.perMinute, fallback.perMinute) != fallback.perMinute
        guard isCut || isSafeCut else { return self }
        var lowered = scaled(
            by: (own.budget.perMinute, budget.perMinute), safe: (own.fallback.perMinute, fallback.perMinute))
        lowered.budget = own.budget
        lowered.fallback = own.fallback
        if isCut { for index in lowered.tenants.indices { lowered.tenants[index].constraint = .awaitingRoom } }
        return lowered
    }

    /// Rounded down, so that parts never exceed what they are parts of. Nothing is scaled up.
    private func scaled(
        by share: (part: SIMD4<Double>, of: SIMD4<Double>), safe safeShare: (part: SIMD4<Double>, of: SIMD4<Double>)
    ) -> PoolAllocation {
        func scaled(_ rates: Rates, _ share: (part: SIMD4<Double>, of: SIMD4<Double>)) -> Rates {
            let part = (rates.perMinute * share.part / share.of).rounded(.down)
            let isLess = share.part .< share.of
            return Rates(
                perMinute: rates.perMinute.replacing(with: part, where: isLess), resources: rates.resources)
        }
        var part = self
        part.budget = scaled(budget, share)
        part.fallback = scaled(fallback, safeShare)
        part.unlisted = scaled(unlisted, share)
        part.taskKinds = taskKinds.map { $0.part(of: part.budget, in: budget) }
        for index in part.tenants.indices {
            let entry = tenants[index]
            part.tenants[index].ceiling = scaled(entry.ceiling, share)
            part.tenants[index].plain = scaled(entry.plain, share)
            part.tenants[index].safe = scaled(entry.safe, safeShare)
            let interactive = scaled(entry.criticality.interactive, share)
            let nearRealTime = scaled(entry.criticality.nearRealTime, share)
            let batch = scaled(entry.criticality.batch, share)
            part.tenants[index].criticality = PerCriticality(
                interactive: interactive, nearRealTime: nearRealTime, batch: batch)
            // What rounding leaves of the assured rate stays unused: given to one criticality at every gateway, the
            // parts of that criticality would together exceed the whole's.
            part.tenants[index].assured = Rates(
                perMinute: interactive.perMinute + nearRealTime.perMinute + batch.perMinute,
                resources: entry.assured.resources)
        }
        return part
    }
}

extension PoolAllocation.TaskKind {
    /// A gateway's part of the hold: as large as its part of the budget, where that is smallest.
    fileprivate func part(of budget: Rates, in whole: Rates) -> PoolAllocation.TaskKind {
        let shares = whole.resources.members.map { resource in
            (whole[resource] ?? 0) > 0 ? (budget[resource] ?? 0) / (whole[resource] ?? 1) : 0
        }
        // In thousandths of a request a minute, rounded down, so that parts never exceed the whole.
        let rate = (requestsPerMinute * (shares.min() ?? 1) * 1000).rounded(.down) / 1000
        return PoolAllocation.TaskKind(kind: kind, requestsPerMinute: rate)
    }
}
