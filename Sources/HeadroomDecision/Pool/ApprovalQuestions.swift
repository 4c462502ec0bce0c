import HeadroomModel

/// Asks people for what only they may decide (Model §5.4): changes beyond the guardrails, and in a pool that does not
/// move by itself every change. One question of each kind, which names all tenants that it would move.
struct ApprovalQuestions: Sendable {
    /// People answer in minutes: questions are looked for every ten seconds, and one that is pending changes at most once a
    /// minute.
    private static let askingSeconds = 10.0
    private static let updateSeconds = 60.0
    /// Lists name the tenants that a question changes by ``GuardrailPolicy/moverShare`` or more: at least so many where it
    /// changes any, and at most so many.
    fileprivate static let leastNamed = 3
    fileprivate static let maxNamed = 100
    /// A change must differ by this part to be worth asking for, and from what is pending by twice that to be stated anew.
    fileprivate static let worthAsking = 0.05

    /// When questions were last looked for, and when each kind was last asked or updated.
    private var askedAt: Timestamp?
    private var updatedAt: [Proposal.Kind: Timestamp] = [:]

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
        var asked = Asked()
        var standing: Set<Proposal.Kind> = []
        for (kind, wishes) in inquiry.wishes() {
            let pending = input.conditions.proposals.last { $0.state == .pending && $0.kind == kind }
            guard let question = inquiry.question(kind, wishes, inPlaceOf: pending) else { continue }
            standing.insert(kind)
            if let pending {
                if pending.changes == question.changes { continue }
                if let updated = updatedAt[kind], now.seconds(since: updated) < Self.updateSeconds { continue }
            }
            updatedAt[kind] = now
            asked.questions.append(question)
        }
        asked.withdrawn = input.conditions.proposals
            .filter { $0.state == .pending && !standing.contains($0.kind) }.map(\.id)
        return asked
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

    /// A tenant that would go elsewhere if it were let.
    struct Wish {
        var index: Int
        /// Where it wants to go; `nil` where only a fill can tell.
        var to: Double?
        /// Enough to be asked for; less keeps what is pending.
        var isNew: Bool
    }

    func wishes() -> [(kind: Proposal.Kind, wishes: [Wish])] {
        switch conditions.pool.mode {
        case .recommend: [(.recommendation, recommended())]
        case .guarded: [(.guardrail, clamped()), (.recommendation, withheld())]
        case .observe, .full: [(.guardrail, clamped())]
        }
    }

    /// Those whose target is at a guardrail, now and on average over the observation window. Where what is left over would be
    /// more than the guardrail lets automation give, and nobody asks for that much, there is nothing to decide.
    private func clamped() -> [Wish] {
        members.indices.compactMap { index in
            let guardrail = input.guardrails[index]
            let activity = target.activities[index]
            let asked = input.demand.rows[index].claimed / members.members[index].nominalCost
            if activity >= 0.9 * guardrail.most, asked >= 0.9 * guardrail.most {
                return Wish(index: index, isNew: min(activity, means[index]) >= 0.99 * guardrail.most)
            }
            if guardrail.least > 0, activity <= guardrail.least * 1.1 {
                return Wish(index: index, isNew: max(activity, means[index]) <= 1.01 * guardrail.least)
            }
            return nil
        }
    }

    /// Those whose target lies on average outside the deadband about what is applied.
    private func recommended() -> [Wish] {
        let applied = HypotheticalFill(input).applied()
        let deadband = conditions.deadband
        return members.indices.compactMap { index in
            let deviation = abs(means[index] - applied[index])
            guard deviation > deadband / 2 * applied[index] else { return nil }
            return Wish(index: index, to: means[index], isNew: deviation > deadband * applied[index])
        }
    }

    /// Those of a `guarded` pool that keep what they want although the fill, on average, gives them clearly less: only
    /// a person may take that from them.
    private func withheld() -> [Wish] {
        let deadband = conditions.deadband
        return members.indices.compactMap { index in
            let wanted = GuardedMode.least(of: index, current: inForce[index], input)
            let excess = wanted - means[index]
            guard excess > deadband / 2 * wanted else { return nil }
            return Wish(index: index, to: means[index], isNew: excess > deadband * wanted)
        }
    }

    // MARK: The question

    private typealias SizedChange = (change: Proposal.Change, size: Double)

    /// All wishes in one question; `nil` when none of them is worth asking for. Numbers of a pending one stay until they
    /// differ clearly: people read them.
    func question(_ kind: Proposal.Kind, _ wishes: [Wish], inPlaceOf pending: Proposal?) -> Proposal? {
        let known = Dictionary((pending?.changes ?? []).map { ($0.tenant, $0) }) { first, _ in first }
        let denied = Set(
            conditions.proposals.filter { $0.kind == kind && $0.state == .denied }.flatMap(\.changes).map(\.tenant))
        let wanted = wishes.filter { wish in
            let tenant = members.tenants[wish.index]
            return !denied.contains(tenant) && (wish.isNew || known[tenant] != nil)
        }
        if wanted.isEmpty { return nil }

        let (before, after) = fills(kind, wanted)
        var isAsked = Array(repeating: false, count: members.indices.count)
        var changes: [SizedChange] = []
        for wish in wanted {
            var change = change(of: wish.index, before, after)
            let known = known[change.tenant]
            let least = known == nil ? ApprovalQuestions.worthAsking : ApprovalQuestions.worthAsking / 2
            guard differs(change.to, change.from, by: least) else { continue }
            if let known, !differs(change.to, known.to, by: 2 * ApprovalQuestions.worthAsking) { change = known }
            isAsked[wish.index] = true
            changes.append((change, size(change)))
        }
        if changes.isEmpty { return nil }
        changes = largestFirst(changes)
        changes.removeLast(max(0, changes.count - Proposal.maxChanges))

        let others = members.indices.filter { index in
            !isAsked[index] && abs(after[index] - before[index]) > 1e-3 * max(before[index], after[index])
        }
        let effects = largestFirst(
            others.map { index in
                let change = change(of: index, before, after)
                return (change, size(change))
            })
        let evidence = evidence(
            kind, changes.map(\.change), asking: wanted.filter { isAsked[$0.index] }.map(\.index),
            effects: effects.count, large: effects.count { $0.size >= moverShare })
        return Proposal(
            kind: kind, pool: conditions.pool.pool, changes: changes.map(\.change),
            movers: named(changes.map(\.size)), evidence: evidence,
            effects: effects.prefix(named(effects.map(\.size))).map(\.change),
            authorship: Authorship(
                author: Authorship.automation, reason: evidence[0], at: conditions.now,
                until: conditions.now.adding(seconds: conditions.rules.policy.guardrails.pendingHours * 3600)))
    }

    /// The activities without and with what is asked for, one a member.
    private func fills(_ kind: Proposal.Kind, _ wanted: [Wish]) -> (before: [Double], after: [Double]) {
        let fill = HypotheticalFill(input)
        if kind == .guardrail { return (target.activities, fill.unguarded(wanted.map(\.index))) }
        var changes = [Double?](repeating: nil, count: members.indices.count)
        for wish in wanted { changes[wish.index] = wish.to }
        return conditions.pool.mode == .guarded
            ? (fill.guarded(inForce), fill.guarded(inForce, but: changes))
            : (fill.applied(), fill.applied(changing: changes))
    }

    private var moverShare: Double { conditions.rules.policy.guardrails.moverShare }

    /// How many of `sizes`, which descend, are worth naming.
    private func named(_ sizes: [Double]) -> Int {
        let large = sizes.prefix { $0 >= moverShare }.count
        return min(sizes.count, max(large, ApprovalQuestions.leastNamed), ApprovalQuestions.maxNamed)
    }

    private func change(of index: Int, _ before: [Double], _ after: [Double]) -> Proposal.Change {
        Proposal.Change(
            tenant: members.tenants[index], from: whole(before[index], of: index), to: whole(after[index], of: index))
    }

    private func largestFirst(_ changes: [SizedChange]) -> [SizedChange] {
        changes.sorted { (-$0.size, $0.change.tenant) < (-$1.size, $1.change.tenant) }
    }

    /// As part of nominal capacity, in the resource in which it is largest.
    private func size(_ change: Proposal.Change) -> Double {
        conditions.pool.nominal.resources.members.map { resource in
            abs((change.to[resource] ?? 0) - (change.from[resource] ?? 0))
                / max(1, conditions.pool.nominal[resource] ?? 1)
        }.max() ?? 0
    }

    private func evidence(
        _ kind: Proposal.Kind, _ changes: [Proposal.Change], asking: [Int], effects: Int, large: Int
    ) -> [String] {
        let resources = conditions.pool.nominal.resources
        let resource = resources.contains(.tokens) ? .tokens : resources.members.first ?? .requests
        func text(_ rates: Rates) -> String { GroupedNumber.whole(rates[resource] ?? 0) }
        let raised = changes.count { ($0.to[resource] ?? 0) > ($0.from[resource] ?? 0) }
        let window = "over the last \(Int(conditions.rules.policy.dampening.observationSeconds)) s the fill gave"
        let tenants = "\(changes.count) tenant\(changes.count == 1 ? "" : "s")"
        let directions = "\(raised) more and \(changes.count - raised) less"
        let what =
            switch kind {
            case .recommendation where conditions.pool.mode == .guarded:
                "The pool moves by itself only what nobody wants; \(window) \(tenants) less than kept"
            case .recommendation:
                "The pool does not move by itself; \(window) \(tenants) another rate than is applied, \(directions)"
            case .guardrail, .override, .contracts:
                "A guardrail stops \(tenants); without it the fill would give \(directions)"
            }
        let asked = asking.reduce(0.0) { sum, index in
            let activity = input.demand.rows[index].claimed / members.members[index].nominalCost
            return sum + (members.rates(activity, of: index)[resource] ?? 0)
        }
        return [
            "\(what). The \(changes.count == 1 ? "change is" : "largest change is") from \(text(changes[0].from)) to "
                + "\(RateText.sentence(changes[0].to[resource] ?? 0, resource)).",
            "\(changes.count == 1 ? "The tenant asks" : "Together they ask") for \(RateText.sentence(asked, resource)).",
            "The pool has \(text(conditions.capacity.capacity)) of the \(text(conditions.pool.nominal)) of its contract.",
            effects == 0
                ? "It changes no other tenant."
                : "It changes \(effects) other tenant\(effects == 1 ? "" : "s"), "
                    + "\(large == 0 ? "none" : "\(large)") of them by \(GroupedNumber.percent(moverShare)) of the pool or more.",
        ]
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
