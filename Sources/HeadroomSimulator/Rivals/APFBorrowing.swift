import HeadroomModel

/// Kubernetes API Priority and Fairness: priority levels that lend and borrow seats every 10 s.
///
/// `apf_controller.go` and `conc_alloc.go` (kubernetes/apiserver @24a394e, KEP-1040). A level has a nominal limit, may
/// lend a part of it and borrow up to a bound. Every period its limit becomes one proportion of its target, the
/// smoothed demand, within these bounds. The good side is the lower bound: a lender that used its seats in the last
/// period has them back at the next one, at most its nominal limit, whatever others demand. There is no weight in
/// borrowing: above the nominal limits shares follow demand, and who demands more gets more.
///
/// Simplified: a level is a tenant, and a seat is a unit of rate, one level set for each resource. What a seat is for
/// in the original is a running request, so that demand is smooth over as long as a call takes; the same is done here
/// by a mean over 10 s, without which every request would look like a peak. The nominal limit is the tenant's part by
/// contract (``StaticContract``), its upper bound the ceiling; of the nominal limit 90 % is lent (as `workload-low`),
/// but never of the floor. Limits are not rounded to whole seats. The nominal limits hold until the first period has
/// been seen.
///
/// It looks worse here than at home: at home work over the limit waits in fair queues inside one server, here it meets
/// a wall at each of several gateways, and the 10 s are long for callers who wait 10 s.
package struct APFBorrowing: RateAllocator {
    package let periodSeconds = 10.0
    private static let lendablePart = 0.9
    private static let callSeconds = 10

    /// Per resource, in the order of ``Resource``, and tenant.
    private var seats = Array(repeating: [SeatDemand](), count: Resource.allCases.count)
    /// Per tenant, oldest first: the seconds before the last period whose calls still run in it.
    private var earlier: [[Rates]] = []

    package init() {}

    package mutating func allocate(_ observation: PoolObservation) -> [Rates] {
        let tenants = observation.tenants
        if earlier.isEmpty {
            earlier = Array(repeating: [], count: tenants.count)
            seats = seats.map { _ in Array(repeating: SeatDemand(), count: tenants.count) }
        }
        for index in tenants.indices { note(tenants[index].demandEachSecond, of: index, observation.capacity) }
        let hasSeenNothing = earlier.allSatisfy(\.isEmpty)
        return observation.ratesByResource { resource, capacity in
            let nominals = StaticContract.divide(capacity, among: tenants, in: resource)
            if hasSeenNothing { return nominals }
            return APFBorrowing.divide(
                capacity,
                over: tenants.indices.map { index in
                    let nominal = nominals[index]
                    let floor = min(nominal, tenants[index].floor[resource] ?? 0)
                    return Level(
                        nominal: nominal, least: max(floor, nominal * (1 - APFBorrowing.lendablePart)),
                        most: max(nominal, tenants[index].ceiling[resource] ?? .infinity),
                        demand: seats[resource.rawValue][index])
                })
        }
    }

    private mutating func note(_ seconds: [Rates], of tenant: Int, _ capacity: Rates) {
        let known = earlier[tenant] + seconds
        for resource in capacity.resources.members {
            let demands = seconds.indices.map { second in
                let end = earlier[tenant].count + second + 1
                let running = known[max(0, end - APFBorrowing.callSeconds)..<end]
                return running.reduce(0) { $0 + ($1[resource] ?? 0) } / Double(APFBorrowing.callSeconds)
            }
            seats[resource.rawValue][tenant].note(demands)
        }
        earlier[tenant] = Array(known.suffix(APFBorrowing.callSeconds - 1))
    }

    /// A priority level.
    package struct Level: Sendable {
        package var nominal: Double
        /// The part that it never lends.
        package var least: Double
        /// The most that it may have with all that it borrows.
        package var most: Double
        package var demand: SeatDemand

        package init(nominal: Double, least: Double, most: Double, demand: SeatDemand) {
            self.nominal = nominal
            self.least = least
            self.most = most
            self.demand = demand
        }

        /// The least it gets while seats suffice: what it used of its own in the last period.
        fileprivate var low: Double { max(least, min(nominal, demand.highWatermark)) }
    }

    /// A target below this counts as this, so that nothing is divided by zero.
    private static let leastTarget = 0.001

    /// Each level's limit for the next period.
    ///
    /// Where the limits that nobody lends exceed `total`, everyone keeps them and the sum is over it: the original has
    /// exempt levels that take seats from the others, and lives with that.
    package static func divide(_ total: Double, over levels: [Level]) -> [Double] {
        let least = levels.reduce(0) { $0 + $1.least }
        let low = levels.reduce(0) { $0 + $1.low }
        if total <= least { return levels.map(\.least) }
        if total <= low {
            let part = (total - least) / (low - least)
            return levels.map { $0.least + ($0.low - $0.least) * part }
        }
        return ClampedProportion.divide(
            total,
            over: levels.map {
                ClampedProportion.Part(
                    target: max($0.low, $0.demand.smoothed, leastTarget), lower: $0.low, upper: max($0.low, $0.most))
            })
    }
}
