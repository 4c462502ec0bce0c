import HeadroomModel

/// The events of one run, as much as the metrics need. Metrics are computed from it and from nothing else.
package struct RunRecord: Sendable {
    package static let stepSeconds = 10.0

    /// The result of one user's task.
    package struct TaskOutcome: Equatable, Sendable {
        package let tenant: Int
        package let begunAt: Double
        /// What it takes if nobody waits (``AgentTask/undisturbedSeconds``).
        package let undisturbedSeconds: Double
        /// From its begin to its end; `nil` when it failed or the run ended before.
        package let seconds: Double?

        package init(tenant: Int, begunAt: Double, undisturbedSeconds: Double, seconds: Double?) {
            self.tenant = tenant
            self.begunAt = begunAt
            self.undisturbedSeconds = undisturbedSeconds
            self.seconds = seconds
        }
    }

    package let seconds: Double
    package let tenantCount: Int
    /// Genuine work by step and tenant (``index(atSecond:tenant:)``): when the provider took it.
    package var served: [Work]
    /// Genuine work by step and tenant: when it first arrived.
    package var asked: [Work]
    /// All work that the provider took, junk too, by step.
    package var delivered: [Work]
    /// By minute of the work's first arrival and tenant: what came, and what of it was served, sooner or later.
    package var wanted: [Work]
    package var got: [Work]
    /// Attempts at the provider, or at a limiter that turns calls away.
    package var attempts = 0
    /// Attempts answered with 429, by either.
    package var refusals = 0
    /// By second: attempts that the provider, or a limiter, answered with 429.
    package var refusedEachSecond: [Int]
    /// Attempts answered with 529.
    package var overloads = 0
    /// Calls that were never served: patience ended, or they were refused too often.
    package internal(set) var lost = 0
    /// The same by step and tenant, with what it would have cost.
    package private(set) var lostWork: [Work]
    /// When a call of each tenant was first denied, or refused too often; `nil`: never.
    package private(set) var firstDenials: [Double?]
    package var servedCalls = 0
    /// Attempts on what was drawn from the float.
    package var drawnAttempts = 0
    /// Seconds from a call's arrival to its last dispatch, by tenant; served calls only.
    package var waits: [[Double]]
    /// By second: what is really granted, and what the strategy takes it to be, both as a part of the contract in their
    /// scarcest resource. No estimates: empty.
    package var granted: [Double] = []
    package var estimated: [Double] = []
    /// By second: what gateways may spend together (their budgets; where nobody lends, their tenants' rates), over what
    /// the strategy takes capacity to be.
    package var committed: [Double] = []
    /// Each set of limits that was decided: tokens a minute by tenant.
    package var limits: [(second: Double, tokens: [Double])] = []
    /// By second: how long the gateway that is furthest behind has not applied the newest generation.
    package var driftSeconds: [Double] = []
    /// Of agents, in the order of ``Workload/tasks``.
    package var tasks: [TaskOutcome] = []
    /// Headroom's suspicions: when each tenant was first said to game the loop in which way.
    package private(set) var gamingFlags: [(second: Double, tenant: TenantID, flag: GamingFlag)] = []
    /// Retry storms that Headroom saw, each when it was first seen.
    package private(set) var retryStorms: [(second: Double, storm: RetryStorm)] = []
    /// The auditor's report; `nil` where it is not Headroom that decides.
    package var audit: AuditReport?
    /// Of every attempt and every limit, in order: the same run has the same digest on every machine and in every
    /// build.
    package var digest: UInt64 { fingerprint.value }
    private var fingerprint = Fingerprint()

    /// Records the result of one tick for the tenants.
    mutating func note(_ report: LoopReport, at second: Double) {
        for pool in report.pools {
            if let storm = pool.retryStorm, retryStorms.last?.storm.since != storm.since {
                retryStorms.append((second, storm))
            }
            for tenant in pool.tenants {
                for flag in tenant.profile?.flags ?? [] {
                    let isKnown = gamingFlags.contains { known in
                        known.tenant == tenant.tenant && known.flag.kind == flag.kind && known.flag.since == flag.since
                    }
                    if !isKnown { gamingFlags.append((second, tenant.tenant, flag)) }
                }
            }
        }
    }

    package init(seconds: Double, tenantCount: Int) {
        self.seconds = seconds
        self.tenantCount = tenantCount
        let steps = Int((seconds / RunRecord.stepSeconds).rounded(.up))
        let minutes = Int((seconds / 60).rounded(.up))
        served = Array(repeating: .zero, count: steps * tenantCount)
        asked = served
        lostWork = served
        delivered = Array(repeating: .zero, count: steps)
        wanted = Array(repeating: .zero, count: minutes * tenantCount)
        got = wanted
        waits = Array(repeating: [], count: tenantCount)
        firstDenials = Array(repeating: nil, count: tenantCount)
        refusedEachSecond = Array(repeating: 0, count: Int(seconds.rounded(.up)))
    }

    package var stepCount: Int { delivered.count }
    package var minuteCount: Int { wanted.count / max(1, tenantCount) }

    package func step(atSecond second: Double) -> Int {
        max(0, min(stepCount - 1, Int(second / RunRecord.stepSeconds)))
    }

    /// Into ``wanted`` and ``got``.
    package func minuteIndex(atSecond second: Double, tenant: Int) -> Int {
        max(0, min(minuteCount - 1, Int(second / 60))) * tenantCount + tenant
    }

    /// A job's work came for the first time.
    package mutating func arrive(_ job: Job) {
        guard job.isGenuine else { return }
        wanted[minuteIndex(atSecond: job.seconds, tenant: job.tenant)] += job.cost
        asked[step(atSecond: job.seconds) * tenantCount + job.tenant] += job.cost
    }

    /// A job will never be served, however often its client sent it.
    package mutating func lose(_ job: Job, at second: Double) {
        lost += 1
        lostWork[step(atSecond: second) * tenantCount + job.tenant] += job.cost
    }

    /// The provider took a job's attempt at `second`.
    package mutating func serve(_ job: Job, arrivedAt arrival: Double, at second: Double) {
        let step = step(atSecond: second)
        delivered[step] += job.cost
        servedCalls += 1
        guard job.isGenuine else { return }
        served[step * tenantCount + job.tenant] += job.cost
        got[minuteIndex(atSecond: arrival, tenant: job.tenant)] += job.cost
        waits[job.tenant].append(second - arrival)
    }

    /// A call will not be served; its client may send the same again.
    package mutating func deny(_ job: Job, at second: Double) {
        if firstDenials[job.tenant] == nil { firstDenials[job.tenant] = second }
    }

    /// An attempt was answered with 429.
    package mutating func refuse(at second: Double) {
        refusals += 1
        refusedEachSecond[min(refusedEachSecond.count - 1, Int(second))] += 1
    }

    mutating func note(limits tokens: [Double], at second: Double) {
        limits.append((second, tokens))
        for rate in tokens { mix(rate.bitPattern) }
    }

    mutating func mix(_ bits: UInt64) { fingerprint.add(bits) }
}
