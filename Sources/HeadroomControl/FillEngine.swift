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
    private var lastLevel = 0.0

    /// Use from here on counts as all of a resource.
    private static let full = 1 - 1e-9

    package init() {}

    package mutating func solve(_ problem: FillProblem) -> FillResult {
        let resources = Array(problem.capacity.resources.members)
        if let exhausted = resources.first(where: { problem.capacity[$0] == 0 }) {
            return FillResult(exhausted: exhausted, problem)
        }
        load(problem, resources)

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

        let shares = high
        high = []
        var slack = SIMD4<Double>(repeating: 1)
        for (index, resource) in resources.enumerated() where use[index] < 1 - FillLevel.tolerance {
            slack[resource.rawValue] = slackFactor(of: index, used: use[index], by: shares)
        }
        return FillResult(problem: problem, bands: bands, bandsRun: bandsRun, shares: shares, slack: slack)
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

    /// Turns the problem into columns.
    private mutating func load(_ problem: FillProblem, _ resources: [Resource]) {
        let count = problem.tenants.count
        let width = FillLanes.scalarCount
        let blocks = (count + width - 1) / width
        resize(&costs, to: resources.count, blocks)
        resize(&ceilings, to: resources.count, blocks)
        resize(&limits, to: problem.bands.count, blocks)
        if low.count != blocks { low = Array(repeating: .zero, count: blocks) }
        high = Array(repeating: .zero, count: blocks)

        let capacity = FillCapacity(problem.capacity)
        var block = FillBlock(resources, problem.bands)
        for index in 0..<blocks {
            let first = index * width
            block.clear()
            for lane in 0..<min(width, count - first) {
                block.set(lane, to: first + lane, of: problem.tenants, in: capacity)
            }
            for column in costs.indices {
                costs[column][index] = block.costs[column]
                ceilings[column][index] = block.ceilings[column]
            }
            for column in limits.indices { limits[column][index] = block.limits[column] }
        }
    }

    private func resize(_ columns: inout [[FillLanes]], to count: Int, _ blocks: Int) {
        if columns.count != count || columns.first?.count != blocks {
            columns = Array(repeating: Array(repeating: .zero, count: blocks), count: count)
        }
    }
}

/// The rows of a few tenants, on their way into columns.
private struct FillBlock {
    let resources: [Resource]
    let bands: [FillBand]
    var costs: [FillLanes]
    var ceilings: [FillLanes]
    var limits: [FillLanes]

    init(_ resources: [Resource], _ bands: [FillBand]) {
        self.resources = resources
        self.bands = bands
        costs = Array(repeating: .zero, count: resources.count)
        ceilings = costs
        limits = Array(repeating: .zero, count: bands.count)
    }

    mutating func clear() {
        for column in costs.indices { costs[column] = .zero }
        for column in limits.indices { limits[column] = .zero }
    }

    /// A bound of more than twice the capacity is one of twice the capacity: that never fits either, and keeps infinity
    /// out of the sums.
    @inline(__always)
    mutating func set(_ lane: Int, to index: Int, of tenants: [FillTenant], in capacity: FillCapacity) {
        let need = FillNeed(tenants, index)
        let direction = FillDirection(of: need, in: capacity)
        let cost = direction.capacityParts * (need.weight / direction.dominantCost)
        let most = capacity.parts(of: need.ceiling)
        for column in resources.indices {
            costs[column][lane] = cost[resources[column].rawValue]
            ceilings[column][lane] = most[resources[column].rawValue]
        }
        let ceiling = direction.ceiling(need)
        for column in bands.indices {
            let raises = bands[column].tiers == nil || bands[column].raises(tenants[index].tier)
            let bound = direction.activity(upTo: bands[column].bound, through: bands[column].criticality, need)
            limits[column][lane] = raises ? min(min(bound, ceiling) * direction.dominantCost, 2) / need.weight : 0
        }
    }
}
