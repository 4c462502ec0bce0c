import HeadroomModel

/// LiteLLM's dynamic rate limiter v3: first come first served while the model is not busy, strict parts when it is.
///
/// `dynamic_rate_limiter_v3.py` (BerriAI/litellm @02ba835) on the counters of `parallel_request_limiter_v3.py`. A call
/// is refused when the model's counter has reached its limit; and, when the model's saturation is at or over a
/// threshold, when the counter of the call's priority has reached its reserved part. Requests count when a call is
/// admitted, tokens when it has succeeded. A counter lives for 60 s from its first call. Tiers without a reservation
/// share one default pool that lies outside of the normalisation. What is reserved is reserved for a priority, first
/// come first served inside, and nothing that was borrowed is taken back within a window. Good sides: one store for all
/// gateways, so nothing is cut up over gateways; and below the threshold nobody is held back.
///
/// Simplified: one store whose counters are exact at every call. Saturation is as the last admitted call left it, as in
/// the proxy's own cache, and read anew after `saturationCacheSeconds`. Limits are checked in tokens too, which pools
/// with a token limit only had to wait for until 2026-08. It fails open on errors, of which there are none here.
///
/// It looks worse here than at home: its windows of 60 s meet a provider whose bucket holds 6 s, so it lets through
/// bursts that are refused. With a provider that allows a minute's burst it would do better. The limits are nominal: it
/// reads the provider's headers for gauges only.
package struct LiteLLMv3: CallAdmitter {
    package struct Settings: Sendable {
        /// Part of the model by priority; parts that sum to more than 1 are normalised.
        package var reservations: [String: Double]
        /// Of everyone without a reservation together.
        package var defaultPriority = 0.25
        package var saturationThreshold = 0.5
        package var saturationCacheSeconds = 60.0

        package init(reservations: [String: Double]) {
            self.reservations = reservations
        }
    }

    private static let windowSeconds = 60.0

    private let settings: Settings
    private var limits = Rates.none
    /// The limits of each reserved pool.
    private var poolLimits: [String: Rates] = [:]
    private var defaultLimits = Rates.none
    private var model = Counter()
    private var pools: [String: Counter] = [:]
    private var defaultPool = Counter()
    private var saturationSeen = 0.0
    private var saturationUntil = Timestamp(milliseconds: .min)

    package init(_ settings: Settings) {
        self.settings = settings
    }

    package mutating func begin(capacity: Rates, tiers: [TierPolicy]) {
        limits = capacity
        // Summed in a fixed order: a dictionary's would change the last digit from run to run.
        let scale = 1 / max(1, settings.reservations.values.sorted().reduce(0, +))
        poolLimits = settings.reservations.mapValues { LiteLLMv3.reserve($0 * scale, of: capacity) }
        pools = settings.reservations.mapValues { _ in Counter() }
        defaultLimits = LiteLLMv3.reserve(settings.defaultPriority, of: capacity)
    }

    package mutating func admits(tenant: TenantID, tier: String, estimate: Work, at now: Timestamp) -> Bool {
        let isStrict = saturation(at: now) >= settings.saturationThreshold
        if model.isFull(limits, at: now) { return false }
        if isStrict, pool(of: tier).isFull(poolLimits[tier] ?? defaultLimits, at: now) { return false }

        model.countRequest(at: now)
        if pools[tier]?.countRequest(at: now) == nil { defaultPool.countRequest(at: now) }
        saturationSeen = model.saturation(of: limits, at: now)
        saturationUntil = now.adding(seconds: settings.saturationCacheSeconds)
        return true
    }

    package mutating func settle(tenant: TenantID, tier: String, estimate: Work, actual: Work, at now: Timestamp) {
        model.countTokens(of: actual, at: now)
        if pools[tier]?.countTokens(of: actual, at: now) == nil { defaultPool.countTokens(of: actual, at: now) }
    }

    /// As the proxy last saw it: the fullest of the model's limits, 1 when it is used up.
    package mutating func saturation(at now: Timestamp) -> Double {
        if now >= saturationUntil {
            saturationSeen = model.saturation(of: limits, at: now)
            saturationUntil = now.adding(seconds: settings.saturationCacheSeconds)
        }
        return saturationSeen
    }

    private func pool(of tier: String) -> Counter { pools[tier] ?? defaultPool }

    private static func reserve(_ part: Double, of capacity: Rates) -> Rates {
        capacity.map { ($1 * part).rounded(.towardZero) }
    }

    /// One window's count; the next one begins with the first call after its end.
    private struct Counter: Sendable {
        private var start: Timestamp?
        private var used = Work.zero

        private func counted(at now: Timestamp) -> Work {
            guard let start, now.seconds(since: start) < LiteLLMv3.windowSeconds else { return .zero }
            return used
        }

        func isFull(_ limits: Rates, at now: Timestamp) -> Bool {
            let counted = counted(at: now)
            return limits.resources.members.contains { counted[$0] >= limits.perMinute[$0.rawValue] }
        }

        func saturation(of limits: Rates, at now: Timestamp) -> Double {
            let counted = counted(at: now)
            return limits.resources.members.reduce(0) { most, resource in
                let limit = limits.perMinute[resource.rawValue]
                return limit > 0 ? max(most, counted[resource] / limit) : most
            }
        }

        mutating func countRequest(at now: Timestamp) {
            if start.map({ now.seconds(since: $0) >= LiteLLMv3.windowSeconds }) ?? true {
                start = now
                used = .zero
            }
            used[.requests] += 1
        }

        /// Of a call whose window has ended since, into the window that runs now; lost when none does.
        mutating func countTokens(of cost: Work, at now: Timestamp) {
            guard let start, now.seconds(since: start) < LiteLLMv3.windowSeconds else { return }
            var tokens = cost
            tokens[.requests] = 0
            used += tokens
        }
    }
}
