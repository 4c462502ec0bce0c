import HeadroomModel

/// Estimates one pool's capacity from its telemetry: seconds book, inference, bounds (see the article
/// CapacityWithoutHeaders for the model).
///
///     lines ─▶ SecondBook ─▶ LimitEstimator ─▶ CapacityBounds ─▶ PoolCapacity
///        └───▶ UpstreamSignals: outcomes, latency, breakers, billing
///
/// A person's pin goes before everything. An overload says nothing about the quota and never enters the inference: it
/// opens the breaker (``UpstreamSignals``).
public struct CapacityEstimator: Sendable {
    /// What is left of the estimate while refusals feed on themselves.
    private static let brake = 0.25

    private(set) var policy: PoolPolicy
    private var settings: CapacityPolicy
    private var breakers: BreakerPolicy
    var book: SecondBook
    /// What the complete seconds say.
    var limits: LimitEstimator
    var bounds = CapacityBounds()
    var ramp = RampLimit()
    var signals: UpstreamSignals
    private var answers = EarlyAnswers()
    var calls = [Int](repeating: 0, count: Outcome.allCases.count)

    public init(
        policy: PoolPolicy, settings: CapacityPolicy, breakers: BreakerPolicy = BreakerPolicy(), at now: Timestamp
    ) {
        self.policy = policy
        self.settings = settings
        self.breakers = breakers
        book = SecondBook(resources: policy.nominal.resources, countsRefused: policy.countsRefused, at: now)
        limits = LimitEstimator(policy, settings: settings)
        signals = UpstreamSignals(at: now)
    }

    /// Other terms from now on. What is known of the limits goes with the limits that it is about; the rest stays.
    public mutating func follow(_ policy: PoolPolicy, settings: CapacityPolicy, breakers: BreakerPolicy) {
        let knowsLimits =
            policy.nominal == self.policy.nominal && policy.providerBurstSeconds == self.policy.providerBurstSeconds
            && policy.countsRefused == self.policy.countsRefused && settings == self.settings
        self.policy = policy
        self.settings = settings
        self.breakers = breakers
        book.resources = policy.nominal.resources
        book.countsRefused = policy.countsRefused
        guard !knowsLimits else { return }
        limits = LimitEstimator(policy, settings: settings)
        bounds.held = nil
    }

    // MARK: Fold

    /// Takes in a line that was read at `now`. Of lines read together, responses first: what they say of a call's outcome
    /// then counts from the start.
    public mutating func fold(_ record: TelemetryRecord, at now: Timestamp) {
        switch record {
        case .call(let call): fold(call, at: now)
        case .window(let window): fold(window, at: now)
        case .response(let response): fold(response, at: now)
        case .model(let model): if signals.fold(model, at: now) { limits.forgetHalf() }
        case .queue, .task: break
        }
    }

    private mutating func fold(_ call: CallRecord, at now: Timestamp) {
        var call = call
        var answer: EarlyAnswers.Answer?
        if call.outcome.isFailure {
            answer = answers.take(for: call, at: now)
            if let answer { call.outcome = Outcome(answer.kind) }
        }
        calls[call.outcome.rawValue] += 1
        if signals.fold(call, under: breakers, at: now) { limits.forgetHalf() }
        // Neither reached the upstream.
        guard call.outcome != .denied, call.outcome != .cached else { return }
        if answer == nil {
            if call.outcome == .ramp { ramp.noteRefusal(at: call.at) }
            if call.outcome == .billing { signals.billing.noteFailure(at: now) }
        }
        let countsRefused = policy.countsRefused
        let started = call.startedAt.second
        let work = call.work
        if call.outcome == .ok { book.delay.add(work.seconds(of: policy.nominal), ofSecond: started, at: now) }
        let tenth = Int((call.startedAt.milliseconds - started * 1000) * Int64(ObservedMoment.perSecond) / 1000)
        book.with(second: started) { second in
            guard call.outcome.isFailure else {
                second.attempts += 1
                second.deliver(work, largest: work, at: tenth)
                return
            }
            second.fail(
                FailedCall(
                    request: call.request?.fingerprint ?? 0, size: work, outcome: call.outcome,
                    exhausted: answer?.exhausted ?? [], isAnswered: answer != nil),
                countsRefused: countsRefused, at: tenth)
        }
    }

    /// A window's work is spread evenly over its seconds; what was refused in it counts at its end.
    private mutating func fold(_ window: WindowRecord, at now: Timestamp) {
        calls[Outcome.ok.rawValue] += Int(window.ok)
        calls[Outcome.quota.rawValue] += Int(window.quota)
        calls[Outcome.overload.rawValue] += Int(window.overload)
        calls[Outcome.error.rawValue] += Int(window.error)
        calls[Outcome.denied.rawValue] += Int(window.denied)
        signals.fold(window, under: breakers, at: now)
        let span = window.spannedSeconds
        let work = window.served * (1 / Double(span.count))
        let countsRefused = policy.countsRefused
        let last = ObservedMoment.perSecond - 1
        for second in span {
            book.delay.add(work.seconds(of: policy.nominal), ofSecond: second, at: now)
            book.with(second: second) { slot in
                slot.deliver(work, at: last)
                if second == span.upperBound {
                    slot.attempts += Int(max(0, window.requests - window.overload))
                    slot.overloads += Int(window.overload)
                    slot.fail(Int(window.quota), countsRefused: countsRefused, at: last)
                } else if window.ok > 0 {
                    slot.attempts += 1
                }
            }
        }
    }

    private mutating func fold(_ response: ResponseRecord, at now: Timestamp) {
        if signals.fold(response) { limits.forgetHalf() }
        if response.signal.kind == .ramp { ramp.noteRefusal(at: response.at) }
        let exhausted = response.signal.kind == .quota ? response.signal.exhausted : []
        let samples = response.samples(of: policy.nominal.resources)
        if response.signal.kind != .ok { foldFailure(response, exhausted, at: now) }
        if !samples.isEmpty {
            book.with(second: response.at.second) { second in
                for (resource, sample) in samples where (second.samples[resource]?.at ?? sample.at) <= sample.at {
                    second.samples[resource] = sample
                }
            }
        }
        bounds.note(response, of: policy.nominal.resources)
    }

    /// Corrects the call that was answered so, in the second in which the upstream took it. Where the call is not reported
    /// yet, the answer waits for it.
    private mutating func foldFailure(_ response: ResponseRecord, _ exhausted: ResourceSet, at now: Timestamp) {
        let outcome = Outcome(response.signal.kind)
        if let request = response.request?.fingerprint {
            if let before = book.correct(request, to: outcome, exhausted: exhausted) {
                if outcome == .billing, before != .billing { signals.billing.noteFailure(at: now) }
                return
            }
            answers.keep(
                EarlyAnswers.Answer(
                    kind: response.signal.kind, status: response.status, exhausted: exhausted, readAt: now),
                for: request)
        }
        if outcome == .billing { signals.billing.noteFailure(at: now) }
        if !exhausted.isEmpty { book.with(second: response.at.second) { $0.otherExhausted.formUnion(exhausted) } }
    }

    // MARK: Estimate

    /// Judges the seconds that are complete, and the provisional ones on a copy, and says what there is.
    public mutating func estimate(at now: Timestamp, pin: CapacityPin? = nil) -> PoolCapacity {
        bounds.headers.forget(after: settings.headerSeconds, at: now)
        bounds.longWindows.advance(to: now)
        signals.advance(to: now, breakers: policy.failover.isEmpty ? nil : breakers)
        limits.limits = bounds.headers.applied(to: policy.nominal, acceptsAbove: policy.acceptAboveContract)
        for page in book.takeComplete(at: now) {
            limits.fold(page)
            bounds.fold(page, of: policy.nominal.resources)
        }
        var latest = limits
        for page in book.provisional(at: now) { latest.fold(page) }
        return capacity(latest, pin: pin, at: now)
    }

    private mutating func capacity(_ latest: LimitEstimator, pin: CapacityPin?, at now: Timestamp) -> PoolCapacity {
        let recent = book.recent(at: now)
        var (capacity, reason) = bounds.bound(
            latest.estimate, within: latest.limits, of: policy.nominal, recent: recent,
            isSlow: signals.whole.latency.isFarOverBaseline, at: now)
        // A provider that charges refused attempts must be let alone until the debt is paid (see the article).
        let isBraked = policy.countsRefused && book.isSpiralling(at: now)
        if isBraked {
            capacity = capacity * Self.brake
            reason = .throttled
        }
        let breaker = policy.failover.isEmpty ? nil : signals.breaker.poolState
        if breaker != nil { reason = .overload }
        var confidence = latest.confidence
        if let pin, pin.authorship.holds(at: now) {
            capacity = capacity.map { resource, rate in pin.capacity[resource] ?? rate }
            reason = .manual
            confidence = 1
        }
        return PoolCapacity(
            pool: policy.pool, capacity: capacity, nominal: policy.nominal, reason: reason, confidence: confidence,
            state: breaker ?? bounds.state, models: policy.failover.isEmpty ? [] : signals.modelStates, calls: calls,
            recentAttempts: recent.attempts, recentRefusals: recent.refusals,
            upstream: UpstreamReport(
                whole: signals.whole.signals(at: now), channels: signals.channelReports(at: now),
                otherConsumers: bounds.taken(of: latest.limits), longWindows: bounds.longWindows.report,
                isBraked: isBraked, growth: ramp.part(at: now), billingFailureSince: signals.billing.since))
    }
}

extension Outcome {
    /// It reached the upstream and was not served.
    fileprivate var isFailure: Bool { self != .ok && self != .denied && self != .cached }

    fileprivate init(_ kind: ResponseKind) {
        self =
            switch kind {
            case .ok: .ok
            case .quota: .quota
            case .overload: .overload
            case .ramp: .ramp
            case .billing: .billing
            case .auth: .auth
            case .client: .client
            case .server: .server
            }
    }
}

extension ResponseRecord {
    /// What it says of what is left of each minute's limit, where it says all.
    fileprivate func samples(of resources: ResourceSet) -> [(Resource, OtherConsumers.Sample)] {
        signal.windows.compactMap { window in
            guard resources.contains(window.resource), (window.windowSeconds ?? 60) == 60,
                let limit = window.limit, let remaining = window.remaining, let reset = window.resetMilliseconds,
                limit >= 1, limit <= 1e12, remaining >= 0, remaining <= limit, reset >= 0, reset <= 3_600_000
            else { return nil }
            return (
                window.resource,
                OtherConsumers.Sample(at: at, limit: limit, remaining: remaining, resetSeconds: reset / 1000)
            )
        }
    }
}
