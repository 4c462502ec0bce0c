import HeadroomModel

/// Solves fills (Model §5.1): who gets what of a pool.
///
/// One number per tenant is all the state: its weighted dominant share, `activity · dominantCost / weight`. In that
/// unit every band is `clamp(level, low, high)` with the same level for all, and one sweep over plain columns tells
/// what a level uses of a resource. As long as a band's upper ends fit, everyone goes there and no level is searched;
/// the first band that does not fit fills a resource, and with it ends the fill. So a fill is one search.
///
/// The engine keeps its columns, and where the last search ended as the first guess for the next: keep one per pool.
public struct FillEngine: Sendable {
    /// Per limited resource: the part of its capacity that a tenant uses for each unit of weighted dominant share.
    private var costs: [[FillLanes]] = []
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

    public init() {}

    public mutating func solve(_ problem: FillProblem) -> FillResult {
        let capacity = FillCapacity(problem.capacity)
        let tiers = Array(Set(problem.bands.flatMap { $0.tiers ?? [] })).sorted()
        // By place: a loop over the tenants themselves would copy each of them.
        let count = problem.tenants.count
        var (rows, demands, intervals): ([FillRow], [FillDemand], [FillInterval]) = ([], [], [])
        rows.reserveCapacity(count)
        demands.reserveCapacity(count)
        intervals.reserveCapacity(count)
        for index in problem.tenants.indices {
            let total = problem.tenants[index].demand.total
            let direction = FillDirection(shape: problem.tenants[index].shape, demand: total, in: capacity)
            rows.append(FillRow(of: problem.tenants[index], direction, tiers: tiers))
            demands.append(FillDemand(of: problem.tenants[index], total: total, direction))
            intervals.append(problem.tenants[index].interval)
        }
        let outcome = solve(
            rows, demands, within: intervals, problem.bands.map { FillRaise($0, tiers: tiers) }, in: problem.capacity)
        return FillResult(
            bands: outcome.bands,
            tenants: FillShares(
                outcome, of: rows, demands, intervals, in: Array(problem.capacity.resources.members)))
    }

    /// The same for rows, which stand for tenants of a pool with the resources of `capacity`.
    /// - Parameters:
    ///   - demands: one a row, as are `intervals`.
    ///   - findsSlack: whether the outcome's slack is needed; else it is 1.
    mutating func solve(
        _ rows: [FillRow], _ demands: [FillDemand], within intervals: [FillInterval], _ raises: [FillRaise],
        in capacity: Rates, findsSlack: Bool = true
    ) -> FillOutcome {
        precondition(demands.count == rows.count && intervals.count == rows.count, "columns of different lengths")
        let resources = Array(capacity.resources.members)
        if let exhausted = resources.first(where: { capacity[$0] == 0 }) {
            // A pool that has none of it gives nothing to anybody.
            return FillOutcome(
                bands: raises.map { _ in FillResult.Band(level: 0, saturated: exhausted) },
                activities: Array(repeating: 0, count: rows.count), slack: SIMD4(repeating: 1),
                stop: FillStop(bands: []))
        }
        load(rows, demands, intervals, raises, FillCapacity(capacity), resources)

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
        var slack = SIMD4<Double>(repeating: 1)
        if findsSlack {
            for (index, resource) in resources.enumerated() where use[index] < 1 - FillLevel.tolerance {
                let lane = resource.rawValue
                slack[lane] = slackFactor(of: index, used: use[index], rows, lane, capacity.perMinute[lane])
            }
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
    /// the ceilings alone fit. Overwrites the costs in that resource, and `low`.
    private mutating func slackFactor(
        of index: Int, used: Double, _ rows: [FillRow], _ lane: Int, _ capacity: Double
    ) -> Double {
        var room = Array(repeating: FillLanes.zero, count: high.count)
        for block in high.indices {
            let use = high[block] * costs[index][block]
            let ceiling = (FillEngine.lanes(block, rows.count) { rows[$0].ceilings[lane] } / capacity).lowered(
                to: FillLanes(repeating: 2))
            room[block] = (ceiling / use).replacing(with: 1, where: use .<= 0).raised(to: FillLanes(repeating: 1))
            costs[index][block] = use
            low[block] = .zero
        }
        let use = costs[index]
        guard FillLevel.total(room, times: use) > 1 + FillLevel.tolerance else { return .infinity }
        return FillLevel.rise(
            low: low, high: room, cost: use, least: 1 / used, most: FillLevel.greatest(room), hint: 1 / used)
    }

    // MARK: Columns

    /// Turns the rows into columns, a few at a time: they are read once, and by column from the nearest cache.
    private mutating func load(
        _ rows: [FillRow], _ demands: [FillDemand], _ intervals: [FillInterval], _ raises: [FillRaise],
        _ capacity: FillCapacity, _ resources: [Resource]
    ) {
        let width = FillLanes.scalarCount
        let blocks = (rows.count + width - 1) / width
        resize(&costs, to: resources.count, blocks)
        resize(&limits, to: raises.count, blocks)
        if low.count != blocks {
            low = Array(repeating: .zero, count: blocks)
            high = low
            dominantCosts = low
            weights = low
        }
        for first in stride(from: 0, to: blocks, by: 16) {
            let chunk = first..<min(first + 16, blocks)
            loadCosts(chunk, rows, capacity, resources)
            // Where they may rise to at all stands in `low` meanwhile.
            for block in chunk {
                low[block] = FillEngine.lanes(block, rows.count) { min(rows[$0].ceiling, intervals[$0].most) }
            }
            for column in raises.indices { loadLimits(column, chunk, rows, demands, intervals, raises[column]) }
            for block in chunk { high[block] = .zero }
        }
        // The last block is padded with the last row, until it is taken out.
        for lane in rows.count..<blocks * width { clear(lane % width, of: blocks - 1) }
    }

    private mutating func loadCosts(
        _ chunk: Range<Int>, _ rows: [FillRow], _ capacity: FillCapacity, _ resources: [Resource]
    ) {
        for block in chunk {
            weights[block] = FillEngine.lanes(block, rows.count) { rows[$0].weight }
            dominantCosts[block] = .zero
        }
        for column in resources.indices {
            let lane = resources[column].rawValue
            for block in chunk {
                let part = FillEngine.lanes(block, rows.count) { rows[$0].cost[lane] } / capacity.perMinute[lane]
                costs[column][block] = part
                dominantCosts[block] = dominantCosts[block].raised(to: part)
            }
        }
        for column in resources.indices {
            for block in chunk { costs[column][block] *= weights[block] / dominantCosts[block] }
        }
    }

    /// A bound of more than twice the capacity is one of twice the capacity: that never fits either, and keeps infinity
    /// out of the sums.
    private mutating func loadLimits(
        _ column: Int, _ chunk: Range<Int>, _ rows: [FillRow], _ demands: [FillDemand], _ intervals: [FillInterval],
        _ raise: FillRaise
    ) {
        let two = FillLanes(repeating: 2)
        @inline(__always) func set(_ bound: (Int) -> Double) {
            for block in chunk {
                let bound = FillEngine.lanes(block, rows.count, bound).lowered(to: low[block])
                limits[column][block] = (bound * dominantCosts[block]).lowered(to: two) / weights[block]
            }
        }
        switch (raise.bound, raise.criticality) {
        case (.least, _): set { intervals[$0].least }
        case (.floor, _): set { rows[$0].floor }
        case (.leastShare, _): set { demands[$0].leastShare }
        case (.start, _): set { demands[$0].start }
        case (.demand, .interactive): set { demands[$0].interactive }
        case (.demand, .nearRealTime): set { demands[$0].nearRealTime }
        case (.demand, _): set { demands[$0].batch }
        case (.burst, _): set { demands[$0].burst }
        case (.ceiling, _): set { _ in .infinity }
        case (.floorInDemand, _): set { raise.bound(of: rows[$0], demands[$0], intervals[$0]) }
        }
        if raise.isRestricted {
            for block in chunk {
                limits[column][block] *= FillEngine.lanes(block, rows.count) { raise.raises(rows[$0]) ? 1 : 0 }
            }
        }
    }

    private mutating func clear(_ lane: Int, of block: Int) {
        for column in costs.indices { costs[column][block][lane] = 0 }
        for column in limits.indices { limits[column][block][lane] = 0 }
    }

    private func resize(_ columns: inout [[FillLanes]], to count: Int, _ blocks: Int) {
        if columns.count != count || columns.first?.count != blocks {
            columns = Array(repeating: Array(repeating: .zero, count: blocks), count: count)
        }
    }

    /// One number of each row of a block; those past the end repeat the last row's.
    @inline(__always)
    private static func lanes(_ block: Int, _ count: Int, _ value: (Int) -> Double) -> FillLanes {
        let first = block * FillLanes.scalarCount
        let last = count - 1
        return FillLanes(
            value(first), value(min(first + 1, last)), value(min(first + 2, last)), value(min(first + 3, last)))
    }
}
