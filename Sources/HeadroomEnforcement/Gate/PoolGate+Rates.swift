import HeadroomModel

/// The rates in force: the snapshot's, the fallback's after the lease, and never more than the provider's own headers
/// allow.
extension PoolGate {
    mutating func changeRates(at now: Timestamp) {
        guard let allocation else {
            budget.change(to: .none, burstSeconds: 0, at: now)
            accounts[0].own.change(to: .none, burstSeconds: 0, at: now)
            return
        }
        let seconds = allocation.burstSeconds
        let isDrawing = isDrawing
        // The rest of a drawing gate's part is in the float; a call larger than the burst goes in any case.
        let burstSeconds = isDrawing ? drawingBurstSeconds(of: seconds) : seconds
        let leastBurst = isDrawing ? .zero : meanRequest
        if let wasDrawing = drawing?.isReturning, wasDrawing != isDrawing {
            drawing?.isReturning = isDrawing
            // The overflow of the small bucket was returned: a large one does not begin with it.
            budget.resize(burstSeconds: burstSeconds, atLeast: leastBurst, at: now)
            // Overflow from before belonged to nobody.
            _ = budget.takeOverflow(at: now)
        }
        let rates = budgetRates(of: allocation)
        reserve = rates.work(overSeconds: ServiceOrder.reserveSeconds(burstSeconds: seconds))
        budget.change(to: rates, burstSeconds: burstSeconds, atLeast: leastBurst, at: now)
        accounts[0].own.change(
            to: complete(allocation.unlisted, or: .none, in: allocation), burstSeconds: seconds, atLeast: meanRequest,
            at: now)
        let entries = allocation.tenants
        for place in entries.indices {
            let assured = entries[place].assured
            let own =
                isOnFallback
                ? complete(entries[place].safe, or: assured, in: allocation)
                : complete(assured, or: .none, in: allocation)
            accounts[place + 1].own.change(to: own, burstSeconds: seconds, atLeast: meanRequest, at: now)
            accounts[place + 1].ceiling.change(
                to: entries[place].ceiling, burstSeconds: seconds, atLeast: meanRequest, at: now)
        }
    }

    /// A provider's answer bounds the budget at once; nobody waits for the next snapshot to stop.
    public mutating func observe(_ signal: ProviderSignal, at now: Timestamp) {
        guard let allocation else { return }
        advance(to: now)
        let rates = budgetRates(of: allocation)
        // Other gateways live on the same limit: this one answers for its part of it.
        let allotted = allottedRates(of: allocation)
        func part(_ resource: Resource) -> Double {
            guard let capacity = allocation.capacity[resource], capacity > 0 else { return 1 }
            return min(1, (allotted[resource] ?? capacity) / capacity)
        }
        for window in signal.windows where rates.resources.contains(window.resource) {
            if let remaining = window.remaining {
                budget.lower(window.resource, to: remaining * part(window.resource), at: now)
            }
            // A limit per day says nothing of the next minute until little of it remains.
            let seconds = window.windowSeconds ?? 60
            if let limit = window.limit, seconds > 0, seconds <= 60 {
                headerLimits[window.resource] = limit * 60 / seconds
                headerLimitsUntil = now.adding(seconds: PoolGate.headerSeconds)
            }
        }
        if signal.kind == .quota { hold(for: signal, limiting: rates.resources, at: now) }
        if rates != budgetRates(of: allocation) { changeRates(at: now) }
    }

    /// A refusal because our quota is used up empties the budget of the exhausted resources. When the answer says that
    /// 0 is left and when the reset is, no call goes until then, but for at most ``longestHoldSeconds``.
    ///
    /// One whose headers name nothing that is used up says that the provider delivers less than Headroom knows. Until
    /// Headroom does, some four seconds later, the gate goes slower by itself: each such refusal costs its budget
    /// ``restraintCalls`` calls. With a provider that has halved that makes a refusal of every sixth call, where it would be
    /// every second one; with one that refuses a call in a hundred it costs four in a hundred. Assured work goes first in
    /// what is left.
    private mutating func hold(for signal: ProviderSignal, limiting resources: ResourceSet, at now: Timestamp) {
        let stated = signal.windows.filter { resources.contains($0.resource) && $0.remaining != nil }
        if !stated.contains(where: { ($0.remaining ?? 0) < meanRequest[$0.resource] }) {
            budget.owe(
                meanRequest * PoolGate.restraintCalls, atMostSeconds: PoolGate.longestRestraintSeconds, at: now)
        }
        let exhausted = stated.filter { ($0.remaining ?? 0) <= 0 }
        let resets = exhausted.compactMap(\.resetMilliseconds) + [signal.retryAfterMilliseconds].compactMap { $0 }
        guard !exhausted.isEmpty, let reset = resets.min() else { return }
        let seconds = min(max(0, reset / 1000), PoolGate.longestHoldSeconds)
        heldUntil = max(heldUntil, now.adding(seconds: seconds))
    }

    private static let restraintCalls = 4.0
    /// So long nothing goes after any number of such refusals: who is assured waits no longer.
    private static let longestRestraintSeconds = 1.0
    /// A limit stated in a header is believed for this long.
    private static let headerSeconds = 60.0
    /// Many providers' reset is the time until their bucket is *full*: waiting for all of it would waste the refill.
    private static let longestHoldSeconds = 1.0

    private func allottedRates(of allocation: PoolAllocation) -> Rates {
        isOnFallback ? complete(allocation.fallback, or: allocation.budget, in: allocation) : allocation.budget
    }

    private func budgetRates(of allocation: PoolAllocation) -> Rates {
        allottedRates(of: allocation).map { resource, rate in
            guard let limit = headerLimits[resource], let capacity = allocation.capacity[resource], capacity > 0 else {
                return rate
            }
            return rate * min(1, limit / capacity)
        }
    }

    /// A right in exactly the resources that the budget limits: where none is stated there is none.
    private func complete(_ rates: Rates, or other: Rates, in allocation: PoolAllocation) -> Rates {
        allocation.budget.map { resource, _ in rates[resource] ?? other[resource] ?? 0 }
    }
}
