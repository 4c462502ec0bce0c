import HeadroomModel

/// What is believed of the hidden limits of one pool, if they last changed at one time.
///
/// Two accounts of the same seconds are believed side by side. *Apart*: each resource has a limit of its own, and only
/// its own buckets speak of it. *Together*: the account was cut as a whole, every limit by the same factor, so that a
/// refusal for want of requests tells what became of the tokens. A provider mostly cuts the whole, but a second in which
/// more tokens were delivered than the common factor allows is one that only the first account predicted. Each second
/// moves the weight of the two by how well they predicted it (Bayes' rule for models).
struct LimitAccount: Sendable {
    /// How far the account that limits move together is believed before there is evidence.
    private static let priorTogether = 0.8
    /// So that neither is ever out of the question.
    static let leastWeight = 1e-9

    /// How far this account is believed, beside those of other times.
    var weight = 1.0
    /// Lanes in the order of ``Resource``; `nil` where the pool is not limited.
    var banks: [BucketBank?]
    var apart: [LimitBelief]
    var together = LimitBelief()
    var weightTogether = LimitAccount.priorTogether

    /// Believes what is believed before there is evidence.
    init(banks: [BucketBank?]) {
        self.banks = banks
        apart = [LimitBelief](repeating: LimitBelief(), count: banks.count)
    }

    /// Takes in a second, ascending, and returns how well it was predicted.
    mutating func weigh(_ second: MeteredLimits.Second, gain: Double) -> LimitBelief.MarginalLikelihood {
        let none = [Double](repeating: 0, count: BucketBank.fractions.count)
        var common = none
        var evidence = none
        var speaks = false
        var likelihoodApart = LimitBelief.MarginalLikelihood(likelihood: 1, scale: 0)
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard banks[lane]?.fold(second, of: resource, gain: gain, into: &evidence) == true else { continue }
            speaks = true
            let predicted = apart[lane].weigh(evidence)
            likelihoodApart.likelihood *= predicted.likelihood
            likelihoodApart.scale += predicted.scale
            for h in common.indices {
                common[h] += evidence[h]
                evidence[h] = 0
            }
        }
        guard speaks else { return likelihoodApart }
        let likelihoodTogether = together.weigh(common)
        // The best common factor never predicts more than the best factors apart: the exponent is at most 0.
        let odds = likelihoodTogether.likelihood * exponential(likelihoodTogether.scale - likelihoodApart.scale)
        let sum = weightTogether * odds + (1 - weightTogether) * likelihoodApart.likelihood
        weightTogether = min(1 - Self.leastWeight, max(Self.leastWeight, weightTogether * odds / sum))
        return LimitBelief.MarginalLikelihood(likelihood: sum, scale: likelihoodApart.scale)
    }

    /// With an account of a later time, each as far as it is believed: the times are told apart no longer. A level is the
    /// mean over those who believe in it (interacting multiple models, Blom and Bar-Shalom 1988).
    func merged(with later: LimitAccount) -> LimitAccount {
        var merged = self
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard let other = later.banks[lane], var bank = banks[lane] else { continue }
            for h in bank.levels.indices {
                let here = weight * belief(in: lane, h)
                let there = later.weight * later.belief(in: lane, h)
                bank.levels[h] += (other.levels[h] - bank.levels[h]) * there / (here + there)
            }
            merged.banks[lane] = bank
            merged.apart[lane].merge(
                later.apart[lane], (1 - weightTogether) * weight, (1 - later.weightTogether) * later.weight)
        }
        merged.together.merge(
            later.together, weightTogether * weight, later.weightTogether * later.weight)
        let sum = weight + later.weight
        merged.weightTogether += (later.weightTogether - weightTogether) * later.weight / sum
        merged.weight = sum
        return merged
    }

    /// In hypothesis `h` of ``BucketBank``, of the limit of the resource in `lane`.
    func belief(in lane: Int, _ h: Int) -> Double {
        weightTogether * together.probabilities[h] + (1 - weightTogether) * apart[lane].probabilities[h]
    }
}
