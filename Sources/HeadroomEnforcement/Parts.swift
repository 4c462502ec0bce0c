import HeadroomModel

/// Where a pool's work arrives and waits, at one gateway.
package struct GatewayShare: Equatable, Sendable {
    package var gateway: GatewayID
    /// Arrivals of the last 10 s + backlog ÷ 5, in any one unit; what the budget follows.
    package var budgetWeight: Double
    /// Traffic of the last hour, in any one unit; what the fallback follows.
    package var fallbackWeight: Double
    /// Demand of the last 60 s per tenant, in any one unit; what assured rates follow. Absent is 0.
    package var demand: [TenantID: Double]

    /// - Parameter fallbackWeight: `nil` takes the budget's.
    package init(
        gateway: GatewayID, budgetWeight: Double, fallbackWeight: Double? = nil, demand: [TenantID: Double] = [:]
    ) {
        self.gateway = gateway
        self.budgetWeight = budgetWeight
        self.fallbackWeight = fallbackWeight ?? budgetWeight
        self.demand = demand
    }
}

/// Divides a pool's allocation over gateways, so that not one unit is lost or handed out twice.
///
/// Over the gateways every number sums to the whole's: budget, fallback, unlisted, assured and safe rates, the parts by
/// criticality (which again sum to the assured rate at each gateway), plain, and ceilings. Within each gateway
/// Σ assured + unlisted ≤ budget and Σ safe ≤ fallback, in every resource: what does not fit where the tenant's traffic
/// is moves to where there is room. Capacity, nominal capacity and float stay the pool's.
///
/// *Ceilings are divided*, although that may fence a tenant in whose traffic moves faster than the minute of demand:
/// a ceiling promises the most that a tenant may get, and a gateway sees only its own part of what it gets. Were the
/// whole ceiling given to each, it would bind at none. Each gateway's part of `plain` is its assured part and a share of
/// what is above; of a ceiling its part of `plain` and a share of what is above: the order of the three holds everywhere.
package struct Parts: Sendable {
    /// Gateways beyond the first `maxParts` - 1 by id share the last part evenly, and get identical bodies; the units
    /// that this does not divide evenly stay unused.
    package var maxParts: Int
    /// No part of a budget is less than one of these per burst while the budget allows it.
    package var meanRequest: Work

    package init(maxParts: Int = 64, meanRequest: Work = Bucket.oneRequest) {
        self.maxParts = maxParts
        self.meanRequest = meanRequest
    }

    /// A tenth of the budget is divided evenly, so that a gateway without work can begin at once; for assured rates,
    /// which follow a minute and not ten seconds, 15 % (`control-law.md`, rule 4).
    private static let evenBudget = 0.10
    private static let evenAssured = 0.15

    /// - Parameter shares: each gateway once, in any order.
    /// - Returns: ascending by gateway; empty without shares.
    package func divide(
        _ whole: PoolAllocation, over shares: [GatewayShare]
    ) -> [(gateway: GatewayID, allocation: PoolAllocation)] {
        let shares = shares.sorted { $0.gateway < $1.gateway }
        guard !shares.isEmpty else { return [] }
        guard shares.count > maxParts else {
            return zip(shares, allocations(of: whole, over: shares)).map { ($0.gateway, $1) }
        }
        let named = shares.prefix(maxParts - 1)
        let members = shares.dropFirst(maxParts - 1)
        let parts = allocations(of: whole, over: named + [group(of: members)])
        let each = Parts.part(of: parts[parts.count - 1], forEachOf: members.count)
        return zip(named, parts).map { ($0.gateway, $1) } + members.map { ($0.gateway, each) }
    }

    private func allocations(of whole: PoolAllocation, over shares: [GatewayShare]) -> [PoolAllocation] {
        let weights = shares.map(\.budgetWeight)
        let budgets = divideBudget(whole.budget, by: weights, burstSeconds: whole.burstSeconds)
        let fallbacks = divideBudget(
            whole.fallback, by: shares.map(\.fallbackWeight), burstSeconds: whole.burstSeconds)
        let demand = whole.tenants.map { entry in
            demandShares(of: shares.map { $0.demand[entry.tenant] ?? 0 }, or: weights)
        }
        let assured = RightsTable(
            whole.tenants.map(\.assured) + [whole.unlisted], by: demand + [normalised(weights)], within: budgets)
        let safe = RightsTable(whole.tenants.map(\.safe), by: demand, within: fallbacks)

        var parts = [PoolAllocation](repeating: whole, count: shares.count)
        for gateway in parts.indices {
            parts[gateway].budget = budgets[gateway]
            parts[gateway].fallback = fallbacks[gateway]
            parts[gateway].unlisted = assured[whole.tenants.count, gateway]
        }
        for (tenant, entry) in whole.tenants.enumerated() {
            let rates = parts.indices.map { assured[tenant, $0] }
            let plain = Parts.divide(entry.plain, above: rates, by: demand[tenant])
            let ceilings = Parts.divide(entry.ceiling, above: plain, by: demand[tenant])
            let byCriticality = Parts.divide(entry.criticality, within: rates)
            for gateway in parts.indices {
                parts[gateway].tenants[tenant].assured = rates[gateway]
                parts[gateway].tenants[tenant].ceiling = ceilings[gateway]
                parts[gateway].tenants[tenant].plain = plain[gateway]
                parts[gateway].tenants[tenant].safe = safe[tenant, gateway]
                parts[gateway].tenants[tenant].criticality = byCriticality[gateway]
            }
        }
        return parts
    }

    /// An even part, at least the 10 % and one mean request per burst where there is so much; the rest by weight.
    private func divideBudget(_ whole: Rates, by weights: [Double], burstSeconds: Double) -> [Rates] {
        let shares = normalised(weights)
        let count = Double(weights.count)
        return Parts.divide(whole) { resource, rate in
            let oneRequest = burstSeconds > 0 ? meanRequest[resource] * 60 / burstSeconds : 0
            let even = max(Parts.evenBudget * rate / count, min(oneRequest, rate / count))
            return shares.map { even + (rate - even * count) * $0 }
        }
    }

    private func demandShares(of demand: [Double], or weights: [Double]) -> [Double] {
        let shares = demand.contains { $0 > 0 } ? normalised(demand) : normalised(weights)
        return shares.map { Parts.evenAssured / Double(shares.count) + (1 - Parts.evenAssured) * $0 }
    }

    private func normalised(_ weights: [Double]) -> [Double] {
        let sum = weights.reduce(0, +)
        return weights.map { sum > 0 ? $0 / sum : 1 / Double(weights.count) }
    }

    private func group(of members: ArraySlice<GatewayShare>) -> GatewayShare {
        var group = GatewayShare(gateway: members[members.startIndex].gateway, budgetWeight: 0)
        for member in members {
            group.budgetWeight += member.budgetWeight
            group.fallbackWeight += member.fallbackWeight
            group.demand.merge(member.demand, uniquingKeysWith: +)
        }
        return group
    }
}

/// How single rates are divided.
extension Parts {
    /// In each resource whole units in proportion to the weights that `weights` gives for it.
    fileprivate static func divide(_ whole: Rates, by weights: (Resource, Double) -> [Double]) -> [Rates] {
        var parts: [Rates] = []
        for resource in whole.resources.members {
            let rate = whole[resource] ?? 0
            let units = LargestRemainder.divide(Int(rate), by: weights(resource, rate))
            if parts.isEmpty { parts = [Rates](repeating: .none, count: units.count) }
            for gateway in units.indices { parts[gateway][resource] = Double(units[gateway]) }
        }
        return parts.isEmpty ? [Rates](repeating: .none, count: weights(.requests, 0).count) : parts
    }

    /// A bound: what each gateway has below it, and a share of what is above that.
    fileprivate static func divide(_ bound: Rates, above below: [Rates], by shares: [Double]) -> [Rates] {
        let least = bound.map { resource, _ in below.reduce(0) { $0 + ($1[resource] ?? 0) } }
        var parts = divide(bound.map { max(0, $1 - (least[$0] ?? 0)) }) { _, _ in shares }
        for gateway in parts.indices {
            parts[gateway] = parts[gateway].map { $1 + (below[gateway][$0] ?? 0) }
        }
        return parts
    }

    /// The order of service of an assured rate, divided in the proportions of its parts: each criticality's parts sum to
    /// its own, each gateway's to its assured part.
    fileprivate static func divide(
        _ whole: PerCriticality<Rates>, within assured: [Rates]
    ) -> [PerCriticality<Rates>] {
        var parts = [PerCriticality<Rates>](repeating: PerCriticality(repeating: .none), count: assured.count)
        var left = assured
        for criticality in Criticality.allCases {
            let rates = divide(whole[criticality]) { resource, _ in left.map { $0[resource] ?? 0 } }
            for gateway in parts.indices {
                parts[gateway][criticality] = rates[gateway]
                left[gateway] = left[gateway].map { max(0, $1 - (rates[gateway][$0] ?? 0)) }
            }
        }
        return parts
    }

    /// One of `count` even parts, rounded down, so that together they never exceed the whole.
    fileprivate static func part(of whole: PoolAllocation, forEachOf count: Int) -> PoolAllocation {
        func each(_ rates: Rates) -> Rates { rates.map { ($1 / Double(count)).rounded(.down) } }
        var part = whole
        part.budget = each(whole.budget)
        part.fallback = each(whole.fallback)
        part.unlisted = each(whole.unlisted)
        for index in part.tenants.indices {
            let entry = whole.tenants[index]
            part.tenants[index].assured = each(entry.assured)
            part.tenants[index].ceiling = each(entry.ceiling)
            part.tenants[index].plain = each(entry.plain)
            part.tenants[index].safe = each(entry.safe)
            let nearRealTime = each(entry.criticality.nearRealTime)
            let batch = each(entry.criticality.batch)
            // What rounding takes from the parts goes to the first in the order of service.
            part.tenants[index].criticality = PerCriticality(
                interactive: entry.criticality.interactive.map { resource, _ in
                    (part.tenants[index].assured[resource] ?? 0) - (nearRealTime[resource] ?? 0)
                        - (batch[resource] ?? 0)
                },
                nearRealTime: nearRealTime, batch: batch)
        }
        return part
    }
}
