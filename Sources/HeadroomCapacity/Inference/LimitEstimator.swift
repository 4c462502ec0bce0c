import HeadroomModel

/// Infers the hidden limits of one pool from what it delivered and refused, second by second, without any header.
///
/// Nobody says how a provider meters: most refill buckets, some count by the minute. A ``MeterModel`` of each kind looks
/// at the same seconds, each is believed by its marginal likelihood (Bayes' rule for models), and the estimate is a
/// quantile of their mixture.
///
/// Each second a part of all belief is forgotten: it returns to the prior, as if the limit had just changed. Forgetting
/// is what probes: after a while without refusals the estimate climbs, gateways get more, and the next refusal says where
/// the limit is. There is no separate rule for recovery. It forgets only while the pool is busy: an idle pool says nothing,
/// and what an overloaded one does not take is no sign of room.
public struct LimitEstimator: Sendable {
    /// How far each kind of meter is believed before there is evidence: buckets are by far the most common.
    private static let priorWeights = [0.9, 0.05, 0.05]
    /// How far a limit is believed to be as it is known, before there is evidence. Where refused calls count, a probe that
    /// jumps to the known limit costs more than it finds.
    private static let priorKnown = (usual: 0.5, countsRefused: 0.3)
    /// A provider hardly ever changes its meter; but what once was found out may have been wrong.
    private static let meterForgetting = 0.001
    /// Below half of the estimate a pool's use says nothing of its limit, from 85 % on all (ControlLaw, rule 7).
    private static let busy = 0.5...0.85
    /// Each second moves the mean of use by this part: a time of about six seconds, a provider's burst.
    private static let useGain = 0.15
    static let maxUse = 2.0
    /// From this part of overloads on, nothing probes.
    private static let overloaded = 0.2
    /// So that no hypothesis is ever out of the question, however long nothing probes.
    private static let leastForgetting = 1e-6

    private let settings: CapacityPolicy
    var meters: [MeterModel]
    var weights = LimitEstimator.priorWeights
    /// Delivered over estimated, of the resource that is used most; a mean over some seconds.
    var use = 0.0
    /// Of the attempts, those that the provider had no capacity for; a mean over some seconds, since one second holds a
    /// handful of calls.
    var overloadShare = 0.0
    /// The known limits, per minute: the contract's, or the provider's own word where that is lower.
    public var limits: Rates {
        didSet {
            guard limits != oldValue else { return }
            for index in meters.indices { meters[index].follow(limits, oldValue) }
            use = 0
        }
    }

    /// `limits` are per minute, each above 0.
    public init(limits: Rates, burstSeconds: Double, countsRefused: Bool = false, settings: CapacityPolicy) {
        self.settings = settings
        self.limits = limits
        let prior = LimitBelief.prior(
            known: countsRefused ? Self.priorKnown.countsRefused : Self.priorKnown.usual)
        meters = [.refill(burstSeconds: burstSeconds), .clockMinute, .slidingMinute].map {
            MeterModel(limits: limits, meter: $0, prior: prior)
        }
    }

    init(_ policy: PoolPolicy, settings: CapacityPolicy) {
        self.init(
            limits: policy.nominal, burstSeconds: policy.providerBurstSeconds,
            countsRefused: policy.countsRefused, settings: settings)
    }

    // MARK: Learn

    /// Takes in a second, ascending, of which only sums are known.
    public mutating func fold(_ second: ObservedSecond, at instant: Int64, meanRequest: Work) {
        fold(SecondBook.Page(instant: instant, second: second, meanRequest: meanRequest))
    }

    /// Lets a second pass in which nothing was attempted: the buckets fill, belief stays.
    public mutating func idle(_ instant: Int64) {
        noteUse(0)
        for index in meters.indices { meters[index].pass(instant) }
    }

    /// Takes in a second, ascending.
    mutating func fold(_ page: SecondBook.Page) {
        guard page.second.attempts > 0 else { return idle(page.instant) }
        noteUse(page.second.delivered.seconds(of: estimate))
        weigh(meters.indices.map { meters[$0].update(page, gain: settings.evidenceGain) })
        overloadShare += (page.second.overloadShare - overloadShare) * Self.useGain
        let calm = max(0, 1 - overloadShare / Self.overloaded)
        forget(max(Self.leastForgetting, settings.forgettingPerSecond * probing * calm))
    }

    /// Half of what is believed is forgotten: the upstream is another than it was.
    public mutating func forgetHalf() { forget(0.5) }

    private mutating func weigh(_ likelihoods: [LimitBelief.MarginalLikelihood]) {
        let largest = likelihoods.map(\.scale).max() ?? 0
        for index in weights.indices {
            weights[index] *= likelihoods[index].likelihood * exponential(likelihoods[index].scale - largest)
        }
        let sum = weights.reduce(0, +)
        for index in weights.indices {
            let posterior = sum > 0 ? weights[index] / sum : Self.priorWeights[index]
            weights[index] = posterior + (Self.priorWeights[index] - posterior) * Self.meterForgetting
        }
    }

    private mutating func forget(_ part: Double) {
        for index in meters.indices { meters[index].forget(part) }
    }

    private mutating func noteUse(_ use: Double) { self.use += (min(Self.maxUse, use) - self.use) * Self.useGain }

    /// How much there is to learn from use: 0 to 1.
    private var probing: Double {
        let (low, high) = (Self.busy.lowerBound, Self.busy.upperBound)
        return max(0, min(1, (use - low) / (high - low)))
    }

    // MARK: Read

    /// Per minute: a quantile of the belief, interpolated between hypotheses, at most the known limits.
    public var estimate: Rates {
        limits.map { resource, limit in min(limit, limit * fraction(of: belief(of: resource))) }
    }

    /// 0 to 1: the belief within 10 % of the estimate, for the least certain resource.
    public var confidence: Double {
        limits.resources.members.map { resource in
            let belief = belief(of: resource)
            let center = min(1, fraction(of: belief))
            return belief.indices.reduce(0.0) { near, h in
                abs(min(1, BucketBank.fractions[h]) / center - 1) <= 0.1 ? near + belief[h] : near
            }
        }.min() ?? 0
    }

    /// In the hypotheses of ``BucketBank``.
    private func belief(of resource: Resource) -> [Double] {
        var belief = [Double](repeating: 0, count: BucketBank.fractions.count)
        for (meter, weight) in zip(meters, weights) {
            for h in belief.indices { belief[h] += weight * meter.belief(in: resource.rawValue, h) }
        }
        return belief
    }

    private func fraction(of belief: [Double]) -> Double {
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
