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
    struct Foresight {
        var likelihood: Double
        var scale: Double
    }

    /// So that no hypothesis is ever out of the question.
    private static let least = 1e-12

    /// Takes in the log likelihoods of one second, and returns how well it was foreseen.
    mutating func weigh(_ logLikelihoods: [Double]) -> Foresight {
        let most = logLikelihoods.max() ?? 0
        var sum = 0.0
        for h in probabilities.indices {
            probabilities[h] = max(Self.least, probabilities[h] * exponential(logLikelihoods[h] - most))
            sum += probabilities[h]
        }
        for h in probabilities.indices { probabilities[h] /= sum }
        return Foresight(likelihood: sum, scale: most)
    }

    /// Of changes, those that lift a limit, by anything up to the largest hypothesis: a limit that is lower than the
    /// contract mostly comes back, and the estimate is to climb and not to jump while nothing is refused.
    private static let rises = 0.8
    /// Of changes, those that set the known limit again. The rest sets any limit: refusals show a fall soon enough.
    private static let restorations = 0.1

    /// What is to be believed right after a change of a limit of which this was believed.
    var changed: LimitBelief {
        let count = probabilities.count
        var next = LimitBelief()
        var risen = 0.0
        for h in probabilities.indices {
            risen += Self.rises * probabilities[h] / Double(count - h)
            next.probabilities[h] = risen + (1 - Self.rises - Self.restorations) / Double(count)
        }
        next.probabilities[BucketBank.known] += Self.restorations
        return next
    }

    /// The same belief beside another known limit, `ratio` times the one before. "As it is known", with a step to either
    /// side, stays so: the limit is believed to follow the provider's word. Every other hypothesis keeps its own limit, so that
    /// a higher word does not lift what refusals have shown. One above the known limit becomes the known limit.
    func following(_ ratio: Double) -> LimitBelief {
        let shift = logarithm(ratio) / logarithm(BucketBank.step)
        var next = LimitBelief()
        next.probabilities = [Double](repeating: Self.least, count: probabilities.count)
        for h in probabilities.indices {
            let isKnown = abs(h - BucketBank.known) <= 1
            let place = isKnown ? Double(BucketBank.known) : min(Double(BucketBank.known), max(0, Double(h) - shift))
            let (below, part) = (Int(place), place - place.rounded(.down))
            next.probabilities[below] += probabilities[h] * (1 - part)
            if part > 0 { next.probabilities[below + 1] += probabilities[h] * part }
        }
        return next
    }

    /// The mean of two, of such weights.
    mutating func merge(_ other: LimitBelief, _ weight: Double, _ otherWeight: Double) {
        let part = otherWeight / (weight + otherWeight)
        for h in probabilities.indices {
            probabilities[h] += (other.probabilities[h] - probabilities[h]) * part
        }
    }
}
