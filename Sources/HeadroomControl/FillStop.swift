import HeadroomModel

/// What held the tenants of a fill where they stand.
struct FillStop: Sendable {
    /// Those that ran, in order.
    let bands: [FillBand]

    /// What holds a tenant at `activity`, which comes back without the rounding of the search: the bound itself where
    /// one holds it.
    ///
    /// It is the arm of the clamp that binds: the ceiling; else the bound to which the last band that reached it
    /// raised it, unless that was but a part of its demand; else the level.
    func of(
        _ tier: String, _ interval: FillInterval, _ need: FillNeed, _ direction: FillDirection, at activity: Double
    ) -> (activity: Double, constraint: Constraint) {
        func isHere(_ bound: Double) -> Bool { Swift.abs(bound - activity) <= activity * 1e-12 }

        let ceiling = direction.ceiling(need)
        if isHere(ceiling) {
            return (ceiling, ceiling == need.most ? interval.mostConstraint : .ceiling)
        }
        for band in bands.reversed() {
            let bound = Swift.min(direction.activity(upTo: band.bound, through: band.criticality, need), ceiling)
            guard isHere(bound), band.tiers == nil || band.raises(tier) else { continue }
            switch band.bound {
            case .demand, .floorInDemand:
                let wanted = direction.activity(upTo: need.demand(through: nil))
                if isHere(wanted) || wanted < activity { return (bound, .demand) }
                return (bound, band.bound == .floorInDemand && bound > 0 ? .floor : .level)
            case .floor, .start:
                if bound > 0 { return (bound, .floor) }
            case .least:
                if bound > 0 { return (bound, interval.leastConstraint) }
            case .burst:
                if bound > 0 { return (bound, .burst) }
            case .ceiling:
                continue
            }
        }
        return (activity, .level)
    }
}
