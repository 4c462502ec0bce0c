import HeadroomModel

/// One gateway's enforcement of one pool: what waits, whose turn it is, and what it may cost.
///
/// Assured work goes first. What is left of the budget is lent at once to other waiting calls: by criticality, then to
/// the tenant with the least service clock, up to its ceiling (Model §5.8). So no budget is idle while a call waits
/// that may have it. A gate that draws leaves the lending to the float, while calls wait for it and it answers. Without an
/// allocation, or with one that does not enforce, everything passes and is counted. The caller provides time, random
/// numbers and the network: it enqueues calls, asks for dispatches at ``nextWake(after:)`` or at regular times, and
/// says how each ended.
public struct PoolGate: Sendable {
    public let pool: PoolID
    public let gateway: GatewayID
    /// `nil` when the snapshot does not name the pool, or there is none.
    public private(set) var allocation: PoolAllocation? {
        didSet {
            isEnforcing = allocation?.enforce ?? false
            isAlone = allocation?.gateways == 1
            canFailOver = isEnforcing && allocation?.failover.isEmpty == false
        }
    }
    /// False: everything passes and is counted.
    private(set) var isEnforcing = false
    /// No other gateway has a part of the pool: there is nobody to draw from, and nobody to return anything for.
    private(set) var isAlone = false
    /// False: breakers keep nothing back. Alone, a breaker gains nothing.
    private(set) var canFailOver = false
    /// Open or half-open; `nil` while it is closed.
    public internal(set) var breaker: PoolState?
    public internal(set) var counts = Counts()

    /// Calls since the start.
    public struct Counts: Equatable, Sendable {
        public var assured = 0
        public var lent = 0
        public var drawn = 0
        public var unlisted = 0
        public var unlimited = 0
        /// By the provider, for want of quota or of its own capacity.
        public var refused = 0
        /// Refused too often, or with no patience left for another attempt.
        public var givenUp = 0
        /// Patience ended in the queue.
        public var denied = 0
    }

    /// Most calls that wait or are on their way: what bounds the gate's memory.
    let maxCalls: Int
    var leaseUntil: Timestamp
    var isOnFallback = false
    var budget: Bucket
    /// Of the budget, what is left for interactive work and for what is assured.
    var reserve = Work.zero
    /// Set by a refusal: no dispatch before.
    var heldUntil: Timestamp
    /// The limits by the provider's headers, and until when they are believed.
    var headerLimits = Rates.none
    var headerLimitsUntil: Timestamp

    /// The first is the one that tenants without an entry share; the others ascend by tenant.
    var accounts: [TenantAccount]
    private var indices: [TenantID: Int] = [:]
    /// Accounts with something in their queue.
    var backlogged: [Int] = []
    private var time = VirtualTime()
    /// The assured stride of the last call served.
    var assuredTime = 0.0

    var calls = CallTable()
    /// Calls that may not go yet, by the time from which they may.
    private(set) var deferred = Heap<Timer>()
    var deadlines = Heap<Timer>()
    private var sequence = 0
    /// The size that minimum bursts go by.
    var meanRequest = Bucket.oneRequest
    var breakers: UpstreamBreakers
    /// Grows whenever a breaker opens, becomes half-open or closes: the ``UpstreamBreakers/changes`` that the queues
    /// follow. Stored, as callers ask for it at each call, and a getter in another module is handed a copy of the gate.
    public internal(set) var breakerChanges = 0
    /// Eligible calls that only the breaker of their model keeps back. Some may have ended.
    var parked: [QueuedCall] = []
    /// When the last caller that a breaker sent away is to come back.
    var lastReturn: Timestamp
    /// `nil`: it does not draw.
    var drawing: Drawing?
    /// Flows that the last ``queues(at:)`` reported.
    var reportedFlows: [Flow] = []

    struct Timer: Comparable, Sendable {
        let at: Timestamp
        let sequence: Int
        /// In the ``CallTable``.
        let place: Int

        static func < (left: Timer, right: Timer) -> Bool { (left.at, left.sequence) < (right.at, right.sequence) }
    }

    public init(pool: PoolID, gateway: GatewayID, maxCalls: Int = 200_000, at now: Timestamp) {
        self.pool = pool
        self.gateway = gateway
        self.maxCalls = maxCalls
        leaseUntil = now
        heldUntil = now
        headerLimitsUntil = now
        lastReturn = now
        breakers = UpstreamBreakers(at: now)
        budget = Bucket(.none, burstSeconds: 0, at: now)
        accounts = [TenantAccount(tenant: nil, weight: 1, clock: 0, at: now)]
    }

    /// As the snapshot names it; `nil` for a tenant without an entry.
    public func tier(of tenant: TenantID) -> String? {
        indices[tenant].flatMap { allocation?.tenants[$0 - 1].tier }
    }

    // MARK: Snapshots

    /// Another allocation from now on, whole. Buckets keep their level in proportion, queues and clocks go on.
    public mutating func load(_ allocation: PoolAllocation?, leaseUntil: Timestamp, at now: Timestamp) {
        advance(to: now)
        self.allocation = allocation
        self.leaseUntil = leaseUntil
        isOnFallback = now >= leaseUntil
        let entries = allocation?.tenants ?? []
        accounts[0].weight = entries.map(\.weight).min() ?? 1
        let displaced = follow(entries, at: now)
        changeRates(at: now)
        settleVirtualTime()
        rehome(displaced: displaced, at: now)
        breakers.load(
            allocation?.state ?? .healthy, allocation?.models ?? [], under: allocation?.breaker ?? BreakerPolicy(),
            at: now)
        settleBreakers(at: now)
    }

    /// An account for each entry, in their order, and whom each follows from now on. Returns the accounts of tenants that
    /// have no entry any more.
    private mutating func follow(_ entries: [TenantAllocation], at now: Timestamp) -> [TenantAccount] {
        let tellsClocks = !drawsTellClocks(at: now)
        var displaced: [TenantAccount] = []
        if !isOf(entries) { displaced = makeAccounts(for: entries, at: now) }
        for place in entries.indices {
            accounts[place + 1].weight = entries[place].weight
            accounts[place + 1].isQuiet = entries[place].isQuiet
            accounts[place + 1].hasSoftCeiling = entries[place].hasSoftCeiling
            if tellsClocks { accounts[place + 1].publish(clock: entries[place].serviceClock, at: now) }
        }
        return displaced
    }

    /// The lease has run out: the fallback and the safe rates are in force.
    public func isOnFallback(at now: Timestamp) -> Bool { isEnforcing && now >= leaseUntil }

    /// The lease ran out so long ago that the policy lets nothing pass any more.
    public func isClosed(at now: Timestamp) -> Bool {
        guard isEnforcing, let seconds = allocation?.closedAfterSeconds else { return false }
        return now >= leaseUntil && now.seconds(since: leaseUntil) >= seconds
    }

    /// Nearly always the same tenants have entries as before.
    private func isOf(_ entries: [TenantAllocation]) -> Bool {
        guard entries.count == accounts.count - 1 else { return false }
        return entries.indices.allSatisfy { accounts[$0 + 1].tenant == entries[$0].tenant }
    }

    private mutating func makeAccounts(for entries: [TenantAllocation], at now: Timestamp) -> [TenantAccount] {
        let previous = accounts
        var left = indices
        accounts = [previous[0]]
        indices = [:]
        for entry in entries {
            indices[entry.tenant] = accounts.count
            let known = left.removeValue(forKey: entry.tenant).map { previous[$0] }
            accounts.append(
                known ?? TenantAccount(tenant: entry.tenant, weight: entry.weight, clock: entry.serviceClock, at: now))
        }
        return left.values.sorted().map { previous[$0] }
    }

    /// Calls follow their tenants: out of the shared queue once the tenant has an entry, into it when the entry is gone.
    private mutating func rehome(displaced: [TenantAccount], at now: Timestamp) {
        let shared = accounts[0].queue.elements
        accounts[0].queue = ServiceQueue()
        for index in accounts.indices { accounts[index].waitsAs = accounts[index].queue.least?.criticality }
        backlogged = accounts.indices.filter { accounts[$0].waitsAs != nil }
        for queued in shared + displaced.flatMap(\.queue.elements) {
            if calls.isWaiting(queued.place, queued.sequence) { wait(queued.place, at: now) }
        }
    }

    /// A publication may start the clocks over.
    mutating func settleVirtualTime() {
        if let most = accounts.dropFirst().lazy.map(\.clock).max() { time.follow(clocksUpTo: most) }
    }

    /// A 304 or an empty delta.
    public mutating func renew(leaseUntil: Timestamp, at now: Timestamp) {
        self.leaseUntil = max(self.leaseUntil, leaseUntil)
        advance(to: now)
    }

    /// Service clocks travel in the answers to telemetry, more often than generations.
    /// A gateway that draws has newer clocks from the answers to its draws.
    public mutating func update(serviceClocks: [TenantID: Double], at now: Timestamp) {
        guard !drawsTellClocks(at: now) else { return }
        for index in accounts.indices {
            guard let tenant = accounts[index].tenant, let clock = serviceClocks[tenant] else { continue }
            accounts[index].publish(clock: clock, at: now)
        }
        settleVirtualTime()
    }

    // MARK: Calls

    /// False when the gate is full or knows the id already: the caller denies the call.
    public mutating func enqueue(_ call: WaitingCall, at now: Timestamp) -> Bool {
        guard calls.count < maxCalls, calls.place(of: call.id) == nil else { return false }
        let sequence = count(call)
        let place = calls.insert(
            call, sequence: sequence, model: canFailOver ? breakers.key(of: call.model, at: now) : 0)
        if deadlines.count > 2 * calls.count + 64 {
            let calls = calls
            deadlines.removeAll { !calls.isThere($0.place, $0.sequence) }
        }
        deadlines.push(Timer(at: call.deadline, sequence: sequence, place: place))
        wait(place, at: now)
        return true
    }

    /// The number of a call that has come.
    mutating func count(_ call: WaitingCall) -> Int {
        sequence += 1
        // The mean over about the last fifty calls.
        meanRequest = sequence == 1 ? call.estimate : meanRequest * 0.98 + call.estimate * 0.02
        return sequence
    }

    /// In its queue, or aside until it may go. A call that comes back is older than what was enqueued behind it, and
    /// so stands at the head.
    mutating func wait(_ place: Int, at now: Timestamp) {
        let call = calls[place]
        if call.waiting.eligibleAt > now {
            deferred.push(Timer(at: call.waiting.eligibleAt, sequence: call.sequence, place: place))
            return
        }
        let queued = QueuedCall(
            criticality: call.waiting.criticality, arrival: call.waiting.arrival, sequence: call.sequence, place: place)
        if keepsBack(model: call.model) {
            if parked.count > 2 * calls.count + 64 { parked.removeAll { !calls.isWaiting($0.place, $0.sequence) } }
            parked.append(queued)
        } else {
            join(queued, account: index(of: call.waiting.tenant))
        }
    }

    mutating func join(_ call: QueuedCall, account index: Int) {
        accounts[index].queue.push(call)
        enter(index, as: call.criticality)
    }

    /// The account has a call of the criticality that waits.
    private mutating func enter(_ index: Int, as criticality: Criticality) {
        let before = accounts[index].waitsAs
        if let before, criticality >= before { return }
        accounts[index].waitsAs = criticality
        time.enter(as: criticality, weight: accounts[index].weight)
        accounts[index].lift(clockTo: time.entry(as: criticality))
        guard before == nil else { return }
        backlogged.append(index)
        accounts[index].assuredPass = max(accounts[index].assuredPass, assuredTime)
    }

    /// Of the tenant's account; 0, the shared one, without an entry.
    func index(of tenant: TenantID) -> Int { indices[tenant] ?? 0 }

    // MARK: Time

    /// Applies what happens by time alone: the lease ends, a header's limit is no longer believed, a deferred call
    /// becomes eligible.
    mutating func advance(to now: Timestamp) {
        let hasExpired = now >= leaseUntil
        let forgetsHeaders = !headerLimits.isEmpty && now >= headerLimitsUntil
        if forgetsHeaders { headerLimits = .none }
        if hasExpired != isOnFallback || forgetsHeaders {
            // A lease ends at its instant, whenever the gate is next asked.
            let since = hasExpired && !isOnFallback ? leaseUntil : now
            isOnFallback = hasExpired
            changeRates(at: since)
        }
        settleYield(at: now)
        breakers.advance(to: now)
        if breakers.changes != breakerChanges { settleBreakers(at: now) }
        while let timer = deferred.least, timer.at <= now {
            _ = deferred.popLeast()
            if calls.isWaiting(timer.place, timer.sequence) { wait(timer.place, at: now) }
        }
        if !parked.isEmpty { releaseProbes(at: now) }
    }

    /// Drops what no longer waits from the list of the backlogged, and moves virtual time on.
    mutating func settleBacklog() {
        var waiting = VirtualTime.Waiting()
        for index in backlogged {
            accounts[index].waitsAs = accounts[index].queue.least?.criticality
            guard let criticality = accounts[index].waitsAs else { continue }
            waiting.add(accounts[index].clock, weight: accounts[index].weight, as: criticality)
        }
        backlogged.removeAll { accounts[$0].waitsAs == nil }
        time.settle(waiting)
    }

    /// The account of a call that waits alone, as ``join(_:account:)`` and ``settleBacklog()`` leave it.
    mutating func settleAlone(_ index: Int, as criticality: Criticality) {
        enter(index, as: criticality)
        if backlogged.count > 1 {
            for other in backlogged where other != index { accounts[other].waitsAs = nil }
            backlogged.removeAll { $0 != index }
        }
        accounts[index].waitsAs = criticality
        var waiting = VirtualTime.Waiting()
        waiting.add(accounts[index].clock, weight: accounts[index].weight, as: criticality)
        time.settle(waiting)
    }

    /// When something may change by itself: a call's turn, the end of a patience, of waiting aside, or of the lease.
    public func nextWake(after now: Timestamp) -> Timestamp? {
        var wake = Timestamp(milliseconds: .max)
        if let next = deferred.least?.at { wake = min(wake, next) }
        if let next = deadlines.least?.at { wake = min(wake, next) }
        if isEnforcing, leaseUntil > now { wake = min(wake, leaseUntil) }
        let hasBacklog = backlogged.contains { !accounts[$0].queue.isEmpty }
        if hasBacklog || !parked.isEmpty, let change = nextBreakerChange(after: now) { wake = min(wake, change) }
        if hasBacklog {
            if breaker != nil {
                if let probe = nextProbe(after: now) { wake = min(wake, max(probe, heldUntil)) }
            } else if isEnforcing {
                if let draw = nextDrawTime { wake = min(wake, max(draw, heldUntil)) }
                // Work that waits while the float decides waits for the float, or for its silence.
                if goesByFloat(at: now) {
                    if let silentAt = drawing?.silentAt { wake = min(wake, max(silentAt, heldUntil)) }
                } else if let admission = nextAdmission(after: now) {
                    wake = min(wake, max(admission, heldUntil))
                }
            } else {
                wake = now
            }
        }
        return wake.milliseconds < .max ? max(wake, now) : nil
    }

    /// A call may go when both the pool and its tenant, by own right or below its ceiling, allow it.
    private func nextAdmission(after now: Timestamp) -> Timestamp? {
        guard let pool = budget.admission(after: now) else { return nil }
        let spare = budget.admission(keeping: reserve, after: now)
        var first: Timestamp?
        for index in backlogged {
            guard let criticality = accounts[index].queue.least?.criticality else { continue }
            if let own = accounts[index].own.admission(after: now) {
                first = min(first ?? .init(milliseconds: .max), max(own, pool))
            }
            if let lent = accounts[index].ceiling.admission(after: now),
                let budget = criticality == .interactive ? pool : spare
            {
                first = min(first ?? .init(milliseconds: .max), max(lent, budget))
            }
            if accounts[index].hasSoftCeiling, let spare { first = min(first ?? .init(milliseconds: .max), spare) }
            if first == pool { return pool }
        }
        return first
    }
}
