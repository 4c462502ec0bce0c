import HeadroomModel

/// A call's expected cost before it is sent: input tokens + `max_tokens` × the part of `max_tokens` that this tenant's
/// answers have used so far.
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

    private let maxTenants: Int
    private var usage: [TenantID: Usage] = [:]
    /// Of everyone: the estimate for tenants that were not seen yet.
    private var overall = Usage()

    /// Tenants beyond the first `maxTenants` are estimated by the average of all.
    public init(maxTenants: Int = 100_000) {
        self.maxTenants = maxTenants
    }

    /// `maxTokens` is `nil` when the caller sets no bound: then the mean output counts.
    public func estimate(for tenant: TenantID, inputTokens: Double, maxTokens: Double?) -> Work {
        let output: Double
        let known = usage[tenant] ?? overall
        if let maxTokens {
            output = maxTokens * correction(for: tenant)
        } else {
            output = known.calls > 0 ? known.outputTokens / known.calls : 0
        }
        return Work(requests: 1, tokens: inputTokens + output, inputTokens: inputTokens, outputTokens: output)
    }

    /// Σ real output ÷ Σ `max_tokens`; 1 while nothing is known.
    public func correction(for tenant: TenantID) -> Double {
        for known in [usage[tenant], overall] {
            if let known, known.maxTokens > 0 { return known.boundedOutputTokens / known.maxTokens }
        }
        return 1
    }

    /// A call ended. A call without a bound teaches the mean output and leaves the correction as it is.
    public mutating func learn(from tenant: TenantID, outputTokens: Double, maxTokens: Double?) {
        overall.add(outputTokens: outputTokens, maxTokens: maxTokens)
        if usage[tenant] != nil || usage.count < maxTenants {
            usage[tenant, default: Usage()].add(outputTokens: outputTokens, maxTokens: maxTokens)
        }
    }
}
