import HeadroomModel

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
        /// Since it arrived.
        public var waitedSeconds: Double
        /// Until its caller gives up.
        public var patienceSeconds: Double

        public init(
            estimate: Work, criticality: Criticality = .interactive, waitedSeconds: Double = 0,
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
    /// Names the process: its totals began at 0 with it.
    public var boot: String
    /// Ascends with each request of a boot; the same number is the same request.
    public var sequence: Int64
    public var pool: PoolID
    public var epoch: Int64
    public var totals: Totals
    /// Ascending by tenant.
    public var waiting: [Queue]

    public init(
        gateway: GatewayID, boot: String, sequence: Int64, pool: PoolID, epoch: Int64, totals: Totals = Totals(),
        waiting: [Queue] = []
    ) {
        self.gateway = gateway
        self.boot = boot
        self.sequence = sequence
        self.pool = pool
        self.epoch = epoch
        self.totals = totals
        self.waiting = waiting
    }

    /// Heads beyond so many a tenant are not looked at.
    public static let maxHeads = 64
    /// An answer that takes longer grants nothing: its request was lost, as far as the gateway is concerned.
    public static let patienceSeconds = 1.0
    /// A request that was not answered is sent again after so long, as it was.
    public static let resendSeconds = 0.3
    /// A gate that draws keeps this share of its part while the float answers; it returns the rest to the float at once.
    public static let keptShare = 0.1
    /// Without work that waits, totals are told this often.
    public static let reportSeconds = 1.0
    /// Seconds of its budget that a gateway which draws may hold locally: a tenth of the pool's burst. What is held is
    /// lost to everyone else while nobody with a right of its own waits there: of a burst of five seconds, 1 s cost .011
    /// of shortfall against half a second.
    public static func localBurstSeconds(of burstSeconds: Double) -> Double { min(0.5, burstSeconds / 10) }
    /// So long after its last answer a gate takes the float to be there: it tells of itself each second.
    public static let answeringSeconds = 2.0
}

extension DrawRequest {
    /// A statement that no gateway can make; `nil` when all is well.
    var fault: String? {
        func isBad(_ work: Work, least: Double) -> Bool {
            !all((work.amounts .>= least) .& (work.amounts .< .infinity) .& (work.amounts .> -.infinity))
        }
        if isBad(totals.returned, least: 0) { return "totals.returned: must be numbers of at least 0" }
        if isBad(totals.grantedUsed, least: -.infinity) { return "totals.granted_used: must be numbers" }
        for entry in totals.spent where isBad(entry.work, least: -.infinity) {
            return "totals.spent of \(entry.tenant): must be numbers"
        }
        for queue in waiting {
            // Judged together: heads are most of what is in a request.
            var areRight = SIMDMask<SIMD4<Int64>>(repeating: true)
            var areFinite = true
            for head in queue.heads {
                areRight .&= (head.estimate.amounts .>= 0) .& (head.estimate.amounts .< .infinity)
                areFinite = areFinite && head.waitedSeconds.isFinite && head.patienceSeconds >= 0
            }
            if !areFinite || !all(areRight) { return "waiting of \(queue.tenant): must be numbers of at least 0" }
        }
        return nil
    }
}

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

    public init(
        sequence: Int64, granted: [Granted] = [], grantedTotal: Work = .zero, serviceClocks: [Clock] = [],
        waitMilliseconds: Int64
    ) {
        self.sequence = sequence
        self.granted = granted
        self.grantedTotal = grantedTotal
        self.serviceClocks = serviceClocks
        self.waitMilliseconds = waitMilliseconds
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
