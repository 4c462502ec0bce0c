import HeadroomDecision
import HeadroomModel
import Testing

@Suite struct BurstCreditTests {
    private let start = Timestamp(milliseconds: 1_800_000_000_000)
    private let budget = Rates(rpm: 1000, tpm: 1_000_000)

    private func idle(_ tenant: TenantID, tokens: Double = 60_000, weight: Double = 1) -> BurstCredit.Claim {
        BurstCredit.Claim(tenant: tenant, weight: weight, assured: Rates(rpm: 60, tpm: tokens))
    }

    private func bursting(
        _ tenant: TenantID, needs tokens: Double, repayment: Double = 1, isShort: Bool = true
    ) -> BurstCredit.Claim {
        BurstCredit.Claim(
            tenant: tenant, assured: Rates(rpm: 60, tpm: 60_000), consumed: Rates(rpm: 60, tpm: 60_000),
            isShort: isShort, midTask: Work(requests: 20, tokens: tokens), repayment: repayment)
    }

    /// Ticks of two seconds.
    private func run(
        _ credit: inout BurstCredit, _ claims: [BurstCredit.Claim], seconds: Double, from second: Double
    ) -> [BurstCredit.GrantedBurst] {
        var grants: [BurstCredit.GrantedBurst] = []
        for tick in stride(from: 0, through: seconds, by: 2) {
            grants = credit.decide(
                claims, budget: budget, policy: CreditPolicy(), at: start.adding(seconds: second + tick))
        }
        return grants
    }

    @Test func `half of what is left unused is earned`() throws {
        var credit = BurstCredit(pool: "p", at: start)
        _ = run(&credit, [idle("a")], seconds: 60, from: 0)
        let balance = try #require(credit.balance(of: "a"))
        #expect(balance.accrued == 30_000)
    }

    @Test func `the balances of those that have any ascend by tenant`() throws {
        var credit = BurstCredit(pool: "p", at: start)
        _ = run(&credit, [idle("a"), bursting("b", needs: 0), idle("c")], seconds: 60, from: 0)
        #expect(credit.balances.map(\.tenant) == ["a", "c"])
        #expect(try #require(credit.balances.first) == #require(credit.balance(of: "a")))
    }

    @Test func `credit above ten minutes of the assured rate is lost, and the ledger says so`() throws {
        var credit = BurstCredit(pool: "p", at: start)
        _ = run(&credit, [idle("a", tokens: 600)], seconds: 3600, from: 0)
        let balance = try #require(credit.balance(of: "a"))
        #expect(balance.balance <= 6_000)
        #expect(balance.balance > 5_900)
        #expect(balance.aboveCap > 10_000)
    }

    @Test func `a burst in the middle of a task is granted at once and paid from credit`() throws {
        var credit = BurstCredit(pool: "p", at: start)
        _ = run(&credit, [idle("a")], seconds: 60, from: 0)
        let grants = run(&credit, [bursting("a", needs: 20_000)], seconds: 0, from: 62)
        // 20,000 tokens over 120 s.
        #expect(grants == [BurstCredit.GrantedBurst(tenant: "a", perMinute: 10_000, until: start.adding(seconds: 182))])
        let before = try #require(credit.balance(of: "a")).spent
        _ = run(&credit, [bursting("a", needs: 20_000)], seconds: 58, from: 64)
        // A minute of it; less than a token is carried.
        #expect((9_999...10_000).contains(try #require(credit.balance(of: "a")).spent - before))
    }

    @Test(arguments: ["the clock", "the task", "the credit"])
    func `every grant ends with`(_ what: String) {
        var credit = BurstCredit(pool: "p", at: start)
        _ = run(&credit, [idle("a")], seconds: 60, from: 0)
        let needs = what == "the credit" ? 1_000_000.0 : 20_000
        #expect(run(&credit, [bursting("a", needs: needs)], seconds: 0, from: 62).count == 1)
        var after = bursting("a", needs: needs)
        if what == "the task" { after.needed = nil }
        #expect(run(&credit, [after], seconds: what == "the task" ? 0 : 124, from: 64).isEmpty)
    }

    @Test func `a grant is not followed by another at once`() {
        var credit = BurstCredit(pool: "p", at: start)
        _ = run(&credit, [idle("a", tokens: 600_000)], seconds: 600, from: 0)
        var seconds = 0.0
        for tick in stride(from: 602.0, to: 1_802, by: 2) {
            seconds += run(&credit, [bursting("a", needs: 5_000)], seconds: 0, from: tick).isEmpty ? 0 : 2
        }
        // Of twenty minutes at most half.
        #expect(seconds > 120)
        #expect(seconds <= 600)
    }

    @Test func `who does not repay, does not wait, or has saved nothing is granted nothing`() {
        let claims = [
            bursting("a", needs: 20_000, repayment: 0.4), bursting("b", needs: 20_000, isShort: false),
            bursting("c", needs: 20_000),
        ]
        let saved = CreditBalance(tenant: "a", pool: "p", accrued: 50_000)
        let other = CreditBalance(tenant: "b", pool: "p", accrued: 50_000)
        let nothing = CreditBalance(tenant: "c", pool: "p", accrued: 50_000, spent: 50_000)
        var credit = BurstCredit(pool: "p", balances: [saved, other, nothing], at: start.adding(seconds: -120))
        #expect(credit.decide(claims, budget: budget, policy: CreditPolicy(), at: start).isEmpty)
    }

    @Test func `after a start nobody bursts until what was granted before would have ended`() {
        let saved = CreditBalance(tenant: "a", pool: "p", accrued: 50_000)
        var credit = BurstCredit(pool: "p", balances: [saved], at: start)
        #expect(run(&credit, [bursting("a", needs: 20_000)], seconds: 118, from: 0).isEmpty)
        #expect(run(&credit, [bursting("a", needs: 20_000)], seconds: 0, from: 120).count == 1)
    }

    @Test func `all grants together take at most their part of the budget, the most saved first`() {
        let claims = (0..<20).map { bursting(TenantID(unchecked: "t\($0 + 10)"), needs: 1_000_000) }
        let saved = claims.enumerated().map { index, claim in
            CreditBalance(tenant: claim.tenant, pool: "p", accrued: Int64(60_000 + index * 1_000))
        }
        var credit = BurstCredit(pool: "p", balances: saved, at: start.adding(seconds: -120))
        let grants = credit.decide(claims, budget: budget, policy: CreditPolicy(), at: start)
        #expect(grants.reduce(0) { $0 + $1.perMinute } <= 100_000 + 1e-9)
        #expect(grants.map(\.tenant) == ["t27", "t28", "t29"])
    }

    @Test func `a newcomer starts from the average, by weight`() throws {
        let saved = [
            CreditBalance(tenant: "a", pool: "p", accrued: 1_000),
            CreditBalance(tenant: "b", pool: "p", accrued: 5_000),
        ]
        var credit = BurstCredit(pool: "p", balances: saved, at: start)
        let claims = [idle("a", weight: 1), idle("b", weight: 2), idle("c", weight: 4)]
        _ = credit.decide(claims, budget: budget, policy: CreditPolicy(), at: start)
        #expect(try #require(credit.balance(of: "c")).accrued == 8_000)
    }

    @Test(arguments: 0..<40)
    func `the ledger balances in whole tokens through any history`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var credit = BurstCredit(pool: "p", at: start)
        var stored: [TenantID: CreditBalance] = [:]
        var second = 0.0
        for tick in 0..<400 {
            second += Double.random(in: 0...5, using: &random)
            let claims = (0..<8).filter { _ in Bool.random(using: &random) }.map { index in
                BurstCredit.Claim(
                    tenant: TenantID(unchecked: "t\(index)"), weight: Double(1 + index),
                    assured: Rates(tpm: Double.random(in: 0...100_000, using: &random)),
                    consumed: Rates(tpm: Double.random(in: 0...100_000, using: &random)),
                    isShort: Bool.random(using: &random),
                    midTask: Bool.random(using: &random)
                        ? Work(tokens: Double.random(in: 0...50_000, using: &random)) : nil,
                    repayment: Double.random(in: 0...1, using: &random))
            }
            let now = start.adding(seconds: second)
            let grants = credit.decide(claims, budget: budget, policy: CreditPolicy(), at: now)
            for grant in grants {
                #expect(grant.until > now, "seed \(seed), tick \(tick)")
                #expect(try #require(credit.balance(of: grant.tenant)).balance > 0, "seed \(seed), tick \(tick)")
            }
            if tick % 3 == 0 { for grant in grants { credit.lower(grant.tenant, toPerMinute: grant.perMinute / 2) } }
            for balance in credit.takeChanges(at: now) {
                // What was counted once is never taken back, and nobody is in debt.
                let before = stored[balance.tenant] ?? CreditBalance(tenant: balance.tenant, pool: "p")
                #expect(
                    balance.accrued >= before.accrued && balance.spent >= before.spent, "seed \(seed), tick \(tick)")
                #expect(
                    balance.expired >= before.expired && balance.aboveCap >= before.aboveCap,
                    "seed \(seed), tick \(tick)")
                #expect(balance.balance >= 0, "seed \(seed), tick \(tick)")
                stored[balance.tenant] = balance
            }
            // A restart goes on from what was stored.
            if tick % 100 == 99 {
                credit = BurstCredit(pool: "p", balances: stored.values.sorted { $0.tenant < $1.tenant }, at: now)
            }
        }
    }
}
