import HeadroomModel

/// Checks of the gateways' parts of a publication, beside the whole.
extension Auditor {
    /// - Parameter isLowered: Published from memory, as decreases only: budgets may be short by any amount.
    func checkParts(of publication: Publication, isLowered: Bool) throws(AuditViolation) {
        for index in publication.parts.indices {
            let gateway = publication.parts[index].gateway
            if index > 0, publication.parts[index - 1].gateway >= gateway {
                throw broken(.order, "gateway \(gateway)")
            }
            try check(publication.parts[index].snapshot, of: .part(gateway))
            try checkMembership(publication.parts[index].snapshot, of: publication.whole, at: gateway)
        }
        guard !publication.parts.isEmpty else { return }
        for index in publication.whole.pools.indices {
            try checkBudgets(index, of: publication, isLowered: isLowered)
            try checkRights(index, of: publication)
        }
    }

    private func checkMembership(
        _ part: Snapshot, of whole: Snapshot, at gateway: GatewayID
    ) throws(AuditViolation) {
        let isSame =
            part.version == whole.version && part.issuedAt == whole.issuedAt && part.policy == whole.policy
            && part.leaseSeconds == whole.leaseSeconds && part.pools.count == whole.pools.count
            && whole.pools.indices.allSatisfy { part.pools[$0].pool == whole.pools[$0].pool }
        guard isSame else {
            throw broken(.membership, "\(gateway): version, time, policy, lease or pools are not the whole's")
        }
        for (mine, pool) in zip(part.pools, whole.pools) {
            if mine.enforce != pool.enforce || mine.capacity != pool.capacity || mine.nominal != pool.nominal
                || mine.tenants.count != pool.tenants.count
            {
                throw broken(.membership, "\(gateway), \(pool.pool): not the whole's capacity, enforcement or tenants")
            }
            let (own, tenants) = (mine.tenants.span, pool.tenants.span)
            for index in tenants.indices
            where own[index].tenant != tenants[index].tenant || own[index].weight != tenants[index].weight
                || own[index].tier != tenants[index].tier
            {
                throw broken(
                    .membership, "\(gateway), \(pool.pool): \(own[index].tenant) beside \(tenants[index].tenant)")
            }
        }
    }

    /// Budgets and fallbacks sum to the whole's, with what gateways may be using beyond their parts. Room may be left
    /// only for gateways that are still expected, and only while one that has just come has its even part of it.
    private func checkBudgets(
        _ index: Int, of publication: Publication, isLowered: Bool
    ) throws(AuditViolation) {
        let whole = publication.whole.pools[index]
        let parts = publication.parts
        var (sum, sumOfFallbacks) = (SIMD4<Double>.zero, SIMD4<Double>.zero)
        var held = room.heldElsewhere(than: parts, of: whole.pool)
        for part in parts {
            let own = part.snapshot.pools[index]
            sum += own.budget.perMinute
            sumOfFallbacks += own.fallback.perMinute
            let given = room.mostHeld(by: part.gateway, of: whole.pool)
            held.budget += pointwiseMax(given.budget, own.budget.perMinute)
            held.fallback += pointwiseMax(given.fallback, own.fallback.perMinute)
        }
        if any((sum .> whole.budget.perMinute) .| (sumOfFallbacks .> whole.fallback.perMinute)) {
            throw broken(
                .parts, "\(whole.pool): budgets \(sum), fallbacks \(sumOfFallbacks) are more than the whole's")
        }
        guard !isLowered else { return }
        // Sharing room, and one part among many, rounds down: where somebody holds more than its part, and in groups.
        let areShared = parts.count > rules.policy.loop.maxParts
        func rounding(_ isHeld: SIMDMask<SIMD4<Int64>>) -> SIMD4<Double> {
            SIMD4(repeating: areShared ? Double(parts.count) : 0)
                .replacing(with: SIMD4(repeating: 3 * Double(parts.count)), where: isHeld)
        }
        let least = whole.fallback.perMinute - rounding(held.fallback .> sumOfFallbacks)
        if any(held.fallback .< least) {
            throw broken(
                .parts,
                "\(whole.pool): fallbacks \(held.fallback) of \(whole.fallback.perMinute), and nobody has the rest")
        }
        let isLeft = held.budget .< whole.budget.perMinute - rounding(held.budget .> sum)
        guard any(isLeft) else { return }
        let expected = rules.policy.loop.expectedGateways
        let evenPart = (whole.budget.perMinute / Double(max(expected, parts.count))).rounded(.down)
        let known = before?.parts.map(\.gateway) ?? []
        let isKeptForOthers = parts.contains { part in
            let hasItsPart = part.snapshot.pools[index].budget.perMinute .>= evenPart - 1
            return !known.contains(part.gateway) && !any(isLeft .& .!hasItsPart)
        }
        if parts.count >= expected || !isKeptForOthers {
            throw broken(
                .parts, "\(whole.pool): budgets \(held.budget) of \(whole.budget.perMinute), and nobody has the rest")
        }
    }

    /// Every right sums to the whole's, but for what budgets together cannot hold of assured rates, and fallbacks of safe
    /// ones: then they are full.
    private func checkRights(_ index: Int, of publication: Publication) throws(AuditViolation) {
        let whole = publication.whole.pools[index]
        // Those that share one part are given less where their own budget is less, in all that they have.
        let areShared = publication.parts.count > rules.policy.loop.maxParts
        // One part after the other, each tenant in its place: an allocation that is handed over would be copied.
        var (unlisted, unused, unusedFallback) = (SIMD4<Double>.zero, SIMD4<Double>.zero, SIMD4<Double>.zero)
        var sums = [RightsSum](repeating: RightsSum(), count: whole.tenants.count)
        for part in publication.parts {
            let pool = part.snapshot.pools[index]
            unlisted += pool.unlisted.perMinute
            unused += pool.budget.perMinute - pool.unlisted.perMinute
            unusedFallback += pool.fallback.perMinute
            let tenants = pool.tenants.span
            for tenant in tenants.indices {
                sums[tenant].add(tenants[tenant])
                unused -= tenants[tenant].assured.perMinute
                unusedFallback -= tenants[tenant].safe.perMinute
            }
        }
        func check(
            _ field: String, of tenant: Int? = nil, _ sum: SIMD4<Double>, _ rates: Rates, mayMiss: Bool
        ) throws(AuditViolation) -> SIMD4<Double> {
            let all = rates.perMinute
            if sum == all || (mayMiss || areShared) && !any(sum .> all) { return all - sum }
            let name = tenant.map { " of \(whole.tenants[$0].tenant)" } ?? ""
            throw broken(.parts, "\(whole.pool): \(field)\(name) \(sum) of \(all)")
        }

        var missing = try check("unlisted", unlisted, whole.unlisted, mayMiss: true)
        var missingSafe = SIMD4<Double>.zero
        for tenant in whole.tenants.indices {
            let sum = sums[tenant]
            let cut = try check("assured", of: tenant, sum.assured, whole.tenants[tenant].assured, mayMiss: true)
            missing += cut
            missingSafe += try check("safe", of: tenant, sum.safe, whole.tenants[tenant].safe, mayMiss: true)
            _ = try check("plain", of: tenant, sum.plain, whole.tenants[tenant].plain, mayMiss: false)
            _ = try check("ceiling", of: tenant, sum.ceiling, whole.tenants[tenant].ceiling, mayMiss: false)
            let (flows, whole) = (sum.criticality, whole.tenants[tenant].criticality)
            let mayMiss = cut != .zero
            _ = try check("interactive", of: tenant, flows.interactive, whole.interactive, mayMiss: mayMiss)
            _ = try check("near_real_time", of: tenant, flows.nearRealTime, whole.nearRealTime, mayMiss: mayMiss)
            _ = try check("batch", of: tenant, flows.batch, whole.batch, mayMiss: mayMiss)
        }
        guard !areShared else { return }
        if any((missing .> 0) .& (unused .> 0)) || any((missingSafe .> 0) .& (unusedFallback .> 0)) {
            throw broken(
                .parts,
                "\(whole.pool): \(missing) assured and \(missingSafe) safe are missing beside budgets that "
                    + "have \(unused), and fallbacks \(unusedFallback), left")
        }
    }

    /// One tenant's rights over all gateways.
    private struct RightsSum {
        var assured = SIMD4<Double>.zero
        var safe = SIMD4<Double>.zero
        var plain = SIMD4<Double>.zero
        var ceiling = SIMD4<Double>.zero
        var criticality = PerCriticality(repeating: SIMD4<Double>.zero)

        mutating func add(_ part: TenantAllocation) {
            assured += part.assured.perMinute
            safe += part.safe.perMinute
            plain += part.plain.perMinute
            ceiling += part.ceiling.perMinute
            criticality.interactive += part.criticality.interactive.perMinute
            criticality.nearRealTime += part.criticality.nearRealTime.perMinute
            criticality.batch += part.criticality.batch.perMinute
        }
    }
}
