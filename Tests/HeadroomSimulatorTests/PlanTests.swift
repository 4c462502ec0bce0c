import HeadroomModel
import HeadroomSimulator
import Testing

@Suite struct PlanTests {
    private static let start = Timestamp(milliseconds: 1_800_000_000_000)
    private let nominal = Rates(rpm: 600, tpm: 600_000)

    /// Two tenants that each want 90 % of the pool, for five minutes, one call a second with 9,000 tokens.
    private func calls(from: Timestamp, to: Timestamp) -> [TelemetryRecord] {
        stride(from: from.milliseconds, to: to.milliseconds, by: 1000).flatMap { instant in
            (["acme", "bolt"] as [TenantID]).map { tenant in
                .call(
                    CallRecord(
                        request: "\(tenant)-\(instant)", at: Timestamp(milliseconds: instant), gateway: "gw-1",
                        tenant: tenant, pool: "p", outcome: tenant == "acme" ? .ok : .denied, inputTokens: 9_000,
                        outputTokens: 0))
            }
        }
    }

    private func rules(weights: [String: Double] = ["premium": 4, "standard": 2]) -> Rules {
        var policy = Policy(pools: [PoolPolicy(pool: "p", nominal: nominal)])
        policy.guardrails.mostOfNominal = 1
        policy.tiers = policy.tiers.map { tier in
            var tier = tier
            tier.weight = weights[tier.name] ?? tier.weight
            tier.ceilingShare = nil
            return tier
        }
        let contracts: [TenantID: Contract] = [
            "acme": Contract(tenant: "acme", tier: "premium"), "bolt": Contract(tenant: "bolt", tier: "standard"),
        ]
        return Rules(policy: policy, contracts: contracts)
    }

    private func parts(_ source: PlanReplay.Part.Source = .raw, minutes: Double = 5) -> [PlanReplay.Part] {
        [
            PlanReplay.Part(source: source, from: Self.start, to: Self.start.adding(seconds: minutes * 60)) {
                from, to in calls(from: from, to: to)
            }
        ]
    }

    @Test func `a candidate that changes nothing changes nobody's rate`() async throws {
        let outcome = try await PlanReplay(parts(), candidate: rules(), baseline: .rules(rules())).run { _ in }
        #expect(outcome.tenants.map(\.tenant) == ["acme", "bolt"])
        for tenant in outcome.tenants {
            #expect(tenant.before.assured == tenant.after.assured)
            #expect(tenant.change(in: .tokens) == 0)
        }
        #expect(outcome.questions.isEmpty)
    }

    @Test func `who is given more weight gains what the other loses`() async throws {
        let candidate = rules(weights: ["premium": 2, "standard": 4])
        let outcome = try await PlanReplay(parts(), candidate: candidate, baseline: .rules(rules())).run { _ in }
        let acme = outcome.tenants[0]
        let bolt = outcome.tenants[1]
        // A third of the pool before, two thirds behind; although nothing of it was served when it was recorded.
        #expect(bolt.change(in: .tokens) > 0.9)
        #expect(acme.change(in: .tokens) < -0.4)
        let before = acme.before.served[.tokens] + bolt.before.served[.tokens]
        let after = acme.after.served[.tokens] + bolt.after.served[.tokens]
        #expect(abs(after - before) < 0.05 * before)
        #expect(outcome.byChange.first?.tenant == "bolt" || outcome.byChange.first?.tenant == "acme")
    }

    @Test func `tiers are summed, and lines of pools that the candidate does not name are told of`() async throws {
        let part = PlanReplay.Part(source: .raw, from: Self.start, to: Self.start.adding(seconds: 300)) { from, to in
            let own = calls(from: from, to: to)
            return own
                + own.map { record in
                    guard case .call(var call) = record else { return record }
                    call.pool = "q"
                    return .call(call)
                }
        }
        let candidate = rules(weights: ["premium": 2, "standard": 4])
        let outcome = try await PlanReplay([part], candidate: candidate, baseline: .rules(rules())).run { _ in }
        #expect(outcome.leftOut == ["q": 600])
        #expect(outcome.provenance.contains("600 lines of q"))
        #expect(outcome.tenants.map(\.pool) == ["p", "p"])
        #expect(
            outcome.tierRows.map { Array($0.prefix(4)) } == [["p", "premium", "0", "1"], ["p", "standard", "1", "0"]])
    }

    @Test func `what was really published is the other side where no policy is given`() async throws {
        let half = Rates(rpm: 300, tpm: 300_000)
        let published = PoolAllocation(
            pool: "p", capacity: nominal, nominal: nominal, budget: nominal,
            tenants: [TenantAllocation(tenant: "acme", assured: half), TenantAllocation(tenant: "bolt", assured: half)])
        let outcome = try await PlanReplay(
            parts(), candidate: rules(),
            baseline: .published([(at: Self.start, pools: [published])])
        ).run { _ in }
        #expect(abs(outcome.tenants[0].before.assured[.tokens] - 300_000) < 1)
        #expect(abs(outcome.tenants[1].before.served[.tokens] - 300_000) < 30_000)
        #expect(outcome.tenants[0].after.assured[.tokens] > 300_000)
    }

    @Test func `a minute of sums is replayed as a window, and the report says which part is which`() async throws {
        let minute = Rollup(
            start: Self.start, tenant: "acme", pool: "p", criticality: .batch,
            sums: RollupSums {
                $0.ok = 60
                $0.quota = 2
                $0.retries = 1
                $0.denied = 3
                $0.deniedTokens = 27_000
                $0.inputTokens = 540_000
            })
        #expect(minute.window.requests == 62)
        #expect(minute.window.end == Self.start.adding(seconds: 60))
        let part = PlanReplay.Part(source: .minutes, from: Self.start, to: Self.start.adding(seconds: 240)) {
            from, to in
            let ends = minute.window.end
            return ends > from && ends <= to ? [.window(minute.window)] : []
        }
        let outcome = try await PlanReplay(
            [part]
                + parts().map { raw in
                    PlanReplay.Part(
                        source: .raw, from: Self.start.adding(seconds: 240), to: Self.start.adding(seconds: 300),
                        read: raw.read)
                }, candidate: rules(), baseline: .rules(rules())
        ).run { _ in }
        #expect(outcome.stretches.map(\.isByMinute) == [true, false])
        #expect(outcome.provenance.contains("sums by minute"))
        let acme = try #require(outcome.tenants.first { $0.tenant == "acme" })
        #expect(acme.asked[.tokens] > 0)
        #expect(PlanReport(outcome, title: "a < b").html.contains("<h1>a &lt; b</h1>"))
    }

    @Test func `what the candidate would have asked is told once, with the time of the first asking`() async throws {
        var candidate = rules()
        candidate.policy.guardrails.mostOfNominal = 0.3
        let outcome = try await PlanReplay(parts(), candidate: candidate, baseline: .rules(rules())).run { _ in }
        let asked = outcome.questions.filter { $0.changes.contains { $0.tenant == "acme" } }
        #expect(asked.count == 1)
        #expect(asked.first?.kind == .guardrail)
        let acme = outcome.tenants[0]
        #expect(acme.after.assured[.tokens] <= 0.3 * 600_000 + 1)
    }
}
