import HeadroomEnforcement
import HeadroomModel

/// What Headroom says, and what time brings.
extension PoolBudget {
    /// - Parameter boot: of this process, which draws if ``draw`` says how.
    func load(_ allocation: PoolAllocation?, epoch: Int64, boot: String, leaseUntil: Timestamp) {
        let now = time.now()
        settle(at: now) { state, resumptions in
            state.gate.load(allocation, leaseUntil: leaseUntil, at: now)
            if let mean = allocation?.meanOutputTokens, mean > 0 { state.estimator.expectedOutputTokens = mean }
            state.kinds.load(allocation?.enforce == true ? allocation?.taskKinds ?? [] : [], at: now)
            if draw != nil, state.epoch == 0, allocation?.enforce == true {
                state.gate.startDrawing(boot: boot, at: now)
            }
            if allocation?.enforce == true { state.epoch = epoch }
            if tasks.load(allocation?.enforce == true ? allocation?.tasks : nil, of: pool) {
                refuseStopped(&state, at: now, &resumptions)
            }
            dispatch(&state, at: now, &resumptions)
        }
    }

    func renew(leaseUntil: Timestamp) {
        let now = time.now()
        settle(at: now) { state, _ in state.gate.renew(leaseUntil: leaseUntil, at: now) }
    }

    func update(serviceClocks: [TenantID: Double]) {
        let now = time.now()
        settle(at: now) { state, _ in state.gate.update(serviceClocks: serviceClocks, at: now) }
    }

    /// The answer to a draw: what it grants may go.
    func receive(_ answer: DrawAnswer) {
        let now = time.now()
        settle(at: now) { state, resumptions in
            let granted = state.gate.receive(answer, at: now)
            note(granted, &state, at: now, &resumptions)
            dispatch(&state, at: now, &resumptions)
        }
    }

    /// What waits, for telemetry.
    func queues() -> [QueueRecord] {
        state.withLock { $0.gate.queues(at: time.now()) }
    }

    package struct Status: Sendable {
        package var allocation: PoolAllocation?
        package var isOnFallback: Bool
        package var counts: PoolGate.Counts
        package var waiting: Int
        package var inFlight: Int
        /// Calls since the start that were larger than anything that the pool or their tenants have.
        package var tooLarge: Int
        /// Calls since the start that came while this process was away.
        package var missed: Int
        package var isClosed: Bool
        /// Of the circuit breaker, by the snapshot or by this gateway's own calls; `nil` while it is closed.
        package var breaker: PoolState?
        /// Models whose breakers are open or half-open, ascending.
        package var brokenModels: [String]
    }

    package func status() -> Status {
        let now = time.now()
        return state.withLock { state in
            Status(
                allocation: state.gate.allocation, isOnFallback: state.gate.isOnFallback(at: now),
                counts: state.gate.counts, waiting: state.waiting, inFlight: state.entries.count - state.waiting,
                tooLarge: state.tooLarge, missed: Int(state.missed), isClosed: state.gate.isClosed(at: now),
                breaker: state.gate.breaker, brokenModels: state.gate.keptBackModels)
        }
    }

    /// Lets go what may go by now, and answers those whose patience has ended.
    package func serve() {
        let now = time.now()
        settle(at: now) { state, resumptions in
            dispatch(&state, at: now, &resumptions)
            while let next = state.patience.least, next.until <= now {
                _ = state.patience.popLeast()
                endPatience(of: next.id, &state, at: now, &resumptions)
            }
        }
    }

    /// The caller comes back at the time that it was given; its place is kept.
    func sendAway(_ id: Int, _ refusal: Refusal, _ state: inout State, at now: Timestamp) {
        state.entries[id]?.isAwaited = false
        state.entries[id]?.waiter = nil
        state.entries[id]?.toldWait = refusal.retryAfter
        state.entries[id]?.answerBy = now.adding(seconds: refusal.retryAfter?.inSeconds ?? 0)
    }

    func endPatience(
        of id: Int, _ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]
    ) {
        guard let entry = state.entries[id], entry.verdict == nil else { return }
        if entry.sentAt != nil {
            // Its turn came while its caller was away, and the caller has not come back.
            if !entry.isAwaited { drop(id, &state, at: now) }
        } else if entry.answerBy <= now, let waiter = entry.waiter {
            // One that is still on its way to wait is answered when it comes.
            let refusal = refusal(of: id, &state, at: now)
            if refusal.decision == .wait {
                sendAway(id, refusal, &state, at: now)
                resumptions.append((waiter, .refused(refusal)))
            } else {
                state.gate.withdraw(id, at: now)
                end(id, with: .refused(refusal), &state, at: now, &resumptions)
            }
        }
    }
}
