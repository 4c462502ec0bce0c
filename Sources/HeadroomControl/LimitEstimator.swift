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
/// gateways get more, and the next refusal says where the limit is. There is no separate rule for recovery. It leaks
/// only while the pool is busy: an idle pool says nothing, and what an overloaded one does not take is no sign of room.
package struct LimitEstimator: Sendable {
    /// How far the account that limits move together is believed before there is evidence.
    private static let priorTogether = 0.8

    /// Below half of the estimate a pool's use says nothing of its limit, from 85 % on all (control-law, rule 7).
    private static let busy = 0.5...0.85
    /// Each second moves the mean use by this part: a time of about six seconds, a provider's burst.
    private static let useGain = 0.15
    /// From this part of overloads on, a second does not probe.
    private static let overloaded = 0.2

    private let settings: CapacityPolicy
    private let burstSeconds: Double
    /// Lanes in the order of ``Resource``; `nil` where the pool is not limited.
    var banks: [BucketBank?]
    var apart: [LimitBelief]
    var together = LimitBelief()
    var weightTogether = LimitEstimator.priorTogether
    /// Delivered over estimated, of the resource that is used most; a mean over some seconds.
    var use = 0.0

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
    /// - Parameters:
    ///   - largestDelivered: The size of the largest call that was taken.
    ///   - leastRefused: The size of the smallest call that was refused.
    ///   - overloadShare: Of the second's attempts, those that the provider had no capacity for.
    package mutating func fold(
        delivered: Work, largestDelivered: Work = .zero, refused: ResourceSet,
        leastRefused: Work = LimitEstimator.unknownSize, meanRequest: Work,
        overloadShare: Double = 0
    ) {
        noteUse(delivered.seconds(of: estimate))
        let leak = settings.forgettingPerSecond * probing * max(0, 1 - overloadShare / Self.overloaded)
        var common = [Double](repeating: 0, count: BucketBank.fractions.count)
        var foreseenApart = LimitBelief.Foresight(likelihood: 1, scale: 0)
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard
                let evidence = banks[lane]?.fold(
                    delivered: delivered[resource], largestDelivered: largestDelivered[resource],
                    isRefused: refused.contains(resource),
                    leastRefused: leastRefused[resource],
                    meanRequest: meanRequest[resource], gain: settings.evidenceGain)
            else { continue }
            for h in common.indices { common[h] += evidence[h] }
            let foreseen = apart[lane].weigh(evidence, leak: leak)
            foreseenApart.likelihood *= foreseen.likelihood
            foreseenApart.scale += foreseen.scale
        }
        let foreseen = together.weigh(common, leak: leak)
        // The best common factor never foresees more than the best factors apart: the exponent is at most 0.
        let odds = foreseen.likelihood * exponential(foreseen.scale - foreseenApart.scale)
        let evidence = weightTogether * odds + (1 - weightTogether) * foreseenApart.likelihood
        let posterior = evidence > 0 ? weightTogether * odds / evidence : LimitEstimator.priorTogether
        weightTogether = posterior + (LimitEstimator.priorTogether - posterior) * leak
    }

    package static let unknownSize = Work(amounts: SIMD4(repeating: .infinity))

    /// Lets a second pass in which nothing was attempted: the buckets fill, belief stays. An idle pool says nothing.
    package mutating func idle() {
        noteUse(0)
        for lane in banks.indices { banks[lane]?.idle() }
    }

    private mutating func noteUse(_ use: Double) { self.use += (min(2, use) - self.use) * Self.useGain }

    /// How much there is to learn from use: 0 to 1.
    private var probing: Double {
        let (low, high) = (Self.busy.lowerBound, Self.busy.upperBound)
        return max(0, min(1, (use - low) / (high - low)))
    }

    /// Half of what is believed is forgotten: the upstream is another than it was.
    package mutating func widen() {
        together.forget(0.5)
        for lane in apart.indices { apart[lane].forget(0.5) }
        weightTogether += (LimitEstimator.priorTogether - weightTogether) * 0.5
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
