import HeadroomModel
import HeadroomPolicy
import Testing

@Suite struct TaskBudgetPolicyTests {
    private func load(_ section: String, pool: String = "") throws(PolicyError) -> Policy {
        try PolicyLoader.load(files: [
            (path: "policies/rules.json5", bytes: Array("{ task_budgets: \(section) }".utf8)),
            (path: "policies/pools/p.json5", bytes: Array("{ pool: \"p\", nominal: { tpm: 1000 }\(pool) }".utf8)),
        ])
    }

    @Test func `every key sets what it names, and is written as it is read`() throws {
        let policy = try load(
            """
            { currency: "EUR", require_task: true, budgets: [
              { task_kind: "deep research", tenant: "acme", calls: 1, iterations: 2, tokens: 3, micros: 4, fan_out: 0, seconds: 6 },
              { tier: "free", calls: 7 }, { calls: 8 }] }
            """, pool: ", require_task: false")
        let limits = TaskLimits(calls: 1, iterations: 2, tokens: 3, micros: 4, fanOut: 0, seconds: 6)
        #expect(
            policy.taskBudgets
                == TaskBudgetPolicy(
                    currency: "EUR", requiresTask: true,
                    budgets: [
                        TaskBudget(taskKind: "deep research", tenant: "acme", limits: limits),
                        TaskBudget(tier: "free", limits: TaskLimits(calls: 7)),
                        TaskBudget(limits: TaskLimits(calls: 8)),
                    ]))
        #expect(policy.pools[0].requiresTask == false)
        #expect(!Rules(policy: policy).taskTerms(in: policy.pools[0]).requiresTask)
        let again = try PolicyLoader.load(files: [
            (path: "policies/rules.json5", bytes: policy.encodedRules()),
            (path: "policies/pools/p.json5", bytes: policy.pools[0].encoded()),
        ])
        #expect(again.taskBudgets == policy.taskBudgets && again.pools == policy.pools)
    }

    @Test(arguments: [
        ("{ budgets: [{ tenant: \"a\" }] }", "budgets[0]: must state at least one of calls, iterations"),
        ("{ budgets: [{ calls: 0 }] }", "budgets[0].calls: must be a whole number from 1 to"),
        ("{ budgets: [{ calls: 1.5 }] }", "budgets[0].calls: must be a whole number"),
        ("{ budgets: [{ cals: 1 }] }", "unknown key"),
        ("{ budgets: [{ tier: \"gold\", calls: 1 }] }", "budgets[0].tier: must be one of the tiers"),
        (
            "{ budgets: [{ calls: 1 }, { tenant: \"a\", calls: 2 }] }",
            "budgets[1]: never holds: the first budget that fits a task does, and budgets[0] fits all"
        ),
        ("{ require_task: 1 }", "task_budgets.require_task: must be true or false"),
    ])
    func `a fault says what would be right`(section: String, words: String) {
        let error = #expect(throws: PolicyError.self) { try load(section) }
        let text = error.map { "\($0)" } ?? ""
        #expect(text.contains(words), "\(text)")
    }
}
