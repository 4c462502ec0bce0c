import HeadroomModel

/// Belief over the hypotheses of a ``BucketBank``: multiplied by evidence.
struct LimitBelief: Sendable {
    /// `known` of it lies at the known limit, the rest is spread evenly.
    static func prior(known: Double) -> [Double] {
        let count = BucketBank.fractions.count
        var prior = [Double](repeating: (1 - known) / Double(count - 1), count: count)
        prior[BucketBank.known] = known
        return prior
    }

    var probabilities: [Double]

    /// How probable a belief held what a second brought: `likelihood` · e^`scale`. Two numbers, lest the product vanish.
    struct MarginalLikelihood {
        var likelihood = 1.0
        var scale = 0.0
    }

    /// So that no hypothesis is ever out of the question.
    private static let least = 1e-12

    /// Takes in the log likelihoods of one second (Bayes' rule).
    mutating func update(_ logLikelihoods: [Double]) -> MarginalLikelihood {
        let largest = logLikelihoods.max() ?? 0
        var sum = 0.0
        for h in probabilities.indices {
            probabilities[h] = max(Self.least, probabilities[h] * exponential(logLikelihoods[h] - largest))
            sum += probabilities[h]
        }
        for h in probabilities.indices { probabilities[h] /= sum }
        return MarginalLikelihood(likelihood: sum, scale: largest)
    }

    /// `part` of it, 0 to 1, returns to `prior`.
    mutating func forget(_ part: Double, to prior: [Double]) {
        for h in probabilities.indices { probabilities[h] += (prior[h] - probabilities[h]) * part }
    }

    /// The known limit changes, and was `ratio` times the new one. The hypothesis that the limit is as it is known follows
    /// it; the others are about a rate, and keep it as nearly as the fractions allow.
    mutating func follow(ratio: Double) {
        var next = [Double](repeating: 0, count: probabilities.count)
        for h in probabilities.indices {
            var place = h
            if h != BucketBank.known {
                let fraction = BucketBank.fractions[h] * ratio
                place =
                    BucketBank.fractions.firstIndex { $0 * BucketBank.step.squareRoot() >= fraction } ?? next.count - 1
            }
            next[place] += probabilities[h]
        }
        for h in next.indices { probabilities[h] = max(Self.least, next[h]) }
    }
}
