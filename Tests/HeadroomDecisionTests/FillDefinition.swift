import HeadroomDecision
import HeadroomModel

/// The fill as Model §5.1 defines it, written down as it stands there and found by bisection: slow, and independent of
/// the engine that it judges.
struct FillDefinition {
    private(set) var levels: [Double] = []
    private(set) var saturated: [Resource?] = []
    /// Per tenant: requests per minute of its direction.
    private(set) var activity: [Double]
    /// Per tenant, then per resource of the pool.
    private(set) var fill: [[Double]] = []
    private(set) var limit: [[Double]] = []

    let resources: [Resource]
    let capacity: [Double]
    /// Per tenant: u, one number per resource of the pool.
    let direction: [[Double]]
    private let problem: FillProblem

    init(_ problem: FillProblem) {
        self.problem = problem
        let resources = Array(problem.capacity.resources.members)
        self.resources = resources
        capacity = resources.map { problem.capacity[$0]! }
        activity = Array(repeating: 0, count: problem.tenants.count)
        direction = problem.tenants.map { FillDefinition.direction(of: $0, resources) }
        for band in problem.bands { raise(band) }
        fill = activity.indices.map { i in direction[i].map { $0 * activity[i] } }
        limit = fill
        for r in resources.indices { spreadSlack(r) }
    }

    private static func direction(of tenant: FillTenant, _ resources: [Resource]) -> [Double] {
        let usual: [Resource: Double] = [.requests: 1, .tokens: 1000, .inputTokens: 800, .outputTokens: 200]
        let demand = FillDefinition.sum(of: tenant.demand, through: .batch)
        let stated: [Double]
        if resources.contains(where: { tenant.shape[$0] != nil }) {
            stated = resources.map { tenant.shape[$0] ?? 0 }
        } else if resources.allSatisfy({ demand[$0] != nil }) {
            stated = resources.map { demand[$0]! }
        } else {
            stated = resources.map { usual[$0]! }
        }
        return zip(resources, stated).map { $1 == 0 ? usual[$0]! * 1e-6 : $1 }
    }

    private static func sum(of demand: PerCriticality<Rates>, through last: Criticality) -> [Resource: Double] {
        var sum: [Resource: Double] = [:]
        for criticality in Criticality.allCases where criticality <= last {
            for resource in demand[criticality].resources.members {
                sum[resource, default: 0] += demand[criticality][resource]!
            }
        }
        return sum
    }

    /// The least ratio over the resources that a box names; `nil` where it names none.
    private func ratio(_ i: Int, _ box: (Resource) -> Double?) -> Double? {
        var least: Double?
        for r in resources.indices {
            if let bound = box(resources[r]) { least = min(least ?? .infinity, bound / direction[i][r]) }
        }
        return least
    }

    func ceiling(_ i: Int) -> Double {
        min(ratio(i) { problem.tenants[i].ceiling[$0] } ?? .infinity, problem.tenants[i].interval.most)
    }

    func floor(_ i: Int) -> Double { ratio(i) { problem.tenants[i].floor[$0] } ?? 0 }

    func demand(_ i: Int, through last: Criticality = .batch) -> Double {
        let sum = FillDefinition.sum(of: problem.tenants[i].demand, through: last)
        return ratio(i) { sum[$0] } ?? 0
    }

    private func bound(_ i: Int, _ band: FillBand) -> Double {
        let tenant = problem.tenants[i]
        if let tiers = band.tiers, !tiers.contains(tenant.tier) { return 0 }
        return switch band.bound {
        case .least: tenant.interval.least
        case .floor: floor(i)
        case .floorInDemand: min(floor(i), demand(i, through: band.criticality ?? .batch))
        case .leastShare: tenant.leastShare
        case .start: tenant.start
        case .demand: demand(i, through: band.criticality ?? .batch)
        case .burst: tenant.burst
        case .ceiling: .infinity
        }
    }

    /// Weighted dominant share for each unit of activity.
    func unit(_ i: Int) -> Double {
        zip(direction[i], capacity).map { $0 / $1 }.max()! / problem.tenants[i].weight
    }

    func use(_ activity: [Double], _ r: Int) -> Double {
        var sum = 0.0
        for i in activity.indices { sum += activity[i] * direction[i][r] }
        return sum
    }

    private mutating func raise(_ band: FillBand) {
        if let full = resources.indices.first(where: { use(activity, $0) >= capacity[$0] * (1 - 1e-9) }) {
            levels.append(levels.last ?? 0)
            saturated.append(resources[full])
            return
        }
        let low = activity
        let high = activity.indices.map { max(low[$0], min(bound($0, band), ceiling($0))) }
        let units = activity.indices.map { unit($0) }
        func at(_ level: Double) -> [Double] {
            activity.indices.map { min(max(level / units[$0], low[$0]), high[$0]) }
        }
        func fits(_ activity: [Double]) -> Bool {
            resources.indices.allSatisfy { use(activity, $0) <= capacity[$0] * (1 + 1e-15) }
        }
        if fits(high) {
            activity = high
            let moved = activity.indices.filter { high[$0] > low[$0] * (1 + 1e-12) }
            levels.append(moved.map { high[$0] * units[$0] }.max() ?? levels.last ?? 0)
            saturated.append(nil)
            return
        }
        var (feasible, infeasible) = (0.0, 1.0)
        while fits(at(infeasible)) { infeasible *= 2 }
        for _ in 0..<200 {
            let middle = (feasible + infeasible) / 2
            if fits(at(middle)) { feasible = middle } else { infeasible = middle }
        }
        activity = at(feasible)
        levels.append(feasible)
        saturated.append(resources[resources.indices.first { use(activity, $0) >= capacity[$0] * (1 - 1e-9) }!])
    }

    private mutating func spreadSlack(_ r: Int) {
        let most = problem.tenants.map { $0.ceiling[resources[r]] ?? .infinity }
        let used = fill.map { $0[r] }
        func at(_ factor: Double) -> [Double] { zip(used, most).map { min($0 * factor, $1) } }
        func fits(_ limits: [Double]) -> Bool { limits.reduce(0, +) <= capacity[r] * (1 + 1e-15) }
        var (feasible, infeasible) = (1.0, 2.0)
        while fits(at(infeasible)), infeasible < 1e40 { infeasible *= 2 }
        for _ in 0..<200 where infeasible < 1e40 {
            let middle = (feasible + infeasible) / 2
            if fits(at(middle)) { feasible = middle } else { infeasible = middle }
        }
        if infeasible >= 1e40 { feasible = infeasible }
        for (i, value) in at(feasible).enumerated() { limit[i][r] = value }
    }
}
