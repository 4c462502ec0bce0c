import HeadroomModel

/// The service clocks of a pool's tenants over all gateways: V = Σ seconds of capacity served ÷ weight.
///
/// Virtual time as in fair queueing: where the tenant with the least clock is lent to first, service above the assured
/// rates approaches the proportions of the weights. A tenant that was idle does not come back with the claim of all
/// that time: it is lifted to the least clock of those that wait, less a small credit. Persisted or not: clocks that
/// start over start level.
public struct ServiceClocks: Equatable, Sendable {
    /// What a tenant did since the last ``advance(_:capacity:)``.
    public struct Activity: Equatable, Sendable {
        public var tenant: TenantID
        public var served: Work
        /// Above 0.
        public var weight: Double
        /// Work of it waits somewhere.
        public var isBacklogged: Bool

        public init(tenant: TenantID, served: Work, weight: Double, isBacklogged: Bool) {
            self.tenant = tenant
            self.served = served
            self.weight = weight
            self.isBacklogged = isBacklogged
        }
    }

    /// Seconds of the pool that a tenant which becomes backlogged may be behind the others. 3 to 30 s made no
    /// difference in simulation.
    public static let creditSeconds = 5.0

    public private(set) var clocks: [TenantID: Double]
    private var backlogged: Set<TenantID> = []
    /// The least clock over backlogged tenants; never falls.
    private var virtualTime = 0.0

    public init(_ clocks: [TenantID: Double] = [:]) {
        self.clocks = clocks
    }

    /// A tenant not seen yet stands where a newly backlogged one would.
    public subscript(tenant: TenantID) -> Double { clocks[tenant] ?? virtualTime }

    /// Lifts the newly backlogged, then counts what was served. Tenants that `activities` does not name did nothing
    /// and wait for nothing.
    /// - Parameter activities: each tenant once, in any order that is itself reproducible.
    public mutating func advance(_ activities: [Activity], capacity: Rates) {
        let waiting = activities.filter(\.isBacklogged)
        let stayed = waiting.filter { backlogged.contains($0.tenant) }
        if let least = stayed.map({ self[$0.tenant] }).min() { virtualTime = max(virtualTime, least) }
        let credit = ServiceClocks.creditSeconds / max(waiting.reduce(0) { $0 + $1.weight }, .leastNormalMagnitude)
        for activity in activities {
            var clock = self[activity.tenant]
            if activity.isBacklogged, !backlogged.contains(activity.tenant) { clock = max(clock, virtualTime - credit) }
            clocks[activity.tenant] = clock + activity.served.seconds(of: capacity) / activity.weight
        }
        backlogged = Set(waiting.map(\.tenant))
    }

    /// Forgets tenants that left; they come back where a newcomer stands.
    public mutating func remove(_ tenants: [TenantID]) {
        for tenant in tenants {
            clocks[tenant] = nil
            backlogged.remove(tenant)
        }
    }
}
