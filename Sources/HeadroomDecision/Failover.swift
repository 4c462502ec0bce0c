import HeadroomModel

/// Where the work of pools goes whose breaker is open: to the first pool of their failover list that is not open
/// itself. There it is demand like any other, after that pool's own floors (Model §5.4): the tenants' floors stay where
/// they were promised.
public struct Failover: Sendable {
    /// By the pool that takes over, the pools that hand over; both ascending.
    public let sources: [PoolID: [PoolID]]

    public init(_ pools: [PoolPolicy], states: [PoolID: PoolState]) {
        var sources: [PoolID: [PoolID]] = [:]
        for pool in pools where states[pool.pool] == .open {
            let target = pool.failover.first { states[$0] != nil && states[$0] != .open }
            if let target { sources[target, default: []].append(pool.pool) }
        }
        self.sources = sources.mapValues { $0.sorted() }
    }

    /// A pool's demand with what others hand over. Gateways that have turned to it are seen in it already: of what is
    /// seen and what is handed over the greater counts.
    public func demand(of pool: PoolDemand, in demands: [PoolID: PoolDemand], limiting resources: ResourceSet)
        -> PoolDemand
    {
        var demand = pool
        for source in sources[pool.pool] ?? [] {
            guard let handed = demands[source] else { continue }
            demand.tenants = merged(demand.tenants, handed.tenants, resources)
        }
        return demand
    }

    private func merged(
        _ seen: [TenantDemand], _ handed: [TenantDemand], _ resources: ResourceSet
    ) -> [TenantDemand] {
        var merged: [TenantDemand] = []
        merged.reserveCapacity(max(seen.count, handed.count))
        var next = 0
        for tenant in handed {
            while next < seen.count, seen[next].tenant < tenant.tenant {
                merged.append(seen[next])
                next += 1
            }
            var both = tenant
            if next < seen.count, seen[next].tenant == tenant.tenant {
                both = seen[next]
                both.confidence = max(both.confidence, tenant.confidence)
                // The past of either pool says nothing of what one has to carry now.
                both.profile = nil
                next += 1
            } else {
                // Its gateways, queue and tasks are reported in their own pool.
                both = TenantDemand(
                    tenant: tenant.tenant, demand: PerCriticality(repeating: .none), shape: tenant.shape,
                    consumed: tenant.consumed, confidence: tenant.confidence, repayment: tenant.repayment,
                    isDiscounted: tenant.isDiscounted)
            }
            for criticality in Criticality.allCases {
                let (here, there) = (both.demand[criticality], tenant.demand[criticality].limited(to: resources))
                both.demand[criticality] = Rates(
                    perMinute: pointwiseMax(here.perMinute, there.perMinute),
                    resources: here.resources.union(there.resources))
            }
            merged.append(both)
        }
        return merged + seen[next...]
    }
}
