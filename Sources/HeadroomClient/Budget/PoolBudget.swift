import HeadroomEnforcement
import HeadroomModel
import HeadroomProviders
import Synchronization

/// One pool's calls at this gateway: ``PoolGate`` decides whose turn it is, this wakes the callers.
///
/// Whatever changes what may go (a call, its end, a snapshot, time) goes through ``settle(_:at:_:)``, under one lock.
package final class PoolBudget: Sendable {
    /// A call that may be sent.
    package struct Turn: Sendable {
        package let budget: PoolBudget
        package let id: Int
        package let estimatedTokens: Int
        package let waitedMilliseconds: Int64
        /// 1 for the first.
        package let attempt: Int
    }

    package enum Answer: Sendable {
        case turn(Turn)
        case refused(Refusal)
        /// A circuit breaker keeps the call back here: another pool takes it.
        case diverted(Diversion)
    }

    /// A call that goes to another pool of the fail-over list.
    package final class Diversion: Sendable {
        package let budget: PoolBudget
        let call: Call
        let arrival: Timestamp

        init(to budget: PoolBudget, _ call: Call, arrival: Timestamp) {
            self.budget = budget
            self.call = call
            self.arrival = arrival
        }
    }

    struct Entry {
        let call: Call
        let estimate: Work
        let arrival: Timestamp
        /// When its place in the queue is given up.
        let deadline: Timestamp
        /// The place is kept for a while after the caller's patience has ended.
        let isHeld: Bool
        /// When its caller is answered, if it has not had its turn by then; of one who was sent away, when it comes back.
        var answerBy: Timestamp
        /// Who waits for it.
        var waiter: Waiter?
        /// The caller comes for the answer later, whatever it is by then.
        var isAwaited: Bool
        /// What there was to say before the caller came.
        var verdict: Answer?
        /// The wait that the last answer to its caller named.
        var toldWait: Duration?
        /// When it had its turn; `nil` while it waits.
        var sentAt: Timestamp?
        var attempt = 0

        var isSent: Bool { sentAt != nil }
    }

    /// A caller that waits for its answer.
    ///
    /// A class, since only the runtime knows the layout of a continuation: as a field it would make every copy of an
    /// ``Entry`` a call into the runtime.
    final class Waiter: Sendable {
        private let continuation: CheckedContinuation<Answer, Never>

        init(_ continuation: CheckedContinuation<Answer, Never>) {
            self.continuation = continuation
        }

        /// Once.
        func resume(returning answer: Answer) { continuation.resume(returning: answer) }
    }

    struct Patience: Comparable {
        let until: Timestamp
        let id: Int

        static func < (left: Patience, right: Patience) -> Bool { (left.until, left.id) < (right.until, right.id) }
    }

    struct State {
        var gate: PoolGate
        /// By the snapshot in force.
        var kinds = TaskKindHold()
        var estimator: TokenEstimator
        var entries = EntryTable()
        /// Those that have not had their turn.
        var waiting = 0
        /// Calls since the start that no waiting would have helped.
        var tooLarge = 0
        /// Calls since the start that came while this process was away.
        var missed: Int64 = 0
        var patience = Heap<Patience>()
        var answers = 0
        /// Of the snapshot in force.
        var epoch: Int64 = 0
        var generator: SplitMix64
        /// The ``PoolGate/breakerChanges`` that other pools know of.
        var toldBreakerChanges = 0
        /// When calls that breakers keep back were last looked through, and at which changes.
        var divertedAt: Timestamp?
        var divertedChanges = 0
    }

    /// What the circuit breakers here keep back.
    private struct Broken {
        var isWhole = false
        var models: [String] = []
    }

    package let pool: PoolID
    let gateway: GatewayID
    let time: TimeSource
    let reporter: Reporter
    let tasks: TaskBudgets
    /// Calls ``serve()`` at the instant, or earlier.
    let wake: @Sendable (Timestamp) -> Void
    /// The first pool of a fail-over list that can take calls for the model.
    let healthy: @Sendable ([PoolID], String?) -> PoolBudget?
    /// Sends a draw, and gives its answer to ``receive(_:)``. `nil`: it lends only.
    let draw: (@Sendable (DrawRequest) -> Void)?
    let state: Mutex<State>
    /// Apart, because other pools ask for it while they hold their own state. Nothing else is locked while it is held.
    private let broken = Mutex(Broken())

    private static let maxEstimatedTenants = 10_000

    init(
        pool: PoolID, gateway: GatewayID, maxCalls: Int, defaultOutputTokens: Int, seed: UInt64, time: TimeSource,
        reporter: Reporter,
        tasks: TaskBudgets, draw: (@Sendable (DrawRequest) -> Void)?, wake: @escaping @Sendable (Timestamp) -> Void,
        healthy: @escaping @Sendable ([PoolID], String?) -> PoolBudget?
    ) {
        self.pool = pool
        self.gateway = gateway
        self.time = time
        self.reporter = reporter
        self.tasks = tasks
        self.draw = draw
        self.wake = wake
        self.healthy = healthy
        state = Mutex(
            State(
                gate: PoolGate(pool: pool, gateway: gateway, maxCalls: maxCalls, at: time.now()),
                estimator: TokenEstimator(
                    maxTenants: PoolBudget.maxEstimatedTenants,
                    expectedOutputTokens: Double(CallBounds.tokens(defaultOutputTokens))),
                generator: SplitMix64(seed: seed)))
    }

    /// No breaker keeps calls for the model back.
    func takes(model: String?) -> Bool {
        broken.withLock { broken in !broken.isWhole && !(model.map(broken.models.contains) ?? false) }
    }

    /// What other pools will hear.
    func tell(of gate: PoolGate) {
        let told = Broken(isWhole: gate.breaker != nil, models: gate.keptBackModels)
        broken.withLock { $0 = told }
    }

    // MARK: Calls

    /// The call's turn, its refusal, or the pool to ask instead. Cancelling the task gives its place up.
    package func turn(for call: Call, arrivedAt arrival: Timestamp? = nil) async -> Answer {
        switch begin(call, arrivedAt: arrival, isAwaited: true) {
        case .answered(let answer, _): return answer
        case .waits(let id): return await wait(for: id)
        }
    }

    /// The turn in the pool that takes the call, wherever `answer` sends it. Throws the refusal.
    static func follow(_ answer: Answer) async throws(Refusal) -> Turn {
        var answer = answer
        // A list of pools that are broken in turn comes to an end.
        for _ in 0..<maxDiversions {
            switch answer {
            case .turn(let turn): return turn
            case .refused(let refusal): throw refusal
            case .diverted(let way): answer = await way.budget.turn(for: way.call, arrivedAt: way.arrival)
            }
        }
        throw allBroken
    }

    package static let maxDiversions = 8
    package static let allBroken = Refusal(.fail, "the pool of the call and the pools that it fails over to are broken")

    package enum Begun: Sendable {
        /// With its name here: a place may be kept for a caller who was refused.
        case answered(Answer, id: Int)
        /// In the queue; ``wait(for:)`` has the answer.
        case waits(Int)
    }

    /// Enqueues the call. Without patience it is answered at once.
    /// - Parameters:
    ///   - arrival: when it came, if that was earlier: another pool had it first, say.
    ///   - held: how long after its patience the call's place is kept for a caller who comes back, in seconds.
    ///   - patience: in seconds; `nil`: the call's own.
    ///   - isAwaited: the caller asks ``wait(for:)`` for the answer if there is none yet.
    package func begin(
        _ call: Call, arrivedAt arrival: Timestamp? = nil, patience: Double? = nil, held: Double = 0, isAwaited: Bool
    ) -> Begun {
        let now = time.now()
        let call = call.bounded
        let patience = max(0, patience ?? call.maxWait.inSeconds)
        return settle(at: now) { state, resumptions in
            let estimate = state.estimator.estimate(
                for: call.tenant, model: call.model, inputTokens: Double(call.inputTokens),
                maxTokens: call.maxOutputTokens.map(Double.init))
            let id = state.entries.nextID
            if state.gate.isClosed(at: now) {
                return .answered(.refused(closedRefusal(of: call)), id: id)
            }
            if let excess = state.gate.excess(of: estimate, tenant: call.tenant) {
                state.tooLarge += 1
                return .answered(.refused(refusal(of: call, estimate, excess)), id: id)
            }
            let arrival = arrival ?? now.adding(seconds: -call.age.inSeconds)
            let answerBy = now.adding(seconds: patience)
            // A deadline of now would be past before the gate looks.
            let deadline = max(answerBy.adding(seconds: held), now.adding(seconds: 0.001))
            let hold = state.kinds.ask(call.taskKind, patience: patience, at: now)
            guard case .goes(let seconds) = hold else {
                let refusal = refusal(of: call, held: hold)
                let entry = Entry(
                    call: call, estimate: estimate, arrival: arrival, deadline: deadline, isHeld: false,
                    answerBy: answerBy, isAwaited: false)
                reportDenied(entry, at: now)
                return .answered(.refused(refusal), id: id)
            }
            let waiting = WaitingCall(
                id: id, tenant: call.tenant, criticality: call.criticality, estimate: estimate, arrival: arrival,
                eligibleAt: now.adding(seconds: seconds), deadline: deadline, model: call.model)
            let tier = call.task == nil ? nil : state.gate.tier(of: call.tenant)
            if let refusal = tasks.reserve(call, estimate, tier: tier, in: pool, at: now) {
                return .answered(.refused(refusal), id: id)
            }
            if state.gate.admit(waiting, at: now) != nil {
                var entry = Entry(
                    call: call, estimate: estimate, arrival: arrival, deadline: deadline, isHeld: held > 0,
                    answerBy: answerBy, isAwaited: isAwaited)
                entry.sentAt = now
                entry.attempt = 1
                let turn = turn(id, entry, sentAt: now)
                if !isAwaited { keep(id, entry, &state, at: now) }
                state.entries.insert(consume entry)
                return .answered(.turn(turn), id: id)
            }
            guard state.entries.count < EntryTable.maxCount, state.gate.enqueue(waiting, at: now) else {
                tasks.settle(call, estimate: estimate, actual: .zero)
                return .answered(
                    .refused(
                        Refusal(
                            .wait, retryAfter: .seconds(1),
                            "\(pool) holds as many calls as this gateway may keep; come back when some have ended")),
                    id: id)
            }
            state.entries.insert(
                Entry(
                    call: call, estimate: estimate, arrival: arrival, deadline: deadline, isHeld: held > 0,
                    answerBy: answerBy, isAwaited: isAwaited))
            state.waiting += 1
            dispatch(&state, at: now, &resumptions)
            if let answer = takeAnswer(id, &state) { return .answered(answer, id: id) }
            if let answer = leave(id, &state, at: now) { return .answered(answer, id: id) }
            if patience > 0 {
                if held > 0 { state.patience.push(Patience(until: answerBy, id: id)) }
                return .waits(id)
            }
            let refusal = refusal(of: id, &state, at: now)
            if held > 0, refusal.decision == .wait {
                sendAway(id, refusal, &state, at: now)
            } else {
                drop(id, &state, at: now)
            }
            return .answered(.refused(refusal), id: id)
        }
    }

    /// Of a call whose kind of task the cost breaker holds.
    func refusal(of call: Call, held: TaskKindHold.Answer) -> Refusal {
        let kind = call.taskKind ?? ""
        var wait: Duration?
        if case .held(let seconds?) = held {
            wait = .milliseconds(max(Self.leastWaitMilliseconds, Int64(saturating: (seconds * 1000).rounded(.up))))
        }
        let what =
            wait == nil
            ? "tasks of the kind \"\(kind)\" are paused in \(pool): their cost ceiling is reached"
            : "tasks of the kind \"\(kind)\" are slowed in \(pool): their cost ceiling is near"
        let decision: Refusal.Decision = call.fallback != .fail ? .fallback : wait == nil ? .fail : .wait
        return Refusal(decision, retryAfter: wait, exhausted: .cost, what)
    }

    private func closedRefusal(of call: Call) -> Refusal {
        Refusal(
            call.fallback == .fail ? .fail : .fallback,
            "Headroom has not answered for so long that the policy closes \(pool): no call passes until it does")
    }

    /// Of a call that is larger than anything that its pool or its tenant will have.
    private func refusal(of call: Call, _ estimate: Work, _ excess: PoolGate.Excess) -> Refusal {
        let wanted = GroupedNumber.whole(estimate[excess.resource])
        let most = RateText.sentence(excess.perMinute, excess.resource)
        let whose = excess.isOfTenant ? "\(call.tenant) may use at most \(most) of \(pool)" : "\(pool) has \(most)"
        return Refusal(
            call.fallback == .fail ? .shrink : .fallback, exhausted: Refusal.Exhausted(excess.resource),
            "the call is expected to take \(wanted) \(excess.resource.words), and \(whose): no waiting helps; send less, "
                + "or in parts, or bound the answer")
    }

    /// The answer to a call that is in the queue, or comes back to it.
    package func wait(for id: Int) async -> Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { attach(Waiter($0), to: id) }
        } onCancel: {
            cancel(id)
        }
    }

    /// A caller comes back for a place that was held for it. `nil` when it is gone.
    /// - Parameter seconds: its patience now.
    package func claim(_ id: Int, seconds: Double) -> Begun? {
        let now = time.now()
        return settle(at: now) { state, _ -> Begun? in
            guard var entry = state.entries[id], !entry.isAwaited, entry.waiter == nil else { return nil }
            if entry.sentAt != nil {
                entry.isAwaited = true
                state.entries[id] = entry
                return turn(id, entry).map { .answered(.turn($0), id: id) }
            }
            if let answer = leave(id, &state, at: now) { return .answered(answer, id: id) }
            guard seconds > 0 else {
                let refusal = refusal(of: id, &state, at: now)
                if refusal.decision == .wait { sendAway(id, refusal, &state, at: now) }
                return .answered(.refused(refusal), id: id)
            }
            entry.isAwaited = true
            entry.answerBy = now.adding(seconds: seconds)
            state.entries[id] = entry
            state.patience.push(Patience(until: entry.answerBy, id: id))
            return .waits(id)
        }
    }

    private func attach(_ waiter: Waiter, to id: Int) {
        let now = time.now()
        var resumptions: [Resumption] = []
        let answer: Answer? = state.withLock { state in
            guard let entry = state.entries[id] else { return .refused(Self.gone) }
            if let answer = takeAnswer(id, &state) ?? leave(id, &state, at: now) { return answer }
            state.entries[id]?.waiter = waiter
            state.entries[id]?.isAwaited = true
            // Its patience may have ended on the way here.
            if entry.isAwaited { endPatience(of: id, &state, at: now, &resumptions) }
            return nil
        }
        if let answer { waiter.resume(returning: answer) }
        for resumption in resumptions { resumption.waiter.resume(returning: resumption.answer) }
    }

    static let gone = Refusal(.fail, "the call was given up before its turn")

    /// What there is to say already; the entry of a call that goes nowhere ends with it.
    func takeAnswer(_ id: Int, _ state: inout State) -> Answer? {
        guard let entry = state.entries[id] else { return nil }
        if let verdict = entry.verdict {
            state.entries.remove(id)
            return verdict
        }
        return turn(id, entry).map { .turn($0) }
    }

    func turn(_ id: Int, _ entry: Entry) -> Turn? {
        entry.sentAt.map { turn(id, entry, sentAt: $0) }
    }

    private func turn(_ id: Int, _ entry: Entry, sentAt: Timestamp) -> Turn {
        Turn(
            budget: self, id: id, estimatedTokens: Int(Int64(saturating: entry.estimate[.tokens])),
            waitedMilliseconds: max(0, sentAt.milliseconds - entry.arrival.milliseconds), attempt: entry.attempt)
    }

    /// The caller has gone before its turn: its place is free at once.
    package func cancel(_ id: Int) {
        settle(at: time.now()) { state, resumptions in
            guard let entry = state.entries[id], entry.sentAt == nil else { return }
            forget(id, &state)
            state.gate.withdraw(id, at: time.now())
            if let waiter = entry.waiter { resumptions.append((waiter, .refused(Self.gone))) }
        }
    }
}
