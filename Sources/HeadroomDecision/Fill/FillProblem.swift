import HeadroomModel

/// The tenants that share a pool, and the order in which they are raised: the input of the fill (Model §5.1).
///
/// Corners, as decided here:
/// - Only the resources that `capacity` names exist. What a floor, demand, ceiling or shape says of another one is
///   ignored: the pool does not limit it, so nothing here can run out of it.
/// - A capacity of 0 in any resource stops everyone: all work uses every resource, be it a millionth of the default.
/// - Demand of one criticality counts in the sum for the resources that it names; one that names nothing adds nothing.
/// - Order of `tenants` changes results by rounding only (1e-15); callers that want the same bytes sort by id.
///
/// Every number must be finite and at least 0, every weight above 0, and what is not 0 between 1e-30 and 1e30: parsers
/// refuse anything else, here it is a programmer's mistake.
public struct FillProblem: Sendable {
    /// At least one resource.
    public var capacity: Rates
    public var bands: [FillBand]
    public var tenants: [FillTenant]

    public init(capacity: Rates, bands: [FillBand], tenants: [FillTenant]) {
        precondition(!capacity.isEmpty, "a fill needs a capacity in at least one resource")
        self.capacity = capacity
        self.bands = bands
        self.tenants = tenants
    }
}

/// One raise of the common level, from where the band before it ended up to each tenant's bound.
public struct FillBand: Equatable, Sendable {
    /// The upper end to which a tenant is raised; its ceiling always holds besides.
    public enum Bound: Sendable, Hashable {
        /// The least activity of its ``FillInterval``.
        case least
        /// The whole floor, also of an idle tenant.
        case floor
        /// The lower of floor and demand, for pools whose gateways cannot lend.
        case floorInDemand
        /// ``FillTenant/leastShare``.
        case leastShare
        /// ``FillTenant/start``.
        case start
        case demand
        /// ``FillTenant/burst``.
        case burst
        case ceiling
    }

    public var bound: Bound
    /// Demand counts up to and including this criticality; `nil` counts all of it.
    public var criticality: Criticality?
    /// `nil` raises every tenant; a tenant of another tier stays where it is.
    public var tiers: [String]?

    public init(_ bound: Bound, criticality: Criticality? = nil, tiers: [String]? = nil) {
        self.bound = bound
        self.criticality = criticality
        self.tiers = tiers
    }
}

/// One tenant's demand, weight and bounds.
public struct FillTenant: Sendable {
    public var id: TenantID
    public var tier: String
    public var weight: Double
    /// Work that is of no stated criticality counts as interactive: nobody said that it can wait.
    public var demand: PerCriticality<Rates>
    public var floor: Rates
    /// An absent resource has no ceiling.
    public var ceiling: Rates
    /// The mean request; `.none` where unknown. Only its direction matters.
    public var shape: Rates
    /// Activity (see ``FillDirection``) that the `start` band gives.
    public var start: Double
    /// Activity that is the tenant's own whatever its criticality.
    public var leastShare = 0.0
    /// Activity up to which the `burst` band raises.
    public var burst: Double
    public var interval: FillInterval

    public init(
        id: TenantID, tier: String = "standard", weight: Double = 1, demand: PerCriticality<Rates>,
        floor: Rates = .none, ceiling: Rates = .none, shape: Rates = .none, start: Double = 0, burst: Double = 0,
        interval: FillInterval = FillInterval()
    ) {
        self.id = id
        self.tier = tier
        self.weight = weight
        self.demand = demand
        self.floor = floor
        self.ceiling = ceiling
        self.shape = shape
        self.start = start
        self.burst = burst
        self.interval = interval
    }

    /// A tenant whose demand has no stated criticality.
    public init(
        id: TenantID, tier: String = "standard", weight: Double = 1, demand: Rates = .none, floor: Rates = .none,
        ceiling: Rates = .none, shape: Rates = .none, start: Double = 0, burst: Double = 0,
        interval: FillInterval = FillInterval()
    ) {
        self.init(
            id: id, tier: tier, weight: weight,
            demand: PerCriticality(interactive: demand, nearRealTime: .none, batch: .none), floor: floor,
            ceiling: ceiling, shape: shape, start: start, burst: burst, interval: interval)
    }
}

/// The activities between which dampening lets a tenant move; each end bears the name of what set it.
public struct FillInterval: Equatable, Sendable {
    public var least: Double
    public var most: Double
    public var leastConstraint: Constraint
    public var mostConstraint: Constraint

    public init(
        least: Double = 0, leastConstraint: Constraint = .slew, most: Double = .infinity,
        mostConstraint: Constraint = .slew
    ) {
        self.least = least
        self.most = most
        self.leastConstraint = leastConstraint
        self.mostConstraint = mostConstraint
    }
}
