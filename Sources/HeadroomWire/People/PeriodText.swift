import HeadroomJSON
import HeadroomModel

/// A period's story in sentences that can be read aloud: for the person on duty.
package struct PeriodText {
    /// Acts and events that are listed one by one; of more only the number is given.
    private static let most = 12
    private static let othersNamed = 4
    fileprivate static let kindsNamed = 3

    private let facts: PeriodFacts

    package init(_ facts: PeriodFacts) {
        self.facts = facts
    }

    package var sentences: [String] {
        var told: [String?] = []
        if let tenant = facts.tenant {
            told += [work(tenant), waits, tasks, refusals(facts.own, "Of its"), standing, assured, starved]
        } else {
            told.append(work(nil))
        }
        told += [capacity, lowest, refusals(facts.sums, "Of all")]
        var sentences: [String] = told.compactMap(\.self)
        sentences += outages
        if let others { sentences.append(others) }
        return sentences + events + acts
    }

    // MARK: The tenant

    private func work(_ tenant: TenantID?) -> String {
        let sums = tenant == nil ? facts.sums : facts.own
        let who = tenant.map { "\($0) in \(facts.pool)" } ?? "all tenants of \(facts.pool)"
        let span = TimeText.span(facts.from, facts.to)
        guard sums.hasWork else { return "\(span), \(who) asked for nothing." }
        var text = "\(span), \(who) asked for \(Amount.work(asked: sums))"
        text += " and got \(Amount.work(Double(sums.ok), Double(sums.countedTokens)))"
        if let share = Amount.servedShare(sums) { text += ", \(share)" }
        return text + "."
    }

    private var waits: String? {
        var parts: [String] = []
        if facts.own.waits > 0 {
            let mean = facts.own.waitedSeconds / Double(facts.own.waits)
            parts.append("Calls that went through had waited \(Amount.seconds(mean)) on average")
        }
        if facts.own.oldestQueuedSeconds > 0 {
            let oldest = Amount.seconds(facts.own.oldestQueuedSeconds)
            parts.append(
                parts.isEmpty
                    ? "The longest wait in a queue was \(oldest)" : "the longest wait in a queue was \(oldest)")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ") + "."
    }

    /// The kinds that waited longest.
    private var tasks: String? {
        let parts = facts.tasks.prefix(Self.kindsNamed)
            .compactMap { TaskText.took($0.times, kind: $0.kind, usual: $0.usualMedian) }
        return parts.isEmpty ? nil : "Of its agent tasks, over all pools, \(parts.joined(separator: "; "))."
    }

    private func refusals(_ sums: RollupSums, _ begin: String) -> String? {
        guard sums.attempts > 0 || sums.denied > 0 else { return nil }
        func part(_ count: Int64, _ why: String) -> String? {
            guard count > 0 else { return nil }
            return "\(Amount.count(count)) \(why) (\(GroupedNumber.percent(Double(count) / Double(sums.attempts))))"
        }
        let other = sums.error - sums.ramp - sums.billing
        let parts = [
            part(sums.quota, "with 429 for quota"), part(sums.ramp, "with 429 for growing too fast"),
            part(sums.billing, "for want of money"), part(sums.overload, "for overload"),
            part(other, "with other errors"),
        ].compactMap(\.self)
        var text = "\(begin) \(Amount.count(sums.attempts)) attempts the provider refused "
        text += parts.isEmpty ? "none" : parts.joined(separator: ", ")
        if sums.denied > 0 {
            text += "; gateways denied \(Amount.count(sums.denied)) calls (\(Amount.count(sums.deniedTokens)) tokens)"
        }
        return text + "."
    }

    private var standing: String? {
        guard let standing = facts.standing else { return nil }
        var text = "Its tier is \(standing.tier)"
        if let factor = standing.strategicFactor {
            text += ", and its weight is multiplied by \(GroupedNumber.plain(factor)) as a strategic account"
        }
        return text + "."
    }

    private var assured: String? {
        guard facts.own.activeSeconds > 0 else { return nil }
        let minutes = facts.own.activeSeconds / 60
        return "While it had work (\(GroupedNumber.duration(seconds: facts.own.activeSeconds))), it was assured "
            + "\(Amount.rate(facts.own.assuredRequests / minutes, facts.own.assuredTokens / minutes)) on average."
    }

    private var starved: String? {
        let (delivery, shortage) = (facts.own.starvedForDeliverySeconds, facts.own.starvedForShortageSeconds)
        guard delivery + shortage > 0 else { return nil }
        let parts = [
            delivery > 0
                ? "\(GroupedNumber.duration(seconds: delivery)) because it did not get what it was assured" : nil,
            shortage > 0 ? "\(GroupedNumber.duration(seconds: shortage)) because the pool had lost capacity" : nil,
        ].compactMap(\.self)
        return "It was starved: \(parts.joined(separator: ", "))."
    }

    // MARK: The pool

    private var capacity: String? {
        guard facts.capacity.observedSeconds > 0 else {
            return "Nothing is recorded of the capacity of \(facts.pool) in this time."
        }
        let (nominal, estimated) = (facts.capacity.mean(\.nominal), facts.capacity.mean(\.estimated))
        return "The contract of \(facts.pool) is \(Amount.rates(nominal)); the provider delivered by estimate "
            + "\(Amount.rates(estimated)) on average."
    }

    private var lowest: String? {
        guard let lowest = facts.lowest else { return nil }
        return "The estimate was lowest at \(TimeText.time(lowest.at)): \(Amount.rate(lowest.rate, lowest.resource)), "
            + "\(GroupedNumber.percent(lowest.rate / lowest.nominal)) of the contract."
    }

    private var outages: [String] { facts.outages.prefix(Self.most).map(Self.text) }

    /// The outage that `instant` lies in, and policies that were edited before it.
    package func circumstances(at instant: Timestamp) -> [String] {
        var sentences: [String] = []
        for outage in facts.outages where outage.from <= instant && instant < outage.to {
            sentences.append(Self.text(outage))
        }
        for event in facts.events where event.kind == .policy && event.at <= instant { sentences.append(text(event)) }
        return sentences
    }

    private static func text(_ outage: PeriodFacts.Outage) -> String {
        "\(TimeText.span(outage.from, outage.to)) the provider had an outage: \(Amount.count(outage.failures)) of "
            + "\(Amount.count(outage.attempts)) attempts failed with overload or errors of its own "
            + "(\(GroupedNumber.percent(Double(outage.failures) / Double(outage.attempts))))."
    }

    private var others: String? {
        let total = facts.sums.countedTokens
        guard total > 0, facts.tenantCount > 0 else { return nil }
        func share(_ tokens: Int64) -> String { GroupedNumber.percent(Double(tokens) / Double(total)) }
        let named = facts.others.prefix(Self.othersNamed)
        var parts = named.map { "\($0.tenant) \(share($0.tokens))" }
        var rest = total - named.reduce(0) { $0 + $1.tokens }
        var left = facts.tenantCount - named.count
        if let tenant = facts.tenant {
            parts.insert("\(tenant) \(share(facts.own.countedTokens))", at: 0)
            rest -= facts.own.countedTokens
            if facts.own.countedTokens > 0 { left -= 1 }
        }
        if left > 0 { parts.append("\(Amount.count(Int64(left))) others \(share(max(0, rest)))") }
        return "Of the \(Amount.count(total)) tokens that the pool served: \(parts.joined(separator: ", "))."
    }

    // MARK: What happened

    private var events: [String] {
        let told = facts.events.prefix(Self.most).map(text)
        let left = facts.events.count - told.count
        return told + (left > 0 ? ["\(left) more events are in /v1/history."] : [])
    }

    private func text(_ event: PoolEvent) -> String {
        let (before, after) = (event.before ?? "unknown", event.after ?? "unknown")
        let what =
            switch event.kind {
            case .start: "Headroom started"
            case .policy: "the policy was edited: \(before) became \(after)"
            case .capacity:
                "the capacity estimate went from \(Amount.stored(before)) to \(Amount.stored(after, event.subject))"
            case .state: "the pool went from \(before.replacing("_", with: " ")) to \(after.replacing("_", with: " "))"
            case .model: "the model \(event.subject ?? "") changed" + (event.after.map { " to \($0)" } ?? "")
            case .billing:
                after == "refused"
                    ? "the provider began to refuse the account for want of money"
                    : "the provider took the account again"
            }
        return "At \(TimeText.time(event.at)) \(what)."
    }

    private var acts: [String] {
        let told = facts.acts.prefix(Self.most).map { act in
            "At \(TimeText.time(act.entry.at)) \(act.entry.author) \(ActWords.done(act))"
                + (act.reason.map { ": \($0)" } ?? "") + "."
        }
        let left = facts.acts.count - told.count
        return told + (left > 0 ? ["\(left) more acts are in the audit log."] : [])
    }
}

/// The same for the tenant: no other tenant's name, none of Headroom's words, a unit on every number.
package struct PeriodTextForTenant {
    private let facts: PeriodFacts

    package init(_ facts: PeriodFacts) {
        self.facts = facts
    }

    package var sentences: [String] {
        [work, waits, tasks, refusals, heldBack, assured, strategic, capacity].compactMap(\.self) + outages + changes
    }

    private var work: String {
        let span = TimeText.span(facts.from, facts.to)
        let own = facts.own
        guard own.hasWork else {
            return "\(span) we received no requests from you for \(facts.pool)."
        }
        var text = "\(span) you asked \(facts.pool) for \(Amount.work(asked: own))"
        text += ", and \(Amount.work(Double(own.ok), Double(own.countedTokens))) were completed"
        if let share = Amount.servedShare(own) { text += ": \(share)" }
        return text + "."
    }

    private var waits: String? {
        var parts: [String] = []
        if facts.own.waits > 0 {
            parts.append(
                "Completed requests waited \(Amount.seconds(facts.own.waitedSeconds / Double(facts.own.waits))) on average before they were sent"
            )
        }
        if facts.own.oldestQueuedSeconds > 0 {
            parts.append(
                "\(parts.isEmpty ? "The" : "the") longest wait was \(Amount.seconds(facts.own.oldestQueuedSeconds))")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ") + "."
    }

    private var tasks: String? {
        let parts = facts.tasks.prefix(PeriodText.kindsNamed)
            .compactMap {
                TaskText.took(
                    $0.times, kind: $0.kind, usual: $0.usualMedian, scarce: "the capacity that you share with others")
            }
        return parts.isEmpty ? nil : "Of your agents' tasks, \(parts.joined(separator: "; "))."
    }

    private var refusals: String? {
        let own = facts.own
        guard own.attempts > 0, own.attempts > own.ok else { return nil }
        let busy = own.overload + own.error
        let parts = [
            own.quota > 0
                ? "\(Amount.count(own.quota)) attempts because the capacity that you share with others was used up"
                : nil,
            busy > 0 ? "\(Amount.count(busy)) attempts for reasons of its own" : nil,
        ].compactMap(\.self)
        return
            "The provider turned away \(GroupedNumber.percent(Double(own.attempts - own.ok) / Double(own.attempts))) of "
            + "\(Amount.count(own.attempts)) attempts: \(parts.joined(separator: ", ")). Such attempts are repeated, so not each of "
            + "them is a failed request."
    }

    private var heldBack: String? {
        guard facts.own.denied > 0 else { return nil }
        return
            "\(Amount.count(facts.own.denied)) requests with \(Amount.count(facts.own.deniedTokens)) tokens were turned back "
            + "before they were sent, because your share was used up."
    }

    private var assured: String? {
        guard facts.own.activeSeconds > 0 else { return nil }
        let minutes = facts.own.activeSeconds / 60
        return
            "While you had requests, \(Amount.rate(facts.own.assuredRequests / minutes, facts.own.assuredTokens / minutes)) "
            + "were reserved for you on average."
    }

    private var strategic: String? {
        guard let factor = facts.standing?.strategicFactor else { return nil }
        return
            "Your account is a strategic one: where capacity is short, your share counts \(GroupedNumber.plain(factor)) times."
    }

    private var capacity: String? {
        guard let lowest = facts.lowest else { return nil }
        let (nominal, estimated) = (facts.capacity.mean(\.nominal), facts.capacity.mean(\.estimated))
        guard let mean = estimated[lowest.resource], let contract = nominal[lowest.resource], contract > 0 else {
            return nil
        }
        return
            "The provider delivered \(GroupedNumber.percent(mean / contract)) of its usual capacity on average in this time, and "
            + "\(GroupedNumber.percent(lowest.rate / lowest.nominal)) at the lowest, at \(TimeText.time(lowest.at))."
    }

    private var outages: [String] {
        facts.outages.map { outage in
            "\(TimeText.span(outage.from, outage.to)) the provider had an outage: "
                + "\(GroupedNumber.percent(Double(outage.failures) / Double(outage.attempts))) of all attempts failed."
        }
    }

    /// Acts that are about the tenant, and edited rules; of other acts the tenant learns nothing.
    private var changes: [String] {
        let acts = facts.acts.filter { $0.tenant != nil && $0.tenant == facts.tenant }.compactMap { act in
            ActWords.toldToTenant(act).map { (at: act.entry.at, text: "At \(TimeText.time(act.entry.at)) \($0).") }
        }
        let policies = facts.events.filter { $0.kind == .policy }.map { event in
            (at: event.at, text: "At \(TimeText.time(event.at)) the rules by which capacity is shared were edited.")
        }
        return (acts + policies).sorted { $0.at < $1.at }.map(\.text)
    }
}

/// Acts of the audit log as words.
private enum ActWords {
    /// Behind the author's name.
    static func done(_ act: PersonsAct) -> String {
        let tenant = act.tenant.map { " of \($0)" } ?? ""
        let pool = act.pool.map { " in \($0)" } ?? ""
        return switch act.entry.action {
        case "override.set": "set an override\(tenant)\(pool)"
        case "override.ask": "asked for an override\(tenant)\(pool)"
        case "override.end": "ended an override\(tenant)"
        case "approval.approve": "approved a change\(tenant)\(pool)"
        case "approval.deny": "denied a change\(tenant)\(pool)"
        case "recommendation.apply": "applied a recommendation\(tenant)\(pool)"
        case "recommendation.dismiss": "dismissed a recommendation\(tenant)\(pool)"
        case "approval.approve_tenant", "recommendation.apply_tenant": "approved a change\(tenant)\(pool)"
        case "approval.deny_tenant", "recommendation.dismiss_tenant": "denied a change\(tenant)\(pool)"
        case "capacity.pin": "pinned the capacity\(pool)"
        case "capacity.unpin": "ended the pin of the capacity\(pool)"
        case "freeze.set": "froze the numbers\(pool)"
        case "freeze.end": "ended a freeze\(pool)"
        case "rollback.set": "rolled the numbers back\(pool)"
        case "cost.lift": "let spending\(tenant) go on beyond the cost breaker"
        case "cost.lift_end": "ended a lift of the cost breaker"
        case "gateway.release": "said that a gateway is gone"
        case "contract.put": "changed the contract\(tenant)"
        case "contracts.import": "imported contracts"
        case "contracts.ask": "asked for an import of contracts"
        default: "did \(act.entry.action)\(tenant)\(pool)"
        }
    }

    /// A whole sentence without its end; `nil`: of no interest to the tenant.
    static func toldToTenant(_ act: PersonsAct) -> String? {
        switch act.entry.action {
        case "override.set": "your priority was changed for a while"
        case "override.end": "a temporary change of your priority was ended"
        case "approval.approve", "recommendation.apply", "approval.approve_tenant", "recommendation.apply_tenant":
            "a change of your share was approved"
        case "contract.put": "your contract was changed"
        default: nil
        }
    }
}

/// Numbers with their units.
enum Amount {
    static func count(_ count: Int64) -> String { GroupedNumber.whole(Double(count)) }

    static func work(_ requests: Double, _ tokens: Double) -> String {
        "\(GroupedNumber.whole(requests)) requests with \(GroupedNumber.whole(tokens)) tokens"
    }

    static func work(asked sums: RollupSums) -> String {
        work(Double(max(0, sums.asked.requests)), Double(max(0, sums.asked.tokens)))
    }

    static func servedShare(_ sums: RollupSums) -> String? {
        sums.servedShare.map { share in
            "\(GroupedNumber.percent(share)) of the \(sums.asked.tokens > 0 ? "tokens" : "requests")"
        }
    }

    static func rate(_ requests: Double, _ tokens: Double) -> String {
        "\(GroupedNumber.whole(requests)) requests and \(GroupedNumber.whole(tokens)) tokens a minute"
    }

    static func rate(_ rate: Double, _ resource: Resource) -> String {
        RateText.sentence(rate, resource)
    }

    static func rates(_ rates: Rates) -> String {
        rates.resources.members.map { rate(rates[$0] ?? 0, $0) }.joined(separator: " and ")
    }

    static func seconds(_ seconds: Double) -> String {
        seconds < 10
            ? "\(GroupedNumber.plain((seconds * 10).rounded() / 10)) s" : GroupedNumber.duration(seconds: seconds)
    }

    /// A number that an event keeps as text, with the unit of the rate that `name` names.
    static func stored(_ text: String, _ name: String? = nil) -> String {
        guard let number = Double(text) else { return text }
        guard let resource = name.flatMap({ Resource(rateName: $0) }) else { return GroupedNumber.whole(number) }
        return rate(number, resource)
    }
}

/// Instants as a person says them; all in UTC.
enum TimeText {
    /// `2026-11-22 14:05 UTC`.
    static func time(_ instant: Timestamp) -> String {
        let text = RFC3339.format(milliseconds: instant.milliseconds)
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(5)) UTC"
    }

    /// At the beginning of a sentence: `From 2026-11-22 14:05 to 15:00 UTC`.
    static func span(_ from: Timestamp, _ to: Timestamp) -> String {
        let (first, last) = (time(from), time(to))
        let end = first.prefix(10) == last.prefix(10) ? String(last.dropFirst(11)) : last
        return "From \(first.dropLast(4)) to \(end)"
    }
}
