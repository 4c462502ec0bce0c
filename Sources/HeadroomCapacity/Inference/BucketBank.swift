import HeadroomModel

/// Hypothetical meters for one hidden limit: what a second of traffic says of each.
///
/// Hypothesis h says "the limit is f_h × the known one", and runs the meter that the provider would then run. With f the
/// fraction, r = f × known / 60 the rate per second, B what the meter lets pass at once, L ≤ B what is left of it and g what
/// came back since the moment before, each moment of a second with d delivered and c charged for refused calls
/// (ControlLaw, "Recommended law"):
///
///     L  ← min(B, L + g)
///     ll ← −K · min(d, max(0, d − L − tolerance)) / r        delivered more than the hypothesis allows
///     L  ← L − d, back up to 0 − tolerance where it was overdrawn
///     ll ← ll − min(E, K · max(0, L − tolerance) / r)          refused although the hypothesis had some left
///     L  ← max(−B, L − c)                                     what refused calls cost says nothing, and leaves debt
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

    /// The fractions f: from 0.2 to 1.19, 6 % apart, 1 among them.
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

    /// E, in nats: the most that the refusals of one moment may say. Sizes of refused calls are estimates, and one that is
    /// wrong by a factor of ten must not halve a capacity; refusals in several moments do.
    private static let maxRefusalEvidence = 3.0
    /// A quarter of a call's size is within tolerance, since sizes are estimates.
    private static let sizeTolerance = 0.25
    /// Of a second at the known rate: how well gateways' clocks agree.
    private static let clockTolerance = 0.1

    /// The known limit, per minute, above 0: the contract's, or the provider's own word where that is lower.
    let limit: Double
    private let meter: Meter
    /// B.
    let sizes: [Double]
    /// L; below 0 in debt.
    var levels: [Double]
    /// What was used in the last minute, by second modulo 60: it comes back where the minute slides.
    var used: [Double]
    /// The last second that passed.
    var second: Int64?

    init(limit: Double, meter: Meter) {
        precondition(limit > 0 && limit.isFinite, "a limit is above 0")
        self.limit = limit
        self.meter = meter
        let burstSeconds = if case .refill(let seconds) = meter { seconds } else { 60.0 }
        sizes = BucketBank.fractions.map { $0 * limit / 60 * burstSeconds }
        levels = sizes
        used = meter == .slidingMinute ? [Double](repeating: 0, count: 60) : []
    }

    /// Lets a second pass, ascending. Adds what speaks against each hypothesis to its log likelihood, and returns whether
    /// anything does.
    mutating func fold(
        _ page: SecondBook.Page, of resource: Resource, gain: Double, into evidence: inout [Double]
    ) -> Bool {
        pass(page.instant - 1)
        begin(page.instant)
        second = page.instant
        var tenth = 0
        var speaks = false
        for moment in page.second.moments {
            fill(moment.tenth + 1 - tenth)
            tenth = moment.tenth + 1
            let mean = page.meanRequest[resource]
            if judge(moment, of: resource, meanRequest: mean, gain: gain, into: &evidence) { speaks = true }
            if !used.isEmpty {
                used[Int(page.instant % 60)] += moment.delivered[resource] + moment.charged[resource]
            }
        }
        fill(ObservedMoment.perSecond - tenth)
        return speaks
    }

    /// A refusal says that the bucket held less than the refused call, which may be many times the mean, or a fraction of
    /// it. Where calls are reported as sums, a request and a half are within tolerance. What the largest hypothesis does
    /// not allow either says that the limit is higher than all, and speaks against none.
    private mutating func judge(
        _ moment: ObservedMoment, of resource: Resource, meanRequest: Double, gain: Double,
        into evidence: inout [Double]
    ) -> Bool {
        let delivered = moment.delivered[resource]
        let largest = moment.largest[resource]
        let leastRefused = moment.leastRefused[resource]
        let charged = moment.charged[resource]
        let isRefused = moment.refused.contains(resource)
        let perSecond = limit / 60
        let clock = Self.clockTolerance * perSecond
        let tolerance = max(1, 1.5 * meanRequest, 1.5 * clock)
        let debt = (largest > 0 ? max(Self.sizeTolerance * largest, clock) : tolerance) + moment.inFlight[resource]
        let refusedTolerance =
            leastRefused.isFinite ? max((1 + Self.sizeTolerance) * leastRefused, clock) : tolerance
        let top = levels.count - 1
        func excess(_ h: Int) -> Double {
            // A call larger than all that passes at once passes when nothing is used, and the rest is owed.
            min(delivered, max(0, delivered - levels[h] - debt - max(0, largest - sizes[h])))
        }
        let beyond = excess(top) / BucketBank.fractions[top]
        var speaks = false
        for h in levels.indices {
            let rate = BucketBank.fractions[h] * perSecond
            let excess = excess(h)
            var level = levels[h] - delivered + excess
            var against = gain * max(0, excess / rate - beyond / perSecond)
            if isRefused {
                against += min(Self.maxRefusalEvidence, gain * max(0, level - refusedTolerance) / rate)
                level = min(level, refusedTolerance)
            }
            levels[h] = charged > 0 ? max(min(level, -sizes[h]), level - charged) : level
            guard against > 0 else { continue }
            evidence[h] -= against
            speaks = true
        }
        return speaks
    }

    /// What a limit leaves behind, as believed: of what its meter lets pass at once, what is left, and what is used.
    struct Remains {
        var left = 0.0
        var used = 0.0
    }

    /// What hypothesis `h` has left if its limit begins now: a bucket keeps what is left in it, as far as it holds it; a
    /// minute keeps what was used in it.
    func level(_ h: Int, after before: Remains) -> Double {
        switch meter {
        case .refill: min(before.left, sizes[h])
        case .clockMinute, .slidingMinute: sizes[h] - max(0, before.used)
        }
    }

    /// The same meter under another known limit.
    ///
    /// Nobody knows since when a lower limit is in force. Were its bucket held to be as full as the limit before left it,
    /// the first refusals would speak against the new one.
    func following(_ limit: Double, after before: Remains) -> BucketBank {
        var next = BucketBank(limit: limit, meter: meter)
        next.used = used
        next.second = second
        var before = before
        if limit < self.limit { before.left = min(0, before.left) }
        for h in next.levels.indices { next.levels[h] = next.level(h, after: before) }
        return next
    }

    /// Lets time pass to the end of `second`, in which nothing was attempted so far: what comes back, comes back.
    mutating func pass(_ second: Int64) {
        let last = max(self.second ?? second, second - 60)
        guard last < second else { return }
        self.second = second
        for passing in last + 1...second {
            begin(passing)
            fill(ObservedMoment.perSecond)
        }
    }

    /// What was used a minute ago comes back.
    private mutating func begin(_ second: Int64) {
        switch meter {
        case .refill: break
        case .clockMinute:
            if second % 60 == 0 { levels = sizes }
        case .slidingMinute:
            let place = Int(second % 60)
            for h in levels.indices { levels[h] = min(sizes[h], levels[h] + used[place]) }
            used[place] = 0
        }
    }

    /// What comes back all the time, in so many tenths of a second.
    private mutating func fill(_ tenths: Int) {
        guard case .refill = meter, tenths > 0 else { return }
        let comes = limit / 60 * Double(tenths) / Double(ObservedMoment.perSecond)
        for h in levels.indices {
            levels[h] = min(sizes[h], levels[h] + BucketBank.fractions[h] * comes)
        }
    }
}
