import HeadroomModel

/// The circuit breakers of one pool as a gateway sees them: one for the whole, and one for each model.
///
/// The snapshot's breakers count the calls of all gateways, but they are a report and a tick late, and they stand still
/// while Headroom is away. The gateway's own count its calls as they end. Of both, the worse state holds.
struct UpstreamBreakers: Sendable {
    /// Calls for further models count for the whole only.
    static let maxModels = 16

    private struct Model: Sendable {
        let name: String
        /// Unique; 0 is no model.
        let key: Int
        var breaker: UpstreamBreaker
        /// For which a call came last.
        var usedAt: Timestamp
    }

    var whole: UpstreamBreaker
    private var policy = BreakerPolicy()
    private var models: [Model] = []
    private var lastKey = 0
    /// Grows with each change of a state.
    private(set) var changes = 0
    /// Some model's state is open or half-open.
    private(set) var keepsModelsBack = false
    /// When an open breaker becomes half-open.
    private(set) var nextChange: Timestamp?

    init(at now: Timestamp) {
        whole = UpstreamBreaker(under: policy, at: now)
    }

    /// The model's number; 0 where there is no place for one more. A model that was used longest ago gives way, unless
    /// its breaker keeps calls back.
    mutating func key(of name: String?, at now: Timestamp) -> Int {
        guard let name else { return 0 }
        if let known = models.firstIndex(where: { $0.name == name }) {
            models[known].usedAt = now
            return models[known].key
        }
        if models.count == UpstreamBreakers.maxModels {
            let idle = models.indices.filter { models[$0].breaker.state == nil }
            guard let oldest = idle.min(by: { models[$0].usedAt < models[$1].usedAt }) else { return 0 }
            models.remove(at: oldest)
        }
        lastKey += 1
        models.append(Model(name: name, key: lastKey, breaker: UpstreamBreaker(under: policy, at: now), usedAt: now))
        return lastKey
    }

    /// `nil` while the model's calls pass.
    func state(ofModel key: Int) -> PoolState? { models.first { $0.key == key }?.breaker.state }

    /// The breaker of the model, and `nil` where it has none.
    func breaker(ofModel name: String?) -> UpstreamBreaker? { models.first { $0.name == name }?.breaker }

    /// Those that keep calls back, ascending by name.
    var keptBackModels: [String] { models.filter { $0.breaker.state != nil }.map(\.name).sorted() }

    /// Numbers of the models that are half-open, and when the next call of each may pass.
    func probes(after now: Timestamp, perSecond: (UpstreamBreaker) -> Double) -> [(key: Int, at: Timestamp)] {
        models.compactMap { model in
            model.breaker.nextProbe(perSecond: perSecond(model.breaker), after: now).map { (model.key, $0) }
        }
    }

    mutating func noteProbe(ofModel key: Int, at now: Timestamp) {
        guard let index = models.firstIndex(where: { $0.key == key }) else { return }
        models[index].breaker.probedAt = now
    }

    /// A snapshot's states, and the terms of the gateway's own breakers.
    mutating func load(
        _ state: PoolState, _ published: [PoolAllocation.Model], under policy: BreakerPolicy, at now: Timestamp
    ) {
        let isOther = policy != self.policy
        if isOther { follow(policy) }
        for model in published where PoolState.keptBack.contains(model.state) { _ = key(of: model.model, at: now) }
        var isChanged = whole.load(state, at: now)
        for index in models.indices {
            let state = published.first { $0.model == models[index].name }?.state ?? .healthy
            if models[index].breaker.load(state, at: now) { isChanged = true }
        }
        if isChanged || isOther { noteChange() }
    }

    private mutating func follow(_ policy: BreakerPolicy) {
        self.policy = policy
        whole.follow(policy)
        for index in models.indices { models[index].breaker.follow(policy) }
    }

    /// A call of the model ended that had been sent at `startedAt`.
    mutating func note(_ outcome: Outcome, ofModel key: Int, startedAt: Timestamp, at now: Timestamp) {
        var isChanged = whole.note(outcome, startedAt: startedAt, at: now)
        if let index = models.firstIndex(where: { $0.key == key }),
            models[index].breaker.note(outcome, startedAt: startedAt, at: now)
        {
            isChanged = true
        }
        if isChanged { noteChange() }
    }

    mutating func advance(to now: Timestamp) {
        guard let next = nextChange, next <= now else { return }
        _ = whole.advance(to: now)
        for index in models.indices { _ = models[index].breaker.advance(to: now) }
        noteChange()
    }

    private mutating func noteChange() {
        changes += 1
        keepsModelsBack = models.contains { $0.breaker.state != nil }
        nextChange = ([whole.reopensAt] + models.map(\.breaker.reopensAt)).compactMap { $0 }.min()
    }
}

/// One circuit breaker at a gateway: its own, and the snapshot's.
struct UpstreamBreaker: Sendable {
    private var policy: BreakerPolicy
    private var own: CircuitBreaker
    private var published: PoolState?
    private var window: FailureWindow
    /// When a call passed last while it was half-open.
    var probedAt: Timestamp?

    init(under policy: BreakerPolicy, at now: Timestamp) {
        self.policy = policy
        window = FailureWindow(seconds: policy.windowSeconds)
        // A breaker forgives the second in which it closed; there was none before this one.
        own = CircuitBreaker(at: now.adding(seconds: -1))
    }

    /// Open or half-open; `nil` while it is closed. The worse of both.
    var state: PoolState? {
        let own = own.poolState
        return own == .open || published == .open ? .open : own ?? published
    }

    /// Only this gateway's own keeps calls back.
    var isOwnAlone: Bool { published == nil }

    /// When its own becomes half-open; `nil` while it is not open.
    var reopensAt: Timestamp? {
        guard case .open(let since) = own.state else { return nil }
        return since.adding(seconds: policy.openSeconds)
    }

    /// Its state stays. What it has counted begins anew where the window is another one.
    mutating func follow(_ policy: BreakerPolicy) {
        if policy.windowSeconds != self.policy.windowSeconds { window = FailureWindow(seconds: policy.windowSeconds) }
        self.policy = policy
    }

    /// The snapshot's has seen the probes of all gateways: when it closes, a half-open one of this gateway closes with it.
    /// Returns whether a state changed; so do ``note(_:startedAt:at:)`` and ``advance(to:)``.
    mutating func load(_ state: PoolState, at now: Timestamp) -> Bool {
        let next = PoolState.keptBack.contains(state) ? state : nil
        guard next != published else { return false }
        if next == nil, own.poolState == .halfOpen { own = CircuitBreaker(at: now) }
        published = next
        return true
    }

    mutating func note(_ outcome: Outcome, startedAt: Timestamp, at now: Timestamp) -> Bool {
        let before = own.poolState
        own.note(outcome, startedAt: startedAt, under: policy, at: now)
        window.add(isFailure: outcome == .overload || outcome == .server, at: now.second)
        // Without failures it does not open.
        if window.hasFailures(at: now.second) { _ = advance(to: now) }
        return own.poolState != before
    }

    mutating func advance(to now: Timestamp) -> Bool {
        let before = own.poolState
        let window = window
        own.advance(to: now, under: policy) { window.counts(since: $0, at: now) }
        return own.poolState != before
    }

    /// `nil` while none may pass.
    func nextProbe(perSecond: Double, after now: Timestamp) -> Timestamp? {
        guard state == .halfOpen, perSecond > 0 else { return nil }
        guard let probedAt else { return now }
        return max(now, probedAt.adding(seconds: 1 / perSecond))
    }
}

extension PoolState {
    /// The states of a pool that keep calls back.
    static let keptBack: [PoolState] = [.open, .halfOpen]
}

/// Attempts, and failures among them, by the second in which they ended.
struct FailureWindow: Sendable {
    private struct Count: Sendable {
        var attempts = 0
        var failures = 0
    }

    private let seconds: Int64
    /// As many as ``seconds`` or more, a power of two.
    private var counts: [Count]
    /// Long ago.
    private var clock = RingClock(newest: -1 << 60)
    private var lastFailure: Int64 = -1 << 60

    /// - Parameter seconds: within ``BreakerPolicy/windows``.
    init(seconds: Double) {
        self.seconds = Int64(seconds.rounded(.up))
        counts = [Count](
            repeating: Count(), count: 1 << (Int.bitWidth - (Int(self.seconds) - 1).leadingZeroBitCount))
    }

    func hasFailures(at second: Int64) -> Bool { lastFailure > second - seconds }

    /// Seconds do not go back.
    mutating func add(isFailure: Bool, at second: Int64) {
        for new in clock.advance(to: second, of: counts.count) { counts[slot(of: new)] = Count() }
        let slot = slot(of: clock.newest)
        counts[slot].attempts += 1
        guard isFailure else { return }
        counts[slot].failures += 1
        lastFailure = clock.newest
    }

    /// Of the seconds after the one that `since` lies in, up to `now`'s.
    func counts(since: Timestamp, at now: Timestamp) -> (attempts: Double, failures: Double) {
        var sum = Count()
        var second = max(since.second, now.second - seconds, clock.newest - seconds) + 1
        while second <= min(now.second, clock.newest) {
            sum.attempts += counts[slot(of: second)].attempts
            sum.failures += counts[slot(of: second)].failures
            second += 1
        }
        return (Double(sum.attempts), Double(sum.failures))
    }

    private func slot(of second: Int64) -> Int { RingClock.slot(of: second, of: counts.count) }
}
