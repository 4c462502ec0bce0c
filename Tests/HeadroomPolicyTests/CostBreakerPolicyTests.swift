import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct CostBreakerPolicyTests {
    private func load(_ section: String) throws(PolicyError) -> CostBreakerPolicy {
        try PolicyLoader.load(files: [
            (path: "policies/rules.json5", bytes: Array("{ cost_breaker: \(section) }".utf8)),
            (path: "policies/pools/p.json5", bytes: Array(#"{ pool: "p", nominal: { tpm: 1000 } }"#.utf8)),
        ]).costBreaker
    }

    @Test func `every key sets what it names, and is written as it is read`() throws {
        let policy = try load(
            """
            { currency: "EUR", window_seconds: 600, tenant_micros: 5000000, rate_seconds: 60, notice_seconds: 30,
              slow_share: 0.8, resume_share: 0.5,
              ceilings: [{ tenant: "acme", micros: 7 }, { task_kind: "deep research", micros: 0 }] }
            """)
        #expect(
            policy
                == CostBreakerPolicy(
                    currency: "EUR", windowSeconds: 600, tenantMicros: 5_000_000,
                    ceilings: [.tenant("acme"): 7, .taskKind("deep research"): 0], rateSeconds: 60, noticeSeconds: 30,
                    slowShare: 0.8, resumeShare: 0.5))
        var whole = Policy(pools: [PoolPolicy(pool: "p", nominal: Rates(tpm: 1000))])
        whole.costBreaker = policy
        let again = try PolicyLoader.load(files: [
            (path: "policies/rules.json5", bytes: whole.encodedRules()),
            (path: "policies/pools/p.json5", bytes: whole.pools[0].encoded()),
        ])
        #expect(again.costBreaker == policy)
        #expect(policy.ceiling(of: .tenant("acme")) == 7 && policy.ceiling(of: .tenant("other")) == 5_000_000)
        #expect(policy.ceiling(of: .taskKind("deep research")) == nil && policy.ceiling(of: .taskKind("x")) == nil)
    }

    @Test(arguments: [
        (#"{ ceilings: [{ micros: 7 }] }"#, "ceilings[0]: must name either a tenant or a task_kind"),
        (#"{ ceilings: [{ tenant: "a", task_kind: "b", micros: 7 }] }"#, "must name either a tenant or a task_kind"),
        (#"{ ceilings: [{ tenant: "a" }] }"#, "micros: missing: the most that may be spent in a window"),
        (#"{ ceilings: [{ tenant: "a", micros: 1 }, { tenant: "a", micros: 2 }] }"#, "a second ceiling of a"),
        (#"{ ceilings: [{ tenant: "a b", micros: 1 }] }"#, "ceilings[0].tenant: must have"),
        (#"{ currency: "dollars" }"#, "cost_breaker.currency"),
        ("{ windows_seconds: 60 }", "unknown key: known here are currency, ceilings, window_seconds"),
        ("{ window_seconds: 60, notice_seconds: 40 }", "twice cost_breaker.notice_seconds"),
        ("{ slow_share: 0.6 }", "cost_breaker.resume_share: a slowed tenant would be let go"),
        ("7", "cost_breaker: must be an object, found a number"),
    ])
    func `a fault says what would be right`(section: String, words: String) {
        let error = #expect(throws: PolicyError.self) { try load(section) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(words), "\(text)")
    }
}
