import HeadroomModel

/// What can be said of a publication by itself.
extension Auditor {
    /// - Parameter isLowered: Published from memory, as decreases only: who comes then gets nothing.
    func check(_ publication: Publication, isLowered: Bool) throws(AuditViolation) {
        try check(publication.whole, named: "whole")
        if let twice = firstNotAscending(publication.parts.map(\.gateway)) {
            throw broken(.order, "gateway \(twice)")
        }
        for part in publication.parts {
            try check(part.snapshot, named: "\(part.gateway)")
            try checkMembership(part.snapshot, of: publication.whole, named: "\(part.gateway)")
        }
        guard !publication.parts.isEmpty else { return }
        for (index, pool) in publication.whole.pools.enumerated() {
            // Who has just joined waits for the next publication with what exceeds its even part.
            let isJoining = before.map { $0.parts.map(\.gateway) != publication.parts.map(\.gateway) } ?? false
            let mostShort =
                isLowered || isJoining
                ? SIMD4(repeating: .infinity) : room.mostShort(pool.pool, in: publication, under: rules.policy.loop)
            try checkSums(pool, publication.parts.map { $0.snapshot.pools[index] }, mostShort: mostShort)
        }
    }

    private func check(_ snapshot: Snapshot, named name: String) throws(AuditViolation) {
        if let twice = firstNotAscending(snapshot.pools.map(\.pool)) { throw broken(.order, "\(name): pool \(twice)") }
        for pool in snapshot.pools {
            let name = "\(name), \(pool.pool)"
            if let twice = firstNotAscending(pool.tenants.map(\.tenant)) {
                throw broken(.order, "\(name): tenant \(twice)")
            }
            try checkNumbers(pool, named: name)
            try checkBudget(pool, named: name)
            for tenant in pool.tenants { try check(tenant, named: "\(name), \(tenant.tenant)") }
        }
    }

    private func firstNotAscending<ID: Comparable>(_ ids: [ID]) -> ID? {
        for (left, right) in zip(ids, ids.dropFirst()) where left >= right { return right }
        return nil
    }

    // MARK: Numbers

    private func checkNumbers(_ pool: PoolAllocation, named name: String) throws(AuditViolation) {
        let limited = pool.nominal.resources
        let exact: [(String, Rates)] = [
            ("capacity", pool.capacity), ("budget", pool.budget), ("fallback", pool.fallback), ("float", pool.float),
            ("unlisted", pool.unlisted),
        ]
        for (field, rates) in exact { try checkRates(rates, of: limited, isExact: true, "\(name): \(field)") }
        let others = [pool.level, pool.burstSeconds] + Resource.allCases.map { pool.nominal[$0] ?? 0 }
        if let wrong = others.first(where: { !$0.isFinite || $0 < 0 }) {
            throw broken(.numbers, "\(name): level, burst or nominal is \(wrong)")
        }
        for tenant in pool.tenants {
            let tenantID = tenant.tenant
            try checkRates(tenant.assured, of: limited, isExact: true, "\(name), \(tenantID): assured")
            try checkRates(tenant.safe, of: limited, isExact: true, "\(name), \(tenantID): safe")
            try checkRates(tenant.plain, of: limited, isExact: true, "\(name), \(tenantID): plain")
            try checkRates(tenant.ceiling, of: limited, isExact: false, "\(name), \(tenantID): ceiling")
            for criticality in Criticality.allCases {
                try checkRates(
                    tenant.criticality[criticality], of: limited, isExact: true,
                    "\(name), \(tenantID): \(criticality.name)")
            }
            if !(tenant.weight > 0 && tenant.weight.isFinite && tenant.serviceClock.isFinite) {
                throw broken(
                    .numbers, "\(name), \(tenantID): weight \(tenant.weight), service clock \(tenant.serviceClock)")
            }
        }
    }

    /// `name` is put together for a violation only: texts would take a tenth of a run.
    private func checkRates(
        _ rates: Rates, of limited: ResourceSet, isExact: Bool, _ name: @autoclosure () -> String
    ) throws(AuditViolation) {
        if isExact ? rates.resources != limited : !rates.resources.isSubset(of: limited) {
            throw broken(.numbers, "\(name()) is not of the pool's resources")
        }
        for resource in Resource.allCases {
            guard let rate = rates[resource] else { continue }
            if !rate.isFinite || rate < 0 || rate != rate.rounded() {
                throw broken(.numbers, "\(name()) is \(rate) \(resource.name)")
            }
        }
    }

    // MARK: Sums within an allocation

    private func checkBudget(_ pool: PoolAllocation, named name: String) throws(AuditViolation) {
        for resource in Resource.allCases {
            guard let budget = pool.budget[resource] else { continue }
            func sum(_ rates: (TenantAllocation) -> Rates) -> Double {
                pool.tenants.reduce(0) { $0 + (rates($1)[resource] ?? 0) }
            }
            let handedOut = sum(\.assured) + (pool.unlisted[resource] ?? 0)
            if handedOut > budget {
                throw broken(.budget, "\(name): \(handedOut) \(resource.name) of a budget of \(budget)")
            }
            let capacity = pool.capacity[resource] ?? 0
            let nominal = pool.nominal[resource] ?? 0
            if budget + (pool.float[resource] ?? 0) > capacity || capacity > nominal {
                throw broken(
                    .capacity, "\(name): budget \(budget), capacity \(capacity), nominal \(nominal) \(resource.name)")
            }
            let fallback = pool.fallback[resource] ?? 0
            let safe = sum(\.safe)
            if fallback > rules.policy.loop.fallbackShare * capacity || safe > fallback {
                throw broken(
                    .fallback, "\(name): fallback \(fallback), safe \(safe), capacity \(capacity) \(resource.name)")
            }
        }
    }

    private func check(
        _ tenant: TenantAllocation, named name: @autoclosure () -> String
    ) throws(AuditViolation) {
        for resource in Resource.allCases {
            guard let assured = tenant.assured[resource] else { continue }
            let parts = Criticality.allCases.reduce(0) { $0 + (tenant.criticality[$1][resource] ?? 0) }
            if parts != assured {
                throw broken(.criticality, "\(name()): \(parts) of \(assured) \(resource.name)")
            }
            guard let ceiling = tenant.ceiling[resource] else { continue }
            if assured > ceiling {
                throw broken(.ceiling, "\(name()): assured \(assured), ceiling \(ceiling) \(resource.name)")
            }
            if let plain = tenant.plain[resource], plain > ceiling {
                throw broken(.plain, "\(name()): plain \(plain), ceiling \(ceiling) \(resource.name)")
            }
        }
    }

    // MARK: Whole and parts

    private func checkMembership(
        _ part: Snapshot, of whole: Snapshot, named name: String
    ) throws(AuditViolation) {
        let isSame =
            part.version == whole.version && part.issuedAt == whole.issuedAt && part.policy == whole.policy
            && part.leaseSeconds == whole.leaseSeconds && part.pools.map(\.pool) == whole.pools.map(\.pool)
        if !isSame { throw broken(.membership, "\(name): version, time, policy, lease or pools are not the whole's") }
        for (mine, pool) in zip(part.pools, whole.pools) {
            if mine.enforce != pool.enforce || mine.capacity != pool.capacity || mine.nominal != pool.nominal
                || mine.tenants.count != pool.tenants.count
            {
                throw broken(.membership, "\(name), \(pool.pool): not the whole's capacity, enforcement or tenants")
            }
            for (entry, wholeEntry) in zip(mine.tenants, pool.tenants)
            where entry.tenant != wholeEntry.tenant || entry.weight != wholeEntry.weight
                || entry.tier != wholeEntry.tier
            {
                throw broken(.membership, "\(name), \(pool.pool): \(entry.tenant) beside \(wholeEntry.tenant)")
            }
        }
    }

    /// - Parameter mostShort: By which budgets may miss the whole's, by resource. What is assured within a budget that
    ///   does, misses too.
    private func checkSums(
        _ whole: PoolAllocation, _ parts: [PoolAllocation], mostShort: SIMD4<Double>
    ) throws(AuditViolation) {
        // Gateways that share a part lose what cannot be divided evenly over them.
        var mostLost = mostShort + (parts.count > rules.policy.loop.maxParts ? Double(parts.count) : 0)
        func check(_ field: @autoclosure () -> String, _ rates: (PoolAllocation) -> Rates) throws(AuditViolation) {
            for resource in Resource.allCases {
                guard let all = rates(whole)[resource] else { continue }
                let sum = parts.reduce(0) { $0 + (rates($1)[resource] ?? 0) }
                if sum > all || sum < all - mostLost[resource.rawValue] {
                    throw broken(.parts, "\(whole.pool) \(field()): \(sum) of \(all) \(resource.name)")
                }
            }
        }
        try check("budget") { $0.budget }
        try check("fallback") { $0.fallback }
        mostLost.replace(with: .infinity, where: mostLost .> 0)
        try check("unlisted") { $0.unlisted }
        for index in whole.tenants.indices {
            let id = whole.tenants[index].tenant
            try check("assured of \(id)") { $0.tenants[index].assured }
            try check("ceiling of \(id)") { $0.tenants[index].ceiling }
            try check("plain of \(id)") { $0.tenants[index].plain }
            try check("safe of \(id)") { $0.tenants[index].safe }
            for criticality in Criticality.allCases {
                try check("\(criticality.name) of \(id)") { $0.tenants[index].criticality[criticality] }
            }
        }
    }
}
