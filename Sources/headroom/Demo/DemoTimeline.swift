import HeadroomModel

/// The course of a run, noted twice a second.
struct DemoTimeline: Sendable {
    static let periodSeconds = 0.5

    struct Sample: Sendable {
        let seconds: Double
        /// The capacity that the provider really granted.
        let granted: Rates
        let estimated: Rates
        let reason: CapacityReason

        /// How far the estimate is off, as a part of what was granted.
        func error(_ resource: Resource) -> Double? {
            guard let granted = granted[resource], let estimated = estimated[resource], granted > 0 else { return nil }
            return abs(estimated - granted) / granted
        }
    }

    /// Sums over the samples, for means.
    struct Tenant: Sendable {
        var assured = Work.zero
        var starvedSeconds = 0.0
        var firstStarvedSeconds: Double?
        var starvation: Starvation?
    }

    /// Ascending by time.
    private(set) var samples: [Sample] = []
    private(set) var tenants: [TenantID: Tenant] = [:]
    private(set) var failures: [String] = []
    private var watchedSeconds = 0.0

    mutating func add(_ report: LoopReport, granted: Rates, atSecond second: Double) {
        let elapsed = second - (samples.last?.seconds ?? 0)
        guard let pool = report.pools.first(where: { $0.pool == DemoPlan.pool }), elapsed > 0 else { return }
        samples.append(
            Sample(seconds: second, granted: granted, estimated: pool.estimated, reason: pool.capacityReason))
        watchedSeconds += elapsed
        for tenant in pool.tenants {
            tenants[tenant.tenant, default: Tenant()].add(tenant, elapsed, atSecond: second)
        }
        for failure in report.failures.map({ "\($0.stage): \($0.message)" }) where !failures.contains(failure) {
            failures.append(failure)
        }
    }

    /// Mean assured rates over the run.
    func assured(_ tenant: TenantID, of resources: ResourceSet) -> Rates {
        guard watchedSeconds > 0 else { return Rates(perMinute: .zero, resources: resources) }
        return (tenants[tenant]?.assured ?? .zero).rates(overSeconds: watchedSeconds, of: resources)
    }

    /// The newest at `second`; `nil` when the run did not last so long.
    func sample(atSecond second: Double) -> Sample? {
        guard let end = samples.last?.seconds, second <= end else { return nil }
        return samples.last { $0.seconds <= second }
    }

    /// Seconds from `start` until the estimate is within a tenth of what is granted.
    func secondsUntilNear(_ resource: Resource, from start: Double) -> Double? {
        samples.first { $0.seconds >= start && ($0.error(resource) ?? 1) <= 0.1 }.map { $0.seconds - start }
    }
}

extension DemoTimeline.Tenant {
    fileprivate mutating func add(_ report: TenantReport, _ elapsed: Double, atSecond second: Double) {
        assured += report.assured.work(overSeconds: elapsed)
        guard let reason = report.starvation else { return }
        starvedSeconds += elapsed
        firstStarvedSeconds = firstStarvedSeconds ?? second
        starvation = reason
    }
}
