import HeadroomModel

/// Tells a chain of numbers as a person would: what was asked, what there is, whose share it is, and what binds.
package struct ExplanationText {
    private let facts: Explanation.TenantFacts
    private let pool: Explanation.PoolFacts
    private let version: SnapshotVersion
    private let at: Timestamp
    private let now: Timestamp
    /// The resource that the story is told in: the one that ran out, or tokens where the pool limits them.
    private let resource: Resource

    package init(_ explanation: Explanation, now: Timestamp) {
        facts = explanation.tenant
        pool = explanation.pool
        version = explanation.version
        at = explanation.at
        self.now = now
        let limited = explanation.pool.nominal.resources
        let full = explanation.pool.bands.last { $0.saturated.map(limited.contains) ?? false }?.saturated
        resource = full ?? (limited.contains(.tokens) ? .tokens : limited.members.first { _ in true } ?? .requests)
    }

    package var sentences: [String] {
        [demand, capacity, standing, share, result, binding, excess].compactMap(\.self)
    }

    // MARK: The parts

    private var demand: String {
        let asked = amount(facts.demand[resource] ?? 0)
        let credible = facts.credibleDemand[resource] ?? 0
        var text = "\(facts.tenant) asked for \(asked)"
        if isBelow(credible, facts.demand[resource] ?? 0) {
            text += ", of which \(GroupedNumber.whole(credible)) count"
        }
        if facts.confidence < 0.5 { text += "; little is known of it yet (confidence \(percent(facts.confidence)))" }
        return text + "."
    }

    private var capacity: String {
        let capacity = pool.capacity[resource] ?? 0
        var text = "The pool \(pool.pool) has \(amount(capacity))"
        if let before = pool.capacityBefore?[resource], let changedAt = pool.capacityChangedAt, before != capacity {
            let move = capacity < before ? "fell" : "rose"
            let age = GroupedNumber.duration(seconds: at.seconds(since: changedAt))
            text += " after it \(move) from \(GroupedNumber.whole(before)) \(age) earlier"
        } else if let nominal = pool.nominal[resource], nominal != capacity {
            text += " of the \(GroupedNumber.whole(nominal)) of its contract"
        }
        return text + " (\(capacityReason))."
    }

    private var capacityReason: String {
        switch pool.capacityReason {
        case .contract: return "by contract"
        case .headers: return "as the provider's headers say"
        case .throttled:
            guard pool.recentAttempts > 0 else { return "bounded by refusals" }
            let share = Double(pool.recentRefusals) / Double(pool.recentAttempts)
            return "quota refusals on \(percent(share)) of calls"
        case .probing: return "probing its way back up"
        case .latency: return "its latency is far over its baseline"
        case .overload: return "the provider is overloaded"
        case .manual: return "pinned by a person"
        }
    }

    private var standing: String {
        var text = "\(facts.tenant) is in the tier \(facts.tier) with the weight \(GroupedNumber.plain(facts.weight))"
        if let id = facts.override { text += ", set by the override \(id)" }
        let bounds = [
            facts.floor[resource].map { "a floor of \(GroupedNumber.whole($0))" },
            facts.ceiling[resource].map { "a ceiling of \(GroupedNumber.whole($0))" },
        ].compactMap(\.self)
        if !bounds.isEmpty { text += ", and has \(bounds.joined(separator: " and "))" }
        return text + "."
    }

    private var share: String {
        var text = "Its share of the level is \(amount(activity: facts.target))"
        if isBelow(facts.mean, facts.target) || isBelow(facts.target, facts.mean) {
            text += ", \(GroupedNumber.whole(value(facts.mean))) on average over the observation window"
        }
        return text + "."
    }

    private var result: String {
        var text = "Generation \(version.generation) assures it \(amount(facts.assured[resource] ?? 0))"
        // Activities are compared, since the mean request may have changed since.
        let (before, fill) = (facts.before, facts.fill)
        if before == 0 {
            text += fill == 0 ? ", as before" : ", where it had none"
        } else if abs(fill - before) > before * 0.001 {
            text += ", \(percent(abs(fill - before) / before)) \(fill < before ? "less" : "more") than before"
        } else {
            text += ", as before"
        }
        if facts.burst > 0 { text += "; \(GroupedNumber.whole(value(facts.burst))) of it is a burst paid from credit" }
        return text + " (\(GroupedNumber.duration(seconds: now.seconds(since: at))) ago)."
    }

    private var binding: String {
        let most = amount(activity: facts.most)
        let least = amount(activity: facts.least)
        switch facts.constraint {
        case .demand: return "What binds is its own demand: it does not need more."
        case .level:
            return "What binds is the level: the pool's \(resource.name.replacing("_", with: " ")) are given out."
        case .floor: return "What binds is its floor: it is there also while it idles."
        case .ceiling: return "What binds is its ceiling."
        case .slew:
            let move = isAtLeast ? "lower it to \(least)" : "raise it to \(most)"
            return "What binds is the slew limit: this generation may \(move) and no further."
        case .observationWindow:
            return "What binds is the observation window: faster changes are lent and not assured."
        case .deadband: return "What binds is the deadband: so small a deviation moves nothing at first."
        case .guardrail:
            return
                "What binds is a guardrail at \(isAtLeast ? least : most): going beyond it takes a person's approval."
        case .awaitingRoom:
            return "It waits for room: gateways that have not acknowledged their lower budgets may still use them."
        case .coldStart: return "What binds is the cold start: a new tenant earns its way out of its tier's prior."
        case .gamingDiscount:
            return "What binds is a discount: its claims went beyond what it really consumed, and a flag says why."
        case .burst: return "What binds is a burst that it was granted."
        case .override: return "What binds is an override."
        case .mode: return "What binds is the pool's mode, \(pool.mode.name): it does not move by itself."
        case .frozen: return "The pool is frozen: it keeps its numbers until a person ends that, or its time."
        case .breaker: return "The pool's breaker is \(pool.state.name.replacing("_", with: " "))."
        case .costCeiling: return "What binds is its cost ceiling."
        }
    }

    /// `nil` without pressure.
    private var excess: String? {
        guard facts.excessShare > 0 else { return nil }
        return "It causes \(percent(facts.excessShare)) of what all tenants want above their entitlements."
    }

    // MARK: Numbers

    /// Whether the number stands at the lower end of its interval, and not at the upper one.
    private var isAtLeast: Bool { abs(facts.fill - facts.least) < abs(facts.fill - facts.most) }

    /// An activity, in requests a minute, as an amount of the story's resource.
    private func value(_ activity: Double) -> Double {
        resource == .requests ? activity : activity * (facts.direction[resource] ?? 0)
    }

    private func amount(activity: Double) -> String { amount(value(activity)) }

    private func amount(_ value: Double) -> String { "\(GroupedNumber.whole(value)) \(resource.rateName.uppercased())" }

    private func percent(_ share: Double) -> String { GroupedNumber.percent(share) }

    /// By more than rounding explains.
    private func isBelow(_ left: Double, _ right: Double) -> Bool { left < right * 0.999 && right - left >= 1 }
}
