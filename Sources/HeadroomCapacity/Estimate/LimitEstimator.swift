import HeadroomModel

/// Estimates the hidden limits of one pool from what it delivered and refused, second by second, without any header.
///
/// Nobody says how a provider meters: most refill buckets, some count by the minute. ``MeteredLimits`` of each kind look
/// at the same seconds, each is believed by how well it predicted them (Bayes' rule for models), and the estimate is a
/// quantile of their mixture.
///
/// Belief is forgotten little by little, back to the prior, and forgetting is what probes: after a while without refusals
/// the estimate climbs, gateways get more, and the next refusal says where the limit is. There is no separate rule for
/// recovery. Belief is forgotten only while the pool is busy: an idle pool says nothing, and what an overloaded one does
/// not take is no sign of room.
public struct LimitEstimator: Sendable {
    /// How far each kind of meter is believed before there is evidence: buckets are by far the most common.
    private static let priorWeights = [0.9, 0.05, 0.05]
    /// A provider hardly ever changes its meter; but what once was found out may have been wrong.
    private static let meterForgetting = 0.001

    /// Below half of the estimate a pool's use says nothing of its limit, from 85 % on all: from 60 % on where work waits,
    /// since then gateways hold back, and not callers (ControlLaw, rule 7).
    private static let busy = 0.5...0.85
    private static let busyWhileWorkWaits = 0.6
    /// Where calls are many and all is used, a refusal says sooner where the limit is, and probing costs a smaller part of
    /// them: from twice so many calls a second on, belief is forgotten twice as fast. Not where refused calls count.
    private static let manyCalls = 5.0
    private static let mostHaste = 2.0
    private static let usesAll = 0.9...1.0
    /// Each second moves the means by this part: a time of about six seconds, a provider's burst.
    private static let useGain = 0.15
    static let maxUse = 2.0
    /// From this part of overloads on, nothing probes.
    private static let overloaded = 0.2
    /// So that no hypothesis is ever out of the question, however long nothing probes.
    private static let leastForgetting = 1e-6

    private let settings: CapacityPolicy
    private let mostHaste: Double
    var meters: [MeteredLimits]
    var weights = LimitEstimator.priorWeights
    /// The known limits, per minute: the contract's, or the provider's own word where that is lower.
    public var limits: Rates {
        didSet {
            guard limits != oldValue else { return }
            for index in meters.indices { meters[index].follow(limits) }
            use = 0
        }
    }
    /// Delivered over estimated, of the resource that is used most; a mean over some seconds.
    var use = 0.0
    /// Of the seconds, those in which work waited at a gateway; a mean over some seconds.
    var waiting = 0.0
    /// Of the attempts, those that the provider had no capacity for; a mean over some seconds, since one second holds a
    /// handful of calls.
    var overloadShare = 0.0

    /// `limits` are per minute, each above 0.
    public init(limits: Rates, burstSeconds: Double, countsRefused: Bool = false, settings: CapacityPolicy) {
        self.settings = settings
        mostHaste = countsRefused ? 1 : Self.mostHaste
        self.limits = limits
        meters = [.refill(burstSeconds: burstSeconds), .clockMinute, .slidingMinute].map {
            MeteredLimits(limits: limits, meter: $0)
        }
    }

    /// Takes in a second.
    /// - Parameters:
    ///   - overloadShare: Of the second's attempts, those that the provider had no capacity for.
    ///   - workWaits: At some gateway.
    public mutating func fold(_ second: MeteredLimits.Second, overloadShare: Double = 0, workWaits: Bool = false) {
        let estimate = estimate
        note(use: second.delivered.seconds(of: estimate), workWaits: workWaits)
        weigh(meters.indices.map { meters[$0].weigh(second, gain: settings.evidenceGain) })
        self.overloadShare += (overloadShare - self.overloadShare) * Self.useGain
        let calm = max(0, 1 - self.overloadShare / Self.overloaded)
        let many = min(mostHaste, second.calls(of: estimate) / Self.manyCalls)
        let haste = 1 + max(0, many - 1) * rise(of: use, over: Self.usesAll)
        forget(max(Self.leastForgetting, settings.forgettingPerSecond * haste * probing * calm))
    }

    /// Lets a second pass in which nothing was attempted: the buckets fill, belief stays. An idle pool says nothing.
    public mutating func idle(_ second: Int64) {
        note(use: 0, workWaits: false)
        for index in meters.indices { meters[index].pass(second) }
    }

    /// Half of what is believed is forgotten: the upstream is another than it was.
    public mutating func widen() { forget(0.5) }

    private mutating func weigh(_ likelihoods: [LimitBelief.MarginalLikelihood]) {
        let most = likelihoods.map(\.scale).max() ?? 0
        for index in weights.indices {
            weights[index] *= likelihoods[index].likelihood * exponential(likelihoods[index].scale - most)
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

    private mutating func note(use: Double, workWaits: Bool) {
        self.use += (min(Self.maxUse, use) - self.use) * Self.useGain
        waiting += ((workWaits ? 1 : 0) - waiting) * Self.useGain
    }

    /// How much there is to learn from use: 0 to 1.
    private var probing: Double {
        let (low, high) = (Self.busy.lowerBound, Self.busy.upperBound)
        return rise(of: use, over: low...(high - (high - Self.busyWhileWorkWaits) * waiting))
    }

    /// Per minute: a quantile of the belief, interpolated between hypotheses, at most the known limits.
    public var estimate: Rates {
        limits.map { resource, limit in min(limit, limit * fraction(of: belief(in: resource))) }
    }

    /// 0 to 1: the belief within 10 % of the estimate, for the least certain resource.
    public var confidence: Double {
        limits.resources.members.map { resource in
            let belief = belief(in: resource)
            let center = min(1, fraction(of: belief))
            return belief.indices.reduce(0.0) { near, h in
                abs(min(1, BucketBank.fractions[h]) / center - 1) <= 0.1 ? near + belief[h] : near
            }
        }.min() ?? 0
    }

    /// True while some meter, in the mean of all that is believed, is used beyond its limit: refused calls that the provider
    /// counts leave it so.
    var isInDebt: Bool {
        limits.resources.members.contains { resource in
            meters.indices.reduce(0.0) { $0 + weights[$1] * meters[$1].level(in: resource.rawValue) } < 0
        }
    }

    private func belief(in resource: Resource) -> [Double] {
        var sum = [Double](repeating: 0, count: BucketBank.fractions.count)
        for index in meters.indices { meters[index].add(weights[index], of: resource, to: &sum) }
        return sum
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

/// 0 below the range, 1 above it.
private func rise(of value: Double, over range: ClosedRange<Double>) -> Double {
    max(0, min(1, (value - range.lowerBound) / (range.upperBound - range.lowerBound)))
}

extension MeteredLimits.Second {
    /// So many calls of the mean size a second are `rates`.
    fileprivate func calls(of rates: Rates) -> Double {
        rates.resources.members.reduce(.infinity) { calls, resource in
            let size = meanRequest[resource]
            return size > 0 ? min(calls, (rates[resource] ?? 0) / 60 / size) : calls
        }
    }
}
