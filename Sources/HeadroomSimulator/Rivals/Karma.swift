import HeadroomModel

/// Karma with every tenant as one user, one ledger for each resource, a quantum of 1 s as in its published runs.
///
/// Simplified: the pool is a thousand slices for each tenant, half of them public (alpha as in its example). A user
/// joins with its first demand, so that nobody earns credits before it exists. Karma knows a quantum's demand before
/// it divides; here it is what the last 20 s showed. To be kind, own slices that nobody borrowed stay with their owner:
/// in the original they lie idle, here that would close the pool to whoever comes back.
///
/// It looks worse here than at home. At home memory slices are divided, demand is known and changes slowly, and all are
/// equal; tiers, floors and ceilings do not exist. What it proves, that no one gains by lying over time, is not what
/// the scoreboard measures.
package struct Karma: RateAllocator {
    package let periodSeconds = 1.0
    private static let alpha = 0.5
    private static let slicesForEach = 1000

    /// In the order of ``Resource``; only those of the pool are used.
    private var ledgers: [KarmaLedger] = []
    /// Which tenant each user is, in the order in which they joined.
    private var users: [Int] = []

    package init() {}

    package mutating func allocate(_ observation: PoolObservation) -> [Rates] {
        let tenants = observation.tenants
        if ledgers.isEmpty {
            let ledger = KarmaLedger(slices: tenants.count * Karma.slicesForEach, alpha: Karma.alpha)
            ledgers = Array(repeating: ledger, count: Resource.allCases.count)
        }
        for index in tenants.indices where !users.contains(index) {
            guard tenants[index].demand.perMinute.max() > 0 else { continue }
            users.append(index)
            for resource in ledgers.indices { _ = ledgers[resource].join() }
        }
        return observation.ratesByResource { resource, capacity in
            var rates = Array(repeating: 0.0, count: tenants.count)
            let slice = capacity / Double(ledgers[resource.rawValue].slices)
            guard slice > 0 else { return rates }
            // More than all slices is as good as all of them, and fits an integer.
            let demands = users.map { user in
                Int(min(tenants[user].demand[resource] ?? 0, capacity) / slice + 0.999_999)
            }
            let own = ledgers[resource.rawValue].ownSlices
            let quantum = ledgers[resource.rawValue].allocate(demands)
            for (place, user) in users.enumerated() {
                rates[user] = Double(max(quantum.allocations[place], own - quantum.lent[place])) * slice
            }
            return rates
        }
    }
}
