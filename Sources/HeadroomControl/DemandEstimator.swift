import HeadroomModel

/// What a tenant needs in one pool, and what it gets.
package struct TenantDemand: Equatable, Sendable {
    package var tenant: TenantID
    /// What it would use if unlimited, by criticality.
    package var demand: PerCriticality<Rates>
    /// Its mean request; `nil` before the first.
    package var shape: Work?
    /// What it used, over the demand window.
    package var consumed: Rates
    package var queue: PerCriticality<TenantReport.Queue>
    /// Attempts beyond the first, since the estimator began.
    package var retries: PerCriticality<Int>
    /// Where its work arrives: counted seconds of the pool's nominal capacity of about the last minute. Ascending by
    /// gateway.
    package var gateways: [GatewayTraffic]
    /// 0 to 1, by the amount of evidence: what a cold start waits for.
    package var confidence: Double
    /// 0 to 1: how reliably it returns to its base after a burst.
    package var repayment: Double
    /// What its tasks in progress say that they still need; `nil` without one.
    package var midTask: Work?
    /// A gaming flag stands: its credible demand is at most a factor of what it consumed.
    package var isDiscounted: Bool

    package init(
        tenant: TenantID, demand: PerCriticality<Rates>, shape: Work? = nil, consumed: Rates = .none,
        queue: PerCriticality<TenantReport.Queue> = PerCriticality(repeating: TenantReport.Queue()),
        retries: PerCriticality<Int> = PerCriticality(repeating: 0), gateways: [GatewayTraffic] = [],
        confidence: Double = 1, repayment: Double = 1, midTask: Work? = nil, isDiscounted: Bool = false
    ) {
        self.tenant = tenant
        self.demand = demand
        self.shape = shape
        self.consumed = consumed
        self.queue = queue
        self.retries = retries
        self.gateways = gateways
        self.confidence = confidence
        self.repayment = repayment
        self.midTask = midTask
        self.isDiscounted = isDiscounted
    }

    /// Over all criticalities.
    package var total: Rates {
        var sum = demand.interactive
        for part in [demand.nearRealTime, demand.batch] {
            for resource in part.resources.members { sum[resource] = (sum[resource] ?? 0) + (part[resource] ?? 0) }
        }
        return sum
    }
}

/// How much arrives at a gateway; only the proportion between gateways matters.
package struct GatewayTraffic: Equatable, Sendable {
    package var gateway: GatewayID
    package var weight: Double

    package init(gateway: GatewayID, weight: Double) {
        self.gateway = gateway
        self.weight = weight
    }
}

/// What all tenants of a pool need.
package struct PoolDemand: Equatable, Sendable {
    package var pool: PoolID
    /// Ascending by id.
    package var tenants: [TenantDemand]
    /// Arrivals of about the last 10 s and backlog. Ascending by gateway.
    package var gateways: [GatewayTraffic]
    package var consumed: Rates
    /// Tenants that found no place in the table since the estimator began.
    package var untracked: Int

    package init(
        pool: PoolID, tenants: [TenantDemand] = [], gateways: [GatewayTraffic] = [], consumed: Rates = .none,
        untracked: Int = 0
    ) {
        self.pool = pool
        self.tenants = tenants
        self.gateways = gateways
        self.consumed = consumed
        self.untracked = untracked
    }
}

/// Estimates what each tenant of one pool would use if it were unlimited.
///
/// Demand is *unique* work in counted tokens (control-law, rule 8): what was served or denied in the last
/// ``DemandPolicy/windowSeconds``, plus what waits now as if it had to be served within
/// ``DemandPolicy/backlogSeconds``, times a margin. It rises at once and falls by half-life. A retry is not new
/// demand, and a tenant that is throttled does not look small, since what it is denied and what it queues count.
package struct DemandEstimator: Sendable {
    /// A gateway's word on a queue is believed for this long.
    fileprivate static let queueSeconds = 30.0
    /// The most gateways whose traffic is told apart; the rest count, but earn no part of their own.
    fileprivate static let maxGateways = 256

    fileprivate struct QueueKey: Hashable, Comparable {
        var gateway: GatewayID
        var criticality: Criticality

        static func < (left: QueueKey, right: QueueKey) -> Bool {
            (left.gateway, left.criticality) < (right.gateway, right.criticality)
        }
    }

    /// An amount that fades with time.
    fileprivate struct Fading: Sendable {
        var amount = 0.0
        var at: Timestamp

        mutating func add(_ more: Double, at now: Timestamp, halfLife: Double) {
            amount = value(at: now, halfLife: halfLife) + more
            if at < now { at = now }
        }

        func value(at now: Timestamp, halfLife: Double) -> Double {
            amount * decay(now.seconds(since: at), halfLife: halfLife)
        }
    }

    /// One tenant in this pool.
    fileprivate struct Profile: Sendable {
        var unique: PerCriticality<SecondRing?> = PerCriticality(repeating: nil)
        var served: SecondRing
        var demand = PerCriticality<Work>(repeating: .zero)
        var demandAt: Timestamp
        var shape = Work.zero
        var retries = PerCriticality<Int>(repeating: 0)
        var queues: [QueueKey: QueueRecord] = [:]
        var arrivals: [GatewayID: Fading] = [:]
        var lastSeen: Timestamp
    }

    private let pool: PoolPolicy
    private let settings: DemandPolicy
    private let maxTenants: Int
    private var profiles: [TenantID: Profile] = [:]
    private var arrivals: [GatewayID: Fading] = [:]
    private var requests = RecentRequests()
    private let begun: Timestamp
    private var untracked = 0

    package init(pool: PoolPolicy, settings: DemandPolicy, maxTenants: Int, at now: Timestamp) {
        self.pool = pool
        self.settings = settings
        self.maxTenants = maxTenants
        begun = now
    }

    // MARK: Fold

    package mutating func fold(_ record: TelemetryRecord) {
        switch record {
        case .call(let call): fold(call)
        case .window(let window): fold(window)
        case .queue(let queue): withProfile(queue.tenant, at: queue.at) { $0.note(queue) }
        case .response, .task, .model: break
        }
    }

    private mutating func fold(_ call: CallRecord) {
        let isRetry = call.attempt > 1
        let isNew = call.request.map { requests.insert($0, at: call.at.second) } ?? !isRetry
        let nominal = pool.nominal
        let cost = withProfile(call.tenant, at: call.at) { profile -> Double in
            if isRetry { profile.retries[call.criticality] += 1 }
            let isServed = call.outcome == .ok
            if isServed {
                profile.learnShape(call.work)
                profile.served.add(call.work, at: call.at.second)
            }
            guard isNew else { return 0 }
            // What was refused has no output yet: it counts as the tenant's mean request where that is more.
            var work = call.work
            if !isServed { work.amounts = pointwiseMax(work.amounts, profile.shape.amounts) }
            profile.arrive(work, call.criticality, at: call.at.second)
            return work.seconds(of: nominal)
        }
        noteArrivals(cost ?? 0, of: call.tenant, from: call.gateway, at: call.at)
    }

    private mutating func fold(_ window: WindowRecord) {
        let served = window.served
        var arrived = served
        arrived[.requests] = Double(window.requests - window.retries + window.denied)
        arrived[.tokens] += Double(window.deniedTokens)
        let span = window.spannedSeconds
        let part = 1 / Double(span.count)
        let nominal = pool.nominal
        let cost = withProfile(window.tenant, at: window.end) { profile -> Double in
            profile.retries[window.criticality] += Int(window.retries)
            if window.ok > 0 { profile.learnShape(served) }
            for second in span {
                profile.served.add(served * part, at: second)
                profile.arrive(arrived * part, window.criticality, at: second)
            }
            return arrived.seconds(of: nominal)
        }
        noteArrivals(cost ?? 0, of: window.tenant, from: window.gateway, at: window.end)
    }

    /// Runs `body` on the tenant's profile, made if there is place for it.
    private mutating func withProfile<Result>(
        _ tenant: TenantID, at: Timestamp, _ body: (inout Profile) -> Result
    ) -> Result? {
        if profiles[tenant] == nil {
            guard profiles.count < maxTenants else {
                untracked += 1
                return nil
            }
            profiles[tenant] = Profile(
                served: SecondRing(seconds: ringSeconds, endingAt: at.second), demandAt: at, lastSeen: at)
        }
        if profiles[tenant]!.lastSeen < at { profiles[tenant]!.lastSeen = at }
        return body(&profiles[tenant]!)
    }

    private var ringSeconds: Int { Int(settings.windowSeconds.rounded(.up)) + 12 }

    /// Where work arrives: the pool's budget follows about 10 s of it, a tenant's rates about a minute.
    private mutating func noteArrivals(_ cost: Double, of tenant: TenantID, from gateway: GatewayID, at: Timestamp) {
        guard cost > 0 else { return }
        if arrivals[gateway] != nil || arrivals.count < DemandEstimator.maxGateways {
            arrivals[gateway, default: Fading(at: at)].add(cost, at: at, halfLife: 7)
        }
        guard let known = profiles[tenant]?.arrivals else { return }
        if known[gateway] != nil || known.count < DemandEstimator.maxGateways {
            profiles[tenant]?.arrivals[gateway, default: Fading(at: at)].add(cost, at: at, halfLife: 42)
        }
    }

    // MARK: Estimate

    /// What there is at `now`; forgets tenants that have been idle for long.
    package mutating func estimate(at now: Timestamp) -> PoolDemand {
        var result = PoolDemand(pool: pool.pool, untracked: untracked)
        var consumed = Work.zero
        var backlog: [GatewayID: Double] = [:]
        let window = observedSeconds(at: now)
        for tenant in profiles.keys.sorted() {
            guard now.seconds(since: profiles[tenant]!.lastSeen) <= settings.idleSeconds else {
                profiles[tenant] = nil
                continue
            }
            let served = profiles[tenant]!.served.sum(ofSeconds: window, endingAt: now.second)
            consumed += served
            result.tenants.append(
                profiles[tenant]!.estimate(
                    tenant, served: served, window: window, pool: pool, settings: settings, backlog: &backlog, at: now))
        }
        result.consumed = consumed.rates(overSeconds: Double(window), of: pool.nominal.resources)
        result.gateways = gatewayTraffic(backlog: backlog, at: now)
        return result
    }

    /// Younger than the window, the estimator divides by its age, lest all look small.
    private func observedSeconds(at now: Timestamp) -> Int {
        max(2, min(Int(settings.windowSeconds), Int(now.seconds(since: begun).rounded(.up))))
    }

    /// Arrivals and a fifth of the backlog, both in seconds of the pool (control-law, `s_g`).
    private mutating func gatewayTraffic(backlog: [GatewayID: Double], at now: Timestamp) -> [GatewayTraffic] {
        arrivals = arrivals.filter { now.seconds(since: $0.value.at) < 600 }
        return Set(arrivals.keys).union(backlog.keys).sorted().map { gateway in
            GatewayTraffic(
                gateway: gateway,
                weight: (arrivals[gateway]?.value(at: now, halfLife: 7) ?? 0) + (backlog[gateway] ?? 0) / 5)
        }
    }
}

extension DemandEstimator.Profile {
    fileprivate mutating func note(_ queue: QueueRecord) {
        let key = DemandEstimator.QueueKey(gateway: queue.gateway, criticality: queue.criticality)
        if let known = queues[key], known.at > queue.at { return }
        if queue.depth == 0 {
            queues[key] = nil
        } else if queues[key] != nil || queues.count < DemandEstimator.maxGateways {
            queues[key] = queue
        }
    }

    /// Forgets by requests and not by time, so that an idle tenant keeps its shape: half of it is its last 140.
    fileprivate mutating func learnShape(_ work: Work) {
        let requests = work[.requests]
        guard requests > 0 else { return }
        let mean = work * (1 / requests)
        shape = shape[.requests] == 0 ? mean : shape + (mean - shape) * min(1, requests / 200)
    }

    fileprivate mutating func arrive(_ work: Work, _ criticality: Criticality, at second: Int64) {
        if unique[criticality] == nil {
            unique[criticality] = SecondRing(seconds: served.seconds, endingAt: second)
        }
        unique[criticality]!.add(work, at: second)
    }

    fileprivate mutating func estimate(
        _ tenant: TenantID, served: Work, window: Int, pool: PoolPolicy, settings: DemandPolicy,
        backlog: inout [GatewayID: Double], at now: Timestamp
    ) -> TenantDemand {
        queues = queues.filter { now.seconds(since: $0.value.at) <= DemandEstimator.queueSeconds }
        var waiting = PerCriticality<Work>(repeating: .zero)
        var queue = PerCriticality<TenantReport.Queue>(repeating: TenantReport.Queue())
        for key in queues.keys.sorted() {
            let record = queues[key]!
            let work = waitingWork(record)
            waiting[key.criticality] += work
            backlog[key.gateway, default: 0] += work.seconds(of: pool.nominal)
            queue[key.criticality].depth += record.depth
            queue[key.criticality].oldestSeconds = max(
                queue[key.criticality].oldestSeconds, record.oldestAgeMilliseconds / 1000)
        }
        let faded = decay(now.seconds(since: demandAt), halfLife: settings.halfLifeSeconds)
        demandAt = max(demandAt, now)
        for criticality in Criticality.allCases {
            let arrived = unique[criticality]?.sum(ofSeconds: window, endingAt: now.second) ?? .zero
            let perMinute =
                (arrived * (60 / Double(window)) + waiting[criticality] * (60 / settings.backlogSeconds))
                * settings.margin
            // Below a request an hour it is noise: an idle tenant's demand reaches 0.
            let held = demand[criticality] * faded
            demand[criticality] = Work(
                amounts: pointwiseMax(perMinute.amounts, held[.requests] > 1.0 / 60 ? held.amounts : .zero))
        }
        let resources = pool.nominal.resources
        return TenantDemand(
            tenant: tenant,
            demand: PerCriticality(
                interactive: demand.interactive.rates(overSeconds: 60, of: resources),
                nearRealTime: demand.nearRealTime.rates(overSeconds: 60, of: resources),
                batch: demand.batch.rates(overSeconds: 60, of: resources)),
            shape: shape[.requests] > 0 ? shape : nil,
            consumed: served.rates(overSeconds: Double(window), of: resources),
            queue: queue, retries: retries,
            gateways: arrivals.keys.sorted().map {
                GatewayTraffic(gateway: $0, weight: arrivals[$0]!.value(at: now, halfLife: 42))
            })
    }

    /// A queue line tells tokens; their split into input and output follows the tenant's shape.
    private func waitingWork(_ record: QueueRecord) -> Work {
        let tokens = Double(record.tokens)
        let inputPart = shape[.tokens] > 0 ? min(1, shape[.inputTokens] / shape[.tokens]) : 0.5
        return Work(
            requests: Double(record.depth), tokens: tokens, inputTokens: tokens * inputPart,
            outputTokens: tokens * (1 - inputPart))
    }
}
