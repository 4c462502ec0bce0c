import HeadroomJSON
import HeadroomModel

/// The answer to `GET /v1/slos`: what each tier and Headroom itself are held to, and how far that was kept.
package struct LevelAnswer: Sendable {
    /// A tenant in a pool, and what its tier is held to.
    package struct Row: Sendable {
        package var level: TenantLevel
        package var tier: TierPolicy

        /// The fastest burn of the last hour and the last day.
        fileprivate var burn: Double {
            [LevelWindow.hour, .day].compactMap { level.windows[$0].burn(objective: tier.satisfiedShare) }.max() ?? 0
        }
    }

    /// A tenant's agent tasks, and the time within which its tier's should end.
    private struct TaskRow {
        var tenant: TenantID
        var tier: TierPolicy
        var seconds: Double
        var windows: LevelWindows
    }

    private let policy: Policy
    private let now: Timestamp
    private let rows: [Row]
    private let tasks: [TaskRow]
    private let own: [OwnLevel: LevelWindows]
    private let ages: [OwnLevel: Double]
    private let showsOwn: Bool
    private let limit: Int

    /// - Parameters:
    ///   - records: of the tenants that the reader may see and asked for.
    ///   - ages: what each of Headroom's own levels is now, in seconds.
    ///   - showsOwn: false leaves Headroom's own levels out.
    ///   - tier: only tenants of this tier.
    ///   - limit: tenants that are listed, those that burn fastest first; the tiers' sums are of all.
    package init(
        _ records: LevelRecords, under rules: Rules, ages: [OwnLevel: Double], showsOwn: Bool, tier: String? = nil,
        limit: Int, at now: Timestamp
    ) {
        policy = rules.policy
        self.now = now
        self.ages = ages
        self.showsOwn = showsOwn
        self.limit = limit
        own = records.own
        rows = records.tenants.map { Row(level: $0, tier: rules.tier(of: $0.tenant, in: $0.pool)) }
            .filter { tier == nil || $0.tier.name == tier }
        tasks = records.tasks.compactMap { level in
            let tier = rules.contractTier(of: level.tenant)
            return tier.taskSeconds.map {
                TaskRow(tenant: level.tenant, tier: tier, seconds: $0, windows: level.windows(atMost: $0))
            }
        }.filter { tier == nil || $0.tier.name == tier }
    }

    package func encoded() -> [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.field("at", now)
        writer.field("tiers", each: policy.tiers) { writer, tier in
            let own = rows.filter { $0.tier.name == tier.name }
            writer.beginObject()
            writer.field("tier", tier.name)
            writer.field("longest_wait_seconds", tier.longestWaitSeconds)
            writer.field("objective", tier.satisfiedShare)
            writer.field("tenants", own.count)
            writer.windows(
                own.reduce(into: LevelWindows()) { $0.add($1.level.windows) }, objective: tier.satisfiedShare,
                hasWaits: true)
            writer.endObject()
        }
        let sorted = rows.sorted { left, right in
            left.burn == right.burn
                ? (left.level.tenant, left.level.pool) < (right.level.tenant, right.level.pool)
                : left.burn > right.burn
        }
        writer.field("tenant_count", rows.count)
        writer.field("tenants", each: sorted.prefix(limit)) { writer, row in
            writer.beginObject()
            writer.field("tenant", row.level.tenant.text)
            writer.field("pool", row.level.pool.text)
            writer.field("tier", row.tier.name)
            writer.field("longest_wait_seconds", row.tier.longestWaitSeconds)
            writer.field("objective", row.tier.satisfiedShare)
            writer.windows(row.level.windows, objective: row.tier.satisfiedShare, hasWaits: true)
            writer.endObject()
        }
        writer.field("task_tiers", each: policy.tiers.filter { $0.taskSeconds != nil }) { writer, tier in
            let own = tasks.filter { $0.tier.name == tier.name }
            writer.beginObject()
            writer.field("tier", tier.name)
            writer.field("task_seconds", finite: tier.taskSeconds)
            writer.field("objective", tier.satisfiedShare)
            writer.field("tenants", own.count)
            writer.taskWindows(
                own.reduce(into: LevelWindows()) { $0.add($1.windows) }, objective: tier.satisfiedShare)
            writer.endObject()
        }
        func burn(_ row: TaskRow) -> Double {
            [LevelWindow.hour, .day].compactMap { row.windows[$0].burn(objective: row.tier.satisfiedShare) }.max() ?? 0
        }
        let late = tasks.map { (row: $0, burn: burn($0)) }
            .sorted { $0.burn == $1.burn ? $0.row.tenant < $1.row.tenant : $0.burn > $1.burn }
        writer.field("task_tenants", each: late.prefix(limit).map(\.row)) { writer, row in
            writer.beginObject()
            writer.field("tenant", row.tenant.text)
            writer.field("tier", row.tier.name)
            writer.field("task_seconds", row.seconds)
            writer.field("objective", row.tier.satisfiedShare)
            writer.taskWindows(row.windows, objective: row.tier.satisfiedShare)
            writer.endObject()
        }
        writer.field("service", each: showsOwn ? OwnLevel.allCases : []) { writer, level in
            writer.beginObject()
            writer.field("level", level.rawValue)
            writer.field("limit_seconds", level.limitSeconds(under: policy))
            writer.key("age_seconds")
            writer.amount(ages[level])
            writer.field("objective", policy.serviceLevels.share)
            writer.windows(own[level] ?? LevelWindows(), objective: policy.serviceLevels.share, hasWaits: false)
            writer.endObject()
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func windows(_ windows: LevelWindows, objective: Double, hasWaits: Bool) {
        key("windows")
        beginObject()
        for window in LevelWindow.allCases {
            let sums = windows[window]
            key(window.rawValue)
            beginObject()
            field("observed_seconds", Self.rounded(sums.observedSeconds))
            field("missed_seconds", Self.rounded(sums.missedSeconds))
            key("attainment")
            amount(sums.attainment)
            key("burn")
            amount(sums.burn(objective: objective))
            if hasWaits { field("longest_wait_seconds", sums.longestWaitSeconds) }
            endObject()
        }
        endObject()
    }

    fileprivate mutating func taskWindows(_ windows: LevelWindows, objective: Double) {
        key("windows")
        beginObject()
        for window in LevelWindow.allCases {
            let sums = windows[window]
            key(window.rawValue)
            beginObject()
            field("tasks", Int64(saturating: sums.observedSeconds))
            field("late", Int64(saturating: sums.missedSeconds))
            key("attainment")
            amount(sums.attainment)
            key("burn")
            amount(sums.burn(objective: objective))
            endObject()
        }
        endObject()
    }

    /// Sums of many ticks, without the digits that only adding brought.
    private static func rounded(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
}
