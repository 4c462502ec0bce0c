import HeadroomDecision
import HeadroomModel
import Testing

/// What customer success reads before it raises a tenant.
@Suite struct OverridePreviewTests {
    private static let pool = PoolPolicy(pool: "demo:pool", nominal: Rates(rpm: 1_000, tpm: 1_000_000))
    private static let now = Timestamp(milliseconds: 1_793_000_000_000)

    /// Tokens a minute, in calls of 1,000.
    private static func tenant(_ id: TenantID, _ tokens: Double, _ criticality: Criticality) -> TenantReport {
        let demand = Rates(rpm: tokens / 1_000, tpm: tokens)
        let flow = TenantProfileReport.Flow(
            criticality: criticality, demand: demand, burnFast: demand, burnSlow: demand, usualDemand: demand, trend: 0,
            shape: Work(requests: 1, tokens: 1_000))
        var report = TenantReport(
            tenant: id, tier: "standard", demand: demand, assured: .none, consumed: demand,
            profile: TenantProfileReport(flows: [flow], confidence: 1))
        report.arrivals = demand
        return report
    }

    /// "stormy" is raised to premium.
    private static func effects(_ tenants: [TenantReport], _ change: (inout Rules) -> Void = { _ in })
        -> OverrideEffects
    {
        let full = pool.nominal
        let report = PoolReport(
            pool: pool.pool, state: .healthy, nominal: full, estimated: full, capacityReason: .contract, confidence: 1,
            budget: full, assured: full, consumed: full, calls: [:], tenants: tenants)
        var policy = PoolAllocatorTests.undampened
        for index in policy.tiers.indices { policy.tiers[index].ceilingShare = nil }
        var rules = Rules(policy: policy, contracts: [:])
        change(&rules)
        let authorship = Authorship(author: "anna", reason: "", at: now, until: now.adding(seconds: 3600))
        let override = Override(tenant: "stormy", tier: "premium", authorship: authorship)
        return OverridePreview.effects(of: override, on: report, of: pool, under: rules, at: now)
    }

    @Test func `who is raised gains what others lose`() {
        let effects = Self.effects([
            Self.tenant("rival", 2_000_000, .interactive), Self.tenant("stormy", 2_000_000, .interactive),
        ])
        #expect(effects.unmoved == nil)
        #expect(effects.changes.map(\.tenant).sorted() == ["rival", "stormy"])
    }

    @Test func `where a raise changes nothing, the reason is the true one`() {
        // Asks for half of the pool in work that can wait, while interactive work takes it all.
        let urgent = Self.effects([
            Self.tenant("rival", 3_000_000, .interactive), Self.tenant("stormy", 3_000_000, .nearRealTime),
        ])
        #expect(urgent.unmoved == .moreUrgentWork(.interactive, own: .nearRealTime))
        #expect(urgent.changes.isEmpty)
        let small = Self.effects([Self.tenant("rival", 500_000, .interactive), Self.tenant("stormy", 100_000, .batch)])
        #expect(small.unmoved == .hasAll)
        let idle = Self.effects([Self.tenant("rival", 500_000, .interactive), Self.tenant("stormy", 0, .batch)])
        #expect(idle.unmoved == .asksForNothing)
        let bounded = Self.effects([Self.tenant("stormy", 900_000, .interactive)]) { rules in
            rules.contracts["stormy"] = Contract(
                tenant: "stormy", tier: "standard",
                terms: [Contract.Terms(pool: Self.pool.pool, ceiling: Rates(rpm: 1_000, tpm: 100_000))])
        }
        #expect(bounded.unmoved == .ceiling(.ceiling))
    }

    @Test func `the reason names the tenant, and what takes the pool`() {
        #expect(
            OverrideEffects.Bound.moreUrgentWork(.interactive, own: .nearRealTime).text(of: "stormy")
                == "stormy's work is near_real_time, and interactive work takes the whole pool")
    }
}
