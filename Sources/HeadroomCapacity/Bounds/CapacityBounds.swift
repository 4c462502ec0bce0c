import HeadroomModel

/// From what is believed of the limits to what a pool may be given: less what others take of the account, within what
/// long windows leave, and not above what it was while latency is far over its baseline.
struct CapacityBounds: Sendable {
    var headers = HeaderLimits()
    var longWindows = LongWindowLimits()
    /// Lanes in the order of ``Resource``.
    var others = [OtherConsumers](repeating: OtherConsumers(), count: Resource.allCases.count)
    var state = PoolState.healthy
    /// What was said last, while latency keeps it from rising.
    var held: Rates?

    /// Takes in what headers say of the limits.
    mutating func note(_ response: ResponseRecord, of resources: ResourceSet) {
        headers.note(response, of: resources)
        for window in response.signal.windows where resources.contains(window.resource) {
            longWindows.note(window, at: response.at)
        }
    }

    /// Takes in a complete second, ascending.
    mutating func fold(_ page: SecondBook.Page, of resources: ResourceSet) {
        for resource in resources.members {
            others[resource.rawValue].fold(
                used: page.second.delivered[resource], sample: page.second.samples[resource],
                at: Timestamp(milliseconds: page.instant * 1000))
        }
    }

    /// - Parameters:
    ///   - believed: The estimate.
    ///   - limits: The known limits, which it is at most.
    ///   - recent: Attempts and refusals of the last ten seconds.
    ///   - isSlow: Latency is far over its baseline.
    mutating func bound(
        _ believed: Rates, within limits: Rates, of nominal: Rates, recent: (attempts: Int, refusals: Int),
        isSlow: Bool, at now: Timestamp
    ) -> (capacity: Rates, reason: CapacityReason) {
        var reason = reason(believed, within: limits, refusals: recent.refusals)
        let taken = taken(of: limits)
        var capacity = believed.map { resource, rate in
            let own = min(rate, (limits[resource] ?? rate) - (taken[resource] ?? 0))
            let left = longWindows.rate(of: resource, at: now) ?? own
            // A pool that grants nothing grants a request a minute: someone must ask, to see it come back.
            return max(1, min(own, left))
        }
        if capacity != believed { reason = .headers }
        if recent.refusals == 0, isSlow, let held {
            let kept = Rates.least(capacity, held).limited(to: capacity.resources)
            if kept != capacity { reason = .latency }
            capacity = kept
        }
        held = capacity
        state = nextState(capacity, of: nominal, recent)
        return (capacity, reason)
    }

    /// What others take of the same account, per minute; none where there is no sign of any.
    func taken(of limits: Rates) -> Rates {
        var taken = Rates()
        for resource in limits.resources.members {
            let rate = others[resource.rawValue].rate(limit: limits[resource] ?? 0)
            if rate > 0 { taken[resource] = rate }
        }
        return taken
    }

    private func reason(_ believed: Rates, within limits: Rates, refusals: Int) -> CapacityReason {
        if leastShare(of: believed, in: limits) < 0.97 { return refusals > 0 ? .throttled : .probing }
        return headers.isEmpty ? .contract : .headers
    }

    /// Harder to leave than to enter, so that a pool at the border does not flap.
    private func nextState(
        _ capacity: Rates, of nominal: Rates, _ recent: (attempts: Int, refusals: Int)
    ) -> PoolState {
        let share = recent.attempts == 0 ? 0 : Double(recent.refusals) / Double(recent.attempts)
        let part = leastShare(of: capacity, in: nominal)
        switch state {
        case .throttled where part < 0.95 || share > 0.01: return .throttled
        default:
            if part < 0.85 || share > 0.05 { return .throttled }
            return part < (state == .pressured ? 0.98 : 0.92) || share > 0.01 ? .pressured : .healthy
        }
    }

    private func leastShare(of rates: Rates, in whole: Rates) -> Double {
        rates.resources.members.map { resource in
            let limit = whole[resource] ?? 0
            return limit > 0 ? (rates[resource] ?? 0) / limit : 1
        }.min() ?? 1
    }
}
