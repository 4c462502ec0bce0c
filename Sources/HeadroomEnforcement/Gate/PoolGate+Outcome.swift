import HeadroomModel

/// How calls end.
extension PoolGate {
    /// A call that the provider took has ended, well or badly: what it really cost replaces the estimate, in the budget
    /// and in every account. A call that the gate does not know changes nothing.
    public mutating func settle(_ id: Int, actual: Work, at now: Timestamp) {
        if let place = calls.place(of: id) { settle(at: place, actual: actual, at: now) }
    }

    private mutating func settle(at place: Int, actual: Work, at now: Timestamp) {
        guard let grant = calls[place].grant else { return }
        let call = calls.remove(place)
        // Lane by lane: more tokens than estimated are charged, fewer are returned.
        let difference = actual - call.estimate
        let more = Work(amounts: difference.amounts.replacing(with: 0, where: difference.amounts .< 0))
        let index = index(of: call.tenant)
        if more != .zero { charge(more, account: index, grant: grant, at: now) }
        if more != difference { charge(difference - more, account: index, grant: grant, at: now) }
    }

    /// The next step of a refused call.
    public enum Retry: Equatable, Sendable {
        /// At the head of its queue again, from then on.
        case waits(until: Timestamp)
        /// Refused too often, or its caller's patience ends first.
        case givenUp
    }

    /// The provider refused the call, for want of quota (429) or of its own capacity (529): the tenant gets back its
    /// clock and its right, the budget does not get back what the attempt may have cost the provider.
    ///
    /// It returns after max(`resetSeconds`, the pool's `retry.after`) + `jitter` · the pool's `retry.jitter` + the
    /// tenant's own offset, at most three times.
    /// - Parameters:
    ///   - resetSeconds: What the answer says; `nil` where it says nothing.
    ///   - jitter: In 0..<1.
    public mutating func refused(_ id: Int, resetSeconds: Double?, jitter: Double, at now: Timestamp) -> Retry {
        guard let place = calls.place(of: id), let grant = calls[place].grant else { return .givenUp }
        counts.refused += 1
        let index = index(of: calls[place].waiting.tenant)
        if let capacity = allocation?.capacity, holds(grant, account: index) {
            accounts[index].charge(.zero - calls.estimate(place), grant: grant, capacity: capacity, at: now)
        }
        let pause = allocation?.retry ?? PoolAllocation.Retry(afterMilliseconds: 1000, jitterMilliseconds: 1000)
        let entry = index > 0 ? allocation?.tenants[index - 1] : nil
        let seconds =
            max(resetSeconds ?? 0, Double(pause.afterMilliseconds) / 1000)
            + (jitter * Double(pause.jitterMilliseconds) + Double(entry?.retryOffsetMilliseconds ?? 0)) / 1000
        let eligibleAt = now.adding(seconds: seconds)
        guard calls[place].attempts <= PoolGate.maxRetries, eligibleAt < calls[place].waiting.deadline else {
            _ = calls.remove(place)
            counts.givenUp += 1
            return .givenUp
        }
        calls[place].grant = nil
        calls[place].waiting.eligibleAt = eligibleAt
        if !calls[place].hasTimer {
            calls[place].hasTimer = true
            deadlines.push(Timer(at: calls[place].waiting.deadline, sequence: calls[place].sequence, place: place))
        }
        wait(place, at: now)
        return .waits(until: eligibleAt)
    }

    private static let maxRetries = 3

    /// The caller has gone: a call that waits is forgotten; one that was let go, and was never sent, gives everything back.
    public mutating func withdraw(_ id: Int, at now: Timestamp) {
        guard let place = calls.place(of: id) else { return }
        if calls[place].grant == nil { _ = calls.remove(place) } else { settle(at: place, actual: .zero, at: now) }
    }

    /// Waiting calls whose callers' patience has ended, in the order of their deadlines: denied.
    public mutating func expire(at now: Timestamp) -> [WaitingCall] {
        var denied: [WaitingCall] = []
        while let timer = deadlines.least, timer.at <= now {
            _ = deadlines.popLeast()
            guard calls.isWaiting(timer.place, timer.sequence) else { continue }
            denied.append(calls.remove(timer.place))
        }
        counts.denied += denied.count
        return denied
    }

    mutating func charge(_ work: Work, account index: Int, grant: CallRight, at now: Timestamp) {
        guard let capacity = allocation?.capacity else { return }
        switch grant {
        case .assured, .lent, .unlisted:
            budget.charge(work, at: now)
            if drawing?.isYielding == true { budget.payDebt(at: now) }
        case .drawn: drawing?.used += work
        case .unlimited: break
        }
        if holds(grant, account: index) {
            accounts[index].charge(work, grant: grant, capacity: capacity, at: now)
        }
    }

    /// Whether the account is still the one that the right came from: entries come and go while calls are on their way.
    private func holds(_ grant: CallRight, account index: Int) -> Bool {
        switch grant {
        case .assured: index > 0
        case .unlisted: index == 0
        case .lent, .drawn, .unlimited: true
        }
    }
}
