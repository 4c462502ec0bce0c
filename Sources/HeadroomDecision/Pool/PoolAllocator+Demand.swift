import HeadroomModel

/// How much of what tenants claim is counted (Model §4): cold start and gaming.
extension PoolAllocator {
    /// Confidence from which on a tenant's estimate is its own alone.
    private static let certain = 0.9

    /// Writes demands and starts into the fill.
    ///
    /// A tenant of whom little is known counts at most as its tier's prior and what it proved by consuming it, the more
    /// times the better it is known: what it claims besides moves nothing, so that nobody starts faster by claiming more. The
    /// prior is the mean of its tier's tenants here, and at most what an idle tenant may start with. A flagged one counts
    /// at most as a factor of what it consumed, and never below its floor. Both scale the claim and leave its direction.
    mutating func estimate(_ demand: [TenantDemand], _ turn: PoolTurn) {
        var known = Array(repeating: 0.0, count: turn.rules.policy.tiers.count)
        var weights = known
        var (coldCount, idleCount) = (0, 0)
        for index in members.indices {
            measure(index, demand, turn)
            let (rank, trust) = (fill[index].tier, members[index].trust)
            if members[index].demand > 0 {
                known[rank] += trust * members[index].demand
                weights[rank] += trust
                if trust < 1 { coldCount += 1 }
            } else if fill[index].startsAtOnce {
                idleCount += 1
            }
        }
        let start = turn.rules.policy.start
        let cold = min(start.shareEach, start.shareTotal / Double(max(1, coldCount)))
        let idle = min(start.shareEach, start.shareTotal / Double(max(1, idleCount)))
        let priors = zip(known, weights).map { $1 > 0 ? min($0 / $1, cold) : cold }
        for index in members.indices {
            count(index, demand, prior: priors[fill[index].tier], turn)
            let begins = members[index].demand == 0 && fill[index].startsAtOnce
            fill[index].start = begins ? idle / turn.shared.dominantCost(of: fill[index].cost) : 0
        }
    }

    /// Direction and size of what the tenant wants.
    private mutating func measure(_ index: Int, _ demand: [TenantDemand], _ turn: PoolTurn) {
        guard let seen = members[index].demandIndex else {
            members[index].trust = 1
            members[index].demand = 0
            return
        }
        let demand = demand.span
        let resources = nominal.resources
        let total =
            demand[seen].demand.interactive.perMinute + demand[seen].demand.nearRealTime.perMinute
            + demand[seen].demand.batch.perMinute
        members[index].trust = min(1, demand[seen].confidence / Self.certain)
        let mean =
            demand[seen].shape.map { $0.rates(overSeconds: 60, of: resources) }
            ?? Rates(perMinute: total[0] > 0 ? total / total[0] : total, resources: resources)
        if members[index].follow(mean) { follow(directionOf: index, turn) }
        members[index].demand = turn.nominal.dominantCost(of: total)
    }

    /// What counts of it, along the mean request, in proportion to what each criticality takes.
    private mutating func count(_ index: Int, _ demand: [TenantDemand], prior: Double, _ turn: PoolTurn) {
        guard let seen = members[index].demandIndex, members[index].demand > 0 else {
            members[index].credibleDemand = 0
            (fill[index].interactive, fill[index].nearRealTime, fill[index].batch) = (0, 0, 0)
            return
        }
        let demand = demand.span
        let (wanted, trust, cost) = (members[index].demand, members[index].trust, members[index].nominalCost)
        var counted = wanted
        if trust < 1 || demand[seen].isDiscounted {
            let consumed = turn.nominal.dominantCost(of: demand[seen].consumed.perMinute)
            if trust < 1 {
                let proven = max(consumed, members[index].proven * turn.demandKept)
                members[index].proven = proven
                counted = min(max(wanted, (1 - trust) * prior), (prior + proven) / (1 - trust))
            }
            if demand[seen].isDiscounted {
                let floor = min(fill[index].floor * cost, wanted)
                counted = min(counted, max(turn.flaggedDemandFactor * consumed, floor))
            }
        }
        members[index].credibleDemand = counted

        let interactive = turn.nominal.dominantCost(of: demand[seen].demand.interactive.perMinute)
        let nearRealTime = turn.nominal.dominantCost(of: demand[seen].demand.nearRealTime.perMinute)
        let batch = turn.nominal.dominantCost(of: demand[seen].demand.batch.perMinute)
        let unit = counted / cost / (interactive + nearRealTime + batch)
        fill[index].interactive = unit * interactive
        fill[index].nearRealTime = unit * (interactive + nearRealTime)
        fill[index].batch = unit * (interactive + nearRealTime + batch)
    }
}
