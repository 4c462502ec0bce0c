import HeadroomModel

/// Checks of contracts and the policy, of the whole.
extension Auditor {
    /// - Parameter isLowered: Published from memory, as decreases only: it may be short of what is promised.
    func checkPromises(_ pool: PoolAllocation, isLowered: Bool) throws(AuditViolation) {
        let policy = rules.policy
        for tenant in pool.tenants {
            let contract = rules.contracts[tenant.tenant]
            let named = policy.tiers.first { $0.name == contract?.tier }
            guard let tier = named ?? policy.tiers.first(where: { $0.name == policy.defaultTier }) else {
                preconditionFailure("a policy names its default tier")
            }
            if tenant.tier != tier.name {
                throw broken(.tier, "\(pool.pool), \(tenant.tenant): \(tenant.tier), by contract \(tier.name)")
            }
            let weight = tier.weight * (contract?.isStrategic == true ? policy.strategicFactor : 1)
            if tenant.weight != weight {
                throw broken(.weight, "\(pool.pool), \(tenant.tenant): \(tenant.weight), by contract \(weight)")
            }
            let terms = contract?.terms.first { $0.pool == pool.pool }
            for resource in Resource.allCases {
                guard let nominal = pool.nominal[resource] else { continue }
                let most = min(
                    terms?.ceiling[resource] ?? .infinity, tier.ceilingShare.map { $0 * nominal } ?? .infinity)
                if most < .infinity, tenant.ceiling[resource] ?? .infinity > most {
                    throw broken(
                        .ceiling,
                        "\(pool.pool), \(tenant.tenant): ceiling \(tenant.ceiling[resource] ?? .infinity), by contract "
                            + "\(most) \(resource.name)")
                }
            }
        }
        guard !isLowered else { return }
        try checkEntries(pool)
        try checkFloors(pool)
    }

    private func checkEntries(_ pool: PoolAllocation) throws(AuditViolation) {
        let promised = rules.contracts.values.filter { $0.terms.contains { $0.pool == pool.pool } }.map(\.tenant)
            .sorted()
        var next = 0
        for tenant in promised {
            while next < pool.tenants.count, pool.tenants[next].tenant < tenant { next += 1 }
            if next == pool.tenants.count || pool.tenants[next].tenant != tenant {
                throw broken(.entry, "\(pool.pool): \(tenant) has none")
            }
        }
    }

    /// A floor bounds a tenant's activity by the resource that it exhausts first: it is kept when the tenant has all of
    /// it in that one, but for the unit that rounding may take. Which one that is depends on the tenant's shape, which
    /// the auditor does not know, so it must be kept in one of them.
    ///
    /// That all floors fit is sure, whatever the shapes, where every floor names every resource of the pool and they sum
    /// to less than what tenants share: what gateways that do not answer may still use is not shared.
    private func checkFloors(_ pool: PoolAllocation) throws(AuditViolation) {
        guard rules.policy.bands.first?.bound == .floor, rules.policy.bands.first?.tiers == nil else { return }
        let limited = pool.budget.resources
        let floors = pool.tenants.map { tenant in
            rules.contracts[tenant.tenant]?.terms.first { $0.pool == pool.pool }?.floor ?? .none
        }
        let stated = floors.indices.filter { !floors[$0].resources.isEmpty }
        guard stated.allSatisfy({ limited.isSubset(of: floors[$0].resources) }) else { return }
        for resource in Resource.allCases {
            guard let budget = pool.budget[resource] else { continue }
            let sum = stated.reduce(0) { $0 + (floors[$1][resource] ?? 0) }
            if sum > min(budget, handedOut(pool.pool, resource)) - (pool.unlisted[resource] ?? 0) { return }
        }
        for index in stated {
            let tenant = pool.tenants[index]
            let isKept = Resource.allCases.contains { resource in
                guard let assured = tenant.assured[resource], let floor = floors[index][resource] else { return false }
                // Where a ceiling is below the floor, the ceiling is what was promised.
                return assured + 1 > min(floor, tenant.ceiling[resource] ?? .infinity)
            }
            if !isKept { throw broken(.floor, "\(pool.pool), \(tenant.tenant): \(tenant.assured) of \(floors[index])") }
        }
    }

    /// The budgets of gateways that answer, in this publication and the one before it, by which the decision went;
    /// the lesser of both. All there is where nobody polls.
    private func handedOut(_ pool: PoolID, _ resource: Resource) -> Double {
        [published, before].compactMap { $0 }.filter { !$0.parts.isEmpty }.map { publication in
            publication.parts.reduce(0) { sum, part in
                sum + (part.snapshot.pools.first { $0.pool == pool }?.budget[resource] ?? 0)
            }
        }.min() ?? .infinity
    }
}

extension PoolAllocation {
    /// The numbers that are higher than in `old`, in words; `nil` when none is.
    func rises(above old: PoolAllocation) -> String? {
        func rises(_ new: Rates, _ old: Rates) -> Bool {
            Resource.allCases.contains { (new[$0] ?? .infinity) > (old[$0] ?? .infinity) }
        }
        if rises(budget, old.budget) || rises(fallback, old.fallback) || rises(unlisted, old.unlisted) {
            return "the budget, fallback or unlisted of \(pool)"
        }
        for tenant in tenants {
            guard let known = old.tenants.first(where: { $0.tenant == tenant.tenant }) else {
                return "\(tenant.tenant) in \(pool), who had no entry"
            }
            if rises(tenant.assured, known.assured) || rises(tenant.plain, known.plain)
                || rises(tenant.safe, known.safe) || rises(tenant.ceiling, known.ceiling)
            {
                return "\(tenant.tenant) in \(pool)"
            }
        }
        return nil
    }
}

extension Publication {
    /// The facts that a person needs beside a rule that was broken.
    var auditText: String {
        let pools = whole.pools.map { pool in
            let tenants = pool.tenants.map {
                "\($0.tenant) \($0.tier) \($0.assured.auditText) of \($0.ceiling.auditText)"
            }
            return
                "\(pool.pool) \(pool.state.name): capacity \(pool.capacity.auditText) of \(pool.nominal.auditText), budget "
                + "\(pool.budget.auditText), unlisted \(pool.unlisted.auditText); " + tenants.joined(separator: ", ")
        }
        let gateways = parts.map { part in
            "\(part.gateway) \(part.snapshot.pools.map { $0.budget.auditText }.joined(separator: " "))"
        }
        return "\(whole.version): " + (pools + gateways).joined(separator: "\n  ")
    }
}
