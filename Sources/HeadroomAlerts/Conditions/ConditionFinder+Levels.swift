import HeadroomModel

// Service levels that are missed so fast that what a month allows will not last (Google's SRE workbook, chapter 5:
// alerting on burn rates over two windows).
extension ConditionFinder {
    /// In the last hour; fewer are no evidence.
    private static let leastLateTasks = 5.0

    func findLevels(_ seen: AlertObservation, _ found: inout FoundConditions) {
        for level in seen.levels.tenants {
            let tier = seen.rules.tier(of: level.tenant, in: level.pool)
            guard let burn = Burn(level.windows, objective: tier.satisfiedShare, seen.policy) else { continue }
            let present = seen.report?.tenant(level)
            // One voice a tenant: while it is starved, that alert speaks for it; and what is over opens none.
            let isMissing = present.map { $0.tenant.starvation == nil && $0.tenant.underservedSeconds > 0 } ?? true
            found.add(AlertKey(.sloBurn, pool: level.pool), isFiring: burn.isFiring && isMissing) {
                seen.member(
                    named: level.tenant.text, tenant: level.tenant, burn.severity,
                    "\(level.tenant) (\(tier.name)) was satisfied in \(level.pool) for \(burn.kept) of \(burn.span); "
                        + "its tier's should be for \(GroupedNumber.percent(tier.satisfiedShare)). "
                        + "It burns \(burn.words).",
                    present.flatMap { StarvationAdvice(tenant: $0.tenant, pool: $0.pool, seen: seen).recommendation })
            }
        }
        for level in seen.levels.tasks {
            let tier = seen.rules.contractTier(of: level.tenant)
            guard let limit = tier.taskSeconds else { continue }
            let windows = level.windows(atMost: limit)
            guard
                let burn = Burn(
                    windows, objective: tier.satisfiedShare, seen.policy,
                    isEvident: windows[.hour].missedSeconds >= Self.leastLateTasks)
            else { continue }
            found.add(AlertKey(.sloBurn, reason: "tasks"), isFiring: burn.isFiring) {
                seen.member(
                    named: level.tenant.text, tenant: level.tenant, burn.severity,
                    "\(burn.kept) of the agent tasks of \(level.tenant) (\(tier.name)) that ended in the last "
                        + "\(burn.window.words) took at most \(GroupedNumber.duration(seconds: limit)); its tier's should be "
                        + "\(GroupedNumber.percent(tier.satisfiedShare)). It burns \(burn.words).",
                    AlertRecommendation(
                        "See which kinds take long, and why: headroom tasks times --tenant \(level.tenant)."))
            }
        }
        for level in OwnLevel.allCases {
            let share = seen.rules.policy.serviceLevels.share
            guard let windows = seen.levels.own[level], let burn = Burn(windows, objective: share, seen.policy) else {
                continue
            }
            found.add(AlertKey(.sloBurn), isFiring: burn.isFiring) {
                let limit = GroupedNumber.duration(seconds: level.limitSeconds(under: seen.rules.policy))
                return seen.member(
                    named: level.rawValue, burn.severity,
                    "\(level.words) was at most \(limit) old for \(burn.kept) of the last \(burn.window.words); it should "
                        + "be for \(GroupedNumber.percent(share)). It burns \(burn.words).",
                    AlertRecommendation("See /readyz and headroom status: which stage of the loop is late, or fails?"))
            }
        }
    }
}

/// A level that is missed too fast, or was just now.
private struct Burn {
    let window: LevelWindow
    let isFiring: Bool
    let severity: AlertSeverity
    private let times: Double
    private let attainment: Double
    private let observedSeconds: Double

    /// The hour's fast burn is asked to go on in its last minutes, the day's slow one in its last hour: what is over closes
    /// soon. Half of either keeps an alert open.
    init?(_ windows: LevelWindows, objective: Double, _ policy: AlertPolicy, isEvident: Bool? = nil) {
        func burn(_ window: LevelWindow) -> Double { windows[window].burn(objective: objective) ?? 0 }
        let isEvident = isEvident ?? (windows[.hour].missedSeconds >= policy.leastMissedSeconds)
        if burn(.hour) >= policy.fastBurn / 2, burn(.recent) >= 1 {
            window = .hour
            severity = .critical
            isFiring = isEvident && burn(.hour) >= policy.fastBurn && burn(.recent) >= policy.fastBurn
        } else if burn(.day) >= policy.slowBurn / 2, burn(.hour) >= 1 {
            window = .day
            severity = .warning
            isFiring = isEvident && burn(.day) >= policy.slowBurn && burn(.hour) >= policy.slowBurn
        } else {
            return nil
        }
        times = burn(window)
        attainment = windows[window].attainment ?? 1
        observedSeconds = windows[window].observedSeconds
    }

    /// The window, and what of it was looked at where that is less.
    var span: String {
        observedSeconds >= 0.95 * window.seconds
            ? "the last \(window.words)"
            : "the \(GroupedNumber.duration(seconds: observedSeconds)) of the last \(window.words) in which it asked for anything"
    }

    var kept: String { GroupedNumber.percent(attainment) }
    /// In a sentence: `29 times as fast as it may`.
    var words: String { "\(GroupedNumber.plain((times * 10).rounded() / 10)) times as fast as it may" }
}

extension LevelWindow {
    /// Behind `the last`.
    fileprivate var words: String {
        switch self {
        case .recent: "5 minutes"
        case .hour: "hour"
        case .day: "24 hours"
        case .month: "30 days"
        }
    }
}

extension OwnLevel {
    /// Before `was at most 10 s old`.
    fileprivate var words: String {
        switch self {
        case .published: "What is published"
        case .decision: "The last decision"
        case .ingest: "Telemetry that waits to be read"
        }
    }
}

extension LoopReport {
    /// How a tenant is just now in the pool of a level; `nil` where it is not known any more.
    fileprivate func tenant(_ level: TenantLevel) -> (tenant: TenantReport, pool: PoolReport)? {
        guard let pool = pools.first(where: { $0.pool == level.pool }),
            let tenant = pool.tenants.first(where: { $0.tenant == level.tenant })
        else { return nil }
        return (tenant, pool)
    }
}
