/// Each tenant's part of a pool's pressure: of all that tenants want above their assured rates (Model §5.7).
public enum ExcessShares {
    /// The largest parts, in descending order; those of tenants that want no more than they have are left out.
    ///
    /// Compared in seconds of the pool's nominal capacity, so that a resource which the pool has in plenty does not count
    /// as much as one that is short.
    public static func largest(_ count: Int, of pool: PoolReport) -> [(tenant: TenantID, share: Double)] {
        let excesses = pool.tenants.map { tenant in
            let above = tenant.demand.perMinute - tenant.assured.perMinute
            return Work(amounts: above.replacing(with: 0, where: above .< 0)).seconds(of: pool.nominal)
        }
        let total = excesses.reduce(0, +)
        guard total > 0 else { return [] }
        return zip(pool.tenants, excesses).filter { $0.1 > 0 }.map { (tenant: $0.0.tenant, share: $0.1 / total) }
            .sorted { ($1.share, $0.tenant) < ($0.share, $1.tenant) }.prefix(count).map(\.self)
    }
}
