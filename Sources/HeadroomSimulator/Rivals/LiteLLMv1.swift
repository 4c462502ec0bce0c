import HeadroomModel

/// LiteLLM's first dynamic rate limiter: what is left of the minute, divided by who is active.
///
/// `dynamic_rate_limiter.py` (BerriAI/litellm @044f299). A call is refused only when its key's part of what is left,
/// `int(left · weight / active keys)`, is 0. What one key has used is never counted, so the first heavy key may take
/// all but the last few per cent. The counters are those of the clock minute, tokens counted when a call has ended.
///
/// Simplified: a key is a tenant, its priority the tier; one proxy, so counters are exact, which is kind. It has no
/// queue of its own: what a caller does after a refusal is the caller's business.
package struct LiteLLMv1: CallAdmitter {
    private static let windowMilliseconds: Int64 = 60_000

    private let weights: [String: Double]
    private var capacity = Rates.none
    private var minute: Int64 = -1
    private var used = Work.zero
    private var active: Set<TenantID> = []

    /// `weights` by priority; a key whose priority has none counts as 1.
    package init(weights: [String: Double] = [:]) {
        self.weights = weights
    }

    package mutating func begin(capacity: Rates, tiers: [TierPolicy]) {
        self.capacity = capacity
    }

    package mutating func admits(tenant: TenantID, tier: String, estimate: Work, at now: Timestamp) -> Bool {
        turn(to: now)
        guard capacity.resources.members.allSatisfy({ available($0, tier: tier) > 0 }) else { return false }
        active.insert(tenant)
        used[.requests] += 1
        return true
    }

    package mutating func settle(tenant: TenantID, tier: String, estimate: Work, actual: Work, at now: Timestamp) {
        turn(to: now)
        var cost = actual
        cost[.requests] = 0
        used += cost
    }

    /// The amount that a key of this tier may still use in this minute, as its answer states it.
    package func available(_ resource: Resource, tier: String) -> Int {
        let left = capacity.perMinute[resource.rawValue] - used[resource]
        return max(0, Int(left * (weights[tier] ?? 1) / Double(max(1, active.count))))
    }

    private mutating func turn(to now: Timestamp) {
        let current = now.milliseconds / LiteLLMv1.windowMilliseconds
        guard current != minute else { return }
        minute = current
        used = .zero
        active = []
    }
}
