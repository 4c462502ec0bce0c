import HeadroomModel

/// Something that happened to a pool, for the axis of a plot.
struct LiveEvent: Equatable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case start, state, capacity, policy, model, starved, recovered
        case retryStorm = "retry_storm"
    }

    let at: Timestamp
    let kind: Kind
    /// `nil`: it concerns all pools.
    let pool: PoolID?
    var tenant: TenantID?
    /// For people.
    let text: String

    /// An estimate that moved by less, as a part of nominal, is no event.
    private static let capacityStep = 0.15

    /// The differences between two ticks.
    static func between(_ before: LiveSample, _ after: LiveSample) -> [LiveEvent] {
        let at = after.report.at
        let reports = Dictionary(
            before.report.pools.map { ($0.pool, $0) }, uniquingKeysWith: { first, _ in first })
        let samples = Dictionary(before.pools.map { ($0.pool, $0) }, uniquingKeysWith: { first, _ in first })
        var events: [LiveEvent] = []
        for (report, sample) in zip(after.report.pools, after.pools) {
            guard let old = reports[report.pool], let oldSample = samples[report.pool] else { continue }
            if old.state != report.state {
                events.append(
                    LiveEvent(
                        at: at, kind: .state, pool: report.pool,
                        text: "state: \(old.state.spoken) → \(report.state.spoken)"))
            }
            if old.retryStorm == nil, let storm = report.retryStorm {
                events.append(
                    LiveEvent(
                        at: at, kind: .retryStorm, pool: report.pool,
                        text: "retry storm of \(storm.tenants.count) tenants, every \(Int(storm.periodSeconds)) s"))
            }
            for channel in report.upstream.channels where channel.changedAt != nil {
                let known = old.upstream.channels.first {
                    $0.model == channel.model && $0.endpoint == channel.endpoint
                }
                guard let known, known.changedAt != channel.changedAt else { continue }
                events.append(
                    LiveEvent(
                        at: at, kind: .model, pool: report.pool,
                        text: "new version of \(channel.model ?? "a model")"
                            + (channel.version.map { ": \($0)" } ?? "")))
            }
            events += starvation(oldSample, sample, at: at)
        }
        return events
    }

    /// Who became starved, and who is no longer.
    private static func starvation(
        _ before: LiveSample.Pool, _ after: LiveSample.Pool, at: Timestamp
    ) -> [LiveEvent] {
        let old = Set(before.short.filter { $0.starvation != nil }.map(\.tenant))
        let new = after.short.filter { $0.starvation != nil }
        var events = new.filter { !old.contains($0.tenant) }.map { tenant in
            LiveEvent(
                at: at, kind: .starved, pool: after.pool, tenant: tenant.tenant,
                text: "\(tenant.tenant) is starved (\(tenant.starvation?.rawValue ?? ""))")
        }
        let now = Set(new.map(\.tenant))
        // A full list says nothing of those that are not on it.
        if after.short.count < LiveSample.maxTenants {
            events += old.subtracting(now).sorted().map { tenant in
                LiveEvent(
                    at: at, kind: .recovered, pool: after.pool, tenant: tenant, text: "\(tenant) is no longer starved")
            }
        }
        return events
    }

    /// A move of the estimate from `level`, the one of the last such event; `nil` for a small one.
    static func capacity(_ sample: LiveSample.Pool, from level: Double, at: Timestamp) -> (LiveEvent, Double)? {
        let resource = sample.mainResource
        guard let nominal = sample.nominal[resource], nominal > 0, let capacity = sample.capacity[resource] else {
            return nil
        }
        let now = capacity / nominal
        guard abs(now - level) >= capacityStep else { return nil }
        let text = "capacity \(now < level ? "down" : "up") to \(GroupedNumber.percent(now)) of nominal"
        return (LiveEvent(at: at, kind: .capacity, pool: sample.pool, text: text), now)
    }
}

extension PoolState {
    fileprivate var spoken: String { self == .halfOpen ? "half open" : name }
}
