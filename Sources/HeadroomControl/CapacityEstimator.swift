import HeadroomModel

/// What the upstream grants a pool now, as one explainable estimate.
package struct PoolCapacity: Equatable, Sendable {
    package var pool: PoolID
    /// One rate for each resource of the nominal capacity.
    package var capacity: Rates
    package var nominal: Rates
    package var reason: CapacityReason
    /// 0 to 1: of the least certain resource.
    package var confidence: Double
    package var state: PoolState
    /// Attempts since the estimator began, by outcome, indexed by `Outcome.rawValue`.
    package var calls: [Int]
    /// Attempts of the last 10 s, and how many of them the provider refused for want of quota.
    package var recentAttempts: Int
    package var recentRefusals: Int

    package init(
        pool: PoolID, capacity: Rates, nominal: Rates, reason: CapacityReason = .contract, confidence: Double = 0,
        state: PoolState = .healthy, calls: [Int] = Array(repeating: 0, count: Outcome.allCases.count),
        recentAttempts: Int = 0, recentRefusals: Int = 0
    ) {
        self.pool = pool
        self.capacity = capacity
        self.nominal = nominal
        self.reason = reason
        self.confidence = confidence
        self.state = state
        self.calls = calls
        self.recentAttempts = recentAttempts
        self.recentRefusals = recentRefusals
    }
}

/// Estimates one pool's capacity from its telemetry.
///
/// Seconds of calls, by the moment at which the upstream took them, go through a ``LimitEstimator``: for good once they
/// are told in full, and before that on trial, scaled up by how much of a second is usually told at its age
/// (``ReportingDelay``). Judged late, a drop would be seen late; judged as told, calls in flight would look like capacity
/// that is gone. The provider's own word in headers bounds the estimate: a limit below the contract is believed at once.
/// An overload says nothing about the quota and never enters.
package struct CapacityEstimator: Sendable {
    /// What the upstream did in one second.
    private struct Second: Sendable {
        var delivered = Work.zero
        var attempts = 0
        var refusals = 0
        /// Resources that a refusal named.
        var exhausted: ResourceSet = []
    }

    private struct HeaderLimit: Sendable {
        var rate: Double
        var seenAt: Timestamp
    }

    /// A second is judged for good when this part of its work is usually told, and on trial from half of it on: below
    /// that, scaling up makes noise.
    private static let complete = 0.98
    private static let onTrial = 0.5
    private static let recentSeconds: Int64 = 10
    private static let historySeconds: Int64 = 60

    private let policy: PoolPolicy
    private let settings: CapacityPolicy
    /// What the seconds that were judged for good say.
    private var limits: LimitEstimator
    private var delay: ReportingDelay
    private var headers: [Resource: HeaderLimit] = [:]
    /// Not yet judged for good, by second; at most a few entries.
    private var open: [Int64: Second] = [:]
    private var judgedThrough: Int64
    /// Attempts and refusals of the last seconds, for the state.
    private var recent: [(second: Int64, attempts: Int, refusals: Int)] = []
    private var meanRequest: Work
    private var lastExhausted: ResourceSet = []
    private var calls = [Int](repeating: 0, count: Outcome.allCases.count)
    private var state = PoolState.healthy

    package init(policy: PoolPolicy, settings: CapacityPolicy, at now: Timestamp) {
        self.policy = policy
        self.settings = settings
        limits = LimitEstimator(
            limits: policy.nominal, burstSeconds: policy.providerBurstSeconds, settings: settings)
        meanRequest = Work(requests: 1)
        judgedThrough = now.second - 1
        delay = ReportingDelay(at: now)
    }

    // MARK: Fold

    /// Takes in a line that was read at `now`.
    package mutating func fold(_ record: TelemetryRecord, at now: Timestamp) {
        switch record {
        case .call(let call): fold(call, at: now)
        case .window(let window): fold(window, at: now)
        case .response(let response): fold(response)
        case .queue, .task, .model: break
        }
    }

    private mutating func fold(_ call: CallRecord, at now: Timestamp) {
        calls[call.outcome.rawValue] += 1
        // Neither reached the upstream.
        guard call.outcome != .denied, call.outcome != .cached else { return }
        let countsRefused = policy.countsRefused
        if call.outcome == .ok {
            delay.add(call.work.seconds(of: policy.nominal), ofSecond: call.startedAt.second, at: now)
        }
        with(second: call.startedAt.second) { second in
            second.attempts += 1
            if call.outcome.isQuotaRefusal {
                second.refusals += 1
                if countsRefused { second.delivered += Work(requests: 1) }
            } else if call.outcome == .ok || call.work[.tokens] > 0 {
                second.delivered += call.work
            }
        }
    }

    /// A window's work is spread evenly over its seconds; what was refused in it counts at its end.
    private mutating func fold(_ window: WindowRecord, at now: Timestamp) {
        calls[Outcome.ok.rawValue] += Int(window.ok)
        calls[Outcome.quota.rawValue] += Int(window.quota)
        calls[Outcome.overload.rawValue] += Int(window.overload)
        calls[Outcome.error.rawValue] += Int(window.error)
        calls[Outcome.denied.rawValue] += Int(window.denied)
        let span = window.spannedSeconds
        let work = window.served * (1 / Double(span.count))
        for second in span {
            delay.add(work.seconds(of: policy.nominal), ofSecond: second, at: now)
            with(second: second) { slot in
                slot.delivered += work
                if second == span.upperBound {
                    slot.attempts += Int(window.requests)
                    slot.refusals += Int(window.quota)
                } else if window.ok > 0 {
                    slot.attempts += 1
                }
            }
        }
    }

    private mutating func fold(_ response: ResponseRecord) {
        if response.signal.kind == .quota, !response.signal.exhausted.isEmpty {
            let exhausted = response.signal.exhausted
            with(second: response.at.second) { $0.exhausted.formUnion(exhausted) }
        }
        noteLimits(response)
    }

    /// A provider may report several windows of a minute, its project's beside its organisation's: the least binds.
    private mutating func noteLimits(_ response: ResponseRecord) {
        for resource in policy.nominal.resources.members {
            let limits = response.signal.windows.compactMap { window in
                window.resource == resource && (window.windowSeconds ?? 60) == 60 ? window.limit : nil
            }
            guard let least = limits.filter({ $0 > 0 }).min(), let nominal = policy.nominal[resource] else { continue }
            if let known = headers[resource], known.seenAt > response.at { continue }
            headers[resource] = HeaderLimit(rate: min(least, nominal), seenAt: response.at)
        }
    }

    /// A line that comes after its second was judged enters the oldest second that is still open: telemetry that is
    /// late as a whole then still adds up. One that is a minute late is history.
    private mutating func with(second: Int64, _ change: (inout Second) -> Void) {
        guard second > judgedThrough - CapacityEstimator.historySeconds else { return }
        change(&open[max(second, judgedThrough + 1), default: Second()])
    }

    // MARK: Estimate

    /// Judges the seconds that are told in full, the newer ones on trial, and says what there is.
    package mutating func estimate(at now: Timestamp) -> PoolCapacity {
        applyHeaders(at: now)
        let completeness = delay.completeness
        judgeForGood(through: now.second - Int64(age(completeness, Self.complete)))
        let trial = judgedOnTrial(
            through: now.second - Int64(max(1, age(completeness, Self.onTrial))), completeness, at: now)
        // Seconds from a clock that ran ahead are kept until their time comes, but not without bound.
        if open.count > 600 { open = open.filter { $0.key <= now.second } }
        return capacity(trial, at: now)
    }

    /// The least age at which that much of a second is told.
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
            judge(second, scaledBy: 1, in: &limits)
            if second.attempts > 0 {
                learnMeanRequest(second.delivered)
                if !second.exhausted.isEmpty { lastExhausted = second.exhausted }
                recent.append((judgedThrough, second.attempts, second.refusals))
            }
        }
    }

    /// What the estimate would be if the seconds behind those that were judged for good were told in full as well.
    private func judgedOnTrial(through last: Int64, _ completeness: [Double], at now: Timestamp) -> LimitEstimator {
        var trial = limits
        var second = judgedThrough + 1
        while second <= last {
            let told = completeness[Int(min(Int64(ReportingDelay.longest), now.second - second))]
            judge(open[second] ?? Second(), scaledBy: 1 / max(told, Self.onTrial), in: &trial)
            second += 1
        }
        return trial
    }

    private func judge(_ second: Second, scaledBy factor: Double, in limits: inout LimitEstimator) {
        guard second.attempts > 0 else { return limits.idle() }
        let exhausted = second.exhausted.isEmpty ? suspects : second.exhausted
        limits.fold(
            delivered: second.delivered * factor, refused: second.refusals > 0 ? exhausted : [],
            meanRequest: meanRequest)
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

    /// Header limits that moved start the estimate over; one that has gone stale gives way to the contract.
    private mutating func applyHeaders(at now: Timestamp) {
        headers = headers.filter { now.seconds(since: $0.value.seenAt) <= settings.headerSeconds }
        limits.limits = policy.nominal.map { resource, nominal in headers[resource]?.rate ?? nominal }
    }

    private mutating func capacity(_ limits: LimitEstimator, at now: Timestamp) -> PoolCapacity {
        recent.removeAll { $0.second <= now.second - CapacityEstimator.recentSeconds }
        let newest = open.filter { $0.key <= now.second }.values
        let attempts = recent.reduce(0) { $0 + $1.attempts } + newest.reduce(0) { $0 + $1.attempts }
        let refusals = recent.reduce(0) { $0 + $1.refusals } + newest.reduce(0) { $0 + $1.refusals }
        let estimate = limits.estimate
        let reason = reason(estimate: estimate, limits: limits.limits, refusals: refusals)
        state = nextState(estimate: estimate, attempts: attempts, refusals: refusals)
        return PoolCapacity(
            pool: policy.pool, capacity: estimate, nominal: policy.nominal, reason: reason,
            confidence: limits.confidence, state: state, calls: calls, recentAttempts: attempts,
            recentRefusals: refusals)
    }

    private func reason(estimate: Rates, limits: Rates, refusals: Int) -> CapacityReason {
        let part = leastShare(of: estimate, in: limits)
        if part < 0.97 { return refusals > 0 ? .throttled : .probing }
        return headers.isEmpty ? .contract : .headers
    }

    /// Harder to leave than to enter, so that a pool at the border does not flap.
    private func nextState(estimate: Rates, attempts: Int, refusals: Int) -> PoolState {
        let share = attempts == 0 ? 0 : Double(refusals) / Double(attempts)
        let part = leastShare(of: estimate, in: policy.nominal)
        switch state {
        case .throttled where part < 0.95 || share > 0.01: return .throttled
        default:
            if part < 0.85 || share > 0.05 { return .throttled }
            return part < (state == .pressured ? 0.98 : 0.92) || share > 0.01 ? .pressured : .healthy
        }
    }

    private func leastShare(of estimate: Rates, in whole: Rates) -> Double {
        estimate.resources.members.map { resource in
            let limit = whole[resource] ?? 0
            return limit > 0 ? (estimate[resource] ?? 0) / limit : 1
        }.min() ?? 1
    }
}
