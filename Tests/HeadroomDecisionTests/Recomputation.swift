import HeadroomModel

/// A published number computed again from its explanation alone, by the definitions of Model §5.1: nothing of the
/// decision's own code. Under a policy with the standard bands.
struct Recomputation {
    let pool: Explanation.PoolFacts
    let tenant: Explanation.TenantFacts

    /// What is wrong with the explanation; `nil` when every number follows from those before it.
    var fault: String? {
        if tenant.fill < tenant.least * (1 - 1e-9) || tenant.fill > tenant.most * (1 + 1e-9) {
            return "\(tenant.fill) lies outside [\(tenant.least), \(tenant.most)]"
        }
        let fill = fill
        if abs(fill - tenant.fill) > 1e-6 * max(fill, tenant.fill) {
            return "the bands give \(fill), not \(tenant.fill)"
        }
        return wrongRate ?? wrongConstraint ?? wrongCost
    }

    /// Band by band: raised with the level, clamped between where the one before ended and the band's bound.
    private var fill: Double {
        var (activity, level) = (0.0, 0.0)
        let unlimited = Double.infinity
        let most = min(ratio(tenant.ceiling) ?? unlimited, tenant.most)
        for band in pool.bands {
            let bound = max(activity, min(self.bound(band.name), most))
            guard band.saturated != nil else {
                (activity, level) = (bound, band.level)
                continue
            }
            // A band that finds a resource full moves nobody, and repeats the level before it.
            if band.level == level { return activity }
            return min(max(band.level * tenant.weight / dominantCost, activity), bound)
        }
        return activity
    }

    private func bound(_ band: String) -> Double {
        let demand = tenant.credibleDemand
        // In a pool that does not move by itself nobody's demand counts: all that is applied stands in its place.
        if pool.mode == .recommend, band.hasPrefix("demand") { return .infinity }
        switch band {
        case "least": return tenant.least
        case "floor": return ratio(tenant.floor) ?? 0
        case "least_share": return tenant.leastShare
        case "start": return tenant.start
        case "demand:interactive": return ratio(demand.interactive) ?? 0
        case "demand:near_real_time":
            return ratio(
                PerCriticality(interactive: demand.interactive, nearRealTime: demand.nearRealTime, batch: .none).total)
                ?? 0
        case "demand:batch": return ratio(demand.total) ?? 0
        case "burst": return 0
        default: return .infinity
        }
    }

    /// The activity of the tenant's direction that a box allows.
    private func ratio(_ box: Rates) -> Double? {
        box.resources.members.filter { tenant.direction[$0] != nil }.map { box[$0]! / tenant.direction[$0]! }.min()
    }

    /// Of nominal capacity, where it takes most.
    private func share(_ rates: Rates) -> Double {
        pool.nominal.resources.members.map { (rates[$0] ?? 0) / pool.nominal[$0]! }.max() ?? 0
    }

    private var dominantCost: Double {
        pool.shared.resources.members.map { tenant.direction[$0]! / pool.shared[$0]! }.max() ?? 0
    }

    /// The fill in work of the tenant's direction, with what no band used up, and the burst: off by one at most, as
    /// numbers are whole. A number that a freeze keeps is what it was.
    private var wrongRate: String? {
        guard !pool.isFrozen else { return nil }
        for resource in tenant.assured.resources.members {
            let (direction, ceiling) = (tenant.direction[resource]!, tenant.ceiling[resource] ?? .infinity)
            let burst = (direction * tenant.burst).rounded(.down)
            let exact = direction * tenant.fill
            // What is left over lifts nobody above the guardrail of the standard policy.
            let lifted = max(exact, min(exact * (pool.slack[resource] ?? 1), 0.6 * pool.nominal[resource]!))
            let filled = min(lifted, ceiling)
            let assured = tenant.assured[resource]!
            if abs(assured - filled - burst) > 1 + 1e-6 * filled {
                return "\(resource.name): \(filled) and a burst of \(burst) are not \(assured)"
            }
        }
        return nil
    }

    /// What money buys is a ceiling: in mean requests, at least one while there is any.
    private var wrongCost: String? {
        if let stands = tenant.breaker, let limit = stands.limit(in: pool.pool) {
            let ceiling = tenant.ceiling[.requests] ?? .infinity
            let most = limit > 0 ? max(1, limit.rounded(.down)) : 0
            if ceiling > most { return "a ceiling of \(ceiling) requests, and the cost breaker leaves \(limit)" }
        }
        guard let cost = tenant.cost else { return nil }
        let affordable = max(0, cost.most - cost.spent) / cost.minutesLeft / cost.perRequest
        let most = affordable > 0 ? max(1, affordable.rounded(.down)) : 0
        let ceiling = tenant.ceiling[.requests] ?? .infinity
        return ceiling <= most ? nil : "a ceiling of \(ceiling) requests, and money for \(affordable)"
    }

    /// What the constraint claims must hold of the numbers.
    private var wrongConstraint: String? {
        func isClose(_ left: Double, _ right: Double) -> Bool { abs(left - right) <= 1e-6 * max(left, right) }
        let (fill, before) = (tenant.fill, tenant.before)
        let holds =
            switch tenant.constraint {
            case .demand: isClose(fill, ratio(tenant.credibleDemand.total) ?? 0)
            case .slew: isClose(fill, tenant.most) && tenant.most < tenant.mean
            case .deadband: isClose(fill, before)
            case .observationWindow: isClose(fill, tenant.mean) || isClose(fill, before)
            case .floor: isClose(fill, ratio(tenant.floor) ?? 0) || isClose(fill, tenant.start)
            case .ceiling: isClose(fill, ratio(tenant.ceiling) ?? .infinity)
            case .guardrail: isClose(fill, tenant.most) || isClose(fill, tenant.least) || isClose(fill, tenant.target)
            case .override: tenant.override != nil
            case .burst: tenant.burst > 0
            case .frozen: pool.isFrozen
            case .mode: pool.mode == .recommend || pool.mode == .guarded
            case .breaker: pool.state == .open && isClose(fill, before)
            case .coldStart: tenant.confidence < 0.9
            case .gamingDiscount: share(tenant.credibleDemand.total) < share(tenant.demand)
            case .level: true
            case .costCeiling: tenant.cost != nil && (isClose(fill, ratio(tenant.ceiling) ?? .infinity))
            case .costBreaker: tenant.breaker != nil && (isClose(fill, ratio(tenant.ceiling) ?? .infinity))
            case .awaitingRoom: false
            }
        return holds ? nil : "\(tenant.constraint.name) does not hold"
    }
}
