import HeadroomModel

/// Values of a policy that are right by themselves and cannot hold together.
package struct PolicyConflict: Equatable, Sendable {
    package let code: PolicyFault.Code
    /// `nil`: in the rules.
    package let pool: PoolID?
    /// The keys that are in conflict; the first is the one to change.
    package let keys: [String]
    package let message: String
}

extension Policy {
    /// Empty for a policy that can be used. For policies put together in code as well as for files.
    package var conflicts: [PolicyConflict] {
        tierConflicts + bandConflicts + timeConflicts + sinkConflicts + contractConflicts + taskConflicts
            + pools.flatMap(conflicts)
    }

    private var tierNames: String { tiers.map(\.name).joined(separator: ", ") }

    private var tierNameKeys: [String] { tiers.indices.map { "tiers[\($0)].name" } }

    private var tierConflicts: [PolicyConflict] {
        var found: [PolicyConflict] = []
        for (index, tier) in tiers.enumerated() {
            if let first = tiers.firstIndex(where: { $0.name == tier.name }), first < index {
                found.append(
                    .inRules(
                        .duplicateName, ["tiers[\(index)].name", "tiers[\(first)].name"],
                        "the tier \(tier.name) stands at tiers[\(first)] already"))
            }
            if index > 0, tier.weight > tiers[index - 1].weight {
                found.append(
                    .inRules(
                        .conflict, ["tiers[\(index)].weight", "tiers[\(index - 1)].weight"],
                        "must not be over the weight of the tier before it, \(number(tiers[index - 1].weight)): "
                            + "tiers stand in the order of their priority, highest first"))
            }
        }
        if tier(named: defaultTier) == nil {
            found.append(
                .inRules(
                    .unknownName, ["default_tier"] + tierNameKeys,
                    "must be one of the tiers (\(tierNames)), found \"\(defaultTier)\""
                        + NearestName.question(defaultTier, among: tiers.map(\.name))))
        }
        return found
    }

    private var sinkConflicts: [PolicyConflict] {
        alerts.sinks.indices.compactMap { index in
            let name = alerts.sinks[index].name
            guard let first = alerts.sinks.firstIndex(where: { $0.name == name }), first < index else { return nil }
            return .inRules(
                .duplicateName, ["alerts.sinks[\(index)].name", "alerts.sinks[\(first)].name"],
                "the webhook \(name) stands at alerts.sinks[\(first)] already")
        }
    }

    private var contractConflicts: [PolicyConflict] {
        contracts.tiers.filter { tier(named: $0.tier) == nil }.map { word in
            .inRules(
                .unknownName, [KeyPathText.join("contracts.tiers", word.word)] + tierNameKeys,
                "must be one of the tiers (\(tierNames)), found \"\(word.tier)\""
                    + NearestName.question(word.tier, among: tiers.map(\.name)))
        }
    }

    private var taskConflicts: [PolicyConflict] {
        taskBudgets.budgets.enumerated().compactMap { index, budget in
            guard let name = budget.tier, tier(named: name) == nil else { return nil }
            return .inRules(
                .unknownName, ["task_budgets.budgets[\(index)].tier"] + tierNameKeys,
                "must be one of the tiers (\(tierNames)), found \"\(name)\""
                    + NearestName.question(name, among: tiers.map(\.name)))
        }
    }

    private var bandConflicts: [PolicyConflict] {
        var found: [PolicyConflict] = []
        for (index, band) in bands.enumerated() {
            let key = "bands[\(index)]"
            if band.criticality != nil, band.bound != .demand {
                found.append(
                    .inRules(
                        .conflict, ["\(key).criticality", "\(key).fill"],
                        "only a band that fills demand has a criticality; this one fills \(band.bound.name)"))
            }
            for (place, tier) in (band.tiers ?? []).enumerated() where self.tier(named: tier) == nil {
                found.append(
                    .inRules(
                        .unknownName, ["\(key).tiers[\(place)]"] + tierNameKeys,
                        "must be one of the tiers (\(tierNames)), found \"\(tier)\""
                            + NearestName.question(tier, among: tiers.map(\.name))))
            }
            if let first = bands.firstIndex(of: band), first < index {
                found.append(
                    .inRules(
                        .conflict, [key, "bands[\(first)]"],
                        "the same band stands at bands[\(first)] already: a second one moves nobody"))
            }
        }
        return found
    }

    private var timeConflicts: [PolicyConflict] {
        /// `least` must not be over `most`.
        func order(_ most: (String, Double), atLeast least: (String, Double), _ reason: String) -> PolicyConflict? {
            guard most.1 < least.1 else { return nil }
            return .inRules(
                .conflict, [most.0, least.0],
                "must be at least \(number(least.1)), \(reason); found \(number(most.1))")
        }
        let period = loop.periodSeconds
        return [
            order(
                ("loop.lease_seconds", loop.leaseSeconds), atLeast: ("loop.period_seconds", 2 * period),
                "twice loop.period_seconds: one lost poll must not end a lease"),
            order(
                ("demand.window_seconds", demand.windowSeconds), atLeast: ("loop.period_seconds", period),
                "loop.period_seconds: calls between two ticks would not be seen"),
            order(
                ("demand.idle_seconds", demand.idleSeconds), atLeast: ("demand.window_seconds", demand.windowSeconds),
                "demand.window_seconds: a tenant is not idle while its calls still count"),
            order(
                ("starvation.seconds", starvation.seconds), atLeast: ("loop.period_seconds", period),
                "loop.period_seconds: starvation is looked at once a tick"),
            order(
                ("start.share_total", start.shareTotal), atLeast: ("start.share_each", start.shareEach),
                "start.share_each: one tenant's part is among the part of all"),
            order(
                ("telemetry.raw_hours", telemetry.rawHours),
                atLeast: ("telemetry.dedupe_seconds", telemetry.dedupeSeconds / 3600),
                "telemetry.dedupe_seconds as hours: an event is known again by its stored row"),
            order(
                ("telemetry.raw_hours", telemetry.rawHours),
                atLeast: ("telemetry.late_seconds", telemetry.lateSeconds / 3600),
                "telemetry.late_seconds as hours: a late line must still be stored"),
            order(
                ("telemetry.ledger_hours", telemetry.ledgerHours),
                atLeast: ("loop.lease_seconds", (loop.leaseSeconds + loop.graceSeconds) / 3600),
                "lease and grace as hours: after a start, what was published within them still counts"),
            order(
                ("cost_breaker.window_seconds", costBreaker.windowSeconds),
                atLeast: ("cost_breaker.notice_seconds", 2 * costBreaker.noticeSeconds),
                "twice cost_breaker.notice_seconds: one is given before slowing and one before pausing"),
            order(
                ("cost_breaker.slow_share", costBreaker.slowShare),
                atLeast: ("cost_breaker.resume_share", costBreaker.resumeShare),
                "cost_breaker.resume_share: a slowed tenant would be let go because it is slowed"),
        ].compactMap { $0 }
    }

    private func conflicts(in pool: PoolPolicy) -> [PolicyConflict] {
        var found: [PolicyConflict] = []
        if pool.burstSeconds > pool.providerBurstSeconds {
            found.append(
                PolicyConflict(
                    code: .conflict, pool: pool.pool, keys: ["burst_seconds", "provider_burst_seconds"],
                    message: "must be at most provider_burst_seconds, \(number(pool.providerBurstSeconds)); "
                        + "found \(number(pool.burstSeconds))"))
        }
        for (place, other) in pool.failover.enumerated() {
            func report(_ code: PolicyFault.Code, _ message: String) {
                found.append(
                    PolicyConflict(code: code, pool: pool.pool, keys: ["failover[\(place)]"], message: message))
            }
            if other == pool.pool {
                report(.conflict, "a pool cannot fail over to itself")
            } else if pool.failover[..<place].contains(other) {
                report(.duplicateName, "the pool \(other) stands in this list already")
            } else if self.pool(other) == nil {
                let known = pools.prefix(10).map(\.pool.text).joined(separator: ", ") + (pools.count > 10 ? ", …" : "")
                let question = NearestName.question(other.text, among: pools.map(\.pool.text))
                report(.unknownName, "must be one of the pools (\(known)), found \"\(other)\"\(question)")
            }
        }
        return found
    }

    private func number(_ value: Double) -> String { CheckedObject.text(value) }
}

extension PolicyConflict {
    fileprivate static func inRules(_ code: PolicyFault.Code, _ keys: [String], _ message: String) -> PolicyConflict {
        PolicyConflict(code: code, pool: nil, keys: keys, message: message)
    }
}
