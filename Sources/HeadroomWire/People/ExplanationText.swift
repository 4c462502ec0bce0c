import HeadroomModel

/// Tells a chain of numbers as a person would: what was asked, what there is, whose share it is, and what binds.
package struct ExplanationText {
    private let facts: Explanation.TenantFacts
    private let pool: Explanation.PoolFacts
    private let version: SnapshotVersion
    private let at: Timestamp
    private let now: Timestamp
    /// The factor on the weight of a strategic account; `nil` for another.
    private let strategicFactor: Double?
    /// The resource that the story uses: the one that ran out, or tokens where the pool limits them.
    private let resource: Resource

    package init(_ explanation: Explanation, now: Timestamp, strategicFactor: Double? = nil) {
        facts = explanation.tenant
        pool = explanation.pool
        version = explanation.version
        at = explanation.at
        self.now = now
        self.strategicFactor = strategicFactor
        let limited = explanation.pool.nominal.resources
        let full = explanation.pool.exhausted?.saturated.flatMap { limited.contains($0) ? $0 : nil }
        resource =
            Self.resource(thatBinds: explanation.tenant) ?? full
            ?? (limited.contains(.tokens) ? .tokens : limited.members.first ?? .requests)
    }

    /// Where a floor or a ceiling binds: the resource that the tenant's work needs most of.
    private static func resource(thatBinds facts: Explanation.TenantFacts) -> Resource? {
        let box =
            switch facts.constraint {
            case .floor: facts.floor
            case .ceiling, .costCeiling, .costBreaker: facts.ceiling
            default: Rates.none
            }
        func ratio(_ resource: Resource) -> Double { (box[resource] ?? 0) / (facts.direction[resource] ?? 1) }
        return box.resources.members.filter { facts.direction[$0] != nil }.min { ratio($0) < ratio($1) }
    }

    package var sentences: [String] {
        [demand, doubts, capacity, ownShare, share, bounds, binding, result, excess].compactMap(\.self)
    }

    // MARK: The parts

    private var demand: String {
        let planned = facts.demand[resource] ?? 0
        let credible = facts.credibleDemand.total[resource] ?? 0
        if planned == 0 { return "\(facts.tenant) asked for nothing." }
        var text = "\(facts.tenant) asked for \(amount(facts.asked?[resource] ?? planned))"
        let plan = plan(planned)
        text += plan
        if isBelow(credible, planned) {
            text += plan.isEmpty ? ", of which " : "; of these "
            text += "\(GroupedNumber.whole(credible)) count"
            text +=
                facts.confidence < 0.9
                ? ", since little is known of it yet (confidence \(percent(facts.confidence)))"
                : ", since a flag doubts its claims"
        }
        return text + "."
    }

    /// Why more is planned for it than it asked for, or less; nothing where that is about the same.
    private func plan(_ planned: Double) -> String {
        guard let asked = facts.asked?[resource] else { return "" }
        let waiting = facts.waiting[resource]
        if waiting > 0 {
            let seconds = GroupedNumber.duration(seconds: facts.waitingSeconds)
            return
                ", and \(GroupedNumber.whole(waiting)) wait; \(GroupedNumber.whole(planned)) a minute are planned for it, to serve these "
                + "within \(seconds)"
        }
        guard abs(planned - asked) > 0.1 * max(planned, asked) else { return "" }
        return planned > asked
            ? "; \(GroupedNumber.whole(planned)) are planned for it, as it wanted more a moment ago"
            : "; \(GroupedNumber.whole(planned)) are planned for it, as it wants less by now"
    }

    /// Which claims are doubted, since when, and what was seen; `nil` without a flag.
    private var doubts: String? {
        guard !facts.flags.isEmpty else { return nil }
        return facts.flags.map { flag in
            "It is doubted \(flag.kind.doubtedClaim) (flag \(flag.kind.rawValue), for "
                + "\(GroupedNumber.duration(seconds: at.seconds(since: flag.since)))): \(flag.evidence)."
        }.joined(separator: " ")
    }

    private var capacity: String {
        let capacity = pool.capacity[resource] ?? 0
        var text = "The pool \(pool.pool) has \(amount(capacity))"
        if let before = pool.capacityBefore?[resource], let changedAt = pool.capacityChangedAt, before != capacity {
            let cause = capacity < before ? "fell" : "rose"
            text += " since it \(cause) from \(GroupedNumber.whole(before)) \(ago(changedAt))"
        } else if let nominal = pool.nominal[resource], nominal != capacity {
            text += " of the \(GroupedNumber.whole(nominal)) of its contract"
        }
        text += " (\(capacityReason))."
        if pool.hasBillingFailure { text += " The provider refuses the account for want of money." }
        return text
    }

    private var capacityReason: String {
        switch pool.capacityReason {
        case .contract: return "by contract"
        case .headers: return "as the provider's headers say"
        case .throttled:
            guard pool.recentAttempts > 0 else { return "bounded by refusals" }
            let share = Double(pool.recentRefusals) / Double(pool.recentAttempts)
            return "429s for quota on \(percent(share)) of the calls of 10 s"
        case .probing: return "probing its way back up"
        case .latency: return "its latency is far over its baseline"
        case .overload: return "the provider is overloaded"
        case .manual: return "pinned by a person"
        }
    }

    private var share: String {
        var text = "At weight \(GroupedNumber.plain(facts.weight)) (tier \(facts.tier)"
        if let id = facts.override { text += ", override \(id)" }
        if let strategicFactor {
            text += ", times \(GroupedNumber.plain(strategicFactor)) as a strategic account"
        }
        text += ") its share is \(amount(activity: facts.target))"
        if isBelow(facts.mean, facts.target) || isBelow(facts.target, facts.mean) {
            text += ", and was \(GroupedNumber.whole(value(facts.mean))) on average of late"
        }
        return text + "."
    }

    /// Of what it asks for, the part that is its own whatever the criticality of its work; `nil` where there is enough for
    /// all, the policy has no such band, or it asks for nothing.
    private var ownShare: String? {
        let asked = facts.credibleDemand.total[resource] ?? 0
        guard asked > 0, pool.exhausted != nil, pool.bands.contains(where: { $0.name == "least_share" }) else {
            return nil
        }
        if facts.isQuiet {
            return
                "It is quiet: over five minutes it asked for no more than its fair share, so all that it asks for is its own."
        }
        let own = min(asked, value(facts.leastShare))
        let part = own > 0 ? "\(GroupedNumber.whole(own)) of it is its own, and the rest" : "so its work"
        return "Over five minutes it asked for more than its fair share: \(part) waits its turn by criticality."
    }

    /// `nil` without any.
    private var bounds: String? {
        let bounds = [
            facts.floor[resource].flatMap { $0 > 0 ? "a floor of \(GroupedNumber.whole($0))" : nil },
            facts.ceiling[resource].map { "a ceiling of \(GroupedNumber.whole($0))" },
        ].compactMap(\.self)
        return bounds.isEmpty ? nil : "It has \(bounds.joined(separator: " and "))."
    }

    private var result: String {
        var text = "So it is assured \(amount(facts.assured[resource] ?? 0))"
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
        return text + " (generation \(version.generation), \(ago(at)))."
    }

    private var binding: String {
        let most = amount(activity: facts.most)
        let least = amount(activity: facts.least)
        switch facts.constraint {
        case .demand: return "Its own demand binds: it does not need more."
        case .level: return "The level binds: \(exhausted)."
        case .floor:
            let floor = facts.floor[resource] ?? 0
            guard floor > 0 else { return "It is idle: this is enough to begin at once." }
            let isCut = isBelow(value(facts.fill), floor)
            return isCut
                ? "Its floor binds, and not all floors fit: they are cut by weight."
                : "Its floor binds: it is there also while it idles."
        case .ceiling:
            return facts.hasSoftCeiling
                ? "The ceiling of its tier binds, and not the capacity: beyond it it gets what nobody else waits for."
                : "Its ceiling binds, and not the capacity."
        case .slew:
            return isAtLeast
                ? "The slew limit lets it fall to \(least) for now." : "The slew limit lets it rise to \(most) for now."
        case .observationWindow:
            return "The observation window binds: what changes faster than its average is lent and not assured."
        case .deadband:
            return "The deadband holds it: a small change, or one that turns back, moves nothing until it has lasted."
        case .guardrail:
            return "A guardrail stops it at \(isAtLeast ? least : most): going beyond takes a person's approval."
        case .awaitingRoom:
            return "It waits for room: gateways that have not acknowledged their lower budgets may still use them."
        case .coldStart:
            return "The cold start binds: it counts by its tier's prior and what it consumed, not by its claim."
        case .gamingDiscount:
            return "A discount binds: of claims that are doubted, little more counts than what it really consumed."
        case .burst: return "A burst was granted to it in the middle of a task."
        case .override: return "The level binds, at the weight that the override gives it: \(exhausted)."
        case .mode:
            let mode = pool.mode == .guarded ? "moves only what nobody wants" : "does not move by itself"
            return "The pool's mode binds: \(pool.mode.name), so it \(mode)."
        case .frozen: return "The pool is frozen: it keeps its numbers until a person ends that, or its time."
        case .breaker:
            return "The pool's breaker is \(pool.state.name.replacing("_", with: " ")): it keeps its numbers."
        case .costCeiling: return costCeiling
        case .costBreaker: return costBreaker
        }
    }

    private var costBreaker: String {
        guard let stands = facts.breaker else { return "The cost breaker binds." }
        let what =
            stands.state == .paused
            ? "it is paused until then"
            : "it is slowed to \(amount(facts.ceiling[resource] ?? 0)), which what is left pays for"
        return "The cost breaker binds: \(stands.sentence.dropLast()), so \(what)."
    }

    private var costCeiling: String {
        guard let cost = facts.cost else { return "Its cost ceiling binds." }
        let (most, spent) = (cost.most / 1e6, cost.spent / 1e6)
        func money(_ amount: Double) -> String { GroupedNumber.plain((amount * 100).rounded() / 100) }
        let used =
            "\(money(spent)) of the \(money(most)) \(cost.currency) that its use may cost in a \(cost.period.name)"
        let left = GroupedNumber.duration(seconds: cost.minutesLeft * 60)
        let rest =
            if spent >= most {
                "nothing is left for the \(left) until the next"
            } else if cost.affordable < 1 {
                "what is left buys less than a request a minute for the \(left) until the next: one may pass now and then"
            } else {
                "what is left buys \(amount(facts.ceiling[resource] ?? 0)) for the \(left) until the next"
            }
        return "Its cost ceiling binds: \(used) are spent, and \(rest)."
    }

    /// The resource that ran out, and in which step of the fill.
    private var exhausted: String {
        guard let band = pool.exhausted else { return "what there is is given out" }
        let what = (band.saturated ?? resource).name.replacing("_", with: " ")
        let parts = band.name.split(separator: ":").map { $0.replacing("_", with: " ") }
        let fill =
            switch parts.first {
            case "floor", "floor in demand": "floors were filled"
            case "least share": "quiet tenants were given what they asked for"
            case "start": "idle tenants were given enough to begin"
            case "demand": "\((parts.dropFirst().first.map { $0 + " " }) ?? "")demand was filled"
            case "ceiling": "what is left was given out as room to grow"
            default: "the first band was filled"
            }
        return "the pool's \(what) ran out while \(fill)"
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

    private func amount(_ value: Double) -> String { RateText.sentence(value, resource) }

    private func ago(_ instant: Timestamp) -> String {
        "\(GroupedNumber.duration(seconds: now.seconds(since: instant))) ago"
    }

    private func percent(_ share: Double) -> String { GroupedNumber.percent(share) }

    /// By more than rounding explains.
    private func isBelow(_ left: Double, _ right: Double) -> Bool { left < right * 0.999 && right - left >= 1 }
}
