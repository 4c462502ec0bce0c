import HeadroomModel

/// The part of the tenants' claims that counts in one decision; one row a member.
struct CountedDemand: Sendable {
    struct Row: Sendable {
        /// The claim, and the part of it that counts: dominant shares of the pool's *nominal* capacity, which mean
        /// the same whatever the upstream grants just now and however the mean request changes.
        var claimed = 0.0
        var credible = 0.0
        /// 0 to 1; 1 when the cold start is over.
        var trust = 1.0
        /// A gaming flag stands: see ``TenantDemand/isDiscounted``.
        var isFlagged = false
        /// It asks for no more than its fair share: see ``LeastShare``.
        var isQuiet = false
    }

    var rows: [Row]
    /// The credible demand as the fill reads it, with what idle tenants start with.
    var fill: [FillDemand]
}

/// Decides how much of what tenants claim is counted (Model §4): cold start and gaming.
///
/// A tenant of whom little is known counts at most as much as its tier's prior and what it proved by consuming it, the
/// more times the better it is known. Claiming more moves nothing, so nobody starts faster by it. The prior is the mean
/// of its tier's tenants here, and at most what an idle tenant may start with. A flagged tenant counts at most as a
/// factor of what it consumed, and never below its floor. Both scale the claim and leave its direction.
struct DemandCounter: Sendable {
    /// Confidence from which on a tenant's estimate is its own alone.
    private static let certain = 0.9

    /// The most that each member consumed during its cold start, less by the half-life of demand: a tenant that calls
    /// now and then keeps what it proved while it is idle.
    private var proven: [Double] = []

    mutating func admit(_ origins: [Int?]) {
        proven = proven.moved(origins) { _ in 0 }
    }

    mutating func count(
        _ demand: [TenantDemand], of members: MemberTable, _ conditions: PoolConditions
    ) -> CountedDemand {
        let (places, rows) = (members.members, members.rows)
        var counted = CountedDemand(
            rows: Array(repeating: CountedDemand.Row(), count: rows.count),
            fill: Array(repeating: FillDemand(), count: rows.count))
        var known = Array(repeating: 0.0, count: conditions.rules.policy.tiers.count)
        var weights = known
        var (coldCount, idleCount) = (0, 0)
        let seen = demand.span
        for index in rows.indices {
            if let place = places[index].demandIndex {
                let total =
                    seen[place].demand.interactive.perMinute + seen[place].demand.nearRealTime.perMinute
                    + seen[place].demand.batch.perMinute
                counted.rows[index].trust = min(1, seen[place].confidence / Self.certain)
                counted.rows[index].isFlagged = seen[place].isDiscounted
                counted.rows[index].claimed = conditions.nominal.dominantCost(of: total)
            }
            let (claimed, trust) = (counted.rows[index].claimed, counted.rows[index].trust)
            if claimed > 0 {
                known[rows[index].tier] += trust * claimed
                weights[rows[index].tier] += trust
                if trust < 1 { coldCount += 1 }
            } else if rows[index].startsAtOnce {
                idleCount += 1
            }
        }
        let start = conditions.rules.policy.start
        let cold = min(start.shareEach, start.shareTotal / Double(max(1, coldCount)))
        let idle = min(start.shareEach, start.shareTotal / Double(max(1, idleCount)))
        let priors = zip(known, weights).map { $1 > 0 ? min($0 / $1, cold) : cold }
        for index in rows.indices {
            if let place = places[index].demandIndex, counted.rows[index].claimed > 0 {
                let cost = places[index].nominalCost
                let credible = credible(
                    index, counted.rows[index], seen, place, prior: priors[rows[index].tier],
                    floor: rows[index].floor * cost, conditions)
                counted.rows[index].credible = credible
                counted.fill[index].write(credible / cost, as: seen, place, conditions.nominal)
            } else if rows[index].startsAtOnce {
                counted.fill[index].start = idle / conditions.shared.dominantCost(of: rows[index].cost)
            }
        }
        return counted
    }

    /// The part of one tenant's claim that counts, as a share of nominal capacity like `floor`.
    private mutating func credible(
        _ index: Int, _ row: CountedDemand.Row, _ demand: borrowing Span<TenantDemand>, _ place: Int, prior: Double,
        floor: Double, _ conditions: PoolConditions
    ) -> Double {
        let (claimed, trust) = (row.claimed, row.trust)
        guard trust < 1 || row.isFlagged else { return claimed }
        var credible = claimed
        let consumed = conditions.nominal.dominantCost(of: demand[place].consumed.perMinute)
        if trust < 1 {
            let proven = max(consumed, proven[index] * conditions.demandKept)
            self.proven[index] = proven
            credible = min(max(claimed, (1 - trust) * prior), (prior + proven) / (1 - trust))
        }
        if row.isFlagged {
            credible = min(credible, max(conditions.flaggedDemandFactor * consumed, min(floor, claimed)))
        }
        return credible
    }
}

extension FillDemand {
    /// `activity` along the mean request, in proportion to what each criticality takes.
    fileprivate mutating func write(
        _ activity: Double, as demand: borrowing Span<TenantDemand>, _ place: Int, _ nominal: FillCapacity
    ) {
        let interactive = nominal.dominantCost(of: demand[place].demand.interactive.perMinute)
        let nearRealTime = nominal.dominantCost(of: demand[place].demand.nearRealTime.perMinute)
        let batch = nominal.dominantCost(of: demand[place].demand.batch.perMinute)
        let unit = activity / (interactive + nearRealTime + batch)
        self.interactive = unit * interactive
        self.nearRealTime = unit * (interactive + nearRealTime)
        self.batch = unit * (interactive + nearRealTime + batch)
    }
}
