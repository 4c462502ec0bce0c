import HeadroomModel

/// Estimates one pool's capacity from its telemetry.
///
/// Seconds of calls, by the moment at which the upstream took them, go through a ``LimitEstimator``: for good once they
/// are reported in full, and before that on trial, scaled up by how much of a second is usually reported at its age
/// (``ReportingDelay``). Judged late, a drop would be seen late; judged as reported, calls in flight would look like capacity
/// that is gone. The provider's own word bounds the estimate (``HeaderLimits``, ``LongWindowLimits``,
/// ``OtherConsumers``), latency far over its baseline keeps it from rising, and a person's pin goes before everything.
/// An overload says nothing about the quota and never enters: it opens the breaker (``UpstreamSignals``).
public struct CapacityEstimator: Sendable {
    /// Attempts and refusals of one of the last ten seconds.
    struct Recent: Equatable, Sendable {
        var second: Int64
        var attempts: Int
        var refusals: Int
    }

    /// A second is judged for good when this part of its work is usually reported, and on trial from half of it on: below
    /// that, scaling up makes noise.
    private static let complete = 0.98
    private static let onTrial = 0.5
    static let recentSeconds: Int64 = 10
    /// A second stays open for so long at least, so that late responses can correct what calls said.
    private static let correctionSeconds = 5
    static let historySeconds: Int64 = 60
    /// Seconds that are kept open; clocks that run ahead must not take more.
    static let maxOpen = 600

    private(set) var policy: PoolPolicy
    private(set) var settings: CapacityPolicy
    private var breakers: BreakerPolicy
    /// What the seconds that were judged for good say.
    var limits: LimitEstimator
    var delay: ReportingDelay
    var headers = HeaderLimits()
    var longWindows = LongWindowLimits()
    /// Lanes in the order of ``Resource``.
    var others = [OtherConsumers](repeating: OtherConsumers(), count: Resource.allCases.count)
    var ramp = RampLimit()
    var signals: UpstreamSignals
    private var answers = EarlyAnswers()
    /// Not yet judged for good, by second; at most a few entries.
    var open: [Int64: Second] = [:]
    var judgedThrough: Int64
    var recent: [Recent] = []
    var meanRequest: Work
    var lastExhausted: ResourceSet = []
    var calls = [Int](repeating: 0, count: Outcome.allCases.count)
    var state = PoolState.healthy
    /// What was said last, while latency keeps it from rising.
    var held: Rates?
    /// Refused calls that the provider counts are being paid off.
    var isBraked = false

    public init(
        policy: PoolPolicy, settings: CapacityPolicy, breakers: BreakerPolicy = BreakerPolicy(), at now: Timestamp
    ) {
        self.policy = policy
        self.settings = settings
        self.breakers = breakers
        limits = LimitEstimator(policy, settings)
        meanRequest = Work(requests: 1)
        judgedThrough = now.second - 1
        delay = ReportingDelay(at: now)
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
        guard !knowsLimits else { return }
        limits = LimitEstimator(policy, settings)
        held = nil
    }

    // MARK: Fold

    /// Takes in a line that was read at `now`. Of lines read together, responses first: what they say of a call's outcome
    /// then counts from the start.
    public mutating func fold(_ record: TelemetryRecord, at now: Timestamp) {
        switch record {
        case .call(let call): fold(call, at: now)
        case .window(let window): fold(window, at: now)
        case .response(let response): fold(response, at: now)
        case .model(let model): if signals.fold(model, at: now) { limits.widen() }
        case .queue(let queue): if queue.depth > 0 { with(second: queue.at.second) { $0.workWaits = true } }
        case .task: break
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
        if signals.fold(call, under: breakers, at: now) { limits.widen() }
        // Neither reached the upstream.
        guard call.outcome != .denied, call.outcome != .cached else { return }
        if answer == nil {
            if call.outcome == .ramp { ramp.noteRefusal(at: call.at) }
            if call.outcome == .billing { signals.billing.noteFailure(at: now) }
        }
        let countsRefused = policy.countsRefused
        let started = call.startedAt.second
        let work = call.work
        if call.outcome == .ok { delay.add(work.seconds(of: policy.nominal), ofSecond: started, at: now) }
        let tenth = Int((call.startedAt.milliseconds - started * 1000) * Int64(BucketBank.tenths) / 1000)
        with(second: started) { second in
            guard call.outcome.isFailure else {
                second.attempts += 1
                second.deliver(work, largest: work, at: tenth)
                return
            }
            second.fail(
                Second.Failure(
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
        let last = BucketBank.tenths - 1
        for second in span {
            delay.add(work.seconds(of: policy.nominal), ofSecond: second, at: now)
            with(second: second) { slot in
                slot.deliver(work, at: last)
                if second == span.upperBound {
                    slot.attempts += Int(max(0, window.requests - window.overload))
                    slot.refusals += Int(window.quota)
                    slot.overloads += Int(window.overload)
                    if window.quota > 0 { slot.noteRefusals(at: last) }
                    if countsRefused { slot.charge(Work(requests: Double(window.quota)), at: last) }
                } else if window.ok > 0 {
                    slot.attempts += 1
                }
            }
        }
    }

    private mutating func fold(_ response: ResponseRecord, at now: Timestamp) {
        if signals.fold(response) { limits.widen() }
        if response.signal.kind == .ramp { ramp.noteRefusal(at: response.at) }
        let exhausted = response.signal.kind == .quota ? response.signal.exhausted : []
        let samples = response.samples(of: policy.nominal.resources)
        if response.signal.kind != .ok { foldFailure(response, exhausted, at: now) }
        if !samples.isEmpty {
            with(second: response.at.second) { second in
                for (resource, sample) in samples where (second.samples[resource]?.at ?? sample.at) <= sample.at {
                    second.samples[resource] = sample
                }
            }
        }
        headers.note(response, of: policy.nominal.resources)
        for window in response.signal.windows where policy.nominal.resources.contains(window.resource) {
            longWindows.note(window, at: response.at)
        }
    }

    /// Corrects the call that was answered so, in the second in which the upstream took it. Where the call is not reported
    /// yet, the answer waits for it.
    private mutating func foldFailure(_ response: ResponseRecord, _ exhausted: ResourceSet, at now: Timestamp) {
        let outcome = Outcome(response.signal.kind)
        if let request = response.request?.fingerprint {
            for second in open.keys.sorted(by: >) {
                let before = open[second]!.correct(
                    request, to: outcome, exhausted: exhausted, countsRefused: policy.countsRefused)
                guard let before else { continue }
                if outcome == .billing, before != .billing { signals.billing.noteFailure(at: now) }
                return
            }
            answers.keep(
                EarlyAnswers.Answer(
                    kind: response.signal.kind, status: response.status, exhausted: exhausted, readAt: now),
                for: request)
        }
        if outcome == .billing { signals.billing.noteFailure(at: now) }
        if !exhausted.isEmpty { with(second: response.at.second) { $0.otherExhausted.formUnion(exhausted) } }
    }

    /// A line that comes after its second was judged enters the oldest second that is still open: telemetry that is
    /// late as a whole then still adds up. One that is a minute late is history.
    private mutating func with(second: Int64, _ change: (inout Second) -> Void) {
        guard second > judgedThrough - CapacityEstimator.historySeconds else { return }
        change(&open[max(second, judgedThrough + 1), default: Second()])
    }

    // MARK: Estimate

    /// Judges the seconds that are reported in full, the newer ones on trial, and says what there is.
    public mutating func estimate(at now: Timestamp, pin: CapacityPin? = nil) -> PoolCapacity {
        headers.forget(after: settings.headerSeconds, at: now)
        longWindows.advance(to: now)
        signals.advance(to: now, breakers: policy.failover.isEmpty ? nil : breakers)
        // Header limits that moved start the estimate over; one that has gone stale gives way to the contract.
        limits.limits = headers.applied(to: policy.nominal, acceptsAbove: policy.acceptAboveContract)
        let completeness = delay.completeness
        judgeForGood(through: now.second - Int64(max(Self.correctionSeconds, age(completeness, Self.complete))))
        let trial = judgedOnTrial(
            through: now.second - Int64(max(1, age(completeness, Self.onTrial))), completeness, at: now)
        if open.count > Self.maxOpen { open = open.filter { $0.key <= now.second } }
        return capacity(trial, completeness, pin: pin, at: now)
    }

    /// The least age at which that much of a second is reported.
    private func age(_ completeness: [Double], _ part: Double) -> Int {
        completeness.firstIndex { $0 >= part } ?? ReportingDelay.longest
    }

    private mutating func judgeForGood(through last: Int64) {
        // After a pause of hours there is nothing to learn from what was before it.
        if judgedThrough < last - CapacityEstimator.historySeconds {
            judgedThrough = last - CapacityEstimator.historySeconds
            open = open.filter { $0.key > judgedThrough }
        }
        while judgedThrough < last {
            judgedThrough += 1
            let second = open.removeValue(forKey: judgedThrough) ?? Second()
            judge(second, of: judgedThrough, in: &limits)
            noteOthers(second)
            if second.attempts > 0 {
                learnMeanRequest(second.delivered)
                let exhausted = second.exhausted
                if !exhausted.isEmpty { lastExhausted = exhausted }
                recent.append(
                    Recent(second: judgedThrough, attempts: second.attempts, refusals: second.refusals))
            }
        }
    }

    private mutating func noteOthers(_ second: Second) {
        for resource in policy.nominal.resources.members {
            others[resource.rawValue].fold(
                used: (second.delivered + second.charged)[resource], sample: second.samples[resource],
                at: Timestamp(milliseconds: judgedThrough * 1000))
        }
    }

    /// The estimate, as if the seconds after those that were judged for good were completely reported as well.
    private func judgedOnTrial(through last: Int64, _ completeness: [Double], at now: Timestamp) -> LimitEstimator {
        var trial = limits
        var supposed = Work.zero
        var second = judgedThrough + 1
        while second <= last {
            let known = open[second] ?? Second()
            let unreported = known.delivered * (1 / reported(second, completeness, at: now) - 1)
            supposed += unreported
            judge(known, of: second, unreported: unreported, supposed: supposed, in: &trial)
            second += 1
        }
        return trial
    }

    /// What of the second's work is usually reported at its age.
    func reported(_ second: Int64, _ completeness: [Double], at now: Timestamp) -> Double {
        let part = completeness[Int(max(0, min(Int64(ReportingDelay.longest), now.second - second)))]
        return part >= Self.complete ? 1 : max(Self.onTrial, part)
    }

    /// - Parameters:
    ///   - unreported: what the second is supposed to have delivered besides what is known.
    ///   - supposed: the sum of it over this second and those before it that are on trial too.
    private func judge(
        _ second: Second, of instant: Int64, unreported: Work = .zero, supposed: Work = .zero,
        in limits: inout LimitEstimator
    ) {
        guard second.attempts > 0 else { return limits.idle(instant) }
        let named = second.exhausted
        let unnamed = named.isEmpty ? suspects : named
        var moments = second.moments.map { moment in
            MeteredLimits.Moment(
                tenth: moment.tenth, delivered: moment.delivered, charged: moment.charged, unreported: .zero,
                largestDelivered: moment.largest, refused: moment.exhausted(unnamed: unnamed),
                leastRefused: moment.leastRefused)
        }
        if !moments.isEmpty {
            // Calls on their way may be why others were refused: they count from the first moment on.
            moments[0].delivered += unreported
            for index in moments.indices { moments[index].unreported = supposed }
        }
        limits.fold(
            MeteredLimits.Second(second: instant, moments: moments, meanRequest: meanRequest),
            overloadShare: Double(second.overloads) / Double(second.overloads + second.attempts),
            workWaits: second.workWaits)
    }

    /// Who refused, when the refusal does not say: what the last one named, else any of them.
    private var suspects: ResourceSet {
        lastExhausted.isEmpty ? policy.nominal.resources : lastExhausted
    }

    /// Moves by a twentieth of the way for each request, so that it follows a change of shape within a minute.
    private mutating func learnMeanRequest(_ delivered: Work) {
        let requests = delivered[.requests]
        guard requests >= 1 else { return }
        let mean = delivered * (1 / requests)
        let isFirst = meanRequest[.tokens] == 0
        meanRequest = isFirst ? mean : meanRequest + (mean - meanRequest) * min(1, requests / 20)
    }
}

extension LimitEstimator {
    fileprivate init(_ pool: PoolPolicy, _ settings: CapacityPolicy) {
        self.init(
            limits: pool.nominal, burstSeconds: pool.providerBurstSeconds, countsRefused: pool.countsRefused,
            settings: settings)
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
