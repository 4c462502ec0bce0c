import HeadroomModel

/// The calls that circuit breakers keep back, and where they go instead.
///
/// While the pool's breaker is open its queues stand still. The calls of a model whose own breaker is open are parked
/// beside them, so that other models' calls go on.
extension PoolGate {
    /// How a call ended that was let go and sent at `startedAt`; before ``settle(_:actual:at:)`` and
    /// ``refused(_:resetSeconds:jitter:at:)``. Overload and other 5xx are failures, an upstream that gives no answer is one.
    public mutating func note(_ outcome: Outcome, of id: Int, startedAt: Timestamp, at now: Timestamp) {
        guard canFailOver, let place = calls.place(of: id) else { return }
        advance(to: now)
        breakers.note(outcome, ofModel: calls[place].model, startedAt: startedAt, at: now)
        if breakers.changes != breakerChanges { settleBreakers(at: now) }
    }

    /// The models whose breakers are open or half-open, ascending by name.
    public var keptBackModels: [String] { canFailOver ? breakers.keptBackModels : [] }

    /// Whether some calls may wait only because of a breaker.
    public var keepsCallsBack: Bool { breaker != nil || !parked.isEmpty }

    public func keepsBack(model: String?) -> Bool {
        breaker != nil || (canFailOver && breakers.breaker(ofModel: model)?.state != nil)
    }

    func keepsBack(model key: Int) -> Bool {
        canFailOver && key > 0 && breakers.keepsModelsBack && breakers.state(ofModel: key) != nil
    }

    /// Queues follow the breakers.
    mutating func settleBreakers(at now: Timestamp) {
        breakerChanges = breakers.changes
        breaker = canFailOver ? breakers.whole.state : nil
        let kept = parked
        parked = []
        for queued in kept where calls.isWaiting(queued.place, queued.sequence) { wait(queued.place, at: now) }
        guard canFailOver, breakers.keepsModelsBack else { return }
        for index in backlogged {
            let queued = accounts[index].queue.elements
            accounts[index].queue = ServiceQueue()
            for call in queued where calls.isWaiting(call.place, call.sequence) {
                if keepsBack(model: calls[call.place].model) {
                    parked.append(call)
                } else {
                    accounts[index].queue.push(call)
                }
            }
        }
        settleBacklog()
    }

    /// The calls that wait although only a breaker keeps them, in the order of service: they leave this gate, and the
    /// caller enqueues them at the first pool of `failover` whose own breaker is closed. Empty while it is closed.
    ///
    /// Ask after ``dispatch(at:)``, which takes the probes first.
    /// - Parameter leaves: whether the call leaves, by the time before which no breaker lets it pass.
    public mutating func divert(
        at now: Timestamp, where leaves: (WaitingCall, Timestamp) -> Bool = { _, _ in true }
    ) -> [WaitingCall] {
        guard keepsCallsBack else { return [] }
        var diverted: [QueuedCall] = []
        var stays: [QueuedCall] = []
        func sort(_ queued: [QueuedCall]) {
            stays = []
            for call in queued where calls.isWaiting(call.place, call.sequence) {
                let waiting = calls[call.place].waiting
                if waiting.deadline > now, leaves(waiting, notBefore(model: waiting.model, at: now)) {
                    diverted.append(call)
                } else {
                    stays.append(call)
                }
            }
        }
        sort(parked)
        parked = stays
        if breaker != nil {
            for index in backlogged {
                sort(accounts[index].queue.elements)
                accounts[index].queue = ServiceQueue()
                for call in stays { accounts[index].queue.push(call) }
            }
            settleBacklog()
        }
        return diverted.sorted().map { calls.remove($0.place) }
    }

    // MARK: Probes

    /// Open: none pass. Half-open: one at a time, this gateway's part of the pool's probes.
    mutating func probe(at now: Timestamp, into dispatched: inout [Dispatch]) {
        guard let next = nextProbe(after: now), next <= now, now >= heldUntil else { return }
        let heads = backlogged.compactMap { index in head(of: index, at: now).map { (call: $0, account: index) } }
        guard let first = heads.min(by: { $0.call < $1.call }) else { return }
        breakers.whole.probedAt = now
        let grant: CallRight = first.account == 0 ? .unlisted : .assured
        dispatched.append(send(first.call, from: first.account, grant: grant, at: now))
    }

    /// Of the pool; `nil` while none may pass.
    func nextProbe(after now: Timestamp) -> Timestamp? {
        breakers.whole.nextProbe(perSecond: probesPerSecond(breakers.whole), after: now)
    }

    /// One parked call for each model whose next probe is due joins its queue.
    mutating func releaseProbes(at now: Timestamp) {
        for probe in breakers.probes(after: now, perSecond: { probesPerSecond($0) }) where probe.at <= now {
            let waiting = parked.indices.filter { index in
                calls.isWaiting(parked[index], at: now) && calls[parked[index].place].model == probe.key
            }
            guard let first = waiting.min(by: { parked[$0] < parked[$1] }) else { continue }
            let call = parked.remove(at: first)
            breakers.noteProbe(ofModel: probe.key, at: now)
            join(call, account: index(of: calls[call.place].waiting.tenant))
        }
    }

    /// Of this gateway. Its part of the budget is its part of the probes; a small one still asks now and then. When only
    /// this gateway's own breaker is half-open, it alone probes.
    private func probesPerSecond(_ breaker: UpstreamBreaker) -> Double {
        guard let allocation else { return 0 }
        if breaker.isOwnAlone, !isOnFallback { return allocation.breaker.probesPerSecond }
        let part =
            allocation.budget.resources.members.compactMap { resource -> Double? in
                guard let whole = allocation.capacity[resource], whole > 0 else { return nil }
                return (allocation.budget[resource] ?? 0) / whole
            }.min() ?? 1
        return allocation.breaker.probesPerSecond * max(0.01, min(1, part))
    }

    // MARK: Times

    /// When a breaker becomes half-open, or a parked call may be the next probe: looked at ten times a second at most.
    func nextBreakerChange(after now: Timestamp) -> Timestamp? {
        guard canFailOver else { return nil }
        var next = breakers.nextChange
        if !parked.isEmpty, let probe = nextModelProbe(after: now) {
            let probe = max(probe, now.adding(seconds: 0.1))
            next = min(next ?? probe, probe)
        }
        return next
    }

    private func nextModelProbe(after now: Timestamp) -> Timestamp? {
        breakers.probes(after: now) { probesPerSecond($0) }.map(\.at).min()
    }

    /// No breaker lets a call of the model pass before. While the snapshot's is open, nobody knows how long: then it is the
    /// next look.
    public func notBefore(model: String?, at now: Timestamp) -> Timestamp {
        func reopens(_ breaker: UpstreamBreaker) -> Timestamp {
            if let reopening = breaker.reopensAt { return reopening }
            if breaker.state == nil { return now }
            let pause = Double(allocation?.retry.afterMilliseconds ?? 1000) / 1000
            return breaker.nextProbe(perSecond: probesPerSecond(breaker), after: now) ?? now.adding(seconds: pause)
        }
        guard canFailOver else { return now }
        return max(reopens(breakers.whole), breakers.breaker(ofModel: model).map(reopens) ?? now)
    }

    /// When a caller should come back whom a breaker sends away. Each is given a time of its own: they come back at the
    /// pool's rate, not before a breaker may let them pass, and over at most ``longestReturnSeconds``.
    public mutating func nextReturn(model: String?, at now: Timestamp) -> Timestamp {
        let first = notBefore(model: model, at: now)
        let perMinute = max(1, allocation?.budget[.requests] ?? PoolGate.returnsPerMinute)
        let next = lastReturn.adding(seconds: 60 / perMinute)
        lastReturn = next < first || next.seconds(since: first) > PoolGate.longestReturnSeconds ? first : next
        return lastReturn
    }

    /// Of a pool whose requests are not limited.
    private static let returnsPerMinute = 600.0
    private static let longestReturnSeconds = 60.0
}
