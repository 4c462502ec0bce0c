import HeadroomModel

/// Whose turn it is.
extension PoolGate {
    /// The calls that may go now, in order: first the assured, then the lent.
    ///
    /// The order of Model §5.8: eligible now; within the tenant's assured rate; in a gate that is alone, of a quiet tenant;
    /// criticality; least service clock, less ``ServiceOrder/urgency(until:at:)``; arrival. Among assured calls the clock is
    /// ``TenantAccount/assuredPass``: assured service divided by the assured rate. So when the provider delivers less than
    /// the snapshot says, everyone loses the same part. What still waits afterwards is in ``queues(at:)``. Calls whose
    /// deadline has passed stay until ``expire(at:)``.
    ///
    /// While calls wait for the float and it answers, only the calls of tenants that have used less than their assured rate go
    /// here. All others draw, in the order over all gateways, and what they leave here flows back to the float: a gateway
    /// that lends to whoever waits with it cannot know that somebody is more behind elsewhere (shortfall .14 instead of
    /// .115).
    public mutating func dispatch(at now: Timestamp) -> [Dispatch] {
        advance(to: now)
        guard !backlogged.isEmpty else { return [] }
        settleBacklog()
        var dispatched: [Dispatch] = []
        if breaker != nil {
            probe(at: now, into: &dispatched)
        } else if isEnforcing {
            guard now >= heldUntil else { return [] }
            serve(.assured, at: now, into: &dispatched)
            if !goesByFloat(at: now) { serve(.lent, at: now, into: &dispatched) }
        } else {
            for index in backlogged {
                while let queued = head(of: index, at: now) {
                    dispatched.append(send(queued, from: index, grant: .unlimited, at: now))
                }
            }
        }
        return dispatched
    }

    /// The call's right to go at once, where nothing else waits: what ``enqueue(_:at:)`` and ``dispatch(at:)`` would decide,
    /// without a place in a queue. `nil`: those two decide. The id must be one that the gate does not know.
    public mutating func admit(_ call: WaitingCall, at now: Timestamp) -> CallRight? {
        guard calls.count < maxCalls, call.eligibleAt <= now, call.deadline > now, !keepsCallsBack,
            !breakers.keepsModelsBack, breakers.nextChange == nil, now >= heldUntil || !isEnforcing
        else { return nil }
        if let next = deferred.least?.at, next <= now { return nil }
        for index in backlogged where !accounts[index].queue.isEmpty { return nil }
        advance(to: now)
        let index = index(of: call.tenant)
        settleAlone(index, as: call.criticality)
        guard let right = right(of: call, account: index, at: now) else { return nil }
        if right == .assured || right == .unlisted { assuredTime = max(assuredTime, accounts[index].assuredPass) }
        calls.insert(
            call, sequence: count(call), model: canFailOver ? breakers.key(of: call.model, at: now) : 0, grant: right)
        charge(call.estimate, account: index, grant: right, at: now)
        counts.add(right)
        return right
    }

    /// Of a call that waits alone; `nil` when it has none now.
    private mutating func right(of call: WaitingCall, account index: Int, at now: Timestamp) -> CallRight? {
        guard isEnforcing else { return .unlimited }
        guard budgetAdmits(at: now) else { return nil }
        if isAssured(index, at: now) { return index == 0 ? .unlisted : .assured }
        guard !goesByFloat(at: now) else { return nil }
        let isBeyondCeiling = !accounts[index].ceiling.admits(at: now)
        guard !isBeyondCeiling || accounts[index].hasSoftCeiling,
            call.criticality == .interactive && !isBeyondCeiling || budget.admits(keeping: reserve, at: now)
        else { return nil }
        return .lent
    }

    /// While the budget lasts, the best candidate's head; then that tenant's next call competes again.
    private mutating func serve(_ right: CallRight, at now: Timestamp, into dispatched: inout [Dispatch]) {
        guard budgetAdmits(at: now) else { return }
        var candidates = Heap<Candidate>()
        for index in backlogged {
            if let candidate = candidate(index, for: right, at: now) { candidates.push(candidate) }
        }
        while budgetAdmits(at: now), let best = candidates.popLeast() {
            if right == .lent, best.isBeyondCeiling || best.call.criticality != .interactive,
                !budget.admits(keeping: reserve, at: now)
            {
                return  // Nor may any that come after it.
            }
            if right == .assured { assuredTime = max(assuredTime, accounts[best.account].assuredPass) }
            let grant = right == .assured && best.account == 0 ? .unlisted : right
            dispatched.append(send(best.call, from: best.account, grant: grant, at: now))
            if let next = candidate(best.account, for: right, at: now) { candidates.push(next) }
        }
    }

    private struct Candidate: Comparable {
        /// It has a soft ceiling and is at it.
        let isBeyondCeiling: Bool
        let isQuiet: Bool
        let clock: Double
        let call: QueuedCall
        let account: Int

        static func < (left: Candidate, right: Candidate) -> Bool {
            if left.isBeyondCeiling != right.isBeyondCeiling { return right.isBeyondCeiling }
            if left.isQuiet != right.isQuiet { return left.isQuiet }
            if left.call.criticality != right.call.criticality { return left.call.criticality < right.call.criticality }
            if left.clock != right.clock { return left.clock < right.clock }
            return left.call < right.call
        }
    }

    /// `nil` when nothing of the account waits, or it has no right to more.
    private mutating func candidate(_ index: Int, for right: CallRight, at now: Timestamp) -> Candidate? {
        guard let call = head(of: index, at: now) else { return nil }
        if right == .assured {
            guard isAssured(index, at: now) else { return nil }
            return Candidate(
                isBeyondCeiling: false, isQuiet: isAlone && accounts[index].isQuiet, clock: accounts[index].assuredPass,
                call: call, account: index)
        }
        let isBeyondCeiling = !accounts[index].ceiling.admits(at: now)
        guard !isBeyondCeiling || accounts[index].hasSoftCeiling else { return nil }
        return Candidate(
            isBeyondCeiling: isBeyondCeiling, isQuiet: isAlone && accounts[index].isQuiet,
            clock: accounts[index].clock - ServiceOrder.urgency(until: calls[call.place].waiting.deadline, at: now),
            call: call, account: index)
    }

    /// The first of the queue that still waits and whose caller still does.
    mutating func head(of index: Int, at now: Timestamp) -> QueuedCall? {
        while let queued = accounts[index].queue.least {
            if calls.isWaiting(queued, at: now) { return queued }
            accounts[index].queue.removeLeast()
        }
        return nil
    }

    mutating func send(_ queued: QueuedCall, from index: Int, grant: CallRight, at now: Timestamp) -> Dispatch {
        accounts[index].queue.removeLeast()
        calls[queued.place].grant = grant
        calls[queued.place].attempts += 1
        let call = calls[queued.place]
        charge(call.waiting.estimate, account: index, grant: grant, at: now)
        counts.add(grant)
        return Dispatch(call: call.waiting, grant: grant, attempt: call.attempts)
    }
}

extension PoolGate.Counts {
    fileprivate mutating func add(_ grant: CallRight) {
        switch grant {
        case .assured: assured += 1
        case .lent: lent += 1
        case .drawn: drawn += 1
        case .unlisted: unlisted += 1
        case .unlimited: unlimited += 1
        }
    }
}
