import HeadroomModel

/// From what is believed of the limits to what is said of the pool: bounds, the brake, reason and state.
extension CapacityEstimator {
    mutating func capacity(
        _ limits: LimitEstimator, _ completeness: [Double], pin: CapacityPin?, at now: Timestamp
    ) -> PoolCapacity {
        recent.removeAll { $0.second <= now.second - CapacityEstimator.recentSeconds }
        let newest = open.filter { $0.key <= now.second }.values
        let attempts = recent.reduce(0) { $0 + $1.attempts } + newest.reduce(0) { $0 + $1.attempts }
        let refusals = recent.reduce(0) { $0 + $1.refusals } + newest.reduce(0) { $0 + $1.refusals }
        let believed = limits.estimate
        var (estimate, reason) = bounded(believed, limits: limits.limits, refusals: refusals, at: now)
        state = nextState(estimate: estimate, attempts: attempts, refusals: refusals)
        isBraked = policy.countsRefused && (isSpiralling(completeness, at: now) || isBraked && limits.isInDebt)
        if isBraked { reason = .throttled }
        let breaker = policy.failover.isEmpty ? nil : signals.breaker.poolState
        if breaker != nil { reason = .overload }
        var confidence = limits.confidence
        if let pin, pin.authorship.holds(at: now) {
            estimate = estimate.map { resource, rate in pin.capacity[resource] ?? rate }
            reason = .manual
            confidence = 1
        }
        let isHeldBack = isBraked && reason != .manual
        return PoolCapacity(
            pool: policy.pool, capacity: isHeldBack ? estimate * Self.brake : estimate, estimated: estimate,
            nominal: policy.nominal, reason: reason, confidence: confidence,
            state: breaker ?? state, models: policy.failover.isEmpty ? [] : signals.modelStates, calls: calls,
            recentAttempts: attempts, recentRefusals: refusals,
            upstream: UpstreamReport(
                whole: signals.whole.signals(at: now), channels: signals.channelReports(at: now),
                otherConsumers: taken(of: limits.limits), longWindows: longWindows.report, isBraked: isHeldBack,
                growth: ramp.part(at: now), billingFailureSince: signals.billing.since))
    }

    /// What the bank believes, less what others take, within what long windows leave, and not above what it was while
    /// latency is far over its baseline.
    private mutating func bounded(
        _ believed: Rates, limits: Rates, refusals: Int, at now: Timestamp
    ) -> (Rates, CapacityReason) {
        var reason = reason(estimate: believed, limits: limits, refusals: refusals)
        let taken = taken(of: limits)
        let bounded = believed.map { resource, rate in
            let own = min(rate, (limits[resource] ?? rate) - (taken[resource] ?? 0))
            let left = longWindows.rate(of: resource, at: now) ?? own
            // A pool that grants nothing grants a request a minute: someone must ask, to see it come back.
            return max(1, min(own, left))
        }
        if bounded != believed { reason = .headers }
        guard refusals == 0, signals.whole.latency.isFarOverBaseline, let held else {
            held = bounded
            return (bounded, reason)
        }
        let kept = Rates.least(bounded, held).limited(to: bounded.resources)
        self.held = kept
        return (kept, kept == bounded ? reason : .latency)
    }

    /// What others take of the same account, per minute; none where there is no sign of any.
    private func taken(of limits: Rates) -> Rates {
        var taken = Rates()
        for resource in limits.resources.members {
            let rate = others[resource.rawValue].rate(limit: limits[resource] ?? 0)
            if rate > 0 { taken[resource] = rate }
        }
        return taken
    }

    /// A provider that charges refused attempts and refuses many of them: without restraint refusals feed on themselves
    /// (ControlLaw, rule 19). The brake is no estimate: it holds until what the refused calls cost is paid off.
    private func isSpiralling(_ completeness: [Double], at now: Timestamp) -> Bool {
        var attempts = 0.0
        var refusals = 0.0
        for second in now.second - 2...now.second {
            guard let slot = open[second] else { continue }
            // Refusals are reported at once, the rest when it ends.
            attempts +=
                Double(slot.refusals) + Double(slot.attempts - slot.refusals) / reported(second, completeness, at: now)
            refusals += Double(slot.refusals)
        }
        return refusals >= Self.leastRefusals && refusals > Self.brakeShare * attempts
    }

    private static let brake = 0.25
    private static let brakeShare = 0.3
    private static let leastRefusals = 3.0

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
