import HeadroomEnforcement
import HeadroomModel

/// Whose turn it is, and what the others hear.
extension PoolBudget {
    typealias Resumption = (waiter: Waiter, answer: Answer)

    /// Runs `change` under the lock, sets the alarm for what still waits, and then wakes the callers that were answered.
    func settle<Result>(
        at now: Timestamp, _ change: (inout State, inout [Resumption]) -> Result
    ) -> Result where Result: Sendable {
        var resumptions: [Resumption] = []
        var next: Timestamp?
        var request: DrawRequest?
        let result = state.withLock { state in
            let result = change(&state, &resumptions)
            if draw != nil, state.epoch > 0 { request = state.gate.nextDraw(epoch: state.epoch, at: now) }
            if state.waiting > 0 { next = state.gate.nextWake(after: now) }
            if let patience = state.patience.least?.until { next = min(next ?? patience, patience) }
            if state.gate.breakerChanges != state.toldBreakerChanges {
                state.toldBreakerChanges = state.gate.breakerChanges
                tell(of: state.gate)
            }
            return result
        }
        for resumption in resumptions { resumption.waiter.resume(returning: resumption.answer) }
        if let next { wake(next) }
        if let request { draw?(request) }
        return result
    }

    /// Answers, in this order, those whose patience has ended, those that may go, and those that another pool may take.
    func dispatch(_ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]) {
        guard state.waiting > 0 else { return }
        for call in state.gate.expire(at: now) {
            let refusal = timeout(of: call, &state, at: now)
            end(call.id, with: .refused(refusal), &state, at: now, &resumptions)
        }
        note(state.gate.dispatch(at: now), &state, at: now, &resumptions)
        divert(&state, at: now, &resumptions)
    }

    /// These have their turn.
    func note(
        _ dispatches: [Dispatch], _ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]
    ) {
        for dispatch in dispatches {
            let id = dispatch.call.id
            guard var entry = state.entries[id] else {
                state.gate.withdraw(id, at: now)
                continue
            }
            state.waiting -= 1
            entry.sentAt = now
            entry.attempt = dispatch.attempt
            if let waiter = entry.waiter, let turn = turn(id, entry) {
                entry.waiter = nil
                resumptions.append((waiter, .turn(turn)))
            } else if !entry.isAwaited {
                keep(id, entry, &state, at: now)
            }
            state.entries[id] = entry
        }
    }

    /// It has its turn while its caller is away.
    func keep(_ id: Int, _ entry: Entry, _ state: inout State, at now: Timestamp) {
        let kept = max(now, entry.answerBy).adding(seconds: Self.graceSeconds)
        state.patience.push(Patience(until: kept, id: id))
    }

    /// The call is out of the gate, and `answer` is what its caller hears.
    func end(
        _ id: Int, with answer: Answer, _ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]
    ) {
        guard let entry = state.entries[id], entry.verdict == nil else { return }
        close(entry, &state)
        if case .refused = answer { reportDenied(entry, at: now) }
        if entry.waiter == nil, entry.isAwaited {
            state.entries[id]?.verdict = answer
        } else {
            state.entries.remove(id)
            if let waiter = entry.waiter { resumptions.append((waiter, answer)) }
        }
    }

    func timeout(of call: WaitingCall, _ state: inout State, at now: Timestamp) -> Refusal {
        // Its own time has ended, so nothing is known of a later one.
        guard let entry = state.entries[call.id] else { return Self.gone }
        return refusal(of: entry, nil, until: nil, &state, at: now)
    }

    func refusal(of id: Int, _ state: inout State, at now: Timestamp) -> Refusal {
        guard let entry = state.entries[id] else { return Self.gone }
        return refusal(of: entry, id, until: entry.isHeld ? entry.deadline : nil, &state, at: now)
    }

    func refusal(
        of entry: Entry, _ id: Int?, until deadline: Timestamp?, _ state: inout State, at now: Timestamp
    ) -> Refusal {
        let call = entry.call
        if state.gate.keepsBack(model: call.model) {
            return brokenRefusal(of: entry, until: deadline, &state, at: now)
        }
        let forecast = state.gate.forecast(
            of: id, tenant: call.tenant, criticality: call.criticality, estimate: entry.estimate, at: now)
        let exhausted = forecast.exhausted.map(Refusal.Exhausted.init)
        let wait = forecast.at.flatMap { Self.waitToName(until: $0, entry, at: now) }
        let short = exhausted == .requests ? "requests" : "tokens"
        if let wait, deadline.map({ now.adding(seconds: wait.inSeconds) < $0 }) ?? (call.fallback == .fail) {
            return Refusal(
                .wait, retryAfter: wait, exhausted: exhausted,
                "the \(short) of \(pool) are used up for now; come back then")
        }
        if call.fallback != .fail {
            return Refusal(
                .fallback, retryAfter: wait, exhausted: exhausted,
                "the \(short) of \(pool) are used up for longer than this caller waits; use its fallback")
        }
        if exhausted == .tokens, let rate = state.gate.allocation?.budget[.tokens], entry.estimate[.tokens] > rate / 60
        {
            return Refusal(
                .shrink, retryAfter: wait, exhausted: exhausted,
                "the tokens of \(pool) are used up, and this call alone takes more than a second of them; send less, or in parts"
            )
        }
        return Refusal(
            .fail, retryAfter: wait, exhausted: exhausted,
            "the \(short) of \(pool) are used up for longer than this caller waits")
    }

    /// As long as is foreseen; `nil` for more than a day, which is no time to wait for. A wait that has passed without
    /// bringing the turn was foreseen badly: the next is twice as long, so that an obedient caller does not ask all the time.
    private static func waitToName(until at: Timestamp, _ entry: Entry, at now: Timestamp) -> Duration? {
        let foreseen = at.seconds(since: now)
        guard foreseen < CallBounds.longest.inSeconds else { return nil }
        var milliseconds = max(leastWaitMilliseconds, Int64(saturating: (foreseen * 1000).rounded(.up)))
        if let told = entry.toldWait, entry.answerBy <= now {
            milliseconds = max(milliseconds, min(longestDoubledMilliseconds, Int64(saturating: told.inSeconds * 2000)))
        }
        return .milliseconds(milliseconds)
    }

    private static let longestDoubledMilliseconds: Int64 = 5000

    /// A place that had its turn while its caller was away is kept for so long after the time at which the caller should have come back.
    private static let graceSeconds = 3.0
    /// Sooner, nothing will have changed.
    static let leastWaitMilliseconds: Int64 = 20
}
