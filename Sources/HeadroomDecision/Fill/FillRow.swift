import HeadroomModel

/// A tenant as the search for a level sees it: what a unit of its activity costs, and the bounds on its activity that
/// stay from one fill to the next.
///
/// Plain numbers without references, none of which depends on the capacity: a loop over all tenants streams them.
/// Demands and intervals differ from fill to fill, so they are arguments of the fill beside the rows.
struct FillRow: Sendable {
    var weight = 1.0
    /// The index of its tier among those that ``FillRaise`` was given.
    var tier = 0
    /// As ``FillDirection/cost``.
    @Halved var cost = SIMD4<Double>(repeating: 1)
    /// Per resource; infinite where there is none.
    @Halved var ceilings = SIMD4<Double>(repeating: .infinity)
    /// The activity that the ceilings allow.
    var ceiling = Double.infinity
    var floor = 0.0

    init() {}

    /// - Parameter tiers: `tier` is the index of the tenant's tier among these.
    init(of tenant: FillTenant, _ direction: FillDirection, tiers: [String]) {
        weight = tenant.weight
        tier = tiers.firstIndex(of: tenant.tier) ?? tiers.count
        cost = direction.cost
        ceilings = tenant.ceiling.orUnlimited
        ceiling = direction.activity(within: tenant.ceiling)
        floor = direction.activity(upTo: tenant.floor)
    }

    /// The floor, as far as the ceilings let the tenant have it.
    @inline(__always)
    var promised: Double { min(floor, ceiling) }

    /// True without a floor: a floor is there the moment it is needed.
    @inline(__always)
    var startsAtOnce: Bool { floor == 0 }
}

/// One tenant's wishes in one fill, as activities.
struct FillDemand: Sendable {
    /// Demand up to and including each criticality.
    var interactive = 0.0
    var nearRealTime = 0.0
    var batch = 0.0
    /// The upper end of the `least_share` band.
    var leastShare = 0.0
    /// The upper end of the `start` band.
    var start = 0.0
    /// The upper end of the `burst` band.
    var burst = 0.0

    init() {}

    /// - Parameter total: the tenant's demand over all criticalities.
    init(of tenant: FillTenant, total: Rates, _ direction: FillDirection) {
        let demand = tenant.demand
        // Most tenants ask in one criticality: a sum with nothing needs no division.
        batch = direction.activity(upTo: total)
        if demand.batch.resources.isEmpty {
            nearRealTime = batch
        } else {
            nearRealTime = direction.activity(
                upTo: PerCriticality(
                    interactive: demand.interactive, nearRealTime: demand.nearRealTime, batch: .none
                ).total)
        }
        interactive =
            demand.nearRealTime.resources.isEmpty ? nearRealTime : direction.activity(upTo: demand.interactive)
        leastShare = tenant.leastShare
        start = tenant.start
        burst = tenant.burst
    }

    @inline(__always)
    func through(_ criticality: Criticality?) -> Double {
        switch criticality {
        case .interactive: interactive
        case .nearRealTime: nearRealTime
        case .batch, nil: batch
        }
    }
}

/// A band, with its tiers as indices.
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

    /// How far the band raises a tenant, its ceiling aside.
    @inline(__always)
    func bound(of row: FillRow, _ demand: FillDemand, _ interval: FillInterval) -> Double {
        switch bound {
        case .least: interval.least
        case .floor: row.floor
        case .floorInDemand: min(row.floor, demand.through(criticality))
        case .leastShare: demand.leastShare
        case .start: demand.start
        case .demand: demand.through(criticality)
        case .burst: demand.burst
        case .ceiling: .infinity
        }
    }
}

extension Rates {
    /// Infinite where absent.
    var orUnlimited: SIMD4<Double> {
        SIMD4(repeating: .infinity).replacing(with: perMinute, where: resources.lanes)
    }
}
