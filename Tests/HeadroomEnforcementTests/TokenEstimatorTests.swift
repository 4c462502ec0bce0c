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
}
