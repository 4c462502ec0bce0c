import HeadroomModel

/// What automation may not cross without a person's approval (Model §5.4).
extension PoolTurn {
    /// Between these it may move a tenant by itself. An approved change that holds widens the bound to where it goes;
    /// whether there is room for it the fill decides as ever. A floor is a promise and goes before the upper bound.
    func guardrail(cost: Double, floor: Double, demand: Double, approved: Double?) -> FillInterval {
        var most = max(guardrails.mostOfNominal / cost, floor)
        var least = guardrails.leastOfFloor * floor
        if let approved { (least, most) = (min(least, approved), max(most, approved)) }
        // Nobody needs to keep for a tenant what it does not ask for.
        if demand < least * cost { least = 0 }
        return FillInterval(least: least, leastConstraint: .guardrail, most: most, mostConstraint: .guardrail)
    }
}

extension PoolAllocator {
    func guardrail(_ index: Int, _ turn: PoolTurn) -> FillInterval {
        turn.guardrail(
            cost: members[index].nominalCost, floor: fill[index].promised, demand: members[index].credibleDemand,
            approved: turn.approved[tenants[index]].map { activity(within: $0.to, of: index) })
    }

    /// The activity that a person approved. Mutating by name only: who asks for each tenant in turn is changing the
    /// pool, and would hand over a copy of it.
    mutating func approved(_ index: Int, _ turn: PoolTurn) -> Double? {
        guard !turn.approved.isEmpty else { return nil }
        return turn.approved[tenants[index]].map { activity(within: $0.to, of: index) }
    }
}

extension PoolAllocator {
    /// People answer in minutes: what to ask them is looked at once in so many seconds, a few questions at a time.
    private static let askingSeconds = 10.0
    private static let maxQuestions = 8
    /// Of the other tenants that a question changes it lists those that it changes most.
    private static let maxEffects = 100
    /// Where a tenant wants to go must lie beyond the bound by this part of it, and an answer that is awaited must change
    /// by twice that to be asked for anew.
    private static let worthAsking = 0.05

    /// Adds to the decision what only a person may decide: what lies beyond the guardrails, and in a pool that does not
    /// move by itself every change.
    mutating func ask(about target: Target, _ means: [Double], _ decision: inout PoolDecision, _ turn: PoolTurn) {
        if let askedAt, turn.now.seconds(since: askedAt) < Self.askingSeconds { return }
        askedAt = turn.now
        let wishes: [(kind: Proposal.Kind, wishes: [Wish])] =
            switch turn.pool.mode {
            case .recommend: [(.recommendation, recommended(means, turn))]
            case .guarded: [(.guardrail, clamped(target, means, turn)), (.recommendation, withheld(means, turn))]
            case .observe, .full: [(.guardrail, clamped(target, means, turn))]
            }
        decision.withdrawn = turn.proposals.filter { proposal in
            guard proposal.state == .pending else { return false }
            let standing = wishes.first { $0.kind == proposal.kind }?.wishes ?? []
            return !standing.contains { tenants[$0.index] == proposal.tenant }
        }.map(\.id)

        for (kind, wishes) in wishes {
            for wish in wishes where wish.isNew && decision.questions.count < Self.maxQuestions {
                let tenant = tenants[wish.index]
                let known = turn.proposals.filter { $0.kind == kind && $0.tenant == tenant }
                if known.contains(where: { $0.state == .denied }) { continue }
                let question = question(kind, wish, target, turn)
                if !differs(question.to, question.from, by: Self.worthAsking, in: turn) { continue }
                let pending = known.first { $0.state == .pending }
                if let pending, !differs(question.to, pending.to, by: 2 * Self.worthAsking, in: turn) { continue }
                decision.questions.append(question)
            }
        }
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

    /// Those whose target is at a guardrail, and has been on average.
    private func clamped(_ target: Target, _ means: [Double], _ turn: PoolTurn) -> [Wish] {
        members.indices.compactMap { index in
            let guardrail = guardrail(index, turn)
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
    private func recommended(_ means: [Double], _ turn: PoolTurn) -> [Wish] {
        let applied = appliedNumbers(turn)
        let deadband = turn.deadband
        let wishes: [Wish] = members.indices.compactMap { index in
            let deviation = abs(means[index] - applied[index])
            guard deviation > deadband / 2 * applied[index] else { return nil }
            return Wish(
                index: index, from: applied[index], to: means[index], isNew: deviation > deadband * applied[index])
        }
        return largestFirst(wishes)
    }

    /// Those of a guarded pool that keep what they want though the fill has on average given them clearly less: only a
    /// person takes that from them. The largest changes first.
    private func withheld(_ means: [Double], _ turn: PoolTurn) -> [Wish] {
        let deadband = turn.deadband
        let wishes: [Wish] = members.indices.compactMap { index in
            let wanted = heldInGuarded(index, turn)
            let excess = wanted - means[index]
            guard excess > deadband / 2 * wanted else { return nil }
            return Wish(index: index, from: wanted, to: means[index], isNew: excess > deadband * wanted)
        }
        return largestFirst(wishes)
    }

    /// What a guarded pool leaves with a tenant: what it is assured, as far as it wants it, or less where a person said so.
    func heldInGuarded(_ index: Int, _ turn: PoolTurn) -> Double {
        let wanted = members[index].credibleDemand / members[index].nominalCost
        let held = min(members[index].activity, wanted)
        guard !turn.applied.isEmpty, let applied = turn.applied[tenants[index]] else { return held }
        return min(held, activity(within: applied.to, of: index))
    }

    private func largestFirst(_ wishes: [Wish]) -> [Wish] {
        func size(_ wish: Wish) -> Double { abs((wish.to ?? 0) - wish.from) * members[wish.index].nominalCost }
        return wishes.sorted { (-size($0), $0.index) < (-size($1), $1.index) }
    }

    /// What each one is assured in a pool that does not move by itself: what a person applied; for the others their
    /// contract, that is the fill of nominal capacity by floors and weights alone.
    func appliedNumbers(_ turn: PoolTurn, changing change: (index: Int, to: Double)? = nil) -> [Double] {
        var rows = fill
        for index in rows.indices {
            (rows[index].interactive, rows[index].nearRealTime, rows[index].batch) = (0, 0, 0)
            rows[index].start = 0
            var interval = guardrail(index, turn)
            interval.least = 0
            if !turn.applied.isEmpty, let applied = turn.applied[tenants[index]] {
                interval.least = activity(within: applied.to, of: index)
                interval.most = interval.least
            }
            if let change, change.index == index { (interval.least, interval.most) = (change.to, change.to) }
            rows[index].interval = interval
        }
        let nominal = turn.pool.nominal * (1 - turn.rules.policy.loop.unlistedShare)
        let capacity = nominal * turn.rules.policy.dampening.assuredShare
        var engine = FillEngine()
        return engine.solve(rows, turn.bands, in: capacity).activities
    }

    // MARK: The question

    private func question(_ kind: Proposal.Kind, _ wish: Wish, _ target: Target, _ turn: PoolTurn) -> Proposal {
        let isGuarded = turn.pool.mode == .guarded && kind == .recommendation
        let before =
            isGuarded ? kept(turn) : kind == .recommendation ? appliedNumbers(turn) : target.activities
        let after =
            isGuarded
            ? kept(turn, but: wish.index, wish.to)
            : wish.to.map { appliedNumbers(turn, changing: (wish.index, $0)) } ?? unguarded(wish.index, turn)
        let tenant = tenants[wish.index]
        let resources = turn.pool.nominal.resources
        let to = whole(after[wish.index], of: wish.index)
        let from = whole(before[wish.index], of: wish.index)
        let changed = members.indices.filter { index in
            let (old, new) = (before[index], after[index])
            return index != wish.index && abs(new - old) > 1e-3 * max(old, new)
        }
        func size(_ index: Int) -> Double { abs(after[index] - before[index]) * members[index].nominalCost }
        let largest = changed.sorted { (-size($0), $0) < (-size($1), $1) }.prefix(Self.maxEffects).sorted()
        let effects = largest.map { index in
            Proposal.Effect(
                tenant: tenants[index], from: whole(before[index], of: index), to: whole(after[index], of: index))
        }
        let resource = resources.contains(.tokens) ? .tokens : resources.members.first ?? .requests
        let unit = "\(resource.name.split(separator: "_").joined(separator: " ")) a minute"
        func text(_ rates: Rates) -> String { grouped(rates[resource] ?? 0) }
        let asked = rates(members[wish.index].demand / members[wish.index].nominalCost, of: wish.index)
        let why =
            switch kind {
            case .recommendation where isGuarded:
                "The pool moves by itself only what nobody wants; over the last "
                    + "\(Int(turn.rules.policy.dampening.observationSeconds)) s the fill gave \(tenant) "
                    + "\(text(to)) \(unit), and it keeps \(text(from))."
            case .recommendation:
                "The pool does not move by itself; over the last "
                    + "\(Int(turn.rules.policy.dampening.observationSeconds)) s the fill gave \(tenant) "
                    + "\(text(to)) \(unit), and \(text(from)) are applied."
            case .guardrail, .override:
                "A guardrail stops \(tenant) at \(text(from)) \(unit); the fill would give it \(text(to))."
            }
        let evidence = [
            "\(tenant) asks for \(text(asked)) \(unit).",
            "The pool has \(text(turn.capacity.capacity)) of the \(text(turn.pool.nominal)) of its contract.",
            changed.isEmpty
                ? "Nobody else is changed by it."
                : "\(changed.count) other tenants are changed by it.",
        ]
        return Proposal(
            kind: kind, tenant: tenant, pool: turn.pool.pool, from: from, to: to, evidence: [why] + evidence,
            effects: effects,
            authorship: Authorship(
                author: Authorship.automation, reason: why, at: turn.now,
                until: turn.now.adding(seconds: turn.rules.policy.guardrails.pendingHours * 3600)))
    }

    /// The target fill, were it not for one tenant's guardrail.
    private func unguarded(_ free: Int, _ turn: PoolTurn) -> [Double] {
        var rows = fill
        for index in rows.indices {
            rows[index].interval = index == free ? FillInterval() : guardrail(index, turn)
            rows[index].burst = 0
        }
        var engine = FillEngine()
        return engine.solve(rows, turn.bands, in: turn.assurable).activities
    }

    /// What a guarded pool comes to by itself; with a tenant that gives up all above `to`.
    private func kept(_ turn: PoolTurn, but free: Int? = nil, _ to: Double? = nil) -> [Double] {
        var rows = fill
        for index in rows.indices {
            rows[index].interval = guardrail(index, turn)
            rows[index].interval.least = min(heldInGuarded(index, turn), rows[index].interval.most)
            if index == free, let to { (rows[index].interval.least, rows[index].interval.most) = (to, to) }
            rows[index].burst = 0
        }
        var engine = FillEngine()
        return engine.solve(rows, turn.bands, in: turn.assurable).activities
    }

    private func whole(_ activity: Double, of index: Int) -> Rates { rates(activity, of: index).map { $1.rounded() } }

    private func differs(_ new: Rates, _ old: Rates, by part: Double, in turn: PoolTurn) -> Bool {
        turn.pool.nominal.resources.members.contains { resource in
            let (new, old) = (new[resource] ?? 0, old[resource] ?? 0)
            return abs(new - old) > part * max(new, old)
        }
    }
}

/// 1,234,567.
private func grouped(_ number: Double) -> String {
    let digits = String(Int64(max(0, number).rounded()))
    var text = ""
    for (index, digit) in digits.enumerated() {
        if index > 0, (digits.count - index).isMultiple(of: 3) { text += "," }
        text.append(digit)
    }
    return text
}
