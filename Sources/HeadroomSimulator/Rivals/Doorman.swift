import HeadroomModel

/// Doorman with every tenant as one client that refreshes its leases on time, one server for each resource.
///
/// Simplified: all clients ask in one moment every 5 s (the interval of Doorman's own fair-share example, with its
/// lease of 15 s), always in the same order, as independent clients with fixed phases would. `wants` is a mean over 20
/// s and counts what waits; Doorman's client weighs its last 10 s and counts attempts. Both are kinder than the
/// original: no lease is ever late, and no attempt is counted twice. Before anyone has asked, everyone has the safe
/// capacity, which Doorman's clients use without an answer: the capacity over their number. A client is a tenant and
/// has one subclient: Doorman carries a priority in its protocol and does not use it, and unequal subclients break
/// FAIR_SHARE (see the tests).
///
/// It looks worse here than at home in one way: a lease is a wall at each gateway, where Doorman's own clients are
/// thousands of like processes whose demand averages out.
package struct Doorman: RateAllocator {
    package let periodSeconds = 5.0
    private static let leaseSeconds = 15.0

    private var elapsedSeconds = 0.0
    /// In the order of ``Resource``; only those of the pool are asked.
    private var servers: [DoormanServer]

    /// `learningSeconds`: a server that has just become the master lets clients keep what they have for so long. The
    /// original does so for one lease; at the beginning of a run nobody has anything, so it would only close the pool.
    package init(_ algorithm: DoormanServer.Algorithm, learningSeconds: Double = 0) {
        let server = DoormanServer(algorithm, leaseSeconds: Doorman.leaseSeconds, learnsUntil: learningSeconds)
        servers = Array(repeating: server, count: Resource.allCases.count)
    }

    package mutating func allocate(_ observation: PoolObservation) -> [Rates] {
        if elapsedSeconds == 0, observation.tenants.allSatisfy({ $0.demand.perMinute.max() == 0 }) {
            return observation.ratesByResource { _, capacity in
                observation.tenants.map { _ in capacity / Double(observation.tenants.count) }
            }
        }
        elapsedSeconds += observation.periodSeconds
        let now = elapsedSeconds
        return observation.ratesByResource { resource, capacity in
            observation.tenants.indices.map { index in
                let has = servers[resource.rawValue].lease(of: index)?.has ?? 0
                let wants = observation.tenants[index].demand[resource] ?? 0
                return servers[resource.rawValue]
                    .decide(DoormanServer.Request(client: index, has: has, wants: wants), of: capacity, at: now).has
            }
        }
    }
}
