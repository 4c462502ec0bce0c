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
        /// The pool is broken: ask there.
        case diverted(PoolID)
    }

    private struct Entry {
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
        var waiter: CheckedContinuation<Answer, Never>?
        /// The caller comes for the answer later, whatever it is by then.
        var isAwaited: Bool
        /// What there was to say before the caller came.
        var verdict: Answer?
        /// When it had its turn; `nil` while it waits.
        var sentAt: Timestamp?
        var attempt = 0
    }

    private struct Patience: Comparable {
        let until: Timestamp
        let id: Int

        static func < (left: Patience, right: Patience) -> Bool { (left.until, left.id) < (right.until, right.id) }
    }

    private struct State {
        var gate: PoolGate
        /// By the snapshot in force.
        var kinds = TaskKindHold()
        var estimator = TokenEstimator(maxTenants: PoolBudget.maxEstimatedTenants)
        var entries: [Int: Entry] = [:]
        /// Those that have not had their turn.
        var waiting = 0
        var patience = Heap<Patience>()
        var nextID = 0
        var answers = 0
        /// Of the snapshot in force.
        var epoch: Int64 = 0
        var generator: SplitMix64
    }

    package let pool: PoolID
    private let gateway: GatewayID
    private let time: TimeSource
    private let reporter: Reporter
    /// Of the agent tasks; `nil`: they have no budgets.
    private let tasks: TaskBudgets?
    /// Calls ``serve()`` at the instant, or earlier.
    private let wake: @Sendable (Timestamp) -> Void
    /// The first pool of a fail-over list that can take calls.
    private let healthy: @Sendable ([PoolID]) -> PoolID?
    /// Sends a draw, and gives its answer to ``receive(_:)``. `nil`: it lends only.
    private let draw: (@Sendable (DrawRequest) -> Void)?
    private let broken = Atomic(false)
    private let state: Mutex<State>

    private static let maxEstimatedTenants = 10_000
    /// A place that had its turn while its caller was away is kept for so long after the time at which the caller should have come back.
    private static let graceSeconds = 3.0
    /// Of the provider's answers that say nothing new, one in so many is reported.
    private static let answersAReport = 20

    init(
        pool: PoolID, gateway: GatewayID, maxCalls: Int, seed: UInt64, time: TimeSource, reporter: Reporter,
        tasks: TaskBudgets?, draw: (@Sendable (DrawRequest) -> Void)?, wake: @escaping @Sendable (Timestamp) -> Void,
        healthy: @escaping @Sendable ([PoolID]) -> PoolID?
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
                generator: SplitMix64(seed: seed)))
    }

    /// Its breaker keeps work back.
    var isBroken: Bool { broken.load(ordering: .relaxed) }

    // MARK: Calls

    /// The call's turn, its refusal, or the pool to ask instead. Cancelling the task gives its place up.
    package func turn(for call: Call, arrivedAt arrival: Timestamp? = nil) async -> Answer {
        switch begin(call, arrivedAt: arrival, isAwaited: true) {
        case .answered(let answer, _): return answer
        case .waits(let id): return await wait(for: id)
        }
    }

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
    ///   - isAwaited: the caller asks ``wait(for:)`` for the answer if there is none yet.
    package func begin(
        _ call: Call, arrivedAt arrival: Timestamp? = nil, held: Double = 0, isAwaited: Bool
    ) -> Begun {
        let now = time.now()
        let patience = max(0, call.maxWait.inSeconds)
        return settle(at: now) { state, resumptions in
            let estimate = state.estimator.estimate(
                for: call.tenant, inputTokens: Double(call.inputTokens),
                maxTokens: call.maxOutputTokens.map(Double.init))
            state.nextID += 1
            let id = state.nextID
            let arrival = arrival ?? now.adding(seconds: -max(0, call.age.inSeconds))
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
                eligibleAt: now.adding(seconds: seconds), deadline: deadline)
            if let refusal = tasks?.reserve(call, estimate, in: pool, at: now) {
                return .answered(.refused(refusal), id: id)
            }
            guard state.gate.enqueue(waiting, at: now) else {
                tasks?.settle(call, estimate: estimate, actual: .zero, in: pool, at: now)
                return .answered(
                    .refused(
                        Refusal(
                            .wait, retryAfter: .seconds(1),
                            "\(pool) holds as many calls as this gateway may keep; come back when some have ended")),
                    id: id)
            }
            state.entries[id] = Entry(
                call: call, estimate: estimate, arrival: arrival, deadline: deadline, isHeld: held > 0,
                answerBy: answerBy, isAwaited: isAwaited)
            state.waiting += 1
            dispatch(&state, at: now, &resumptions)
            if let answer = takeAnswer(id, &state) { return .answered(answer, id: id) }
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
    private func refusal(of call: Call, held: TaskKindHold.Answer) -> Refusal {
        let kind = call.taskKind ?? ""
        var wait: Duration?
        if case .held(let seconds?) = held { wait = .milliseconds(max(20, Int64((seconds * 1000).rounded(.up)))) }
        let what =
            wait == nil
            ? "tasks of the kind \"\(kind)\" are paused in \(pool): their cost ceiling is reached"
            : "tasks of the kind \"\(kind)\" are slowed in \(pool): their cost ceiling is near"
        let decision: Refusal.Decision = call.fallback != .fail ? .fallback : wait == nil ? .fail : .wait
        return Refusal(decision, retryAfter: wait, exhausted: .cost, what)
    }

    /// The answer to a call that is in the queue, or comes back to it.
    package func wait(for id: Int) async -> Answer {
        await withTaskCancellationHandler {
            await withCheckedContinuation { attach($0, to: id) }
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
            guard seconds > 0 else { return .answered(.refused(refusal(of: id, &state, at: now)), id: id) }
            entry.isAwaited = true
            entry.answerBy = now.adding(seconds: seconds)
            state.entries[id] = entry
            state.patience.push(Patience(until: entry.answerBy, id: id))
            return .waits(id)
        }
    }

    private func attach(_ waiter: CheckedContinuation<Answer, Never>, to id: Int) {
        let answer: Answer? = state.withLock { state in
            guard state.entries[id] != nil else { return .refused(Self.gone) }
            if let answer = takeAnswer(id, &state) { return answer }
            state.entries[id]?.waiter = waiter
            state.entries[id]?.isAwaited = true
            return nil
        }
        if let answer { waiter.resume(returning: answer) }
    }

    private static let gone = Refusal(.fail, "the call was given up before its turn")

    /// What there is to say already; the entry of a call that goes nowhere ends with it.
    private func takeAnswer(_ id: Int, _ state: inout State) -> Answer? {
        guard let entry = state.entries[id] else { return nil }
        if let verdict = entry.verdict {
            state.entries[id] = nil
            return verdict
        }
        return turn(id, entry).map { .turn($0) }
    }

    private func turn(_ id: Int, _ entry: Entry) -> Turn? {
        guard let sentAt = entry.sentAt else { return nil }
        return Turn(
            budget: self, id: id, estimatedTokens: Int(entry.estimate[.tokens].rounded()),
            waitedMilliseconds: max(0, sentAt.milliseconds - entry.arrival.milliseconds), attempt: entry.attempt)
    }

    private func cancel(_ id: Int) {
        settle(at: time.now()) { state, resumptions in
            guard let entry = state.entries[id], entry.sentAt == nil else { return }
            forget(id, &state)
            state.gate.withdraw(id, at: time.now())
            if let waiter = entry.waiter { resumptions.append((waiter, .refused(Self.gone))) }
        }
    }

    // MARK: Ends

    /// What the call really cost replaces the estimate; a refused call goes back to the head of its queue.
    package func finish(_ id: Int, _ end: CallEnd) -> Advice {
        let now = time.now()
        return settle(at: now) { state, resumptions in
            guard let entry = state.entries[id], let sentAt = entry.sentAt else {
                return Advice(kind: .ok, retry: .never)
            }
            let signal = signal(of: end, entry.call, at: now)
            report(end, signal, entry, sentAt, &state, at: now)
            defer { dispatch(&state, at: now, &resumptions) }
            switch signal.kind {
            case .ok:
                let actual = actual(end, entry)
                state.gate.settle(id, actual: actual, at: now)
                if end.outputTokens != nil {
                    state.estimator.learn(
                        from: entry.call.tenant, outputTokens: actual[.outputTokens],
                        maxTokens: entry.call.maxOutputTokens.map(Double.init))
                }
                // Limits hold for a while; what remains of them is as old as the call.
                state.gate.observe(signal.withoutRemainders, at: now)
                forget(id, actual: actual, &state)
                return Advice(kind: .ok, retry: .never)
            case .quota, .overload, .ramp:
                state.gate.observe(signal, at: now)
                let retry = state.gate.refused(
                    id, resetSeconds: signal.retryAfterMilliseconds.map { $0 / 1000 },
                    jitter: Double.random(in: 0..<1, using: &state.generator), at: now)
                guard case .waits(let until) = retry else {
                    forget(id, &state)
                    return Advice(kind: signal.kind, retry: .never)
                }
                state.entries[id]?.sentAt = nil
                state.entries[id]?.isAwaited = false
                state.entries[id]?.answerBy = until
                state.waiting += 1
                return Advice(kind: signal.kind, retry: .after(.milliseconds(until.milliseconds - now.milliseconds)))
            case .billing, .auth, .client, .server:
                state.gate.settle(id, actual: .zero, at: now)
                forget(id, &state)
                return Advice(kind: signal.kind, retry: .never)
            }
        }
    }

    /// Nobody says how the call ended: it cost what was estimated.
    package func abandon(_ id: Int) {
        _ = finish(id, .unknown)
    }

    /// The call was not sent, or its caller has gone: it gives everything back.
    package func withdraw(_ id: Int) {
        let now = time.now()
        settle(at: now) { state, resumptions in
            guard let entry = state.entries[id] else { return }
            if entry.sentAt == nil {
                drop(id, &state, at: now)
            } else {
                // Its caller had its turn and has changed its mind: nobody was denied anything.
                state.gate.withdraw(id, at: now)
                forget(id, &state)
            }
            dispatch(&state, at: now, &resumptions)
        }
    }

    /// Refuses all calls that wait, and says how many they were.
    func refuseWaiting() -> Int {
        let now = time.now()
        return settle(at: now) { state, resumptions in
            let ids = state.entries.filter { $0.value.sentAt == nil && $0.value.verdict == nil }.keys.sorted()
            for id in ids {
                state.gate.withdraw(id, at: now)
                end(id, with: .refused(Self.stopping), &state, at: now, &resumptions)
            }
            return ids.count
        }
    }

    private static let stopping = Refusal(.fail, "the gateway is stopping")

    private func drop(_ id: Int, _ state: inout State, at now: Timestamp) {
        state.gate.withdraw(id, at: now)
        if let entry = forget(id, &state) { reportDenied(entry, at: now) }
    }

    /// - Parameter actual: what it has cost.
    @discardableResult
    private func forget(_ id: Int, actual: Work = .zero, _ state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: id) else { return nil }
        tasks?.settle(entry.call, estimate: entry.estimate, actual: actual, in: pool, at: time.now())
        if entry.sentAt == nil, entry.verdict == nil { state.waiting -= 1 }
        return entry
    }

    private func actual(_ end: CallEnd, _ entry: Entry) -> Work {
        let input = end.inputTokens.map(Double.init) ?? entry.estimate[.inputTokens]
        let output = end.outputTokens.map(Double.init) ?? entry.estimate[.outputTokens]
        return Work(requests: 1, tokens: input + output, inputTokens: input, outputTokens: output)
    }

    private func signal(of end: CallEnd, _ call: Call, at now: Timestamp) -> ProviderSignal {
        switch end.what {
        case .outcome(let kind): ProviderSignal(kind: kind)
        case .unknown: ProviderSignal(kind: .ok)
        case .answer(let status, let headers, let body):
            ProviderClassifier.classify(
                ProviderResponse(
                    provider: call.provider ?? pool.text, status: status, headers: headers, body: body,
                    receivedAt: now))
        }
    }

    // MARK: Telemetry

    private func report(
        _ end: CallEnd, _ signal: ProviderSignal, _ entry: Entry, _ sentAt: Timestamp, _ state: inout State,
        at now: Timestamp
    ) {
        var record = record(of: entry, outcome: Outcome(signal.kind), at: now)
        record.attempt = max(1, entry.attempt)
        if case .unknown = end.what {
            // When it ended is not known, so nothing is said of its latency.
            record.at = sentAt
        } else {
            record.latencyMilliseconds =
                end.latency.map { max(0, $0.inSeconds * 1000) } ?? max(0, 1000 * now.seconds(since: sentAt))
        }
        record.queuedMilliseconds = max(0, 1000 * sentAt.seconds(since: entry.arrival))
        if signal.kind == .ok {
            record.inputTokens = end.inputTokens.map(Int64.init) ?? Int64(entry.estimate[.inputTokens])
            record.outputTokens = end.outputTokens.map(Int64.init) ?? Int64(entry.estimate[.outputTokens])
            record.cachedInputTokens = end.cachedInputTokens.map(Int64.init)
        } else {
            record.countedTokens = Int64(entry.estimate[.tokens].rounded())
        }
        guard case .answer(let status, let headers, let body) = end.what else {
            reporter.append(.call(record))
            return
        }
        record.status = status
        reporter.append(.call(record))
        state.answers += 1
        guard signal.kind != .ok || state.answers % Self.answersAReport == 1 else { return }
        let response = ResponseRecord(
            at: now, request: entry.call.request, gateway: gateway, pool: pool, model: entry.call.model,
            endpoint: entry.call.endpoint, provider: entry.call.provider, status: status, signal: signal)
        reporter.append(
            .response(response), headers: headers.filter { Self.isTold($0.name.lowercased()) },
            body: signal.kind == .ok
                ? nil : body.map { String(decoding: $0.utf8.prefix(Self.maxBodyBytes), as: UTF8.self) })
    }

    private func reportDenied(_ entry: Entry, at now: Timestamp) {
        var record = record(of: entry, outcome: .denied, at: now)
        record.queuedMilliseconds = max(0, 1000 * now.seconds(since: entry.arrival))
        record.countedTokens = Int64(entry.estimate[.tokens].rounded())
        reporter.append(.call(record))
    }

    private func record(of entry: Entry, outcome: Outcome, at now: Timestamp) -> CallRecord {
        let call = entry.call
        return CallRecord(
            request: call.request, at: now, gateway: gateway, tenant: call.tenant, pool: pool, model: call.model,
            endpoint: call.endpoint, criticality: call.criticality, task: call.task, parent: call.parent,
            outcome: outcome, inputTokens: Int64(max(0, call.inputTokens)),
            maxTokens: call.maxOutputTokens.map(Int64.init), taskKind: call.taskKind)
    }

    private static let maxBodyBytes = 4096

    /// The headers that speak of limits and waits. The others are the tenant's business.
    private static func isTold(_ header: String) -> Bool {
        header.contains("ratelimit") || header.contains("rate-limit") || header.hasPrefix("retry-after")
            || header == "date"
    }

    // MARK: Snapshots and time

    /// - Parameter boot: of this process, which draws if ``draw`` says how.
    func load(_ allocation: PoolAllocation?, epoch: Int64, boot: String, leaseUntil: Timestamp) {
        let now = time.now()
        settle(at: now) { state, resumptions in
            state.gate.load(allocation, leaseUntil: leaseUntil, at: now)
            state.kinds.load(allocation?.enforce == true ? allocation?.taskKinds ?? [] : [], at: now)
            if draw != nil, state.epoch == 0, allocation?.enforce == true {
                state.gate.startDrawing(boot: boot, at: now)
            }
            if allocation?.enforce == true { state.epoch = epoch }
            broken.store(allocation?.keptBack != nil, ordering: .relaxed)
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
    }

    package func status() -> Status {
        let now = time.now()
        return state.withLock { state in
            Status(
                allocation: state.gate.allocation, isOnFallback: state.gate.isOnFallback(at: now),
                counts: state.gate.counts, waiting: state.waiting, inFlight: state.entries.count - state.waiting)
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
    private func sendAway(_ id: Int, _ refusal: Refusal, _ state: inout State, at now: Timestamp) {
        state.entries[id]?.isAwaited = false
        state.entries[id]?.waiter = nil
        state.entries[id]?.answerBy = now.adding(seconds: refusal.retryAfter?.inSeconds ?? 0)
    }

    private func endPatience(
        of id: Int, _ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]
    ) {
        guard let entry = state.entries[id] else { return }
        if entry.sentAt != nil {
            // Its turn came while its caller was away, and the caller has not come back.
            if !entry.isAwaited { drop(id, &state, at: now) }
        } else if entry.answerBy <= now, entry.isAwaited {
            let refusal = refusal(of: id, &state, at: now)
            if refusal.decision == .wait {
                sendAway(id, refusal, &state, at: now)
                if let waiter = entry.waiter { resumptions.append((waiter, .refused(refusal))) }
            } else {
                state.gate.withdraw(id, at: now)
                end(id, with: .refused(refusal), &state, at: now, &resumptions)
            }
        }
    }

    // MARK: What may go

    private typealias Resumption = (waiter: CheckedContinuation<Answer, Never>, answer: Answer)

    /// Runs `change` under the lock, sets the alarm for what still waits, and then wakes whoever was answered.
    private func settle<Result>(
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
            return result
        }
        for resumption in resumptions { resumption.waiter.resume(returning: resumption.answer) }
        if let next { wake(next) }
        if let request { draw?(request) }
        return result
    }

    /// Answers, in this order, those whose patience has ended, those that may go, and those that another pool may take.
    private func dispatch(_ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]) {
        guard state.waiting > 0 else { return }
        for call in state.gate.expire(at: now) {
            let refusal = timeout(of: call, &state, at: now)
            end(call.id, with: .refused(refusal), &state, at: now, &resumptions)
        }
        note(state.gate.dispatch(at: now), &state, at: now, &resumptions)
        if isBroken, let failover = state.gate.allocation?.failover, let other = healthy(failover) {
            for call in state.gate.divert(at: now) {
                end(call.id, with: .diverted(other), &state, at: now, &resumptions)
            }
        }
    }

    /// These have their turn.
    private func note(
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
                let kept = max(now, entry.answerBy).adding(seconds: Self.graceSeconds)
                state.patience.push(Patience(until: kept, id: id))
            }
            state.entries[id] = entry
        }
    }

    /// The call is out of the gate, and `answer` is what its caller hears.
    private func end(
        _ id: Int, with answer: Answer, _ state: inout State, at now: Timestamp, _ resumptions: inout [Resumption]
    ) {
        guard var entry = forget(id, &state) else { return }
        if case .refused = answer { reportDenied(entry, at: now) }
        if let waiter = entry.waiter {
            resumptions.append((waiter, answer))
        } else if entry.isAwaited {
            entry.verdict = answer
            state.entries[id] = entry
        }
    }

    private func timeout(of call: WaitingCall, _ state: inout State, at now: Timestamp) -> Refusal {
        // Its own time has ended, so nothing is known of a later one.
        guard let entry = state.entries[call.id] else { return Self.gone }
        return refusal(of: entry, nil, until: nil, &state, at: now)
    }

    private func refusal(of id: Int, _ state: inout State, at now: Timestamp) -> Refusal {
        guard let entry = state.entries[id] else { return Self.gone }
        return refusal(of: entry, id, until: entry.isHeld ? entry.deadline : nil, &state, at: now)
    }

    private func refusal(
        of entry: Entry, _ id: Int?, until deadline: Timestamp?, _ state: inout State, at now: Timestamp
    ) -> Refusal {
        let call = entry.call
        let forecast = state.gate.forecast(of: id, tenant: call.tenant, criticality: call.criticality, at: now)
        let exhausted = forecast.exhausted.map(Refusal.Exhausted.init)
        let wait = forecast.at.map {
            Duration.milliseconds(max(Self.leastWaitMilliseconds, $0.milliseconds - now.milliseconds))
        }
        let short = exhausted == .requests ? "requests" : "tokens"
        if let at = forecast.at, deadline.map({ at < $0 }) ?? (call.fallback == .fail) {
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

    /// Sooner, nothing will have changed.
    private static let leastWaitMilliseconds: Int64 = 20
}

extension ProviderSignal {
    /// Only the limits that it states, and how long they hold.
    fileprivate var withoutRemainders: ProviderSignal {
        var signal = self
        for index in signal.windows.indices { signal.windows[index].remaining = nil }
        return signal
    }
}

extension Outcome {
    fileprivate init(_ kind: ResponseKind) {
        switch kind {
        case .ok: self = .ok
        case .quota: self = .quota
        case .overload: self = .overload
        case .ramp: self = .ramp
        case .billing: self = .billing
        case .auth: self = .auth
        case .client: self = .client
        case .server: self = .server
        }
    }
}
