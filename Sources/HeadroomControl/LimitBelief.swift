import HeadroomModel

/// Belief over the hypotheses of a ``BucketBank``: multiplied by evidence, leaking back to the prior.
struct LimitBelief: Sendable {
    /// Half of it starts at the known limit, the rest is spread evenly.
    static let prior: [Double] = {
        let count = BucketBank.fractions.count
        var prior = [Double](repeating: 0.5 / Double(count - 1), count: count)
        prior[BucketBank.known] = 0.5
        return prior
    }()

    var probabilities = LimitBelief.prior

    /// How well a belief foresaw a second: `likelihood` · e^`scale`. Two numbers, lest the product vanish.
    struct Foresight {
        var likelihood: Double
        var scale: Double
    }

    /// Takes in the log likelihoods of one second, and returns how well it was foreseen.
    mutating func weigh(_ logLikelihoods: [Double]) -> Foresight {
        let most = logLikelihoods.max() ?? 0
        var sum = 0.0
        for h in probabilities.indices {
            probabilities[h] *= exponential(logLikelihoods[h] - most)
            sum += probabilities[h]
        }
        for h in probabilities.indices { probabilities[h] /= sum }
        return Foresight(likelihood: sum, scale: most)
    }

    /// That part of it returns to the prior.
    mutating func forget(_ part: Double) {
        for h in probabilities.indices {
            probabilities[h] += (LimitBelief.prior[h] - probabilities[h]) * part
        }
    }
}
