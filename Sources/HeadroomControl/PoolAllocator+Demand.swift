import HeadroomModel

/// How much of what tenants claim is counted (DESIGN §4): cold start and gaming.
extension PoolAllocator {
    /// Confidence from which on a tenant's estimate is its own alone.
    private static let certain = 0.9

    /// Writes demands and starts into the fill.
    ///
    /// A tenant of whom little is known counts as a mixture, by confidence, of itself and its tier's prior: the mean of
    /// its tier's tenants here, and at most what an idle tenant may start with. A flagged one counts at most as a factor
    /// of what it consumed, and never below its floor. Both scale the claim and leave its direction.
    mutating func estimate(_ demand: [TenantDemand], _ turn: PoolTurn) {
        var known = Array(repeating: 0.0, count: turn.rules.policy.tiers.count)
        var weights = known
        var (coldCount, idleCount) = (0, 0)
        for index in members.indices {
            measure(index, demand, turn)
            let (rank, trust) = (members[index].terms.rank, members[index].trust)
            if members[index].demand > 0 {
                known[rank] += trust * members[index].demand
                weights[rank] += trust
                if trust < 1 { coldCount += 1 }
            } else if startsAtOnce(index) {
                idleCount += 1
            }
        }
        let start = turn.rules.policy.start
        let cold = min(start.shareEach, start.shareTotal / Double(max(1, coldCount)))
        let idle = min(start.shareEach, start.shareTotal / Double(max(1, idleCount)))
        for index in members.indices {
            let rank = members[index].terms.rank
            let prior = weights[rank] > 0 ? known[rank] / weights[rank] : cold
            discount(index, demand, prior: min(prior, cold), turn)
            let begins = members[index].demand == 0 && startsAtOnce(index)
            fill[index].start = begins ? idle / members[index].dominantCost(in: turn.shared) : 0
        }
    }

    /// Without a floor, which would be there the moment it is needed.
    private func startsAtOnce(_ index: Int) -> Bool { members[index].terms.floor.perMinute == .zero }

    /// Direction and size of what the tenant wants.
    private mutating func measure(_ index: Int, _ demand: [TenantDemand], _ turn: PoolTurn) {
        let resources = turn.pool.nominal.resources
        var total = SIMD4<Double>.zero
        if let seen = members[index].demandIndex {
            total =
                demand[seen].demand.interactive.perMinute + demand[seen].demand.nearRealTime.perMinute
                + demand[seen].demand.batch.perMinute
            members[index].trust = min(1, demand[seen].confidence / Self.certain)
            let mean =
                demand[seen].shape.map { $0.rates(overSeconds: 60, of: resources) }
                ?? Rates(perMinute: total[0] > 0 ? total / total[0] : total, resources: resources)
            if members[index].follow(mean) { fill[index].shape = members[index].unit }
        } else {
            members[index].trust = 1
        }
        // Also for one that was never seen, whose direction is the default, and for a pool whose contract changed.
        let direction = FillDirection(of: FillNeed(fill, index), in: turn.nominal)
        if fill[index].shape.isEmpty {
            fill[index].shape = Rates(perMinute: direction.cost, resources: resources)
        }
        members[index].cost = direction.cost
        members[index].nominalCost = direction.dominantCost
        members[index].demand = (total / turn.nominal.perMinute).largest
    }

    private mutating func discount(_ index: Int, _ demand: [TenantDemand], prior: Double, _ turn: PoolTurn) {
        guard let seen = members[index].demandIndex, members[index].demand > 0 else {
            members[index].credibleDemand = 0
            fill[index].demand = PerCriticality(repeating: .none)
            return
        }
        let (wanted, trust) = (members[index].demand, members[index].trust)
        var counted = trust * wanted + (1 - trust) * prior
        if demand[seen].isDiscounted {
            let consumed = (demand[seen].consumed.perMinute / turn.nominal.perMinute).largest
            let floor = min(members[index].share(within: members[index].terms.floor, in: turn.nominal), wanted)
            counted = min(counted, max(turn.rules.policy.trust.flaggedDemandFactor * consumed, floor))
        }
        members[index].credibleDemand = counted

        // Along the mean request, in proportion to what each criticality takes.
        let resources = turn.pool.nominal.resources
        func share(_ rates: Rates) -> Double { (rates.perMinute / turn.nominal.perMinute).largest }
        let (interactive, nearRealTime, batch) = (
            share(demand[seen].demand.interactive), share(demand[seen].demand.nearRealTime),
            share(demand[seen].demand.batch)
        )
        let unit = members[index].cost * (counted / members[index].nominalCost / (interactive + nearRealTime + batch))
        fill[index].demand = PerCriticality(
            interactive: Rates(perMinute: unit * interactive, resources: resources),
            nearRealTime: Rates(perMinute: unit * nearRealTime, resources: resources),
            batch: Rates(perMinute: unit * batch, resources: resources))
    }
}

extension PoolMember {
    /// The part of `capacity` that one unit of activity takes where it takes most.
    func dominantCost(in capacity: FillCapacity) -> Double { (cost / capacity.perMinute).largest }
}
