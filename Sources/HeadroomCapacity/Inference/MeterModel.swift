import HeadroomModel

/// What is believed of the hidden limits of one pool, if its provider runs one kind of meter.
///
/// Two models are believed side by side. *Apart*: each resource has a fraction of its own. *Together*: the provider cut
/// the account as a whole, so one fraction holds for all, and a refusal for want of requests tells what became of the
/// tokens. Each second moves the weight of the two by their marginal likelihood (Bayes' rule for models).
struct MeterModel: Sendable {
    /// How far the model that limits move together is believed before there is evidence: a provider mostly cuts an account.
    private static let priorTogether = 0.8
    /// So that neither model is ever out of the question.
    private static let leastWeight = 1e-9

    /// Belief before there is evidence, and after a change.
    private let prior: [Double]
    /// Lanes in the order of ``Resource``; `nil` where the pool is not limited.
    var banks: [BucketBank?]
    var apart: [LimitBelief]
    var together: LimitBelief
    var weightTogether = MeterModel.priorTogether

    init(limits: Rates, meter: BucketBank.Meter, prior: [Double]) {
        self.prior = prior
        together = LimitBelief(probabilities: prior)
        apart = [LimitBelief](repeating: together, count: Resource.allCases.count)
        banks = Resource.allCases.map { resource in
            limits[resource].map { BucketBank(limit: $0, meter: meter) }
        }
    }

    /// Takes in a second, ascending, and returns how probable this model held it.
    mutating func update(_ page: SecondBook.Page, gain: Double) -> LimitBelief.MarginalLikelihood {
        let none = [Double](repeating: 0, count: BucketBank.fractions.count)
        var common = none
        var evidence = none
        var speaks = false
        var apartLikelihood = LimitBelief.MarginalLikelihood()
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard banks[lane]?.fold(page, of: resource, gain: gain, into: &evidence) == true else {
                continue
            }
            speaks = true
            let own = apart[lane].update(evidence)
            apartLikelihood.likelihood *= own.likelihood
            apartLikelihood.scale += own.scale
            for h in common.indices {
                common[h] += evidence[h]
                evidence[h] = 0
            }
        }
        guard speaks else { return apartLikelihood }
        let likelihood = together.update(common)
        // The best common fraction is never likelier than the best fractions apart: the exponent is at most 0.
        let odds = likelihood.likelihood * exponential(likelihood.scale - apartLikelihood.scale)
        let sum = weightTogether * odds + (1 - weightTogether) * apartLikelihood.likelihood
        weightTogether = min(1 - Self.leastWeight, max(Self.leastWeight, weightTogether * odds / sum))
        return LimitBelief.MarginalLikelihood(likelihood: sum, scale: apartLikelihood.scale)
    }

    /// `part` of all belief returns to the prior: the limit may be another one from now on.
    ///
    /// After a change, meters start from what the limit before left. So a hypothesis' level is the mean over those who
    /// believed in it before and those who believe that it has just begun (interacting multiple models, Blom and
    /// Bar-Shalom 1988). Without this, what was delivered before a fall would speak against the fall.
    mutating func forget(_ part: Double) {
        for lane in banks.indices {
            guard var bank = banks[lane] else { continue }
            let before = remains(in: lane)
            for h in bank.levels.indices {
                let stays = (1 - part) * belief(in: lane, h)
                let begins = part * prior[h]
                bank.levels[h] += (bank.level(h, after: before) - bank.levels[h]) * begins / (stays + begins)
            }
            banks[lane] = bank
        }
        let (stays, begins) = (weightTogether * (1 - part), Self.priorTogether * part)
        together.forget(begins / (stays + begins), to: prior)
        let (staysApart, beginsApart) = ((1 - weightTogether) * (1 - part), (1 - Self.priorTogether) * part)
        for lane in apart.indices { apart[lane].forget(beginsApart / (staysApart + beginsApart), to: prior) }
        weightTogether += (Self.priorTogether - weightTogether) * part
    }

    /// Other known limits than `before` from now on. What was found out stays: a header that goes on telling the contract
    /// does not lift an estimate that refusals have lowered.
    mutating func follow(_ limits: Rates, _ before: Rates) {
        var least = Double.infinity
        for resource in Resource.allCases {
            let lane = resource.rawValue
            guard let limit = limits[resource], let old = before[resource], let bank = banks[lane] else { continue }
            least = min(least, old / limit)
            guard limit != old else { continue }
            banks[lane] = bank.following(limit, after: remains(in: lane))
            apart[lane].follow(ratio: old / limit)
        }
        if least.isFinite { together.follow(ratio: least) }
    }

    /// Lets a second pass in which nothing was attempted.
    mutating func pass(_ second: Int64) {
        for lane in banks.indices { banks[lane]?.pass(second) }
    }

    /// In hypothesis `h` of ``BucketBank``, of the limit of the resource in `lane`.
    func belief(in lane: Int, _ h: Int) -> Double {
        weightTogether * together.probabilities[h] + (1 - weightTogether) * apart[lane].probabilities[h]
    }

    /// What the limit leaves behind, as believed.
    private func remains(in lane: Int) -> BucketBank.Remains {
        var remains = BucketBank.Remains()
        guard let bank = banks[lane] else { return remains }
        for h in bank.levels.indices {
            let part = belief(in: lane, h)
            remains.left += part * bank.levels[h]
            remains.used += part * (bank.sizes[h] - bank.levels[h])
        }
        return remains
    }
}
