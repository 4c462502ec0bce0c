import HeadroomModel

/// Belief over the hypotheses of a ``BucketBank``: multiplied by evidence.
struct LimitBelief: Sendable {
    /// Half of it starts at the known limit, the rest is spread evenly.
    static let prior: [Double] = {
        let count = BucketBank.fractions.count
        var prior = [Double](repeating: 0.5 / Double(count - 1), count: count)
        prior[BucketBank.known] = 0.5
        return prior
    }()

    var probabilities = LimitBelief.prior

    /// How well a belief predicted a second: `likelihood` · e^`scale`. Two numbers, because the product may underflow.
    struct MarginalLikelihood {
        var likelihood: Double
        var scale: Double
    }

    /// So that no hypothesis is ever out of the question.
    private static let least = 1e-12

    /// Takes in the log likelihoods of one second, and returns how well it was predicted.
    mutating func weigh(_ logLikelihoods: [Double]) -> MarginalLikelihood {
        let most = logLikelihoods.max() ?? 0
        var sum = 0.0
        for h in probabilities.indices {
            probabilities[h] = max(Self.least, probabilities[h] * exponential(logLikelihoods[h] - most))
            sum += probabilities[h]
        }
        for h in probabilities.indices { probabilities[h] /= sum }
        return MarginalLikelihood(likelihood: sum, scale: most)
    }

    /// The mean of two, of such weights.
    mutating func merge(_ other: LimitBelief, _ weight: Double, _ otherWeight: Double) {
        let part = otherWeight / (weight + otherWeight)
        for h in probabilities.indices {
            probabilities[h] += (other.probabilities[h] - probabilities[h]) * part
        }
    }
}
