import HeadroomModel

/// Estimates what each tenant of one pool would use if it were unlimited, and what kind of tenant it is.
///
/// Demand is *unique* work in counted tokens (ControlLaw, rule 8): what was served or denied in the last
/// ``DemandPolicy/windowSeconds``, plus what waits now as if it had to be served within
/// ``DemandPolicy/backlogSeconds``, times a margin. It rises at once and falls by half-life. A retry is not new
/// demand, and a tenant that is throttled does not look small, since what it is denied and what it queues count, at what
/// such work turned out to cost (``TokenCorrection``).
///
/// Tenants have numbers, so that a record costs one look-up by name; see ``TenantProfile`` for what is kept of each.
public struct DemandEstimator: Sendable {
    /// The estimator's settings besides the pool.
    public struct Settings: Equatable, Sendable {
        public var demand: DemandPolicy
        public var trust: TrustPolicy
        /// Of the loop.
        public var periodSeconds: Double
        public var maxTenants: Int
        public var maxNewTenantsPerGateway: Int
        /// Older lines enter the roll-ups only.
        public var lateSeconds: Double

        public init(_ policy: Policy) {
            demand = policy.demand
            trust = policy.trust
            periodSeconds = policy.loop.periodSeconds
            maxTenants = policy.loop.maxTenants
            maxNewTenantsPerGateway = policy.loop.maxNewTenantsPerGateway
            lateSeconds = policy.telemetry.lateSeconds
        }

        /// The demand window in whole seconds: of ``AskedLately``.
        var askedSeconds: Int64 { max(2, Int64(saturating: demand.windowSeconds)) }
    }

    /// A gateway's report of a queue counts for this long.
    static let queueSeconds = 30.0
    /// Gateways whose traffic is kept apart; that of further ones counts for the tenant, and earns them no part.
    static let maxGateways = 256
    /// The pool's budget follows about 10 s of arrivals, a tenant's rates about a minute of them.
    static let poolHalfLife = 7.0
    static let tenantHalfLife = 42.0
    /// So much of the backlog counts beside the arrivals of ten seconds (ControlLaw, rule 4).
    static let backlogShare = 0.2
    /// Evidence about a tenant fades by half in a day without calls.
    static let evidenceHalfLife = 86_400.0
    static let retryHalfLife = 60.0

    private(set) var pool: PoolPolicy
    private(set) var settings: Settings
    var profiles: [TenantProfile] = []
    /// Places in ``profiles``.
    var places: [TenantID: Int32] = [:]
    /// Places in the order of the tenants' ids; empty when it must be made anew.
    var order: [Int32] = []
    /// Places of those in the last estimate, in its order.
    var estimated: [Int32] = []
    /// Places of tenants that left.
    var vacant: [Int32] = []
    var gateways: [GatewayID] = []
    var gatewayNumbers: [GatewayID: UInt16] = [:]
    var gatewayArrivals: [GatewayArrivals] = []
    /// Mean arrivals of the last hour or so, one a gateway: made anew with each minute, so that fallbacks stand still
    /// within it.
    var hourlyMeans: [Double] = []
    var hourlyMeansMinute = Int64.min
    var requests = RecentRequests(capacity: 196_000)
    /// Denied work, and as much of served work, to see which work comes again.
    var denials: RecentContents
    var controls: RecentContents
    var pieces: PieceBook
    var correction = TokenCorrection()
    var tasks: TaskBook
    var storm: RetryStormWatch
    var rollups = RollupBook()
    var uses = UseBook()
    var begun: Timestamp
    var untracked = UntrackedTenants()
    var evictedAt: Timestamp?
    /// Tenants with a contract: no gateway's bound applies to them.
    var contracts: [TenantID: Contract] = [:]
    /// By gateway's number, and the last one for all others: tenants of the table that it brought.
    var broughtCounts = [Int32](repeating: 0, count: DemandEstimator.maxGateways + 1)
    /// Tenants without a contract that the table may still take in by the bound over all pools. The owner of the pools'
    /// estimators sets it.
    public var roomLeft = Int.max

    public init(pool: PoolPolicy, settings: Settings, at now: Timestamp) {
        self.pool = pool
        self.settings = settings
        begun = now
        denials = RecentContents(at: now)
        controls = RecentContents(at: now)
        pieces = PieceBook(at: now)
        tasks = TaskBook(at: now)
        storm = RetryStormWatch(at: now)
    }

    /// How many tenants are in the table.
    public var tenantCount: Int { places.count }
    public func knows(_ tenant: TenantID) -> Bool { places[tenant] != nil }

    /// Goes by other terms from now on; what is known of tenants stays.
    /// - Parameter contracts: tenants to which no gateway's bound applies.
    public mutating func follow(_ pool: PoolPolicy, _ settings: Settings, contracts: [TenantID: Contract] = [:]) {
        self.pool = pool
        self.contracts = contracts
        guard settings != self.settings else { return }
        let previousSeconds = ringSeconds
        self.settings = settings
        guard ringSeconds != previousSeconds else { return }
        for index in profiles.indices { profiles[index].dropRings() }
    }

    /// The length of the rings: the window, plus the seconds by which telemetry may be late.
    var ringSeconds: Int { Int(settings.demand.windowSeconds.rounded(.up)) + 12 }

    var gaming: GamingWatch.Settings {
        GamingWatch.Settings(halfLifeSeconds: settings.trust.flagSeconds, periodSeconds: settings.periodSeconds)
    }

    // MARK: Fold

    /// Takes in a line that was read at `now`. One from the future counts as of now; one older than the live windows
    /// reach enters the roll-ups only.
    public mutating func fold(_ record: TelemetryRecord, at now: Timestamp) {
        switch record {
        case .call(let call): fold(call, at: min(call.at, now), isLate: isLate(call.at, now), readAt: now)
        case .window(let window): fold(window, at: min(window.end, now), isLate: isLate(window.end, now), readAt: now)
        case .queue(let queue): fold(queue, at: min(queue.at, now), isLate: isLate(queue.at, now), readAt: now)
        case .task(let task): fold(task, at: min(task.at, now), isLate: isLate(task.at, now), readAt: now)
        case .response, .model: break
        }
    }

    private func isLate(_ instant: Timestamp, _ now: Timestamp) -> Bool {
        now.seconds(since: instant) > settings.lateSeconds
    }

    private mutating func fold(_ call: CallRecord, at instant: Timestamp, isLate: Bool, readAt now: Timestamp) {
        guard let place = place(of: call.tenant, from: call.gateway, at: instant, readAt: now) else { return }
        let index = Int(place)
        let worth = AskedWork(estimate(of: call, index))
        rollups.add(to: instant.minute, tenant: place, call.criticality) { $0.count(call, worth: worth) }
        uses.add(call, tenant: place, at: instant)
        // Calls that the gateway answered by itself are no work for the upstream.
        guard call.outcome != .cached else { return }
        guard !isLate else { return ask(call, worth: worth, isResent: false, of: place, at: instant, readAt: now) }
        profiles[index].hear(at: instant)
        let flow = profiles[index].flow(call.criticality)
        profiles[index].watch.noteEnd()
        if let task = call.task {
            tasks.note(
                call: call.outcome == .denied ? .zero : call.work, task: task, parent: call.parent,
                of: TaskBook.Owner(place: place, fingerprint: profiles[index].fingerprint), at: instant,
                in: &profiles[index].tasks)
        }

        let arrival = instant.adding(
            seconds: -((call.latencyMilliseconds ?? 0) + (call.queuedMilliseconds ?? 0)) / 1000)
        let isRetry = call.attempt > 1
        if isRetry {
            profiles[index].flows[flow].retries &+= 1
            profiles[index].retried.add(1, at: instant, halfLife: Self.retryHalfLife)
            profiles[index].retrySeconds.note(call.startedAt.second)
        }
        let isFirst = call.request.map { requests.insert($0, at: instant.second) } ?? !isRetry
        let isResent = isFirst && !isRetry && isAgain(call, index, at: arrival)
        if isResent { profiles[index].retrySeconds.note(arrival.second) }
        ask(call, worth: worth, isResent: isResent, of: place, at: instant, readAt: now)
        storm.note(isRetry: isRetry || isResent, at: isRetry ? call.startedAt.second : arrival.second)
        // Only after the look for repeated work, or each call would be found to repeat itself.
        if call.outcome == .ok {
            learn(from: call, index, flow, at: instant)
            remember(served: call, index, arrivedAt: arrival, at: instant)
        }
        if isFirst, call.outcome == .denied { remember(denied: call, index, arrivedAt: arrival, at: instant) }
        guard isFirst, !isResent else { return }
        let work = self.worth(call, index)
        profiles[index].want(
            work, flow: flow, second: instant.second, arrival: arrival.minute, ringSeconds: ringSeconds)
        noteArrivals(work, of: index, from: call.gateway, at: instant)
    }

    private mutating func learn(from call: CallRecord, _ index: Int, _ flow: Int, at instant: Timestamp) {
        profiles[index].serve(call.work, flow: flow, at: instant, ringSeconds: ringSeconds)
        profiles[index].evidence.add(1, at: instant, halfLife: Self.evidenceHalfLife)
        if let bound = call.maxTokens, bound > 0, let output = call.outputTokens {
            let input = Float(call.inputTokens ?? 0)
            profiles[index].correction.learn(
                inputTokens: input, outputTokens: Float(output), maxTokens: Float(bound))
            correction.learn(inputTokens: input, outputTokens: Float(output), maxTokens: Float(bound))
        }
    }

    /// The call's addition to demand, in counted tokens.
    private mutating func worth(_ call: CallRecord, _ index: Int) -> Work {
        switch call.outcome {
        case .ok, .cached: return call.work
        case .billing, .auth, .client: return call.work  // It will not be tried again.
        case .denied, .quota, .overload, .ramp, .server, .error:
            return profiles[index].claim(call, poolShare: correction.outputShare)
        }
    }

    /// What the call cost, or would have cost; nothing is learned from it.
    private func estimate(of call: CallRecord, _ index: Int) -> Work {
        switch call.outcome {
        case .ok, .cached, .billing, .auth, .client: call.work
        case .denied, .quota, .overload, .ramp, .server, .error:
            profiles[index].estimate(call, poolShare: correction.outputShare)
        }
    }

    private mutating func fold(_ window: WindowRecord, at instant: Timestamp, isLate: Bool, readAt now: Timestamp) {
        guard let place = place(of: window.tenant, from: window.gateway, at: instant, readAt: now) else { return }
        ask(window, of: place, at: instant, readAt: now)
        guard !isLate else { return }
        let index = Int(place)
        profiles[index].hear(at: instant)
        let flow = profiles[index].flow(window.criticality)
        profiles[index].watch.noteEnd(ofCalls: Float(window.requests) + Float(window.denied))
        let served = window.served
        if window.ok > 0 {
            profiles[index].flows[flow].shape.learn(served)
            profiles[index].shape.learn(served)
            profiles[index].evidence.add(Float(window.ok), at: instant, halfLife: Self.evidenceHalfLife)
        }
        let retries = Float(window.retries)
        if retries > 0 {
            profiles[index].flows[flow].retries &+= UInt32(clamping: window.retries)
            profiles[index].retried.add(retries, at: instant, halfLife: Self.retryHalfLife)
        }
        // As many as were denied or refused would have cost what served ones cost, or what the gateway says.
        let claimed = Float(window.deniedTokens)
        profiles[index].correction.learn(claimedTokens: claimed, items: Float(window.denied))
        let mean = profiles[index].shape.mean
        let denied = claimed * profiles[index].correction.factor(served: Float(mean[.tokens]))
        var wanted = served
        wanted += profiles[index].split(tokens: Double(denied))
        wanted[.requests] = Double(window.requests - window.retries) + Double(window.denied)

        let span = window.spannedSeconds
        let part = 1 / Double(span.count)
        for second in span {
            let second = min(second, instant.second)
            profiles[index].serve(served * part, flow: flow, second: second, ringSeconds: ringSeconds)
            profiles[index].want(
                wanted * part, flow: flow, second: second, arrival: second / 60, ringSeconds: ringSeconds)
            storm.note(isRetry: false, count: Float(window.requests - window.retries) * Float(part), at: second)
            storm.note(isRetry: true, count: retries * Float(part), at: second)
        }
        noteArrivals(wanted, of: index, from: window.gateway, at: instant)
    }

    private mutating func fold(_ record: QueueRecord, at instant: Timestamp, isLate: Bool, readAt now: Timestamp) {
        guard let place = place(of: record.tenant, from: record.gateway, at: instant, readAt: now) else { return }
        rollups.add(to: instant.minute, tenant: place, record.criticality) { sums in
            sums.oldestQueuedSeconds = max(sums.oldestQueuedSeconds, record.oldestAgeMilliseconds / 1000)
        }
        ask(record, of: place, at: instant, readAt: now)
        guard !isLate, let gateway = number(of: record.gateway, at: instant) else { return }
        profiles[Int(place)].hear(at: instant)
        profiles[Int(place)].note(record, gateway: gateway, names: gateways, at: instant)
    }

    private mutating func fold(_ record: TaskRecord, at instant: Timestamp, isLate: Bool, readAt now: Timestamp) {
        guard !isLate, let place = place(of: record.tenant, from: record.gateway, at: instant, readAt: now) else {
            return
        }
        profiles[Int(place)].hear(at: instant)
        let owner = TaskBook.Owner(place: place, fingerprint: profiles[Int(place)].fingerprint)
        let isGranted = profiles[Int(place)].watch.isGranted
        let verdict = tasks.note(record, of: owner, isGranted: isGranted, in: &profiles[Int(place)].tasks)
        profiles[Int(place)].watch.note(verdict)
    }
}
