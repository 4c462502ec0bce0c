import HeadroomModel

/// Asks people for what only they may decide (Model §5.4): changes beyond the guardrails, and in a pool that does not
/// move by itself every change.
struct ApprovalQuestions: Sendable {
    /// People answer in minutes: questions are looked for every ten seconds, and only a few are asked at a time.
    private static let askingSeconds = 10.0
    private static let maxQuestions = 8
    /// A question names other tenants that it would change by ``GuardrailPolicy/moverShare`` or more, those that it would change
    /// most first: at least so many where it changes any, and at most so many.
    fileprivate static let leastEffects = 3
    fileprivate static let maxEffects = 100
    /// A change must differ by this part to be worth a question, and from a pending question by twice that to be asked
    /// anew.
    private static let worthAsking = 0.05

    /// When questions were last looked for.
    private var askedAt: Timestamp?

    /// The questions to be asked, and the pending ones that no longer stand.
    struct Asked {
        var questions: [Proposal] = []
        var withdrawn: [Int64] = []
    }

    /// - Parameter inForce: after this decision.
    mutating func ask(
        about target: PoolTarget, _ means: Observation.Means, inForce: PublishedNumbers, _ input: DecisionInput
    ) -> Asked {
        let now = input.conditions.now
        if let askedAt, now.seconds(since: askedAt) < Self.askingSeconds { return Asked() }
        askedAt = now
        let inquiry = Inquiry(
            input: input, conditions: input.conditions, members: input.members, target: target, means: means.targets,
            inForce: inForce.activities(of: input.members))
        return inquiry.asked(atMost: Self.maxQuestions, worthAsking: Self.worthAsking)
    }
}

/// One look at what to ask.
private struct Inquiry {
    let input: DecisionInput
    let conditions: PoolConditions
    let members: MemberTable
    let target: PoolTarget
    /// Of the targets over the observation window, and in force; as activity, one a member.
    let means: [Double]
    let inForce: [Double]

    func asked(atMost maxQuestions: Int, worthAsking: Double) -> ApprovalQuestions.Asked {
        let wishes: [(kind: Proposal.Kind, wishes: [Wish])] =
            switch conditions.pool.mode {
            case .recommend: [(.recommendation, recommended())]
            case .guarded: [(.guardrail, clamped()), (.recommendation, withheld())]
            case .observe, .full: [(.guardrail, clamped())]
            }
        var asked = ApprovalQuestions.Asked()
        asked.withdrawn = conditions.proposals.filter { proposal in
            guard proposal.state == .pending else { return false }
            let standing = wishes.first { $0.kind == proposal.kind }?.wishes ?? []
            return !standing.contains { members.tenants[$0.index] == proposal.tenant }
        }.map(\.id)

        for (kind, wishes) in wishes {
            for wish in wishes where wish.isNew && asked.questions.count < maxQuestions {
                let tenant = members.tenants[wish.index]
                let known = conditions.proposals.filter { $0.kind == kind && $0.tenant == tenant }
                if known.contains(where: { $0.state == .denied }) { continue }
                let question = question(kind, wish)
                if !differs(question.to, question.from, by: worthAsking) { continue }
                let pending = known.first { $0.state == .pending }
                if let pending, !differs(question.to, pending.to, by: 2 * worthAsking) { continue }
                asked.questions.append(question)
            }
        }
        return asked
    }

    /// A tenant that would go elsewhere if it were let.
    private struct Wish {
        var index: Int
        /// Where it stands, and where it wants to go; `nil` where only a fill can tell.
        var from: Double
        var to: Double?
        /// Enough for a new question; less keeps one that is pending.
        var isNew: Bool
    }

    /// Those whose target is at a guardrail, now and on average over the observation window.
    private func clamped() -> [Wish] {
        members.indices.compactMap { index in
            let guardrail = input.guardrails[index]
            let activity = target.activities[index]
            if activity >= 0.9 * guardrail.most {
                return Wish(
                    index: index, from: guardrail.most, isNew: min(activity, means[index]) >= 0.99 * guardrail.most)
            }
            if guardrail.least > 0, activity <= guardrail.least * 1.1 {
                return Wish(
                    index: index, from: guardrail.least,
                    isNew: max(activity, means[index]) <= 1.01 * guardrail.least)
            }
            return nil
        }
    }

    /// Those whose target lies on average outside the deadband about what is applied; the largest changes first.
    private func recommended() -> [Wish] {
        let applied = HypotheticalFill(input).applied()
        let deadband = conditions.deadband
        let wishes: [Wish] = members.indices.compactMap { index in
            let deviation = abs(means[index] - applied[index])
            guard deviation > deadband / 2 * applied[index] else { return nil }
            return Wish(
                index: index, from: applied[index], to: means[index], isNew: deviation > deadband * applied[index])
        }
        return largestFirst(wishes)
    }

    /// Those of a `guarded` pool that keep what they want although the fill, on average, gives them clearly less: only
    /// a person may take that from them. The largest changes first.
    private func withheld() -> [Wish] {
        let deadband = conditions.deadband
        let wishes: [Wish] = members.indices.compactMap { index in
            let wanted = GuardedMode.least(of: index, current: inForce[index], input)
            let excess = wanted - means[index]
            guard excess > deadband / 2 * wanted else { return nil }
            return Wish(index: index, from: wanted, to: means[index], isNew: excess > deadband * wanted)
        }
        return largestFirst(wishes)
    }

    private func largestFirst(_ wishes: [Wish]) -> [Wish] {
        func size(_ wish: Wish) -> Double { abs((wish.to ?? 0) - wish.from) * members.members[wish.index].nominalCost }
        return wishes.sorted { (-size($0), $0.index) < (-size($1), $1.index) }
    }

    // MARK: The question

    private func question(_ kind: Proposal.Kind, _ wish: Wish) -> Proposal {
        let isGuarded = conditions.pool.mode == .guarded && kind == .recommendation
        let fill = HypotheticalFill(input)
        let (before, after): ([Double], [Double]) =
            if isGuarded {
                (fill.guarded(inForce), fill.guarded(inForce, but: wish.index, to: wish.to))
            } else {
                (
                    kind == .recommendation ? fill.applied() : target.activities,
                    wish.to.map { fill.applied(changing: (wish.index, $0)) } ?? fill.unguarded(wish.index)
                )
            }
        let tenant = members.tenants[wish.index]
        let resources = conditions.pool.nominal.resources
        let to = whole(after[wish.index], of: wish.index)
        let from = whole(before[wish.index], of: wish.index)
        let changed = members.indices.filter { index in
            let (old, new) = (before[index], after[index])
            return index != wish.index && abs(new - old) > 1e-3 * max(old, new)
        }
        func size(_ index: Int) -> Double { abs(after[index] - before[index]) * members.members[index].nominalCost }
        let moverShare = conditions.rules.policy.guardrails.moverShare
        let movers = changed.count { size($0) >= moverShare }
        let named = min(max(movers, ApprovalQuestions.leastEffects), ApprovalQuestions.maxEffects)
        let largest = changed.sorted { (-size($0), $0) < (-size($1), $1) }.prefix(named).sorted()
        let effects = largest.map { index in
            Proposal.Effect(
                tenant: members.tenants[index], from: whole(before[index], of: index),
                to: whole(after[index], of: index))
        }
        let resource = resources.contains(.tokens) ? .tokens : resources.members.first ?? .requests
        let unit = "\(resource.name.split(separator: "_").joined(separator: " ")) a minute"
        func text(_ rates: Rates) -> String { GroupedNumber.whole(rates[resource] ?? 0) }
        let asked = members.rates(
            input.demand.rows[wish.index].claimed / members.members[wish.index].nominalCost, of: wish.index)
        let why =
            switch kind {
            case .recommendation where isGuarded:
                "The pool moves by itself only what nobody wants; over the last "
                    + "\(Int(conditions.rules.policy.dampening.observationSeconds)) s the fill gave \(tenant) "
                    + "\(text(to)) \(unit), and it keeps \(text(from))."
            case .recommendation:
                "The pool does not move by itself; over the last "
                    + "\(Int(conditions.rules.policy.dampening.observationSeconds)) s the fill gave \(tenant) "
                    + "\(text(to)) \(unit), and \(text(from)) are applied."
            case .guardrail, .override, .contracts:
                "A guardrail stops \(tenant) at \(text(from)) \(unit); the fill would give it \(text(to))."
            }
        let evidence = [
            "\(tenant) asks for \(text(asked)) \(unit).",
            "The pool has \(text(conditions.capacity.capacity)) of the \(text(conditions.pool.nominal)) of its contract.",
            changed.isEmpty
                ? "It changes no other tenant."
                : "It changes \(changed.count) other tenant\(changed.count == 1 ? "" : "s"), "
                    + "\(movers == 0 ? "none" : "\(movers)") of them by \(GroupedNumber.percent(moverShare)) of the pool or more.",
        ]
        return Proposal(
            kind: kind, tenant: tenant, pool: conditions.pool.pool, from: from, to: to, evidence: [why] + evidence,
            effects: effects,
            authorship: Authorship(
                author: Authorship.automation, reason: why, at: conditions.now,
                until: conditions.now.adding(seconds: conditions.rules.policy.guardrails.pendingHours * 3600)))
    }

    private func whole(_ activity: Double, of index: Int) -> Rates {
        members.rates(activity, of: index).map { $1.rounded() }
    }

    private func differs(_ new: Rates, _ old: Rates, by part: Double) -> Bool {
        conditions.pool.nominal.resources.members.contains { resource in
            let (new, old) = (new[resource] ?? 0, old[resource] ?? 0)
            return abs(new - old) > part * max(new, old)
        }
    }
}
