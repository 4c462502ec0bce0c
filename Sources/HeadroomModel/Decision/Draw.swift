/// A gateway tells the pool's float what it returned and used, and asks for budget for what waits (WireFormat §2.1).
public struct DrawRequest: Equatable, Sendable {
    /// An amount for one tenant.
    public struct TenantWork: Equatable, Sendable {
        public var tenant: TenantID
        public var work: Work

        public init(tenant: TenantID, work: Work) {
            self.tenant = tenant
            self.work = work
        }
    }

    /// Everything since the gateway's boot, so that a request that is lost or repeated loses and doubles nothing.
    public struct Totals: Equatable, Sendable {
        /// Budget that flowed over: the gateway had no work for it and has given it up.
        public var returned: Work
        /// Of what was granted, in real cost where a call has ended. May fall when calls cost less than estimated.
        public var grantedUsed: Work
        /// Served on any right, by tenant; refused attempts are none. Tenants whose sum has not changed since the last
        /// answer may be left out, but for the first request in an epoch. Ascending by tenant.
        public var spent: [TenantWork]

        public init(returned: Work = .zero, grantedUsed: Work = .zero, spent: [TenantWork] = []) {
            self.returned = returned
            self.grantedUsed = grantedUsed
            self.spent = spent
        }
    }

    /// One call that waits.
    public struct Head: Equatable, Sendable {
        public var estimate: Work
        public var criticality: Criticality
        /// Since it arrived; `nil`: its gateway does not say.
        public var waitedSeconds: Double?
        /// Until its caller gives up.
        public var patienceSeconds: Double

        public init(
            estimate: Work, criticality: Criticality = .interactive, waitedSeconds: Double? = nil,
            patienceSeconds: Double = .infinity
        ) {
            self.estimate = estimate
            self.criticality = criticality
            self.waitedSeconds = waitedSeconds
            self.patienceSeconds = patienceSeconds
        }
    }

    /// The head of one tenant's queue, in the order in which its calls would go.
    public struct Queue: Equatable, Sendable {
        public var tenant: TenantID
        public var heads: [Head]

        public init(tenant: TenantID, heads: [Head]) {
            self.tenant = tenant
            self.heads = heads
        }
    }

    public var gateway: GatewayID
    /// Tells processes apart that share one gateway's counters, as in polls.
    public var member: String?
    /// Names the process: its totals began at 0 with it.
    public var boot: String
    /// Ascends with each request of a boot; the same number is the same request.
    public var sequence: Int64
    public var pool: PoolID
    public var epoch: Int64
    public var totals: Totals
    /// Ascending by tenant.
    public var waiting: [Queue]
    /// Whether the gateway keeps its budget for now, as an ample answer lets it; `nil`: it never does.
    public var holds: Bool?

    public init(
        gateway: GatewayID, member: String? = nil, boot: String, sequence: Int64, pool: PoolID, epoch: Int64,
        totals: Totals = Totals(), waiting: [Queue] = [], holds: Bool? = nil
    ) {
        self.gateway = gateway
        self.member = member
        self.boot = boot
        self.sequence = sequence
        self.pool = pool
        self.epoch = epoch
        self.totals = totals
        self.waiting = waiting
        self.holds = holds
    }

    /// Heads beyond so many a tenant are not looked at.
    public static let maxHeads = 64
}

/// How many of the calls that wait may go, and when to ask again.
public struct DrawAnswer: Equatable, Sendable {
    public struct Granted: Equatable, Sendable {
        public var tenant: TenantID
        /// So many of its waiting calls may go, the first ones.
        public var calls: Int

        public init(tenant: TenantID, calls: Int) {
            self.tenant = tenant
            self.calls = calls
        }
    }

    public struct Clock: Equatable, Sendable {
        public var tenant: TenantID
        /// With all that is spent and granted, but for what this answer grants.
        public var serviceClock: Double

        public init(tenant: TenantID, serviceClock: Double) {
            self.tenant = tenant
            self.serviceClock = serviceClock
        }
    }

    /// The request's.
    public var sequence: Int64
    /// Ascending by tenant; only tenants that are granted something.
    public var granted: [Granted]
    /// Since the boot, as far as this term of the control plane knows; what it grants here is in it.
    public var grantedTotal: Work
    /// Of the tenants in the request, ascending.
    public var serviceClocks: [Clock]
    /// For what still waits: not before.
    public var waitMilliseconds: Int64
    /// No call has waited for the float lately: who asks keeps its budget, and lends.
    public var isAmple: Bool

    public init(
        sequence: Int64, granted: [Granted] = [], grantedTotal: Work = .zero, serviceClocks: [Clock] = [],
        waitMilliseconds: Int64, isAmple: Bool = false
    ) {
        self.sequence = sequence
        self.granted = granted
        self.grantedTotal = grantedTotal
        self.serviceClocks = serviceClocks
        self.waitMilliseconds = waitMilliseconds
        self.isAmple = isAmple
    }
}

/// Why a draw is not answered.
public enum DrawRefusal: Error, Equatable, Sendable {
    /// No such pool is published.
    case unknownPool
    /// The control plane is in this term now: poll, and ask again.
    case otherEpoch(Int64)
    /// A later request of the same boot was answered before.
    case overtaken
    /// A total or an estimate is negative where it cannot be, or no number.
    case invalid(String)
}
