import HeadroomModel

/// Solves fills (DESIGN §5.1): who gets what of a pool.
///
/// One number per tenant is all the state: its weighted dominant share, `activity · dominantCost / weight`. In that
/// unit every band is `clamp(level, low, high)` with the same level for all, and one sweep over plain columns tells
/// what a level uses of a resource. As long as a band's upper ends fit, everyone goes there and no level is searched;
/// the first band that does not fit fills a resource, and with it ends the fill. So a fill is one search.
///
/// The engine keeps its columns, and where the last search ended as the first guess for the next: keep one per pool.
package struct FillEngine: Sendable {
    /// Per limited resource: the part of its capacity that a tenant uses for each unit of weighted dominant share.
    private var costs: [[FillLanes]] = []
    /// Per limited resource: the tenants' ceilings as parts of its capacity.
    private var ceilings: [[FillLanes]] = []
    /// Per band: how far it raises the tenants.
    private var limits: [[FillLanes]] = []
    /// Where the tenants stand before the present band, and where it may raise them to.
    private var low: [FillLanes] = []
    private var high: [FillLanes] = []
    /// The part of capacity that a unit of each tenant's activity takes where it takes most.
    private var dominantCosts: [FillLanes] = []
    private var weights: [FillLanes] = []
    private var lastLevel = 0.0

    /// Use from here on counts as all of a resource.
    private static let full = 1 - 1e-9

    package init() {}

    package mutating func solve(_ problem: FillProblem) -> FillResult {
        let capacity = FillCapacity(problem.capacity)
        let tiers = Array(Set(problem.bands.flatMap { $0.tiers ?? [] })).sorted()
        let rows = problem.tenants.map { FillRow(of: $0, in: capacity, tiers: tiers) }
        let outcome = solve(rows, problem.bands.map { FillRaise($0, tiers: tiers) }, in: problem.capacity)
        return FillResult(
            bands: outcome.bands, tenants: FillShares(outcome, of: rows, in: Array(problem.capacity.resources.members)))
    }

    /// The same for rows, which stand for tenants of a pool with the resources of `capacity`.
    mutating func solve(_ rows: [FillRow], _ raises: [FillRaise], in capacity: Rates) -> FillOutcome {
        let resources = Array(capacity.resources.members)
        if let exhausted = resources.first(where: { capacity[$0] == 0 }) {
            // A pool that has none of it gives nothing to anybody.
            return FillOutcome(
                bands: raises.map { _ in FillResult.Band(level: 0, saturated: exhausted) },
                activities: Array(repeating: 0, count: rows.count), slack: SIMD4(repeating: 1),
                stop: FillStop(bands: []))
        }
        load(rows, raises, FillCapacity(capacity), resources)

        var bands: [FillResult.Band] = []
        var bandsRun = 0
        var use = Array(repeating: 0.0, count: resources.count)
        var level = 0.0
        for limit in limits {
            if let full = use.firstIndex(where: { $0 >= FillEngine.full }) {
                bands.append(FillResult.Band(level: level, saturated: resources[full]))
                continue
            }
            bandsRun += 1
            swap(&low, &high)
            let highest = widen(to: limit)
            let useAtMost = costs.map { FillLevel.total(high, times: $0) }
            if useAtMost.allSatisfy({ $0 <= 1 + FillLevel.tolerance }) {
                use = useAtMost
                level = highest ?? level
                bands.append(FillResult.Band(level: level, saturated: nil))
            } else {
                let binding = raise(&level, from: use, to: useAtMost)
                use = costs.map { FillLevel.piece(low: low, high: high, cost: $0, at: level).use(at: level) }
                use[binding] = max(use[binding], 1)
                settle(at: level)
                let full = use.firstIndex { $0 >= FillEngine.full } ?? binding
                bands.append(FillResult.Band(level: level, saturated: resources[full]))
            }
        }

        let activities = activities(of: rows.count)
        let shares = high
        var slack = SIMD4<Double>(repeating: 1)
        for (index, resource) in resources.enumerated() where use[index] < 1 - FillLevel.tolerance {
            slack[resource.rawValue] = slackFactor(of: index, used: use[index], by: shares)
        }
        return FillOutcome(
            bands: bands, activities: activities, slack: slack, stop: FillStop(bands: Array(raises[..<bandsRun])))
    }

    /// Where the tenants stand, in units of their own.
    private func activities(of count: Int) -> [Double] {
        let width = FillLanes.scalarCount
        var activities = [Double](repeating: 0, count: high.count * width)
        for block in high.indices {
            let activity = high[block] * weights[block] / dominantCosts[block]
            for lane in 0..<width { activities[block * width + lane] = activity[lane] }
        }
        activities.removeLast(activities.count - count)
        return activities
    }

    /// Raises `level` until the first resource is full, and returns its index.
    private mutating func raise(_ level: inout Double, from use: [Double], to useAtMost: [Double]) -> Int {
        let most = FillLevel.greatest(high)
        level = .infinity
        var binding = 0
        for index in costs.indices where useAtMost[index] > 1 + FillLevel.tolerance {
            let cost = costs[index]
            if level < .infinity, FillLevel.piece(low: low, high: high, cost: cost, at: level).use(at: level) <= 1 {
                continue
            }
            let least = (1 - use[index]) / FillLevel.total(cost)
            let found = FillLevel.rise(low: low, high: high, cost: cost, least: least, most: most, hint: lastLevel)
            if found < level { (level, binding) = (found, index) }
        }
        lastLevel = level
        if let end = FillLevel.end(ofPlateauAt: level, low: low, high: high),
            costs.allSatisfy({
                FillLevel.piece(low: low, high: high, cost: $0, at: end).use(at: end) <= 1 + FillLevel.tolerance
            })
        {
            level = end
        }
        return binding
    }

    /// `high = max(low, limit)`; returns the greatest of those that rise, by more than the rounding of two ways to the
    /// same number.
    private mutating func widen(to limit: [FillLanes]) -> Double? {
        var highest = FillLanes(repeating: -1)
        for block in high.indices {
            let from = low[block]
            let to = limit[block].replacing(with: from, where: limit[block] .< from)
            high[block] = to
            highest = highest.replacing(with: to, where: (to .> from * (1 + 1e-12)) .& (to .> highest))
        }
        let greatest = highest.max()
        return greatest < 0 ? nil : greatest
    }

    /// Leaves in `high` where the tenants stand at `level`.
    private mutating func settle(at level: Double) {
        let level = FillLanes(repeating: level)
        for block in high.indices { high[block] = level.clamped(from: low[block], to: high[block]) }
    }

    /// The largest factor by which all tenants' use of one resource can grow, each up to its ceiling; infinite where
    /// the ceilings alone fit. Overwrites the columns of that resource, and `low`.
    private mutating func slackFactor(of index: Int, used: Double, by shares: [FillLanes]) -> Double {
        for block in shares.indices {
            let use = shares[block] * costs[index][block]
            let room = (ceilings[index][block] / use).replacing(with: 1, where: use .<= 0)
            costs[index][block] = use
            ceilings[index][block] = room.replacing(with: 1, where: room .< 1)
            low[block] = .zero
        }
        let (use, room) = (costs[index], ceilings[index])
        guard FillLevel.total(room, times: use) > 1 + FillLevel.tolerance else { return .infinity }
        return FillLevel.rise(
            low: low, high: room, cost: use, least: 1 / used, most: FillLevel.greatest(room), hint: 1 / used)
    }

    // MARK: Columns

    /// Turns the rows into columns.
    private mutating func load(
        _ rows: [FillRow], _ raises: [FillRaise], _ capacity: FillCapacity, _ resources: [Resource]
    ) {
        let width = FillLanes.scalarCount
        let blocks = (rows.count + width - 1) / width
        resize(&costs, to: resources.count, blocks)
        resize(&ceilings, to: resources.count, blocks)
        resize(&limits, to: raises.count, blocks)
        if low.count != blocks {
            low = Array(repeating: .zero, count: blocks)
            high = low
            dominantCosts = low
            weights = low
        }
        for block in 0..<blocks {
            high[block] = .zero
            let first = block * width
            // What is missing in the last block is the first of it again, until it is taken out.
            let here = min(width, rows.count - first)
            let places = SIMD4(
                first, first + (here > 1 ? 1 : 0), first + (here > 2 ? 2 : 0), first + (here > 3 ? 3 : 0))
            load(block, rows, places, raises, capacity, resources)
            for lane in here..<width { clear(lane, of: block) }
        }
    }

    /// A bound of more than twice the capacity is one of twice the capacity: that never fits either, and keeps infinity
    /// out of the sums.
    @inline(__always)
    private mutating func load(
        _ block: Int, _ rows: [FillRow], _ places: SIMD4<Int>, _ raises: [FillRaise], _ capacity: FillCapacity,
        _ resources: [Resource]
    ) {
        @inline(__always) func lanes(_ value: (Int) -> Double) -> FillLanes {
            FillLanes(value(places[0]), value(places[1]), value(places[2]), value(places[3]))
        }
        let two = FillLanes(repeating: 2)
        var dominant = FillLanes.zero
        for column in resources.indices {
            let lane = resources[column].rawValue
            let part = lanes { rows[$0].cost[lane] } / capacity.perMinute[lane]
            costs[column][block] = part
            dominant = dominant.raised(to: part)
            ceilings[column][block] = (lanes { rows[$0].ceilings[lane] } / capacity.perMinute[lane]).lowered(to: two)
        }
        let weight = lanes { rows[$0].weight }
        for column in resources.indices { costs[column][block] *= weight / dominant }
        dominantCosts[block] = dominant
        weights[block] = weight
        let most = lanes { rows[$0].most }
        for column in raises.indices {
            let raise = raises[column]
            let bound = lanes { rows[$0].bound(raise) }.lowered(to: most)
            var limit = (bound * dominant).lowered(to: two) / weight
            if raise.isRestricted { limit *= lanes { raise.raises(rows[$0]) ? 1 : 0 } }
            limits[column][block] = limit
        }
    }

    private mutating func clear(_ lane: Int, of block: Int) {
        for column in costs.indices {
            costs[column][block][lane] = 0
            ceilings[column][block][lane] = 0
        }
        for column in limits.indices { limits[column][block][lane] = 0 }
    }

    private func resize(_ columns: inout [[FillLanes]], to count: Int, _ blocks: Int) {
        if columns.count != count || columns.first?.count != blocks {
            columns = Array(repeating: Array(repeating: .zero, count: blocks), count: count)
        }
    }
}
