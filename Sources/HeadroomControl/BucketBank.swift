import HeadroomModel

/// Hypothetical meters for one hidden limit: what a second of traffic says of each.
///
/// Each hypothesis says "the limit is f × the known one" and runs the meter that the provider would then run. A second
/// in which more was delivered than a meter had left speaks against its hypothesis, and so does a refusal while it still
/// had some. With rate r per second, size B, what comes back g, level L, delivered d, gain K and tolerance `tol`, each
/// second (control-law, "Recommended law"):
///
///     L  ← min(B, L + g) − d
///     ll ← −K · min(d, max(0, −L − tol)) / r               delivered more than the hypothesis allows
///     ll ← ll − K · max(0, L − tol) / r   if refused       refused although the hypothesis had some left
struct BucketBank: Sendable {
    /// How a provider holds use against a limit per minute.
    enum Meter: Equatable, Sendable {
        /// A bucket that refills all the time and holds so many seconds of its rate.
        case refill(burstSeconds: Double)
        /// Use of the clock's present minute.
        case clockMinute
        /// Use of the last sixty seconds.
        case slidingMinute
    }

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
    private let meter: Meter
    var levels: [Double]
    /// What was delivered in the last minute, by second modulo 60: it comes back where the minute slides.
    var delivered: [Double]
    /// The last second that passed.
    var second: Int64?

    init(limit: Double, meter: Meter) {
        precondition(limit > 0 && limit.isFinite, "a limit is above 0")
        self.limit = limit
        self.meter = meter
        levels = []
        delivered = meter == .slidingMinute ? [Double](repeating: 0, count: 60) : []
        levels = BucketBank.fractions.map { size($0) }
    }

    /// What a hypothesis' meter lets pass at once.
    private func size(_ fraction: Double) -> Double {
        switch meter {
        case .refill(let burstSeconds): fraction * limit / 60 * burstSeconds
        case .clockMinute, .slidingMinute: fraction * limit
        }
    }

    /// Lets a second pass in which the provider took `delivered` and refused or not. Returns the log likelihood of each
    /// hypothesis, 0 where nothing speaks against it.
    ///
    /// One and a half mean requests are within tolerance, since a provider may let the last request overdraw its bucket,
    /// and since calls are told to the second only. A refusal says that the bucket held less than the refused call,
    /// which may be many times the mean, or a fraction of it; a quarter of that, since sizes are estimates, and a
    /// quarter of a second are within tolerance. What the largest hypothesis does not allow either says that the limit is
    /// higher than all, and speaks against none.
    /// - Parameters:
    ///   - second: Since 1970; ascending.
    ///   - untold: What of `delivered` is supposed and not told yet: it speaks against nobody.
    ///   - largestDelivered: The size of the largest call that was taken; it may have put the bucket into debt, which
    ///     the next calls wait for.
    ///   - leastRefused: The size of the smallest call that was refused; infinite when none is known.
    mutating func fold(
        _ second: Int64, delivered: Double, untold: Double = 0, largestDelivered: Double = 0, isRefused: Bool,
        leastRefused: Double = .infinity, meanRequest: Double, gain: Double
    ) -> [Double] {
        pass(second)
        if !self.delivered.isEmpty { self.delivered[Int(second % 60)] = delivered }
        let perSecond = limit / 60
        let tolerance = max(1, 1.5 * meanRequest, 0.15 * perSecond)
        let debt = max(tolerance, largestDelivered) + untold
        let refusedTolerance = leastRefused.isFinite ? max(1, 1.25 * leastRefused, 0.25 * perSecond) : tolerance
        func excess(_ h: Int) -> Double { min(delivered, max(0, delivered - levels[h] - debt)) }
        let top = levels.count - 1
        let beyond = excess(top) / BucketBank.fractions[top]
        return levels.indices.map { h in
            let rate = BucketBank.fractions[h] * perSecond
            let excess = excess(h)
            var level = levels[h] - delivered + excess
            var logLikelihood = -gain * max(0, excess / rate - beyond / perSecond)
            if isRefused {
                logLikelihood -= gain * max(0, level - refusedTolerance) / rate
                level = min(level, refusedTolerance)
            }
            levels[h] = level
            return logLikelihood
        }
    }

    /// Lets the limit change: of the `belief` in each hypothesis, the part `leak` goes to the prior.
    ///
    /// Whoever believes that the limit has just changed believes in the bucket, or the minute's use, that the limit before
    /// left. A level is the mean over those who believe in it from before and from now on (interacting multiple models,
    /// Blom and Bar-Shalom 1988). Without this, what was delivered before a fall would speak against the fall.
    mutating func change(_ belief: [Double], leak: Double) {
        let before = remains(belief)
        for h in levels.indices {
            let stays = belief[h] * (1 - leak)
            let comes = LimitBelief.prior[h] * leak
            levels[h] = (stays * levels[h] + comes * level(h, after: before)) / (stays + comes)
        }
    }

    /// The same meter under another known limit.
    func following(_ limit: Double, _ belief: [Double]) -> BucketBank {
        var next = BucketBank(limit: limit, meter: meter)
        next.delivered = delivered
        next.second = second
        var before = remains(belief)
        // Nobody knows since when a lower limit is in force. Were the bucket held to be as full as the limit before left
        // it, the first refusals would speak against the new one.
        if limit < self.limit { before.left = min(0, before.left) }
        for h in levels.indices { next.levels[h] = next.level(h, after: before) }
        return next
    }

    /// What a limit leaves behind, as believed: of its meter's size what is left, and what is used.
    private func remains(_ belief: [Double]) -> (left: Double, used: Double) {
        var remains = (left: 0.0, used: 0.0)
        for h in levels.indices {
            remains.left += belief[h] * levels[h]
            remains.used += belief[h] * (size(BucketBank.fractions[h]) - levels[h])
        }
        return remains
    }

    /// A bucket keeps what is left in it, as far as it holds it; a minute keeps what was used in it.
    private func level(_ h: Int, after before: (left: Double, used: Double)) -> Double {
        let size = size(BucketBank.fractions[h])
        if case .refill = meter { return min(before.left, size) }
        return size - max(0, before.used)
    }

    /// Lets time pass to `second`, in which nothing was attempted so far: what comes back, comes back.
    mutating func pass(_ second: Int64) {
        let last = max(self.second ?? second - 1, second - 60)
        self.second = second
        guard last < second else { return }
        for passing in last + 1...second {
            var comes = 0.0
            if !delivered.isEmpty {
                comes = delivered[Int(passing % 60)]
                delivered[Int(passing % 60)] = 0
            }
            for h in levels.indices {
                let size = size(BucketBank.fractions[h])
                switch meter {
                case .refill: comes = BucketBank.fractions[h] * limit / 60
                case .clockMinute: comes = passing % 60 == 0 ? size : 0
                case .slidingMinute: break
                }
                levels[h] = min(size, levels[h] + comes)
            }
        }
    }
}
