import HeadroomModel

/// Belief about one hidden limit, in one resource of one pool: a bank of hypothetical token buckets.
///
/// Each hypothesis says "the limit is f × the known one" and runs the bucket that the provider would then run. A
/// second in which more was delivered than a bucket held speaks against its hypothesis, and so does a refusal while
/// it still had budget. Belief is multiplied by that evidence and leaks back to the prior, and the leak is what
/// probes: after a while without evidence the estimate rises until refusals stop it. Works without any header.
///
/// With rate r per second, burst B seconds, level L, delivered d, gain K and tolerance `tol`, each second
/// (`control-law`, "Recommended law"):
///
///     L  ← min(B·r, L + r) − d
///     ll ← −K · max(0, −L − tol) / r                       delivered more than the hypothesis allows
///     ll ← ll − K · max(0, L − tol) / r   if refused       refused although the hypothesis had budget
///     p  ← normalise(p · exp(ll));   p ← (1 − EPS) · p + EPS · prior
package struct BucketBank: Sendable {
    /// Candidates for the part of the known limit that is really granted: from 0.2 to 1.25, 6 % apart.
    ///
    /// Those above 1 keep a limit that is higher than known from looking like a certain 1; the estimate never
    /// exceeds the known limit.
    package static let fractions: [Double] = Array(
        sequence(first: 0.2) { $0 * 1.06 < 1.25 ? $0 * 1.06 : nil })

    /// Half of the belief starts at the known limit, the rest is spread evenly.
    private static let prior: [Double] = {
        let known = fractions.indices.min { abs(fractions[$0] - 1) < abs(fractions[$1] - 1) }!
        var prior = [Double](repeating: 0.5 / Double(fractions.count - 1), count: fractions.count)
        prior[known] = 0.5
        return prior
    }()

    private let settings: CapacityPolicy
    private let burstSeconds: Double
    /// The known limit: the contract's, or the provider's own word where that is lower. Per minute.
    package private(set) var limit: Double
    private var belief: [Double]
    private var levels: [Double]

    /// `limit` is per minute, above 0.
    package init(limit: Double, burstSeconds: Double, settings: CapacityPolicy) {
        precondition(limit > 0 && limit.isFinite, "a limit is above 0")
        self.limit = limit
        self.burstSeconds = burstSeconds
        self.settings = settings
        belief = BucketBank.prior
        levels = BucketBank.fractions.map { $0 * limit / 60 * burstSeconds }
    }

    /// Folds one second in which the provider took `delivered` and refused or not.
    ///
    /// `meanRequest` is in the bank's resource; one and a half of them are within tolerance, since a provider may
    /// let the last request overdraw its bucket, and since calls are told to the second only.
    package mutating func fold(delivered: Double, isRefused: Bool, meanRequest: Double) {
        let perSecond = limit / 60
        let tolerance = max(1, 1.5 * meanRequest, 0.15 * perSecond)
        var most = -Double.infinity
        var evidence = [Double](repeating: 0, count: levels.count)
        for h in levels.indices {
            let rate = BucketBank.fractions[h] * perSecond
            var level = min(burstSeconds * rate, levels[h] + rate) - delivered
            var logLikelihood = -settings.evidenceGain * max(0, -level - tolerance) / rate
            level = max(level, -tolerance)
            if isRefused {
                logLikelihood -= settings.evidenceGain * max(0, level - tolerance) / rate
                level = min(level, tolerance)
            }
            levels[h] = level
            evidence[h] = logLikelihood
            most = max(most, logLikelihood)
        }
        var sum = 0.0
        for h in belief.indices {
            belief[h] *= exponential(evidence[h] - most)
            sum += belief[h]
        }
        let leak = settings.forgettingPerSecond
        for h in belief.indices {
            belief[h] = (1 - leak) * belief[h] / sum + leak * BucketBank.prior[h]
        }
    }

    /// Lets a second pass in which nothing was attempted: the buckets fill, belief stays. An idle pool says nothing.
    package mutating func idle() {
        for h in levels.indices {
            let rate = BucketBank.fractions[h] * limit / 60
            levels[h] = min(burstSeconds * rate, levels[h] + rate)
        }
    }

    /// The estimate, per minute: a quantile of the belief, interpolated between hypotheses, at most the known limit.
    package var estimate: Double { min(limit, limit * fraction(atQuantile: settings.quantile)) }

    /// 0 to 1: the belief within 10 % of the estimate.
    package var confidence: Double {
        let center = min(1, fraction(atQuantile: settings.quantile))
        var near = 0.0
        for (fraction, probability) in zip(BucketBank.fractions, belief) where abs(min(1, fraction) / center - 1) <= 0.1 {
            near += probability
        }
        return near
    }

    private func fraction(atQuantile quantile: Double) -> Double {
        var below = 0.0
        for h in belief.indices {
            let upTo = below + belief[h]
            if upTo >= quantile {
                // Each hypothesis stands for the interval around it, half a step to either side.
                let position = belief[h] > 0 ? (quantile - below) / belief[h] : 0.5
                return BucketBank.fractions[h] * (1 + 0.06 * (position - 0.5))
            }
            below = upTo
        }
        return BucketBank.fractions[BucketBank.fractions.count - 1]
    }
}
