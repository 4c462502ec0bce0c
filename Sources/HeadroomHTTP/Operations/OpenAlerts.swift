import HeadroomModel
import Synchronization

/// How many alerts of each kind are open, for `/metrics`.
package final class OpenAlerts: Sendable {
    private let open = Mutex<[AlertKind: Int]>([:])
    package let sinks = SinkMetrics()
    package let levels = LevelMetrics()

    package init() {}

    package func set(_ kinds: some Sequence<AlertKind>) {
        let counts = kinds.reduce(into: [AlertKind: Int]()) { $0[$1, default: 0] += 1 }
        open.withLock { $0 = counts }
    }

    /// In the order of ``AlertKind``, zeros included.
    package var counts: [(kind: AlertKind, count: Int)] {
        let counts = open.withLock { $0 }
        return AlertKind.allCases.map { ($0, counts[$0] ?? 0) }
    }
}

/// How webhooks fare, for `/metrics`.
package final class SinkMetrics: Sendable {
    package struct Row: Sendable {
        package var sink: String
        package var delivered: Int
        package var failed: Int
        package var dropped: Int
        package var waiting: Int

        package init(sink: String, delivered: Int, failed: Int, dropped: Int, waiting: Int) {
            self.sink = sink
            self.delivered = delivered
            self.failed = failed
            self.dropped = dropped
            self.waiting = waiting
        }
    }

    private let all = Mutex<[Row]>([])

    package init() {}

    /// Ascending by webhook.
    package func set(_ rows: [Row]) { all.withLock { $0 = rows } }

    package var rows: [Row] { all.withLock { $0 } }
}

/// How service levels were kept, by tier and for Headroom itself, for `/metrics`.
package final class LevelMetrics: Sendable {
    struct Row: Sendable {
        /// The tier's name, or one of ``OwnLevel``.
        var name: String
        var objective: Double
        var windows: LevelWindows
    }

    private let all = Mutex<(tiers: [Row], own: [Row], tasks: [Row])>(([], [], []))

    package init() {}

    package func set(_ records: LevelRecords, under rules: Rules) {
        var byTier: [String: LevelWindows] = [:]
        for level in records.tenants {
            byTier[rules.tier(of: level.tenant, in: level.pool).name, default: LevelWindows()].add(level.windows)
        }
        let tiers = rules.policy.tiers.compactMap { tier in
            byTier[tier.name].map { Row(name: tier.name, objective: tier.satisfiedShare, windows: $0) }
        }
        let own = OwnLevel.allCases.compactMap { level in
            records.own[level].map {
                Row(name: level.rawValue, objective: rules.policy.serviceLevels.share, windows: $0)
            }
        }
        var tasksByTier: [String: LevelWindows] = [:]
        for level in records.tasks {
            let tier = rules.contractTier(of: level.tenant)
            guard let limit = tier.taskSeconds else { continue }
            tasksByTier[tier.name, default: LevelWindows()].add(level.windows(atMost: limit))
        }
        let tasks = rules.policy.tiers.compactMap { tier in
            tasksByTier[tier.name].map { Row(name: tier.name, objective: tier.satisfiedShare, windows: $0) }
        }
        all.withLock { $0 = (tiers, own, tasks) }
    }

    /// In the order of the policy, and of ``OwnLevel``.
    var rows: (tiers: [Row], own: [Row], tasks: [Row]) { all.withLock { $0 } }
}
