import HeadroomModel

/// Hypothetical token buckets for one hidden limit: what a second of traffic says of each.
///
/// Each hypothesis says "the limit is f × the known one" and runs the bucket that the provider would then run. A second
/// in which more was delivered than a bucket held speaks against its hypothesis, and so does a refusal while it still
/// had budget. With rate r per second, burst B seconds, level L, delivered d, gain K and tolerance `tol`, each second
/// (control-law, "Recommended law"):
///
///     L  ← min(B·r, L + r) − d
///     ll ← −K · max(0, −L − tol) / r                       delivered more than the hypothesis allows
///     ll ← ll − K · max(0, L − tol) / r   if refused       refused although the hypothesis had budget
struct BucketBank: Sendable {
    /// Candidates for the part of the known limit that is really granted: from 0.2 to 1.2, 6 % apart, 1 among them.
    ///
    /// Those above 1 keep a limit that is higher than known from looking like a certain 1; no estimate exceeds the known
    /// limit.
    static let fractions: [Double] = {
        let below = Array(sequence(first: 1 / step) { $0 / step >= 0.2 ? $0 / step : nil })
        let above = Array(sequence(first: 1.0) { $0 * step < 1.25 ? $0 * step : nil })
        return below.reversed() + above
    }()
    static let step = 1.06
    /// The index of the hypothesis that the limit is as it is known.
    static let known = fractions.firstIndex(of: 1)!

    /// The known limit, per minute, above 0: the contract's, or the provider's own word where that is lower.
    let limit: Double
    private let burstSeconds: Double
    var levels: [Double]

    init(limit: Double, burstSeconds: Double) {
        precondition(limit > 0 && limit.isFinite, "a limit is above 0")
        self.limit = limit
        self.burstSeconds = burstSeconds
        levels = BucketBank.fractions.map { $0 * limit / 60 * burstSeconds }
    }

    /// Lets a second pass in which the provider took `delivered` and refused or not. Returns the log likelihood of each
    /// hypothesis, 0 where nothing speaks against it.
    ///
    /// One and a half mean requests are within tolerance, since a provider may let the last request overdraw its bucket,
    /// and since calls are told to the second only. A refusal says that the bucket held less than the refused call,
    /// which may be many times the mean, or a fraction of it; a quarter of that, since sizes are estimates, and a
    /// quarter of a second are within tolerance.
    /// - Parameters:
    ///   - largestDelivered: The size of the largest call that was taken; it may have put the bucket into debt, which
    ///     the next calls wait for.
    ///   - leastRefused: The size of the smallest call that was refused; infinite when none is known.
    mutating func fold(
        delivered: Double, largestDelivered: Double = 0, isRefused: Bool, leastRefused: Double = .infinity,
        meanRequest: Double, gain: Double
    ) -> [Double] {
        let perSecond = limit / 60
        let tolerance = max(1, 1.5 * meanRequest, 0.15 * perSecond)
        let debt = max(tolerance, largestDelivered)
        let refusedTolerance = leastRefused.isFinite ? max(1, 1.25 * leastRefused, 0.25 * perSecond) : tolerance
        return levels.indices.map { h in
            let rate = BucketBank.fractions[h] * perSecond
            var level = min(burstSeconds * rate, levels[h] + rate) - delivered
            var logLikelihood = -gain * max(0, -level - debt) / rate
            level = max(level, min(levels[h], -debt))
            if isRefused {
                logLikelihood -= gain * max(0, level - refusedTolerance) / rate
                level = min(level, refusedTolerance)
            }
            levels[h] = level
            return logLikelihood
        }
    }

    /// Lets a second pass in which nothing was attempted: the buckets fill.
    mutating func idle() {
        for h in levels.indices {
            let rate = BucketBank.fractions[h] * limit / 60
            levels[h] = min(burstSeconds * rate, levels[h] + rate)
        }
    }
}
