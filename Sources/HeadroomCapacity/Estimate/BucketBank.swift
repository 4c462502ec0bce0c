import HeadroomModel

/// Hypothetical meters for one hidden limit: what a second of traffic says of each.
///
/// Each hypothesis says "the limit is f × the known one" and runs the meter that the provider would then run. A moment
/// in which more was delivered than a meter had left speaks against its hypothesis, and so does a refusal while it still
/// had some. With rate r per second, size B, what comes back g, level L, delivered d, cost of refused calls c, gain K,
/// tolerance `tol` and part ε of stray refusals, each moment (ControlLaw, rule 5):
///
///     L  ← min(B, L + g) − d
///     ll ← −K · min(d, max(0, −L − tol)) / r       delivered more than the hypothesis allows
///     if refused, with x = max(0, L − tol):        refused although the hypothesis had some left
///       f  = (1 − ε) · e^(−K · x / r)              refused by this meter
///       ll ← ll + ln(f + ε)                        or by something else
///       L  ← L − x · f / (f + ε)                   as far as this meter refused, it held no more than the call
///     L  ← max(−B, L − c)                          what refused calls cost, where they count
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
    /// Of a second, to which moments are told apart: gateways' clocks agree no better.
    static let tenths = 10
    /// The index of the hypothesis that the limit is as it is known.
    static let known = fractions.firstIndex(of: 1)!

    /// ε: of refused calls, those that this meter has not refused. Their size was estimated wrong, another consumer or an
    /// unknown limit was there before them, or a clock is off. One refusal then says at most ln ε, about 4 nats, however
    /// full a meter was; refusals in several moments add up.
    private static let strayRefusals = 0.018315638888734179

    /// The known limit, per minute, above 0: the contract's, or the provider's own word where that is lower.
    let limit: Double
    private let meter: Meter
    /// What each hypothesis' meter lets pass at once.
    let sizes: [Double]
    var levels: [Double]
    /// What was delivered in the last minute, by second modulo 60: it comes back where the minute slides.
    var delivered: [Double]
    /// The last second that passed.
    var second: Int64?

    init(limit: Double, meter: Meter) {
        precondition(limit > 0 && limit.isFinite, "a limit is above 0")
        self.limit = limit
        self.meter = meter
        let burstSeconds = if case .refill(let seconds) = meter { seconds } else { 60.0 }
        sizes = BucketBank.fractions.map { $0 * limit / 60 * burstSeconds }
        levels = sizes
        delivered = meter == .slidingMinute ? [Double](repeating: 0, count: 60) : []
    }

    /// Lets a second pass, ascending, in which the provider took and refused what `second` says. Adds what speaks against
    /// each hypothesis to its log likelihood, and returns whether anything does.
    mutating func fold(
        _ second: MeteredLimits.Second, of resource: Resource, gain: Double, into evidence: inout [Double]
    ) -> Bool {
        pass(second.second - 1)
        begin(second.second)
        self.second = second.second
        var tenth = 0
        var speaks = false
        for moment in second.moments {
            fill(moment.tenth + 1 - tenth)
            tenth = moment.tenth + 1
            let mean = second.meanRequest[resource]
            if judge(moment, of: resource, meanRequest: mean, gain: gain, into: &evidence) { speaks = true }
            if !delivered.isEmpty {
                delivered[Int(second.second % 60)] += moment.delivered[resource] + moment.charged[resource]
            }
        }
        fill(BucketBank.tenths - tenth)
        return speaks
    }

    /// A refusal says that the bucket held less than the refused call, which may be many times the mean, or a fraction of
    /// it. A quarter of a call's size is within tolerance, since sizes are estimates, and so is a tenth of a second. Where
    /// calls are reported as sums, a request and a half are. What the largest hypothesis does not allow either says that the
    /// limit is higher than all, and speaks against none. What refused calls cost was not delivered and is no evidence: it
    /// only leaves the bucket in debt, up to its size.
    private mutating func judge(
        _ moment: MeteredLimits.Moment, of resource: Resource, meanRequest: Double, gain: Double,
        into evidence: inout [Double]
    ) -> Bool {
        let delivered = moment.delivered[resource]
        let charged = moment.charged[resource]
        let largest = moment.largestDelivered[resource]
        let leastRefused = moment.leastRefused[resource]
        let isRefused = moment.refused.contains(resource)
        let perSecond = limit / 60
        let tolerance = max(1, 1.5 * meanRequest, 0.15 * perSecond)
        let debt = (largest > 0 ? max(0.25 * largest, 0.1 * perSecond) : tolerance) + moment.unreported[resource]
        let refusedTolerance = leastRefused.isFinite ? max(1.25 * leastRefused, 0.1 * perSecond) : tolerance
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
            let against = max(0, excess / rate - beyond / perSecond)
            if against > 0 {
                evidence[h] -= gain * against
                speaks = true
            }
            let unexplained = isRefused ? max(0, level - refusedTolerance) : 0
            if unexplained > 0 {
                let byMeter = (1 - Self.strayRefusals) * exponential(-gain * unexplained / rate)
                evidence[h] += logarithm(byMeter + Self.strayRefusals)
                level -= unexplained * byMeter / (byMeter + Self.strayRefusals)
                speaks = true
            }
            levels[h] = charged > 0 ? max(min(level, -sizes[h]), level - charged) : level
        }
        return speaks
    }

    /// What a limit leaves behind, as believed: of its meter's size what is left, and what is used.
    struct Remains {
        var left = 0.0
        var used = 0.0
    }

    /// The limit changes: a bucket keeps what is left in it, as far as it holds it; a minute keeps what was used in it.
    mutating func inherit(_ before: Remains) {
        for h in levels.indices {
            switch meter {
            case .refill: levels[h] = min(before.left, sizes[h])
            case .clockMinute, .slidingMinute: levels[h] = sizes[h] - max(0, before.used)
            }
        }
    }

    /// The same meter under another known limit.
    func following(_ limit: Double, _ before: Remains) -> BucketBank {
        var next = BucketBank(limit: limit, meter: meter)
        next.delivered = delivered
        next.second = second
        var before = before
        // Nobody knows since when a lower limit is in force. Were the bucket held to be as full as the limit before left
        // it, the first refusals would speak against the new one.
        if limit < self.limit { before.left = min(0, before.left) }
        next.inherit(before)
        return next
    }

    /// Lets time pass to the end of `second`, in which nothing was attempted so far: what comes back, comes back.
    mutating func pass(_ second: Int64) {
        let last = max(self.second ?? second, second - 60)
        guard last < second else { return }
        self.second = second
        for passing in last + 1...second {
            begin(passing)
            fill(BucketBank.tenths)
        }
    }

    /// What was used a minute ago comes back.
    private mutating func begin(_ second: Int64) {
        switch meter {
        case .refill: break
        case .clockMinute:
            guard second % 60 == 0 else { return }
            levels = sizes
        case .slidingMinute:
            let place = Int(second % 60)
            for h in levels.indices { levels[h] = min(sizes[h], levels[h] + delivered[place]) }
            delivered[place] = 0
        }
    }

    /// What comes back all the time, in so many tenths of a second.
    private mutating func fill(_ tenths: Int) {
        guard case .refill = meter, tenths > 0 else { return }
        let comes = limit / 60 * Double(tenths) / Double(BucketBank.tenths)
        for h in levels.indices {
            levels[h] = min(sizes[h], levels[h] + BucketBank.fractions[h] * comes)
        }
    }
}

/// The natural logarithm of `x` > 0, the same bits on every machine, as ``exponential(_:)`` is: x = 2^k · m with
/// √½ < m ≤ √2, and ln m = 2 artanh z with z = (m − 1) / (m + 1), of which |z| ≤ 0.172 leaves 10⁻¹⁷ after eleven terms.
package func logarithm(_ x: Double) -> Double {
    let isUpper = x.significand > 2.0.squareRoot()
    let m = isUpper ? x.significand / 2 : x.significand
    let z = (m - 1) / (m + 1)
    var sum = 0.0
    for term in (0...10).reversed() { sum = sum * z * z + 1 / Double(2 * term + 1) }
    return 2 * z * sum + Double(x.exponent + (isUpper ? 1 : 0)) * 0.693147180559945309
}
