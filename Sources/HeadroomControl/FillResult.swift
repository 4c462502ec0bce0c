import HeadroomModel

/// Who gets what, and what stopped each band.
package struct FillResult: Sendable {
    package struct Band: Equatable, Sendable {
        /// The largest level, if a resource stopped the band; else the largest weighted dominant share among the
        /// tenants that it moved. A band that moved nobody repeats the level before it, 0 if it is the first.
        package var level: Double
        /// The resource that is full; the first in order where several are. `nil`: everyone reached the band's bound.
        package var saturated: Resource?

        package init(level: Double, saturated: Resource?) {
            self.level = level
            self.saturated = saturated
        }
    }

    /// One per band of the problem.
    package let bands: [Band]
    /// One per tenant of the problem, in its order.
    package let tenants: FillShares

    init(problem: FillProblem, bands: [Band], bandsRun: Int, shares: [FillLanes], slack: SIMD4<Double>) {
        self.bands = bands
        tenants = FillShares(problem: problem, bandsRun: bandsRun, shares: shares, slack: slack)
    }

    /// A pool that has none of `resource` gives nothing to anybody.
    init(exhausted resource: Resource, _ problem: FillProblem) {
        let blocks = (problem.tenants.count + FillLanes.scalarCount - 1) / FillLanes.scalarCount
        self.init(
            problem: problem, bands: problem.bands.map { _ in Band(level: 0, saturated: resource) }, bandsRun: 0,
            shares: Array(repeating: .zero, count: blocks), slack: SIMD4(repeating: 1))
    }
}

/// One tenant's part of a pool.
package struct FillShare: Equatable, Sendable {
    /// Units of the tenant's ``FillDirection``; requests per minute where its shape is one request.
    package var activity: Double
    /// What the activity uses, in the resources of the pool; exact, unrounded.
    package var fill: Rates
    /// The fill, and what other resources than the full one still have, in proportion to it and up to the ceiling.
    package var limit: Rates
    package var constraint: Constraint

    package init(activity: Double, fill: Rates, limit: Rates, constraint: Constraint) {
        self.activity = activity
        self.fill = fill
        self.limit = limit
        self.constraint = constraint
    }
}

/// The tenants' parts, each put together when asked for: the search needs one number per tenant, and so does most of
/// what follows it.
package struct FillShares: RandomAccessCollection, Sendable {
    private let problem: FillProblem
    private let capacity: FillCapacity
    private let resources: [Resource]
    private let shares: [FillLanes]
    /// λ of the fill: how far use of each resource could grow, everyone in proportion and up to the ceilings; 1 where it
    /// is full.
    let slack: SIMD4<Double>
    /// What stopped each tenant.
    let stop: FillStop

    fileprivate init(problem: FillProblem, bandsRun: Int, shares: [FillLanes], slack: SIMD4<Double>) {
        self.problem = problem
        self.shares = shares
        self.slack = slack
        stop = FillStop(bands: Array(problem.bands[..<bandsRun]))
        capacity = FillCapacity(problem.capacity)
        resources = Array(problem.capacity.resources.members)
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { problem.tenants.count }

    /// How far the search raised each tenant, as weighted dominant share: off by its rounding, and all that a loop over
    /// all tenants needs.
    func weightedShare(of index: Int) -> Double {
        shares[index / FillLanes.scalarCount][index % FillLanes.scalarCount]
    }

    package subscript(index: Int) -> FillShare {
        let need = FillNeed(problem.tenants, index)
        let direction = FillDirection(of: need, in: capacity)
        let share = weightedShare(of: index)
        let (activity, constraint) = stop.of(
            problem.tenants[index].tier, problem.tenants[index].interval, need, direction,
            at: share * need.weight / direction.dominantCost)

        var (fill, limit) = (Rates.none, Rates.none)
        for resource in resources {
            let used = activity * direction.cost[resource.rawValue]
            let most = problem.tenants[index].ceiling[resource] ?? .infinity
            fill[resource] = Swift.min(used, most)
            limit[resource] = used > 0 ? Swift.min(used * slack[resource.rawValue], most) : 0
        }
        return FillShare(activity: activity, fill: fill, limit: limit, constraint: constraint)
    }
}
