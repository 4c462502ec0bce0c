import HeadroomModel

/// The bound at which each tenant of a fill stands.
struct FillStop: Sendable {
    /// Those that ran, in order.
    let bands: [FillRaise]

    /// The bound that stopped a tenant at `activity`, and the activity without the rounding error of the search
    /// (exactly the bound, where one stopped it).
    ///
    /// In order: the ceiling or the upper end of the interval; else the bound of the last band that ended at this
    /// activity; else the level. A `demand` band that covers only part of the tenant's demand counts as the level.
    func of(
        _ row: FillRow, _ demand: FillDemand, _ interval: FillInterval, at activity: Double
    ) -> (activity: Double, constraint: Constraint) {
        func isHere(_ bound: Double) -> Bool { Swift.abs(bound - activity) <= activity * 1e-12 }

        let most = Swift.min(row.ceiling, interval.most)
        if isHere(most) { return (most, most == interval.most ? interval.mostConstraint : .ceiling) }
        for band in bands.reversed() {
            let bound = Swift.min(band.bound(of: row, demand, interval), most)
            guard isHere(bound), band.raises(row) else { continue }
            switch band.bound {
            case .demand, .floorInDemand:
                if isHere(demand.batch) || demand.batch < activity { return (bound, .demand) }
                return (bound, band.bound == .floorInDemand && bound > 0 ? .floor : .level)
            case .floor, .start:
                if bound > 0 { return (bound, .floor) }
            case .leastShare:
                if bound > 0 { return (bound, demand.batch > 0 ? .level : .floor) }
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
