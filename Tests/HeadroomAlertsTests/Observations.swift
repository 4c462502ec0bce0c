import HeadroomAlerts
import HeadroomModel

// What the loop and the service would report: everything well, unless an argument says otherwise.

let start = Timestamp(milliseconds: 1_793_000_000_000)

extension AlertObservation {
    /// One pool, one tenant, one gateway, all well.
    static func well(
        at now: Timestamp = start, policy: Policy = Policy(pools: [.sample]), contracts: [Contract] = [],
        proposals: [Proposal] = [], _ change: (inout AlertObservation) -> Void = { _ in }
    ) -> AlertObservation {
        let rules = Rules(
            policy: policy, contracts: Dictionary(uniqueKeysWithValues: contracts.map { ($0.tenant, $0) }),
            steering: Steering(proposals: proposals))
        var report = LoopReport(at: now, pools: [.sample(tenants: [.sample("acme")])])
        report.pools[0].calls = [.ok: Int(now.seconds(since: start)) + 1]
        var seen = AlertObservation(at: now, rules: rules, report: report, gateways: [.sample("gw-1", seen: now)]) {
            override, _, _, _, _ in
            OverrideEffects(changes: [.init(tenant: override.tenant, from: Rates(tpm: 30_000), to: Rates(tpm: 90_000))])
        }
        seen.disk = Disk(freeBytes: 50e9, totalBytes: 100e9)
        seen.certificateEnds = start.adding(seconds: 90 * 86_400)
        change(&seen)
        return seen
    }

    var pool: PoolReport {
        get { report!.pools[0] }
        set { report!.pools[0] = newValue }
    }

    var tenant: TenantReport {
        get { pool.tenants[0] }
        set { pool.tenants[0] = newValue }
    }
}

extension AlertObservation.Gateway {
    static func sample(_ name: GatewayID, seen: Timestamp, behind seconds: Double = 0) -> Self {
        Self(
            presence: GatewayPresence(
                gateway: name, lastSeen: seen, applied: SnapshotVersion(epoch: 1, generation: 7), sent: nil),
            driftSeconds: seconds)
    }
}

extension PoolPolicy {
    static let sample = PoolPolicy(pool: "p", nominal: Rates(rpm: 100, tpm: 1_000_000))
}

extension PoolReport {
    static func sample(tenants: [TenantReport]) -> PoolReport {
        let rates = Rates(rpm: 100, tpm: 1_000_000)
        var signals = UpstreamReport.Signals(
            latency: UpstreamReport.Latency(
                p50Milliseconds: 700, p95Milliseconds: 1900, p99Milliseconds: 2500, baselineP95Milliseconds: 1800))
        signals.outcomes[Outcome.ok.rawValue] = 90
        return PoolReport(
            pool: "p", state: .healthy, nominal: rates, estimated: rates, capacityReason: .contract, confidence: 1,
            budget: rates, assured: rates, consumed: rates, calls: [:],
            upstream: UpstreamReport(whole: signals), tenants: tenants)
    }
}

extension TenantReport {
    static func sample(_ tenant: TenantID, tier: String = "standard") -> TenantReport {
        TenantReport(
            tenant: tenant, tier: tier, demand: Rates(tpm: 90_000), assured: Rates(tpm: 90_000),
            consumed: Rates(tpm: 90_000))
    }

    static func starved(
        _ tenant: TenantID, tier: String = "standard", for seconds: Double = 360, by starvation: Starvation = .delivery
    ) -> TenantReport {
        var report = sample(tenant, tier: tier)
        report.consumed = Rates(tpm: 30_000)
        report.underservedSeconds = seconds
        report.starvation = starvation
        return report
    }
}

extension Proposal {
    static func sample(
        _ id: Int64 = 7, kind: Kind = .guardrail, asked: Timestamp = start, hours: Double = 4
    ) -> Proposal {
        Proposal(
            id: id, kind: kind, pool: "p",
            changes: [Change(tenant: "acme", from: Rates(tpm: 50_000), to: Rates(tpm: 90_000))], movers: 1,
            authorship: Authorship(
                author: Authorship.automation, reason: "demand", at: asked, until: asked.adding(seconds: hours * 3600)))
    }
}
