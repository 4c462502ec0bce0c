import HeadroomModel

/// When a call will go, for callers that will not wait for it and need to know when to come back.
extension PoolGate {
    public struct Forecast: Equatable, Sendable {
        /// `nil`: no time brings it, as things stand.
        public var at: Timestamp?
        /// Of the budget or of the tenant's own rights, the one that takes longest to come back.
        public var exhausted: Resource?
    }

    /// When a call would go, if nothing more urgent comes: behind the tenant's own calls on its assured rate, or behind
    /// everybody's on what is lent.
    ///
    /// It counts the calls ahead, each as a mean call, and does not look at clocks: an estimate for a `Retry-After`, and
    /// no promise. The promise is the place in the queue.
    ///
    /// While calls wait for the float, what waits here draws, and what the own bucket owes says little: then the work ahead goes at
    /// the rate of the budget, and not before the next draw.
    /// - Parameters:
    ///   - id: of the call, if it waits here; without it, one that would be enqueued now.
    ///   - estimate: of the call.
    public mutating func forecast(
        of id: Int? = nil, tenant: TenantID, criticality: Criticality, estimate: Work = .zero, at now: Timestamp
    ) -> Forecast {
        advance(to: now)
        guard isEnforcing, allocation != nil else { return Forecast(at: now) }
        let index = index(of: tenant)
        var ownCalls = accounts[index].queue.count(to: criticality)
        let all = backlogged.reduce(0) { $0 + accounts[$1].queue.count(to: criticality) }
        let others = max(0, all - ownCalls)
        if let place = id.flatMap({ calls.place(of: $0) }) {
            let call = calls[place]
            ownCalls = accounts[index].queue.count(
                before: QueuedCall(
                    criticality: criticality, arrival: call.waiting.arrival, sequence: call.sequence, place: place))
        }
        let own = meanRequest * Double(ownCalls)
        let ahead = meanRequest * Double(ownCalls + others)
        let exhausted = budget.exhausted(at: now) ?? accounts[index].own.exhausted(at: now)
        if index > 0, goesByFloat(at: now), let drawn = nextDrawTime {
            let seconds = (ahead + estimate).seconds(of: budget.rates)
            return Forecast(at: max(drawn, now.adding(seconds: seconds), heldUntil), exhausted: exhausted)
        }
        let kept = criticality == .interactive ? ahead : ahead + reserve
        let assured = PoolGate.later(
            accounts[index].own.admission(keeping: own, after: now), budget.admission(keeping: own, after: now))
        let lent = PoolGate.later(
            accounts[index].ceiling.admission(keeping: own, after: now), budget.admission(keeping: kept, after: now))
        let beyondCeiling =
            accounts[index].hasSoftCeiling ? budget.admission(keeping: ahead + reserve, after: now) : nil
        let first = [assured, lent, beyondCeiling].compactMap { $0 }.min()
        return Forecast(at: first.map { max($0, heldUntil) }, exhausted: exhausted)
    }

    private static func later(_ left: Timestamp?, _ right: Timestamp?) -> Timestamp? {
        guard let left, let right else { return nil }
        return max(left, right)
    }
}
