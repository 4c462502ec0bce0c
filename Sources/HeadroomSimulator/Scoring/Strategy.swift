import HeadroomModel

/// How a run divides the pool: what stands in the place of Headroom.
package struct Strategy: Sendable {
    package enum Kind: Sendable {
        /// The real loop.
        case headroom(Gateways)
        /// No control at all: every call goes at once, and comes back after a refusal.
        case firstComeFirstServed
        /// One gateway for everything that knows true capacity and true demand each second. With memory it goes by
        /// Headroom's own order, floors first and then service clocks, on the true capacity.
        case oracle(remembers: Bool)
        /// Rates a tenant from a rival's control loop; a run starts with a fresh copy of the allocator.
        ///
        /// With lending, gateways treat the rates as assured ones and lend what is left of the nominal capacity, as
        /// Headroom's do. Without, each rate is a wall, divided over the gateways by where its tenant's work arrived.
        case rates(any RateAllocator, gatewaysLend: Bool)
        /// Each call is let through or turned away by counters that all gateways share.
        case admission(any CallAdmitter)
    }

    /// The abilities of Headroom's gateways.
    package enum Gateways: Sendable {
        /// Lend, and draw from the float.
        case draw
        /// Lend what is left of their own budget.
        case lend
        /// Every other one draws, the others only lend.
        case mixed
        /// Take one plain number a tenant, behind a cap for the whole pool.
        case plain
    }

    /// As typed behind `--strategy`.
    package let name: String
    package let kind: Kind
    /// How clients try again what was refused; `nil`: as Headroom's gateways do.
    package let clientRetries: ClientRetries?

    package init(name: String, kind: Kind, clientRetries: ClientRetries? = nil) {
        self.name = name
        self.kind = kind
        self.clientRetries = clientRetries
    }
}

/// A rival's rule, as a pure function of what it observes and what it remembers: called once a period, it says at which
/// rate each tenant may go in the next one.
package protocol RateAllocator: Sendable {
    /// Seconds between two calls; the rival's own default.
    var periodSeconds: Double { get }

    /// One rate for each of `observation.tenants`, in their order; a resource that is absent is not limited.
    mutating func allocate(_ observation: PoolObservation) -> [Rates]
}

/// The view of a rival's control loop at the end of a period. It knows the nominal capacity only: none of the rivals
/// learns it.
package struct PoolObservation: Sendable {
    package struct Tenant: Sendable {
        package var tenant: TenantID
        package var tier: String
        /// The tier's, times the factor for a strategic account.
        package var weight: Double
        /// Absent where nothing was promised.
        package var floor: Rates
        /// The tier's; absent where it has none.
        package var ceiling: Rates
        /// Its request: all arrivals of the last 20 s, resent work among them, and the waiting work as if it had to be
        /// served in 20 s. One rate for each resource of the capacity.
        package var demand: Rates
        /// Its service over the last period.
        package var consumed: Rates
        /// Work that arrived in each second of the last period, oldest first, and what waited then as in ``demand``:
        /// for rules that go by peaks and deviations.
        package var demandEachSecond: [Rates]

        package init(
            tenant: TenantID, tier: String = "standard", weight: Double = 1, floor: Rates = .none,
            ceiling: Rates = .none, demand: Rates, consumed: Rates = .none, demandEachSecond: [Rates] = []
        ) {
            self.tenant = tenant
            self.tier = tier
            self.weight = weight
            self.floor = floor
            self.ceiling = ceiling
            self.demand = demand
            self.consumed = consumed
            self.demandEachSecond = demandEachSecond
        }
    }

    /// Nominal: what the contract with the provider says.
    package var capacity: Rates
    /// Since the last call.
    package var periodSeconds: Double
    /// The same tenants in the same order for the whole run.
    package var tenants: [Tenant]

    package init(capacity: Rates, periodSeconds: Double, tenants: [Tenant]) {
        self.capacity = capacity
        self.periodSeconds = periodSeconds
        self.tenants = tenants
    }
}

/// A rival that decides call by call from counters which all gateways share, as a limiter on Redis does.
package protocol CallAdmitter: Sendable {
    /// Once, before the first call.
    mutating func begin(capacity: Rates, tiers: [TierPolicy])

    /// Whether the call may go to the provider now; counts it if so. `estimate` is what it is expected to cost.
    mutating func admits(tenant: TenantID, tier: String, estimate: Work, at now: Timestamp) -> Bool

    /// A call that was admitted has ended: `actual` is what it cost, 0 when the provider refused it.
    mutating func settle(tenant: TenantID, tier: String, estimate: Work, actual: Work, at now: Timestamp)
}
