import HeadroomClient
import HeadroomModel
import HeadroomSimulator

/// The result of a run. Every figure is computed here once; text and JSON only show it.
struct DemoSummary: Sendable {
    let plan: DemoPlan
    /// How long the run lasted; less than planned after Ctrl-C.
    let seconds: Double
    let telemetry: Telemetry
    let generations: Generations
    let capacity: [Capacity]
    let drop: Drop
    let refusals: Refusals
    let tenants: [Tenant]
    let totals: Totals
    /// The same minutes with Headroom, and without.
    let result: DemoResult
    /// Faults of the loop, each once.
    let failures: [String]

    struct Telemetry: Sendable {
        /// By kind, in the order of ``TelemetryKind``.
        let kinds: [(kind: TelemetryKind, sent: Int, stored: Int)]
        let rejected: [TelemetryReceipt.Fault]

        var sent: Int { kinds.reduce(0) { $0 + $1.sent } }
        var stored: Int { kinds.reduce(0) { $0 + $1.stored } }
        var isComplete: Bool { kinds.allSatisfy { $0.sent == $0.stored } && rejected.isEmpty }
    }

    struct Generations: Sendable {
        let published: Int
        /// Those in which the pool's budget, or the sum of its parts, exceeded the estimate.
        let excessive: [SnapshotVersion]
    }

    /// How well one resource was estimated.
    struct Capacity: Sendable {
        let resource: Resource
        /// Mean over the run.
        let meanError: Double
        /// 15 s after the first refusal after the drop.
        let errorAfterDrop: Double?
        /// From that refusal until the estimate was within a tenth.
        let secondsToNear: Double?
        /// 15 s and 60 s after the provider came back.
        let errorAfterRecovery: Double?
        let errorLongAfterRecovery: Double?
        let secondsToRecover: Double?
        /// Refused attempts while the provider granted half.
        let refusalsInDrop: Int
    }

    struct Drop: Sendable {
        let firstRefusalSeconds: Double?
        let firstRefusalResource: Resource?
        /// The estimate 15 s after that, and what was granted; `nil` where the provider had come back by then.
        let sample: DemoTimeline.Sample?
    }

    /// Parts of the attempts of a phase that the provider refused.
    struct Refusals: Sendable {
        let before: Double
        let during: Double
        let after: Double
        let all: Double
    }

    struct Tenant: Sendable {
        let tenant: TenantID
        let tier: String
        let criticality: Criticality
        /// Means over the run.
        let demand: Rates
        let assured: Rates
        let service: Rates
        let denied: Int
        let starvedSeconds: Double
        let starvation: Starvation?
    }

    struct Totals: Sendable {
        let offered: Work
        let served: Work
        let denied: Int
        let failed: Int
        let waiting: Int
    }

    /// Nothing was lost and nothing given out twice.
    var isSound: Bool { telemetry.isComplete && generations.excessive.isEmpty && generations.published > 0 }

    init(
        plan: DemoPlan, timeline: DemoTimeline, log: DemoProvider.Log, tallies: [DemoTally], reporters: [Reporter],
        stored: [TelemetryKind: Int], published: [Snapshot], record: RunRecord, result: DemoResult
    ) {
        self.plan = plan
        self.result = result
        seconds = timeline.samples.last?.seconds ?? 0
        telemetry = Telemetry(
            kinds: TelemetryKind.allCases.map { kind in
                (kind, reporters.reduce(0) { $0 + ($1.counts.kinds[kind] ?? 0) }, stored[kind] ?? 0)
            },
            rejected: reporters.flatMap(\.faults))
        generations = Generations(
            published: published.count, excessive: DemoSummary.excessive(published, tallies.map(\.parts)))
        capacity = plan.capacity.resources.members.map { resource in
            Capacity(resource, timeline, log, plan)
        }
        drop = Drop(
            firstRefusalSeconds: log.firstRefusalSeconds, firstRefusalResource: log.firstRefusalResource,
            sample: log.firstRefusalSeconds.map { $0 + DemoSummary.settleSeconds }.flatMap {
                $0 < plan.recoverySeconds ? timeline.sample(atSecond: $0) : nil
            })
        refusals = Refusals(
            before: log.share(from: 0, to: plan.dropSeconds),
            during: log.share(from: plan.dropSeconds, to: plan.recoverySeconds),
            after: log.share(from: plan.recoverySeconds, to: .infinity), all: log.share(from: 0, to: .infinity))
        tenants = DemoSummary.tenants(plan, timeline, record, seconds)
        totals = Totals(
            offered: record.asked.reduce(.zero, +), served: record.served.reduce(.zero, +), denied: record.lost,
            failed: tallies.reduce(0) { $0 + $1.failed }, waiting: tallies.reduce(0) { $0 + $1.waiting })
        failures = timeline.failures
    }

    /// The time that an estimate has to settle, by the measure.
    static let settleSeconds = 15.0
    static let longSettleSeconds = 60.0

    /// Checked on what went over the wire: the whole from the ledger, the parts as the gateways received them.
    private static func excessive(
        _ published: [Snapshot], _ gateways: [[SnapshotVersion: DemoTally.Part]]
    ) -> [SnapshotVersion] {
        published.filter { snapshot in
            guard let pool = snapshot.pools.first(where: { $0.pool == DemoPlan.pool }) else { return false }
            return pool.capacity.resources.members.contains { resource in
                let capacity = pool.capacity[resource] ?? 0
                let float = pool.float[resource] ?? 0
                let parts = gateways.compactMap { $0[snapshot.version]?.budget[resource] }.reduce(0, +)
                let assured = pool.tenants.reduce(pool.unlisted[resource] ?? 0) { $0 + ($1.assured[resource] ?? 0) }
                let budget = pool.budget[resource] ?? .infinity
                return budget + float > capacity || parts + float > capacity || assured > budget
            }
        }.map(\.version)
    }

    private static func tenants(
        _ plan: DemoPlan, _ timeline: DemoTimeline, _ record: RunRecord, _ seconds: Double
    ) -> [Tenant] {
        let resources = plan.capacity.resources
        return plan.roster.entries.enumerated().map { index, entry in
            func sum(_ work: [Work]) -> Work {
                stride(from: index, to: work.count, by: record.tenantCount).reduce(.zero) { $0 + work[$1] }
            }
            func mean(_ work: [Work]) -> Rates { sum(work).rates(overSeconds: max(1, seconds), of: resources) }
            let watched = timeline.tenants[entry.tenant]
            return Tenant(
                tenant: entry.tenant, tier: entry.tier, criticality: entry.criticality, demand: mean(record.asked),
                assured: timeline.assured(entry.tenant, of: resources), service: mean(record.served),
                denied: Int(sum(record.lostWork)[.requests]), starvedSeconds: watched?.starvedSeconds ?? 0,
                starvation: watched?.starvation)
        }.sorted { left, right in
            let (most, other) = (left.demand[.tokens] ?? 0, right.demand[.tokens] ?? 0)
            return most == other ? left.tenant < right.tenant : most > other
        }
    }
}

extension DemoSummary.Capacity {
    fileprivate init(_ resource: Resource, _ timeline: DemoTimeline, _ log: DemoProvider.Log, _ plan: DemoPlan) {
        let errors = timeline.samples.compactMap { $0.error(resource) }
        // A refusal that comes when the provider is about to come back tells nothing of the drop.
        let refusal = log.firstRefusalSeconds.flatMap {
            $0 + DemoSummary.settleSeconds < plan.recoverySeconds ? $0 : nil
        }
        func error(_ second: Double?) -> Double? {
            second.flatMap { timeline.sample(atSecond: $0) }.flatMap { $0.error(resource) }
        }
        self.resource = resource
        meanError = errors.reduce(0, +) / Double(max(1, errors.count))
        errorAfterDrop = error(refusal.map { $0 + DemoSummary.settleSeconds })
        secondsToNear = refusal.flatMap { timeline.secondsUntilNear(resource, from: $0) }
        errorAfterRecovery = error(plan.recoverySeconds + DemoSummary.settleSeconds)
        errorLongAfterRecovery = error(plan.recoverySeconds + DemoSummary.longSettleSeconds)
        secondsToRecover = timeline.secondsUntilNear(resource, from: plan.recoverySeconds)
        refusalsInDrop = log.seconds.enumerated()
            .filter { Double($0.offset) >= plan.dropSeconds && Double($0.offset) < plan.recoverySeconds }
            .reduce(0) { $0 + ($1.element.refused[resource] ?? 0) }
    }
}

extension DemoProvider.Log {
    fileprivate func share(from: Double, to: Double) -> Double {
        let sum = sum(from: from, to: to)
        return sum.attempts > 0 ? Double(sum.refusals) / Double(sum.attempts) : 0
    }
}
