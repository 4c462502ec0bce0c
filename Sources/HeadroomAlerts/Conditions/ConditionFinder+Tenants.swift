import HeadroomModel

// What is wrong for tenants of a pool.
extension ConditionFinder {
    func findTenants(_ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        let tiers = Tiers(seen.rules)
        for index in pool.tenants.indices {
            // By index: most tenants of a large table are well, and each is a large struct to take out.
            if pool.tenants[index].starvation != nil { starved(pool.tenants[index], pool, seen, &found) }
            if pool.tenants[index].profile?.flags.isEmpty == false { flagged(pool.tenants[index], pool, seen, &found) }
            if pool.tenants[index].hasQueue { waiting(pool.tenants[index], pool, tiers, seen, &found) }
        }
        if let storm = pool.retryStorm {
            for tenant in storm.tenants {
                found.add(AlertKey(.retryStorm, pool: pool.pool)) {
                    seen.member(
                        named: tenant.text, tenant: tenant, since: storm.since, .warning,
                        "\(tenant) tries again in step with others in \(pool.pool): a wave every "
                            + "\(GroupedNumber.plain(storm.periodSeconds.rounded())) s, and "
                            + "\(GroupedNumber.percent(storm.share)) of all attempts are retries.",
                        AlertRecommendation("Let its clients wait for retry_offset_ms of the snapshot, with jitter."))
                }
            }
        }
    }

    private func starved(
        _ tenant: TenantReport, _ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions
    ) {
        guard let starvation = tenant.starvation else { return }
        found.add(AlertKey(.starvation, pool: pool.pool, reason: starvation.rawValue)) {
            let since = tenant.underservedSince(at: seen.report?.at ?? seen.at)
            let why =
                switch starvation {
                case .delivery: "does not get what it was given"
                case .shortage: "gets too little of what the pool has left"
                }
            return seen.member(
                named: tenant.tenant.text, tenant: tenant.tenant,
                since: since, .critical,
                "\(tenant.tenant) has been starved in \(pool.pool) since \(since.sentence): it asks for "
                    + "\(RateText.sentence(tenant.asked)), was served \(RateText.sentence(tenant.consumed)), and \(why).",
                StarvationAdvice(tenant: tenant, pool: pool, seen: seen).recommendation)
        }
    }

    private func flagged(
        _ tenant: TenantReport, _ pool: PoolReport, _ seen: AlertObservation, _ found: inout FoundConditions
    ) {
        guard let flag = tenant.profile?.flags.first else { return }
        found.add(AlertKey(.gaming, pool: pool.pool)) {
            seen.member(
                named: tenant.tenant.text, tenant: tenant.tenant, since: flag.since, .info,
                "\(tenant.tenant) looks as if it claimed more than it needs in \(pool.pool): \(flag.evidence)",
                AlertRecommendation("Talk to them before anything else: a client library may do it by mistake."))
        }
    }

    private func waiting(
        _ tenant: TenantReport, _ pool: PoolReport, _ tiers: Tiers, _ seen: AlertObservation,
        _ found: inout FoundConditions
    ) {
        guard let longest = tiers.longestWait(of: tenant), tenant.starvation == nil else { return }
        let wait = Criticality.allCases.map { tenant.queue[$0].oldestSeconds }.max() ?? 0
        guard wait > 0.7 * longest else { return }
        found.add(AlertKey(.queueWait, pool: pool.pool), isFiring: wait > longest) {
            seen.member(
                named: tenant.tenant.text, tenant: tenant.tenant, .warning,
                "A call of \(tenant.tenant) (\(tenant.tier)) has waited since \(seen.at.adding(seconds: -wait).sentence) in "
                    + "\(pool.pool); its tier's should wait for \(GroupedNumber.duration(seconds: longest)) at most.",
                StarvationAdvice(tenant: tenant, pool: pool, seen: seen).recommendation)
        }
    }

    /// From a part of the ceiling on it is near; the loop slows it as its money ends.
    func findCosts(_ report: LoopReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        for tenant in report.allowances.keys.sorted() {
            guard let allowance = report.allowances[tenant], allowance.terms.most > 0 else { continue }
            let share = allowance.spent / Double(allowance.terms.most)
            guard share >= 0.98 * seen.policy.costShare else { continue }
            let isReached = share >= 1
            found.add(
                AlertKey(isReached ? .costReached : .costNear), isFiring: share >= seen.policy.costShare
            ) {
                let spent =
                    "\(CostBreak.money(allowance.spent)) of \(CostBreak.money(Double(allowance.terms.most)))"
                let what =
                    isReached
                    ? "has spent all that its contract allows" : "has spent most of what its contract allows"
                return seen.member(
                    named: tenant.text, tenant: tenant, isReached ? .critical : .warning,
                    "\(tenant) \(what) this \(allowance.terms.period.name): \(spent) \(allowance.terms.currency), "
                        + "until \(allowance.until.sentence).",
                    AlertRecommendation("Ask the customer; a new ceiling belongs into the contract."))
            }
        }
    }

    /// Whom the cost breaker holds, or is about to hold.
    func findCostBreaks(_ report: LoopReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        for stands in report.costBreaks where stands.state != .free {
            let isPausing = stands.state >= .pausing
            let kind: AlertKind = isPausing ? .costPausing : .costSlowing
            found.add(AlertKey(kind)) {
                let what: String =
                    switch stands.state {
                    case .free: ""
                    case .slowing: "It will be slowed in \(wait(until: stands.due, seen)), to what is left."
                    case .slowed: "It is slowed to what is left."
                    case .pausing: "Slowing does not hold it: it will be paused in \(wait(until: stands.due, seen))."
                    case .paused: "It is paused until then."
                    }
                let option =
                    switch stands.subject {
                    case .tenant(let tenant): "--tenant \(tenant)"
                    case .taskKind(let kind): "--task-kind \"\(kind)\""
                    }
                return seen.member(
                    named: stands.subject.name, tenant: stands.subject.tenant, since: stands.since,
                    isPausing ? .critical : .warning, "\(stands.sentence) \(what)",
                    AlertRecommendation(
                        "Find out what spends it. To let it go on for a while: headroom cost-breaker lift \(option)."))
            }
        }
    }

    /// Agent tasks of which no call goes any more, or only the one with which they end.
    func findTasks(_ report: LoopReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        for task in report.tasks.tasks where task.hold >= .steps && !task.isOver {
            found.add(AlertKey(.taskStopped)) {
                let what =
                    if let stop = task.ruling {
                        "\(stop.authorship.author) has stopped it until \(stop.authorship.until.sentence): "
                            + stop.authorship.reason
                    } else if task.hold == .all {
                        "Its calls and those of the tasks below it are refused."
                    } else {
                        "Only its finishing step may go."
                    }
                return seen.member(
                    named: "\(task.name)", tenant: task.name.tenant, since: task.ruling?.authorship.at,
                    task.ruling == nil ? .warning : .info, "\(task.sentence) \(what)",
                    AlertRecommendation(
                        "See what it does: headroom tasks --tenant \(task.name.tenant). Success, sre or admin may let it go on "
                            + "for a while (what another person has stopped: sre or admin): headroom tasks lift "
                            + "\"\(task.name.task)\" --tenant \(task.name.tenant)."))
            }
        }
    }

    /// Kinds of agent tasks that take three times their usual time, because their calls wait; it goes on while they take twice as
    /// long.
    func findTaskPaces(_ report: LoopReport, _ seen: AlertObservation, _ found: inout FoundConditions) {
        for pace in report.tasks.paces {
            guard pace.isSlow(by: 2), let usual = pace.usualSeconds, let recent = pace.recentSeconds else { continue }
            let name = pace.tenant.text + (pace.kind.map { ", \($0)" } ?? "")
            found.add(AlertKey(.taskSlow, pool: pace.pool), isFiring: pace.isSlow()) {
                let what = pace.kind.map { "Agent tasks of kind \($0)" } ?? "Agent tasks"
                var text = "\(what) of \(pace.tenant) take \(TaskText.seconds(recent)) in place of "
                text += TaskText.seconds(usual)
                if let share = pace.waitedShare {
                    text +=
                        "; \(GroupedNumber.percent(share)) of that their calls waited for quota, lately in \(pace.pool)"
                }
                let tenant = report.pools.first { $0.pool == pace.pool }.flatMap { pool in
                    pool.tenants.first { $0.tenant == pace.tenant }.map { (pool, $0) }
                }
                return seen.member(
                    named: name, tenant: pace.tenant, .warning, text + ".",
                    tenant.flatMap { StarvationAdvice(tenant: $1, pool: $0, seen: seen).recommendation }
                        ?? AlertRecommendation(
                            "See where they wait: headroom explain \(pace.tenant) --pool \(pace.pool)."))
            }
        }
    }

    private func wait(until due: Timestamp?, _ seen: AlertObservation) -> String {
        GroupedNumber.duration(seconds: max(0, due?.seconds(since: seen.at) ?? 0))
    }
}

/// Whose waits are worth an alert of their own.
private struct Tiers {
    private var longest: [String: Double] = [:]
    private let all: [String: Double]
    private let contracts: [TenantID: Contract]

    init(_ rules: Rules) {
        let tiers = rules.policy.tiers
        all = Dictionary(tiers.map { ($0.name, $0.longestWaitSeconds) }, uniquingKeysWith: { first, _ in first })
        for tier in tiers.prefix(rules.policy.alerts.topTiers) { longest[tier.name] = tier.longestWaitSeconds }
        contracts = rules.contracts
    }

    func longestWait(of tenant: TenantReport) -> Double? {
        longest[tenant.tier] ?? (contracts[tenant.tenant]?.isStrategic == true ? all[tenant.tier] : nil)
    }
}

extension TenantReport {
    fileprivate var hasQueue: Bool { Criticality.allCases.contains { queue[$0].depth > 0 } }
}
