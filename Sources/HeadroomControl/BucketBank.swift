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
    /// and since calls are told to the second only.
    mutating func fold(delivered: Double, isRefused: Bool, meanRequest: Double, gain: Double) -> [Double] {
        let perSecond = limit / 60
        let tolerance = max(1, 1.5 * meanRequest, 0.15 * perSecond)
        return levels.indices.map { h in
            let rate = BucketBank.fractions[h] * perSecond
            var level = min(burstSeconds * rate, levels[h] + rate) - delivered
            var logLikelihood = -gain * max(0, -level - tolerance) / rate
            level = max(level, -tolerance)
            if isRefused {
                logLikelihood -= gain * max(0, level - tolerance) / rate
                level = min(level, tolerance)
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
