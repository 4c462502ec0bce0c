import HeadroomModel

/// Estimates the hidden limits of one pool from what it delivered and refused, second by second, without any header.
///
/// Two accounts of the same seconds are believed side by side. *Apart*: each resource has a limit of its own, and only
/// its own buckets speak of it. *Together*: the account was cut as a whole, every limit by the same factor, so that a
/// refusal for want of requests tells what became of the tokens. A provider mostly cuts the whole, but a second in which
/// more tokens were delivered than the common factor allows is one that only the first account foresaw. Each second
/// moves the weight of the two by how well they foresaw it (Bayes' rule for models), and the estimate is a quantile of
/// their mixture.
///
/// All belief leaks to the prior, and the leak is what probes: after a while without refusals the estimate climbs,
/// gateways get more, and the next refusal says where the limit is. There is no separate rule for recovery.
package struct LimitEstimator: Sendable {
    /// How far the account that limits move together is believed before there is evidence.
    private static let priorTogether = 0.8

    private let settings: CapacityPolicy
    private let burstSeconds: Double
    /// Lanes in the order of ``Resource``; `nil` where the pool is not limited.
    private var banks: [BucketBank?]
    private var apart: [LimitBelief]
    private var together = LimitBelief()
    private var weightTogether = LimitEstimator.priorTogether

    /// `limits` are per minute, each above 0.
    package init(limits: Rates, burstSeconds: Double, settings: CapacityPolicy) {
        self.settings = settings
        self.burstSeconds = burstSeconds
        banks = Resource.allCases.map { resource in
            limits[resource].map { BucketBank(limit: $0, burstSeconds: burstSeconds) }
        }
        apart = Resource.allCases.map { _ in LimitBelief() }
    }

    /// The known limits, per minute: the contract's, or the provider's own word where that is lower.
    package var limits: Rates {
        get {
            var limits = Rates()
            for resource in Resource.allCases { limits[resource] = banks[resource.rawValue]?.limit }
            return limits
        }
        set {
            guard newValue != limits else { return }
            self = LimitEstimator(limits: newValue, burstSeconds: burstSeconds, settings: settings)
        }
    }

    /// Folds one second in which the provider took `delivered`, and refused for want of the resources in `refused`.
    package mutating func fold(delivered: Work, refused: ResourceSet, meanRequest: Work) {
        var common = [Double](repeating: 0, count: BucketBank.fractions.count)
        var foreseenApart = LimitBelief.Foresight(likelihood: 1, scale: 0)
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard
                let evidence = banks[lane]?.fold(
                    delivered: delivered[resource], isRefused: refused.contains(resource),
                    meanRequest: meanRequest[resource], gain: settings.evidenceGain)
            else { continue }
            for h in common.indices { common[h] += evidence[h] }
            let foreseen = apart[lane].weigh(evidence, leak: settings.forgettingPerSecond)
            foreseenApart.likelihood *= foreseen.likelihood
            foreseenApart.scale += foreseen.scale
        }
        let foreseen = together.weigh(common, leak: settings.forgettingPerSecond)
        // The best common factor never foresees more than the best factors apart: the exponent is at most 0.
        let odds = foreseen.likelihood * exponential(foreseen.scale - foreseenApart.scale)
        let evidence = weightTogether * odds + (1 - weightTogether) * foreseenApart.likelihood
        let posterior = evidence > 0 ? weightTogether * odds / evidence : LimitEstimator.priorTogether
        weightTogether = posterior + (LimitEstimator.priorTogether - posterior) * settings.forgettingPerSecond
    }

    /// Lets a second pass in which nothing was attempted: the buckets fill, belief stays. An idle pool says nothing.
    package mutating func idle() {
        for lane in banks.indices { banks[lane]?.idle() }
    }

    /// Per minute: a quantile of the belief, interpolated between hypotheses, at most the known limits.
    package var estimate: Rates {
        limits.map { resource, limit in min(limit, limit * fraction(of: resource)) }
    }

    /// 0 to 1: the belief within 10 % of the estimate, for the least certain resource.
    package var confidence: Double {
        limits.resources.members.map { resource in
            let center = min(1, fraction(of: resource))
            let belief = belief(resource)
            return belief.indices.reduce(0.0) { near, h in
                abs(min(1, BucketBank.fractions[h]) / center - 1) <= 0.1 ? near + belief[h] : near
            }
        }.min() ?? 0
    }

    private func belief(_ resource: Resource) -> [Double] {
        zip(together.probabilities, apart[resource.rawValue].probabilities).map { together, apart in
            weightTogether * together + (1 - weightTogether) * apart
        }
    }

    private func fraction(of resource: Resource) -> Double {
        let belief = belief(resource)
        var below = 0.0
        for h in belief.indices {
            let upTo = below + belief[h]
            if upTo >= settings.quantile, belief[h] > 0 {
                // "As known" is one number; every other hypothesis stands for half a step to either side of it.
                if h == BucketBank.known { return 1 }
                let position = (settings.quantile - below) / belief[h]
                return BucketBank.fractions[h] * (1 + (BucketBank.step - 1) * (position - 0.5))
            }
            below = upTo
        }
        return BucketBank.fractions[BucketBank.fractions.count - 1]
    }
}
