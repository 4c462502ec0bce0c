import HeadroomModel

/// A tenant as the search for a level sees it: what a unit of its activity costs, and each of its bounds as an activity.
///
/// Bare numbers, nothing that counts references, and nothing that depends on how much capacity there is: a loop over all
/// tenants streams them, and whoever solves one fill after another for the same tenants changes what has changed.
struct FillRow: Sendable {
    var weight = 1.0
    /// The place of its tier among those that ``FillRaise`` was given.
    var tier = 0
    /// As ``FillDirection/cost``.
    @Halved var cost = SIMD4<Double>(repeating: 1)
    /// Per resource; infinite where there is none.
    @Halved var ceilings = SIMD4<Double>(repeating: .infinity)
    /// The activity that the ceilings allow.
    var ceiling = Double.infinity
    var floor = 0.0
    /// Demand up to and including each criticality.
    var interactive = 0.0
    var nearRealTime = 0.0
    var batch = 0.0
    var start = 0.0
    var burst = 0.0
    var interval = FillInterval()

    init() {}

    /// - Parameter tiers: where its tier has its place.
    init(of tenant: FillTenant, in capacity: FillCapacity, tiers: [String]) {
        let demand = tenant.demand
        let direction = FillDirection(shape: tenant.shape, demand: demand.total, in: capacity)
        weight = tenant.weight
        tier = tiers.firstIndex(of: tenant.tier) ?? tiers.count
        cost = direction.cost
        self.ceilings = tenant.ceiling.orUnlimited
        ceiling = direction.activity(within: tenant.ceiling)
        floor = direction.activity(upTo: tenant.floor)
        interactive = direction.activity(upTo: demand.interactive)
        nearRealTime = direction.activity(
            upTo: PerCriticality(interactive: demand.interactive, nearRealTime: demand.nearRealTime, batch: .none).total
        )
        batch = direction.activity(upTo: demand.total)
        start = tenant.start
        burst = tenant.burst
        interval = tenant.interval
    }

    /// The most that it may have, whatever the band.
    @inline(__always)
    var most: Double { min(ceiling, interval.most) }

    /// The floor, as far as the ceilings let the tenant have it.
    @inline(__always)
    var promised: Double { min(floor, ceiling) }

    /// Without a floor, which would be there the moment it is needed.
    @inline(__always)
    var startsAtOnce: Bool { floor == 0 }

    /// How far the band raises it, its ceiling aside.
    @inline(__always)
    func bound(_ raise: FillRaise) -> Double {
        switch raise.bound {
        case .least: interval.least
        case .floor: floor
        case .floorInDemand: min(floor, demand(through: raise.criticality))
        case .start: start
        case .demand: demand(through: raise.criticality)
        case .burst: burst
        case .ceiling: .infinity
        }
    }

    @inline(__always)
    private func demand(through criticality: Criticality?) -> Double {
        switch criticality {
        case .interactive: interactive
        case .nearRealTime: nearRealTime
        case .batch, nil: batch
        }
    }
}

/// A band, with its tiers as places.
struct FillRaise: Sendable {
    let band: FillBand
    /// By tier; empty raises everyone.
    private let raised: [Bool]

    init(_ band: FillBand, tiers: [String]) {
        self.band = band
        raised = band.tiers.map { only in tiers.map(only.contains) } ?? []
    }

    var bound: FillBand.Bound { band.bound }
    var criticality: Criticality? { band.criticality }

    @inline(__always)
    func raises(_ row: FillRow) -> Bool { raised.isEmpty || (row.tier < raised.count && raised[row.tier]) }

    /// False when it raises everyone.
    var isRestricted: Bool { !raised.isEmpty }
}

extension Rates {
    /// Infinite where absent.
    var orUnlimited: SIMD4<Double> {
        SIMD4(repeating: .infinity).replacing(with: perMinute, where: resources.lanes)
    }
}
