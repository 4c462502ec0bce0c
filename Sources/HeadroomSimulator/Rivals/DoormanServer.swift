/// One resource of a Doorman server: leases, and the algorithms that grant them.
///
/// Doorman (youtube/doorman @e2b69e1, Google 2016) shares a capacity among clients that ask for it one by one: each
/// says every few seconds what it has and what it wants, and is answered from what all the others said last. This is
/// `go/server/doorman/algorithm.go`, with `resource.go` for learning mode and the clamp, line by line in meaning:
/// FAIR_SHARE redistributes what is left twice and not until nothing is left, and its second round measures the others
/// by the asking client's own share; PROPORTIONAL_SHARE goes by the wants of before this request when it asks whether
/// everyone fits. Left out: trees of servers, elections, the algorithms that share nothing.
package struct DoormanServer: Sendable {
    package enum Algorithm: Sendable {
        case fairShare, proportionalShare
    }

    package struct Request: Sendable {
        package var client: Int
        /// The capacity that the client believes it has; used in learning mode only.
        package var has: Double
        package var wants: Double
        /// It asks for so many of its own: its part of an equal division.
        package var subclients: Double

        package init(client: Int, has: Double = 0, wants: Double, subclients: Double = 1) {
            self.client = client
            self.has = has
            self.wants = wants
            self.subclients = subclients
        }
    }

    package struct Lease: Equatable, Sendable {
        package var has: Double
        package var wants: Double
        package var subclients: Double
        package var expiresAt: Double
    }

    package let algorithm: Algorithm
    package let leaseSeconds: Double
    /// Until then clients keep what they say they have: a new master does not know what the last one granted.
    package let learnsUntil: Double
    /// By client.
    private var leases: [Lease?] = []

    package init(_ algorithm: Algorithm, leaseSeconds: Double, learnsUntil: Double = 0) {
        self.algorithm = algorithm
        self.leaseSeconds = leaseSeconds
        self.learnsUntil = learnsUntil
    }

    package func lease(of client: Int) -> Lease? { client < leases.count ? leases[client] : nil }

    /// Grants a lease; `now` in seconds, never earlier than before.
    package mutating func decide(_ request: Request, of capacity: Double, at now: Double) -> Lease {
        while leases.count <= request.client { leases.append(nil) }
        for index in leases.indices {
            if let lease = leases[index], lease.expiresAt < now { leases[index] = nil }
        }
        let granted =
            now < learnsUntil ? request.has : min(entitlement(of: request, capacity), free(for: request, capacity))
        let lease = Lease(
            has: granted, wants: request.wants, subclients: request.subclients, expiresAt: now + leaseSeconds)
        leases[request.client] = lease
        return lease
    }

    /// The algorithm's grant, before it is cut to the free capacity.
    package func entitlement(of request: Request, _ capacity: Double) -> Double {
        switch algorithm {
        case .fairShare: fairShare(of: request, capacity)
        case .proportionalShare: proportionalShare(of: request, capacity)
        }
    }

    /// The capacity that nobody else holds: this keeps the sum below the capacity while grants catch up with wants. Never
    /// negative, which the original's may be after learning mode.
    private func free(for request: Request, _ capacity: Double) -> Double {
        max(0, capacity - others(than: request).reduce(0) { $0 + $1.has })
    }

    private func fairShare(of request: Request, _ capacity: Double) -> Double {
        let others = others(than: request)
        let equal = capacity / others.reduce(request.subclients) { $0 + $1.subclients }
        let deserved = equal * request.subclients
        if request.wants <= deserved { return request.wants }

        var extra = 0.0
        var contenders = request.subclients
        for other in others {
            let share = equal * other.subclients
            if other.wants < share { extra += share - other.wants }
            if other.wants > share { contenders += other.subclients }
        }
        let once = deserved + extra / contenders * request.subclients
        if request.wants < once { return request.wants }

        var extraAgain = 0.0
        var contendersAgain = request.subclients
        for other in others where other.wants > equal * other.subclients {
            if other.wants < once { extraAgain += once - other.wants }
            if other.wants > once { contendersAgain += other.subclients }
        }
        return once + extraAgain / contendersAgain * request.subclients
    }

    private func proportionalShare(of request: Request, _ capacity: Double) -> Double {
        let others = others(than: request)
        let known = lease(of: request.client)
        let equal = capacity / others.reduce(known?.subclients ?? request.subclients) { $0 + $1.subclients }
        let deserved = equal * request.subclients
        let wants = others.reduce(known?.wants ?? 0) { $0 + $1.wants }
        if wants <= capacity || request.wants <= deserved { return request.wants }

        // A client without a lease is not among those whose excess counts.
        var extra = 0.0
        var need = known == nil ? 0 : request.wants - deserved
        for other in others {
            let excess = other.wants - equal * other.subclients
            if excess < 0 { extra -= excess } else { need += excess }
        }
        return deserved + (request.wants - deserved) * (extra / need)
    }

    private func others(than request: Request) -> [Lease] {
        leases.indices.compactMap { $0 == request.client ? nil : leases[$0] }
    }
}
