import HeadroomModel

/// Each tenant's share, and the resource that stopped each band.
public struct FillResult: Sendable {
    public struct Band: Equatable, Sendable {
        /// The largest level, if a resource stopped the band; else the largest weighted dominant share among the
        /// tenants that it moved. A band that moved nobody repeats the level before it, 0 if it is the first.
        public var level: Double
        /// The resource that is full; the first in order where several are. `nil`: everyone reached the band's bound.
        public var saturated: Resource?

        public init(level: Double, saturated: Resource?) {
            self.level = level
            self.saturated = saturated
        }
    }

    /// One per band of the problem.
    public let bands: [Band]
    /// One per tenant of the problem, in its order.
    public let tenants: FillShares
}

/// The result of a search.
struct FillOutcome: Sendable {
    let bands: [FillResult.Band]
    /// One per row: off by the rounding of the search.
    let activities: [Double]
    /// λ (Model §5.1): the factor by which everyone's use of each resource could grow, up to the ceilings; 1 where the
    /// resource is full.
    @Halved private(set) var slack: SIMD4<Double>
    let stop: FillStop

    init(bands: [FillResult.Band], activities: [Double], slack: SIMD4<Double>, stop: FillStop) {
        self.bands = bands
        self.activities = activities
        _slack = Halved(wrappedValue: slack)
        self.stop = stop
    }
}

/// One tenant's part of a pool.
public struct FillShare: Equatable, Sendable {
    /// Units of the tenant's ``FillDirection``; requests per minute where its shape is one request.
    public var activity: Double
    /// The use of the activity, in the resources of the pool; exact, unrounded.
    public var fill: Rates
    /// The fill, raised in the resources that are not full, in proportion and up to the ceiling.
    public var limit: Rates
    public var constraint: Constraint

    public init(activity: Double, fill: Rates, limit: Rates, constraint: Constraint) {
        self.activity = activity
        self.fill = fill
        self.limit = limit
        self.constraint = constraint
    }
}

/// The tenants' parts, each computed when it is read: the search itself needs one number per tenant.
public struct FillShares: RandomAccessCollection, Sendable {
    private let rows: [FillRow]
    private let demands: [FillDemand]
    private let intervals: [FillInterval]
    private let resources: [Resource]
    private let outcome: FillOutcome

    init(
        _ outcome: FillOutcome, of rows: [FillRow], _ demands: [FillDemand], _ intervals: [FillInterval],
        in resources: [Resource]
    ) {
        self.outcome = outcome
        self.rows = rows
        self.demands = demands
        self.intervals = intervals
        self.resources = resources
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { rows.count }

    public subscript(index: Int) -> FillShare {
        let row = rows[index]
        let (activity, constraint) = outcome.stop.of(
            row, demands[index], intervals[index], at: outcome.activities[index])
        var (fill, limit) = (Rates.none, Rates.none)
        for resource in resources {
            let used = activity * row.cost[resource.rawValue]
            let most = row.ceilings[resource.rawValue]
            fill[resource] = Swift.min(used, most)
            limit[resource] = used > 0 ? Swift.min(used * outcome.slack[resource.rawValue], most) : 0
        }
        return FillShare(activity: activity, fill: fill, limit: limit, constraint: constraint)
    }
}
