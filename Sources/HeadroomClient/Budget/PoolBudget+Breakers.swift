import HeadroomEnforcement
import HeadroomModel

/// Calls that a circuit breaker keeps back: another pool takes them, or they come back, or they wait for their turn here.
extension PoolBudget {
    /// Where the call goes that a breaker keeps back; `nil` where it waits here for the breaker.
    private enum Way {
        case diverted(PoolBudget)
        case refused
    }

    private func way(of call: Call, _ failover: [PoolID], patienceEndsBy deadline: Timestamp, notBefore: Timestamp)
        -> Way?
    {
        if let other = healthy(failover, call.model) { return .diverted(other) }
        // It has something else to do than to wait, or would wait in vain.
        return call.fallback != .fail || notBefore >= deadline ? .refused : nil
    }

    private func answer(_ way: Way, to entry: Entry, _ state: inout State, at now: Timestamp) -> Answer {
        switch way {
        case .diverted(let other): .diverted(Diversion(to: other, entry.call, arrival: entry.arrival))
        case .refused: .refused(brokenRefusal(of: entry, until: entry.isHeld ? entry.deadline : nil, &state, at: now))
        }
    }

    /// Of a call whose caller has just come: what it hears at once if a breaker keeps the call back and it does not wait here.
    func leave(_ id: Int, _ state: inout State, at now: Timestamp) -> Answer? {
        guard let entry = state.entries[id], state.gate.keepsBack(model: entry.call.model) else { return nil }
        let notBefore = state.gate.notBefore(model: entry.call.model, at: now)
        guard
            let way = way(
                of: entry.call, state.gate.allocation?.failover ?? [], patienceEndsBy: entry.deadline,
                notBefore: notBefore)
        else { return nil }
        state.gate.withdraw(id, at: now)
        forget(id, &state)
        if case .refused = way { reportDenied(entry, at: now) }
        return answer(way, to: entry, &state, at: now)
    }

    /// All that need not wait; those whose callers are away are looked at when they come. Many may wait for a long time,
    /// so they are looked through when a breaker changes, and else ten times a second at most.
    func divert(_ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]) {
        guard state.gate.keepsCallsBack else { return }
        if state.divertedChanges == state.gate.breakerChanges, let last = state.divertedAt,
            (0..<Self.divertSeconds).contains(now.seconds(since: last))
        {
            return
        }
        state.divertedChanges = state.gate.breakerChanges
        state.divertedAt = now
        let failover = state.gate.allocation?.failover ?? []
        var leaving: [(id: Int, entry: Entry, way: Way)] = []
        do {
            let entries = state.entries
            _ = state.gate.divert(at: now) { waiting, notBefore in
                guard let entry = entries[waiting.id], entry.isAwaited,
                    let way = way(
                        of: entry.call, failover, patienceEndsBy: entry.deadline, notBefore: notBefore)
                else { return false }
                leaving.append((waiting.id, entry, way))
                return true
            }
        }
        // In the order of service, which is that of the times at which they come back.
        leaving.sort {
            ($0.entry.call.criticality, $0.entry.arrival, $0.id) < ($1.entry.call.criticality, $1.entry.arrival, $1.id)
        }
        for (id, entry, way) in leaving {
            end(id, with: answer(way, to: entry, &state, at: now), &state, at: now, &resumptions)
        }
    }

    private static let divertSeconds = 0.1

    /// - Parameter deadline: the caller comes back before it, or not at all.
    func brokenRefusal(
        of entry: Entry, until deadline: Timestamp?, _ state: inout State, at now: Timestamp
    ) -> Refusal {
        let call = entry.call
        let at = state.gate.nextReturn(model: call.model, at: now)
        let wait = Duration.milliseconds(max(Self.leastWaitMilliseconds, at.milliseconds - now.milliseconds))
        let name = call.model.map { "\(pool) or its model \($0)" } ?? "\(pool)"
        let what = "\(name) fails, and no pool of its fail-over list takes the call"
        if call.fallback != .fail { return Refusal(.fallback, retryAfter: wait, "\(what); use its fallback") }
        if let deadline, at >= deadline { return Refusal(.fail, retryAfter: wait, "\(what) before its deadline") }
        return Refusal(.wait, retryAfter: wait, "\(what); come back then")
    }
}
