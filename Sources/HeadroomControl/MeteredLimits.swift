import HeadroomModel

/// What is believed of the hidden limits of one pool, if its provider runs one kind of meter.
///
/// Two accounts of the same seconds are believed side by side. *Apart*: each resource has a limit of its own, and only
/// its own buckets speak of it. *Together*: the account was cut as a whole, every limit by the same factor, so that a
/// refusal for want of requests tells what became of the tokens. A provider mostly cuts the whole, but a second in which
/// more tokens were delivered than the common factor allows is one that only the first account foresaw. Each second
/// moves the weight of the two by how well they foresaw it (Bayes' rule for models).
public struct MeteredLimits: Sendable {
    /// How far the account that limits move together is believed before there is evidence.
    private static let priorTogether = 0.8

    let meter: BucketBank.Meter
    /// Lanes in the order of ``Resource``; `nil` where the pool is not limited.
    var banks: [BucketBank?]
    var apart: [LimitBelief]
    var together = LimitBelief()
    var weightTogether = MeteredLimits.priorTogether

    init(limits: Rates, meter: BucketBank.Meter) {
        self.meter = meter
        banks = Resource.allCases.map { resource in limits[resource].map { BucketBank(limit: $0, meter: meter) } }
        apart = Resource.allCases.map { _ in LimitBelief() }
    }

    /// Takes in a second, ascending, and returns how well it was foreseen.
    mutating func weigh(_ second: Second, gain: Double) -> LimitBelief.Foresight {
        var common = [Double](repeating: 0, count: BucketBank.fractions.count)
        var foreseenApart = LimitBelief.Foresight(likelihood: 1, scale: 0)
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard
                let evidence = banks[lane]?.fold(
                    second.second, delivered: second.delivered[resource], untold: second.untold[resource],
                    largestDelivered: second.largestDelivered[resource], isRefused: second.refused.contains(resource),
                    leastRefused: second.leastRefused[resource], meanRequest: second.meanRequest[resource], gain: gain)
            else { continue }
            for h in common.indices { common[h] += evidence[h] }
            let foreseen = apart[lane].weigh(evidence)
            foreseenApart.likelihood *= foreseen.likelihood
            foreseenApart.scale += foreseen.scale
        }
        let foreseen = together.weigh(common)
        // The best common factor never foresees more than the best factors apart: the exponent is at most 0.
        let odds = foreseen.likelihood * exponential(foreseen.scale - foreseenApart.scale)
        let evidence = weightTogether * odds + (1 - weightTogether) * foreseenApart.likelihood
        weightTogether = evidence > 0 ? weightTogether * odds / evidence : MeteredLimits.priorTogether
        return LimitBelief.Foresight(likelihood: evidence, scale: foreseenApart.scale)
    }

    /// Other known limits from now on: what is believed of those before says nothing of them, what was used of them does.
    mutating func follow(_ limits: Rates) {
        var next = MeteredLimits(limits: limits, meter: meter)
        for (resource, limit) in Resource.allCases.compactMap({ resource in limits[resource].map { (resource, $0) } }) {
            guard let bank = banks[resource.rawValue] else { continue }
            next.banks[resource.rawValue] = bank.following(limit, belief(in: resource))
        }
        self = next
    }

    /// Lets a second pass in which nothing was attempted.
    mutating func pass(_ second: Int64) {
        for lane in banks.indices { banks[lane]?.pass(second) }
    }

    /// That part of all belief returns to the prior: the limit may be another one from now on.
    mutating func forget(_ part: Double) {
        for resource in Resource.allCases where banks[resource.rawValue] != nil {
            let belief = belief(in: resource)
            banks[resource.rawValue]?.change(belief, leak: part)
        }
        together.forget(part)
        for lane in apart.indices { apart[lane].forget(part) }
        weightTogether += (MeteredLimits.priorTogether - weightTogether) * part
    }

    /// In the hypotheses of ``BucketBank``.
    func belief(in resource: Resource) -> [Double] {
        zip(together.probabilities, apart[resource.rawValue].probabilities).map { together, apart in
            weightTogether * together + (1 - weightTogether) * apart
        }
    }
}

extension MeteredLimits {
    /// What the upstream did in one second, and how far it is known.
    public struct Second {
        /// Since 1970.
        var second: Int64
        var delivered: Work
        /// What of `delivered` is supposed and not told yet.
        var untold: Work
        /// The size of the largest call that was taken.
        var largestDelivered: Work
        /// Resources for want of which something was refused.
        var refused: ResourceSet
        /// The size of the smallest call that was refused; infinite when none is known.
        var leastRefused: Work
        var meanRequest: Work

        public init(
            second: Int64, delivered: Work, untold: Work = .zero, largestDelivered: Work = .zero, refused: ResourceSet,
            leastRefused: Work = Work(amounts: SIMD4(repeating: .infinity)), meanRequest: Work
        ) {
            self.second = second
            self.delivered = delivered
            self.untold = untold
            self.largestDelivered = largestDelivered
            self.refused = refused
            self.leastRefused = leastRefused
            self.meanRequest = meanRequest
        }
    }
}
