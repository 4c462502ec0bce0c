import HeadroomModel

/// What each tenant has whatever the criticality of its work: all that it asks for while it is *quiet*, and the less the
/// more it asks for beyond (Model §5.1, band `least_share`).
///
/// A tenant is quiet when it asked, over the last five minutes, for no more than its weighted max-min share of the
/// capacity: floors first, ceilings kept, criticality left aside. In such a division a tenant is quiet when it gets all
/// that it asked for. Who asks for more loses as much of its share as it asks for beyond it: nothing of it is left from
/// twice the share on. All together they fit, since their fair shares do; so what the quiet get is taken from the loud,
/// and no tenant loses much at once by asking for a little more.
///
/// Five minutes, because a small tenant's single large call is far more than its share of the seconds in which it comes.
package struct LeastShare: Sendable {
    private var engine = FillEngine()
    private static let bands = [FillBand(.floorInDemand), FillBand(.demand)].map { FillRaise($0, tiers: []) }
    /// A tenant that asks for so little more than its share is quiet all the same: both are estimates.
    private static let tolerance = 0.02

    /// - Parameters:
    ///   - asked: of any amount, what it asked for, up to its ceiling.
    ///   - fair: its weighted max-min share.
    package static func isQuiet(asking asked: Double, of fair: Double) -> Bool { fair >= asked * (1 - tolerance) }

    /// Of a tenant that is not quiet.
    package static func share(asking asked: Double, of fair: Double) -> Double { max(0, 2 * fair - asked) }

    /// Writes each member's least share into the fill's demand, and who is quiet.
    mutating func give(
        to counted: inout CountedDemand, of members: MemberTable, claims: [TenantDemand], _ conditions: PoolConditions
    ) {
        guard conditions.hasLeastShares else { return }
        let asked = members.indices.map { index in
            guard let place = members.members[index].demandIndex, counted.rows[index].claimed > 0 else { return 0.0 }
            // Of a claim that is doubted, the part that counts.
            let credible = min(1, counted.rows[index].credible / counted.rows[index].claimed)
            return credible * conditions.nominal.dominantCost(of: claims[place].arrivals.perMinute)
                / members.members[index].nominalCost
        }
        let capacity = conditions.assurable(covering: members.floors)
        let isQuiet = give(to: &counted.fill, asking: asked, members.rows, in: capacity)
        for index in isQuiet.indices {
            // Whose claims count for less would look quiet just for that: who is flagged has nothing of its own but its floor.
            counted.rows[index].isQuiet = isQuiet[index] && !counted.rows[index].isFlagged
            if counted.rows[index].isFlagged { counted.fill[index].leastShare = 0 }
        }
    }

    /// - Parameters:
    ///   - demands: whose least shares are written.
    ///   - asked: activity over all criticalities, one a row; 0 of one that is idle.
    /// - Returns: who is quiet.
    mutating func give(
        to demands: inout [FillDemand], asking asked: [Double], _ rows: [FillRow], in capacity: Rates
    ) -> [Bool] {
        let arrivals = asked.map(FillDemand.init(of:))
        let unbounded = Array(repeating: FillInterval(), count: rows.count)
        let fair = engine.solve(rows, arrivals, within: unbounded, Self.bands, in: capacity, findsSlack: false)
            .activities
        return rows.indices.map { index in
            let isQuiet = Self.isQuiet(asking: min(asked[index], rows[index].ceiling), of: fair[index])
            // Of one that is idle, so that its first call need not wait until it has been counted.
            let own = asked[index] > 0 ? demands[index].batch : demands[index].start
            let share = isQuiet ? own : Self.share(asking: asked[index], of: fair[index])
            demands[index].leastShare = min(share, rows[index].ceiling)
            return isQuiet
        }
    }
}

extension PoolConditions {
    var hasLeastShares: Bool { bands.contains { $0.bound == .leastShare } }
}

extension FillDemand {
    /// So much, of no particular criticality.
    fileprivate init(of activity: Double) {
        (interactive, nearRealTime, batch) = (activity, activity, activity)
    }
}
