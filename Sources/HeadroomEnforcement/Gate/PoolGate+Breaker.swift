import HeadroomModel

/// The calls that a pool's circuit breaker keeps back, and where they go instead.
extension PoolGate {
    /// The calls that wait although only the breaker keeps them, in the order of service: they leave this gate, and the
    /// caller enqueues them at the first pool of `failover` whose own breaker is closed. Empty while it is closed.
    ///
    /// Ask after ``dispatch(at:)``, which takes the probes first.
    public mutating func divert(at now: Timestamp) -> [WaitingCall] {
        guard breaker != nil else { return [] }
        var diverted: [QueuedCall] = []
        for index in backlogged {
            while let queued = head(of: index, at: now) {
                accounts[index].queue.removeLeast()
                diverted.append(queued)
            }
        }
        settleBacklog()
        return diverted.sorted().map { calls.remove($0.place) }
    }

    /// Open: none pass. Half-open: one at a time, this gateway's part of the pool's probes.
    mutating func probe(_ breaker: PoolState, at now: Timestamp, into dispatched: inout [Dispatch]) {
        guard let next = nextProbe(breaker, after: now), next <= now, now >= heldUntil else { return }
        let heads = backlogged.compactMap { index in head(of: index, at: now).map { (call: $0, account: index) } }
        guard let first = heads.min(by: { $0.call < $1.call }) else { return }
        probedAt = now
        let grant: CallRight = first.account == 0 ? .unlisted : .assured
        dispatched.append(send(first.call, from: first.account, grant: grant, at: now))
    }

    /// `nil` while none may pass.
    func nextProbe(_ breaker: PoolState, after now: Timestamp) -> Timestamp? {
        guard breaker == .halfOpen, let allocation else { return nil }
        // Its part of the budget is its part of the probes; a small one still asks now and then.
        let part =
            allocation.budget.resources.members.compactMap { resource -> Double? in
                guard let whole = allocation.capacity[resource], whole > 0 else { return nil }
                return (allocation.budget[resource] ?? 0) / whole
            }.min() ?? 1
        let perSecond = allocation.probesPerSecond * max(0.01, min(1, part))
        guard perSecond > 0, let probedAt else { return perSecond > 0 ? now : nil }
        return max(now, probedAt.adding(seconds: 1 / perSecond))
    }
}

extension PoolAllocation {
    /// The breaker's state, where it keeps work back.
    public var keptBack: PoolState? {
        guard enforce, !failover.isEmpty, state == .open || state == .halfOpen else { return nil }
        return state
    }
}
