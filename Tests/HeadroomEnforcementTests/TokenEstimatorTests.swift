import HeadroomEnforcement
import HeadroomModel
import Testing

@Suite struct TokenEstimatorTests {
    @Test func `a tenant that asks for ten times its output is estimated by its output`() {
        var estimator = TokenEstimator()
        #expect(estimator.estimate(for: "a", inputTokens: 500, maxTokens: 4000)[.tokens] == 4500)
        for _ in 0..<200 { estimator.learn(from: "a", outputTokens: 400, maxTokens: 4000) }
        let estimate = estimator.estimate(for: "a", inputTokens: 500, maxTokens: 4000)
        #expect(abs(estimate[.tokens] - 900) < 1e-6)
        #expect(estimate[.requests] == 1)
        #expect(estimate[.inputTokens] == 500)
        #expect(abs(estimate[.outputTokens] - 400) < 1e-6)
    }

    @Test func `each call counts 0,98 of the next`() {
        var estimator = TokenEstimator()
        estimator.learn(from: "a", outputTokens: 100, maxTokens: 100)
        estimator.learn(from: "a", outputTokens: 0, maxTokens: 100)
        #expect(abs(estimator.correction(for: "a") - 0.98 / 1.98) < 1e-12)
    }

    @Test func `a tenant not seen yet is estimated by the average of all`() {
        var estimator = TokenEstimator(maxTenants: 1)
        for _ in 0..<50 {
            estimator.learn(from: "a", outputTokens: 10, maxTokens: 100)
            estimator.learn(from: "beyond", outputTokens: 30, maxTokens: 100)
        }
        #expect(abs(estimator.correction(for: "a") - 0.1) < 1e-9)
        #expect(abs(estimator.correction(for: "new") - 0.2) < 0.01)
        #expect(estimator.correction(for: "beyond") == estimator.correction(for: "new"))
    }

    @Test func `without a bound the mean output counts`() {
        var estimator = TokenEstimator()
        #expect(estimator.estimate(for: "a", inputTokens: 5, maxTokens: nil)[.tokens] == 5)
        for output in [100.0, 100, 100] { estimator.learn(from: "a", outputTokens: output, maxTokens: nil) }
        #expect(abs(estimator.estimate(for: "a", inputTokens: 5, maxTokens: nil)[.tokens] - 105) < 1e-9)
        #expect(estimator.correction(for: "a") == 1)
        estimator.learn(from: "a", outputTokens: 20, maxTokens: 100)
        estimator.learn(from: "a", outputTokens: 900, maxTokens: nil)
        #expect(abs(estimator.correction(for: "a") - 0.2) < 1e-12)
    }

    @Test func `what is expected fades as answers come, and each model has its own`() {
        var estimator = TokenEstimator(expectedOutputTokens: 300)
        func output(_ tenant: TenantID, _ model: String?) -> Double {
            estimator.estimate(for: tenant, model: model, inputTokens: 5, maxTokens: nil)[.outputTokens]
        }
        #expect(output("a", "large") == 300)
        estimator.learn(from: "a", model: "large", outputTokens: 10, maxTokens: nil)
        #expect((200...210).contains(output("a", "large")))
        for _ in 0..<400 {
            estimator.learn(from: "a", model: "large", outputTokens: 10, maxTokens: nil)
            estimator.learn(from: "a", model: "small", outputTokens: 1000, maxTokens: nil)
        }
        #expect(abs(output("a", "large") - 10) < 0.2 && abs(output("a", "small") - 1000) < 1)
        // A model that was not asked before is expected as the tenant's others, a tenant that was not as all others.
        #expect((480...530).contains(output("a", "new")) && (480...530).contains(output("b", nil)))
        estimator.expectedOutputTokens = 5000
        #expect(abs(output("a", "large") - 10) < 5)
    }

    @Test func `no answer is expected to be longer than its bound`() {
        var estimator = TokenEstimator()
        estimator.learn(from: "a", outputTokens: 1e12, maxTokens: 1)
        #expect(estimator.estimate(for: "a", inputTokens: 0, maxTokens: 100)[.outputTokens] == 100)
    }
}
