import HeadroomModel

/// A call's expected cost before it is sent: input tokens + `max_tokens` × the part of `max_tokens` that this tenant's
/// answers have used so far, or without `max_tokens` their mean; by model, where there were calls of it.
///
/// Callers ask for five to ten times the output that they get. Without the learned correction the pool looks full while
/// it is nearly empty (ControlLaw, rule 18: shortfall 0.37 higher).
public struct TokenEstimator: Sendable {
    /// Sums in which each call counts 0.98 of the call after it: the last fifty calls or so.
    private struct Usage {
        var calls = 0.0
        var outputTokens = 0.0
        /// Of the calls that set a bound.
        var boundedOutputTokens = 0.0
        var maxTokens = 0.0

        mutating func add(outputTokens output: Double, maxTokens bound: Double?) {
            calls = calls * TokenEstimator.memoryPerCall + 1
            outputTokens = outputTokens * TokenEstimator.memoryPerCall + output
            guard let bound else { return }
            boundedOutputTokens = boundedOutputTokens * TokenEstimator.memoryPerCall + output
            maxTokens = maxTokens * TokenEstimator.memoryPerCall + bound
        }
    }

    private static let memoryPerCall = 0.98
    /// What is expected before anything is learned counts as so many calls, so that the first answer does not stand for all.
    /// They are forgotten as real ones are.
    private static let expectedCalls = 2.0

    /// A tenant's calls of a model, or all of a tenant's.
    private struct Key: Hashable {
        let tenant: TenantID
        let model: String?
    }

    private let maxTenants: Int
    private var usage: [Key: Usage] = [:]
    /// Of everyone: the estimate for tenants that were not seen yet.
    private var overall = Usage()
    /// Of an answer without a bound of a tenant that was not seen yet; `nil`: nothing is known.
    public var expectedOutputTokens: Double?

    /// Tenants, and models of tenants, beyond the first `maxTenants` are estimated by the average of the tenant or of all.
    public init(maxTenants: Int = 100_000, expectedOutputTokens: Double? = nil) {
        self.maxTenants = maxTenants
        self.expectedOutputTokens = expectedOutputTokens
    }

    /// `maxTokens` is `nil` when the caller sets no bound: then the mean output counts.
    public func estimate(for tenant: TenantID, model: String? = nil, inputTokens: Double, maxTokens: Double?) -> Work {
        let output: Double
        if let maxTokens {
            // No answer is longer than its bound, whatever was said of earlier ones.
            output = maxTokens * min(1, correction(for: tenant, model: model))
        } else {
            output = meanOutput(of: tenant, model)
        }
        return Work(requests: 1, tokens: inputTokens + output, inputTokens: inputTokens, outputTokens: output)
    }

    private func meanOutput(of tenant: TenantID, _ model: String?) -> Double {
        for known in levels(of: tenant, model) where known.calls > 0 {
            guard let expected = expectedOutputTokens else { return known.outputTokens / known.calls }
            // Of n calls Σ 0.98^k are known, which is (1 − 0.98^n) ÷ 0.02; what came before them counts 0.98^n.
            let rest = max(0, 1 - known.calls * (1 - TokenEstimator.memoryPerCall))
            let weight = TokenEstimator.expectedCalls * rest
            return (known.outputTokens + expected * weight) / (known.calls + weight)
        }
        return expectedOutputTokens ?? 0
    }

    /// Σ real output ÷ Σ `max_tokens`; 1 while nothing is known.
    public func correction(for tenant: TenantID, model: String? = nil) -> Double {
        for known in levels(of: tenant, model) where known.maxTokens > 0 {
            return known.boundedOutputTokens / known.maxTokens
        }
        return 1
    }

    /// What was learned, the most particular first.
    private func levels(of tenant: TenantID, _ model: String?) -> [Usage] {
        [model.flatMap { usage[Key(tenant: tenant, model: $0)] }, usage[Key(tenant: tenant, model: nil)], overall]
            .compactMap(\.self)
    }

    /// A call ended. A call without a bound teaches the mean output and leaves the correction as it is.
    public mutating func learn(
        from tenant: TenantID, model: String? = nil, outputTokens: Double, maxTokens: Double?
    ) {
        overall.add(outputTokens: outputTokens, maxTokens: maxTokens)
        for key in [Key(tenant: tenant, model: nil), model.map { Key(tenant: tenant, model: $0) }] {
            guard let key, usage[key] != nil || usage.count < maxTenants else { continue }
            usage[key, default: Usage()].add(outputTokens: outputTokens, maxTokens: maxTokens)
        }
    }
}
