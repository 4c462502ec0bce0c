import HeadroomModel

/// Checks of one snapshot by itself, the whole or a part.
extension Auditor {
    /// Whose snapshot it is; put into words for a violation only, as texts would take a tenth of a run.
    enum Holder: CustomStringConvertible {
        case whole
        case part(GatewayID)

        var description: String {
            switch self {
            case .whole: "whole"
            case .part(let gateway): "\(gateway)"
            }
        }
    }

    func check(_ snapshot: Snapshot, of holder: Holder) throws(AuditViolation) {
        for index in snapshot.pools.indices.dropFirst()
        where snapshot.pools[index - 1].pool >= snapshot.pools[index].pool {
            throw broken(.order, "\(holder): pool \(snapshot.pools[index].pool)")
        }
        for index in snapshot.pools.indices {
            try checkNumbers(snapshot.pools[index], of: holder)
            try checkSums(snapshot.pools[index], of: holder)
        }
    }

    // MARK: Numbers

    private func checkNumbers(_ pool: PoolAllocation, of holder: Holder) throws(AuditViolation) {
        let limited = pool.nominal.resources
        func check(
            _ rates: Rates, isExact: Bool = true, of tenant: Int? = nil, _ field: String
        ) throws(AuditViolation) {
            let isOfPool = isExact ? rates.resources == limited : rates.resources.isSubset(of: limited)
            let amounts = rates.perMinute
            if isOfPool, all((amounts .>= 0) .& (amounts .< .infinity) .& (amounts .== amounts.rounded(.down))) {
                return
            }
            let name = tenant.map { ", \(pool.tenants[$0].tenant)" } ?? ""
            throw broken(.numbers, "\(holder), \(pool.pool)\(name): \(field) is \(rates.auditText)")
        }
        try check(pool.capacity, "capacity")
        try check(pool.budget, "budget")
        try check(pool.fallback, "fallback")
        try check(pool.float, "float")
        try check(pool.unlisted, "unlisted")
        let nominal = pool.nominal.perMinute
        let others = [pool.level, pool.burstSeconds, nominal[0], nominal[1], nominal[2], nominal[3]]
        if let wrong = others.first(where: { !$0.isFinite || $0 < 0 }) {
            throw broken(.numbers, "\(holder), \(pool.pool): level, burst or nominal is \(wrong)")
        }
        // In place, here as below: a row is too long to be copied for each look at it.
        let tenants = pool.tenants.span
        for index in tenants.indices {
            try check(tenants[index].assured, of: index, "assured")
            try check(tenants[index].safe, of: index, "safe")
            try check(tenants[index].plain, of: index, "plain")
            try check(tenants[index].ceiling, isExact: false, of: index, "ceiling")
            try check(tenants[index].criticality.interactive, of: index, "interactive")
            try check(tenants[index].criticality.nearRealTime, of: index, "near_real_time")
            try check(tenants[index].criticality.batch, of: index, "batch")
            let (weight, clock) = (tenants[index].weight, tenants[index].serviceClock)
            if !(weight > 0 && weight.isFinite && clock.isFinite) {
                let name = tenants[index].tenant
                throw broken(.numbers, "\(holder), \(pool.pool), \(name): weight \(weight), service clock \(clock)")
            }
        }
    }

    // MARK: Sums within an allocation

    private func checkSums(_ pool: PoolAllocation, of holder: Holder) throws(AuditViolation) {
        var assured = pool.unlisted.perMinute
        var safe = SIMD4<Double>.zero
        let tenants = pool.tenants.span
        for index in tenants.indices {
            if index > 0, tenants[index - 1].tenant >= tenants[index].tenant {
                throw broken(.order, "\(holder), \(pool.pool): tenant \(tenants[index].tenant)")
            }
            assured += tenants[index].assured.perMinute
            safe += tenants[index].safe.perMinute
            try check(tenants[index], in: pool.pool, of: holder)
        }
        let (budget, capacity, nominal) = (pool.budget.perMinute, pool.capacity.perMinute, pool.nominal.perMinute)
        if any(assured .> budget) {
            throw broken(.budget, "\(holder), \(pool.pool): \(assured) of a budget of \(budget)")
        }
        if any((budget + pool.float.perMinute .> capacity) .| (capacity .> nominal)) {
            throw broken(
                .capacity, "\(holder), \(pool.pool): budget \(budget), capacity \(capacity), nominal \(nominal)")
        }
        let fallback = pool.fallback.perMinute
        if any((fallback .> rules.policy.loop.fallbackShare * capacity) .| (safe .> fallback)) {
            throw broken(
                .fallback, "\(holder), \(pool.pool): fallback \(fallback), safe \(safe), capacity \(capacity)")
        }
    }

    private func check(
        _ tenant: TenantAllocation, in pool: PoolID, of holder: Holder
    ) throws(AuditViolation) {
        let assured = tenant.assured.perMinute
        let parts =
            tenant.criticality.interactive.perMinute + tenant.criticality.nearRealTime.perMinute
            + tenant.criticality.batch.perMinute
        if parts != assured {
            throw broken(.criticality, "\(holder), \(pool), \(tenant.tenant): \(parts) of \(assured)")
        }
        let isBounded = tenant.ceiling.resources.lanes
        let ceiling = tenant.ceiling.perMinute
        if any(isBounded .& (assured .> ceiling)) {
            throw broken(.ceiling, "\(holder), \(pool), \(tenant.tenant): assured \(assured), ceiling \(ceiling)")
        }
        if any(isBounded .& (tenant.plain.perMinute .> ceiling)) {
            let plain = tenant.plain.perMinute
            throw broken(.plain, "\(holder), \(pool), \(tenant.tenant): plain \(plain), ceiling \(ceiling)")
        }
    }
}

extension Rates {
    /// As a person reads it beside a rule that was broken.
    var auditText: String {
        let named = resources.members.map { "\($0.rateName) \(perMinute[$0.rawValue])" }
        return named.isEmpty ? "-" : named.joined(separator: " ")
    }
}
