import HeadroomModel

/// The service clocks of a pool's tenants over all gateways: V = Σ seconds of capacity served ÷ weight.
///
/// Virtual time as in fair queueing: where the tenant with the least clock is lent to first, service above the assured
/// rates approaches the proportions of the weights. Each criticality has a time of its own (``VirtualTime``): a tenant
/// that begins to wait is lifted to it, less a small credit, and the clocks of those who wait fade towards the mean of
/// their criticality. Persisted or not: clocks that start over start level.
public struct ServiceClocks: Equatable, Sendable {
    /// A tenant's activity since the last ``advance(_:seconds:capacity:)``.
    public struct Activity: Equatable, Sendable {
        public var tenant: TenantID
        public var served: Work
        /// Above 0.
        public var weight: Double
        /// The most urgent work of it that waits somewhere; `nil` when none does.
        public var waiting: Criticality?

        public init(tenant: TenantID, served: Work, weight: Double, waiting: Criticality?) {
            self.tenant = tenant
            self.served = served
            self.weight = weight
            self.waiting = waiting
        }
    }

    /// How far the clock of a tenant that begins to wait may be behind the others', in seconds of the pool's capacity
    /// over weight. 3 to 30 s made no difference in simulation.
    public static let maxHeadStartSeconds = 5.0
    /// Reports are late by a minute at most, as a rule: no more than that besides the time that passed is believed to
    /// have been served at once. A line that tells of more would keep its tenant last for as long as it lies.
    private static let lateSeconds = 60.0

    public private(set) var clocks: [TenantID: Double]
    private var waiting: [TenantID: Criticality] = [:]
    private var time = VirtualTime()

    public init(_ clocks: [TenantID: Double] = [:]) {
        self.clocks = clocks
    }

    /// A tenant that was not seen yet stands at 0, until it begins to wait.
    public subscript(tenant: TenantID) -> Double { clocks[tenant] ?? 0 }

    /// Lets the clocks of those who wait fade, lifts those that begin to, then counts what was served. Tenants that
    /// `activities` does not name did nothing and wait for nothing.
    /// - Parameters:
    ///   - activities: each tenant once, in any order that is itself reproducible.
    ///   - seconds: since the last time.
    public mutating func advance(_ activities: [Activity], seconds: Double, capacity: Rates) {
        var sums = VirtualTime.Waiting()
        for activity in activities {
            guard let criticality = activity.waiting, waiting[activity.tenant] == criticality else { continue }
            sums.add(self[activity.tenant], weight: activity.weight, as: criticality)
        }
        time.settle(sums)
        for activity in activities {
            if let criticality = activity.waiting, waiting[activity.tenant] != criticality {
                time.enter(as: criticality, weight: activity.weight)
            }
        }
        let fading = VirtualTime.fading(over: seconds)
        var nowWaiting: [TenantID: Criticality] = [:]
        for activity in activities {
            var clock = self[activity.tenant]
            if let criticality = activity.waiting {
                nowWaiting[activity.tenant] = criticality
                if waiting[activity.tenant] == criticality {
                    clock = time.faded(clock, as: criticality, by: fading)
                } else {
                    clock = max(clock, time.entry(as: criticality))
                }
            }
            let served = min(activity.served.seconds(of: capacity), seconds + ServiceClocks.lateSeconds)
            clocks[activity.tenant] = clock + served / activity.weight
        }
        waiting = nowWaiting
    }

    /// Forgets tenants that left; they come back where a newcomer stands.
    public mutating func remove(_ tenants: [TenantID]) {
        for tenant in tenants {
            clocks[tenant] = nil
            waiting[tenant] = nil
        }
    }
}
