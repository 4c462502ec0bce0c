import HeadroomModel

/// Notices when many tenants of a pool try again at the same moments, and staggers them.
///
/// Retries and attempts are counted by the second of their arrival, over two minutes. It is a storm when retries are a
/// fifth of all attempts, come from three tenants or more, and come in waves: their variance over seconds is at least
/// four times their mean (chance, a Poisson process, makes it about once). The period is the shortest lag at which the
/// seconds are like themselves: waves of ten seconds are like themselves after twenty and thirty as well.
struct RetryStormWatch: Sendable {
    /// The attempts in one second.
    private struct Attempts: Sendable {
        var retries: Float = 0
        var all: Float = 0
    }

    private static let seconds = 128
    /// Judged over these; the newest of them may not be reported in full yet.
    private static let judged: Int64 = 120
    private static let minRetries: Float = 60
    private static let minShare: Float = 0.2
    private static let minTenants = 3
    private static let minDispersion: Float = 4
    /// It is over when it has not been seen for so long.
    private static let quietSeconds = 60.0
    /// Windows of retries lie within this.
    private static let spread = 1.0...10.0
    /// The fractional parts of multiples of the golden ratio's inverse are spread evenly, however many there are.
    private static let goldenStep = 0.6180339887498949

    private var ring = [Attempts](repeating: Attempts(), count: RetryStormWatch.seconds)
    private var clock: RingClock
    private(set) var storm: RetryStorm?
    private var lastSeen: Timestamp?
    private var offsets: [TenantID: Int64] = [:]

    init(at now: Timestamp) {
        clock = RingClock(newest: now.second)
    }

    mutating func note(isRetry: Bool, count: Float = 1, at second: Int64) {
        for new in clock.advance(to: second, of: Self.seconds) {
            ring[RingClock.slot(of: new, of: Self.seconds)] = Attempts()
        }
        guard let slot = clock.slot(of: second, of: Self.seconds) else { return }
        ring[slot].all += count
        if isRetry { ring[slot].retries += count }
    }

    /// Once a tick.
    /// - Parameter tenants: those that lately tried again, most often first; needed while there are ``waves(through:)``.
    mutating func review(_ waves: Waves?, tenants: [TenantID], at now: Timestamp) {
        if let waves, tenants.count >= RetryStormWatch.minTenants {
            lastSeen = now
            storm = RetryStorm(
                since: storm?.since ?? now, periodSeconds: waves.periodSeconds, share: waves.share,
                tenants: Array(tenants.prefix(20)))
            stagger(tenants)
        }
        if let lastSeen, now.seconds(since: lastSeen) > RetryStormWatch.quietSeconds {
            self = RetryStormWatch(at: now)
        }
    }

    func offset(of tenant: TenantID) -> Int64 { storm == nil ? 0 : offsets[tenant] ?? 0 }

    /// When anyone may try again: spread over the time between two waves while a storm lasts.
    var retry: PoolAllocation.Retry {
        PoolAllocation.Retry(
            afterMilliseconds: 1000, jitterMilliseconds: storm == nil ? 1000 : Int64(1000 * spread))
    }

    private var spread: Double {
        min(max(storm?.periodSeconds ?? 1, RetryStormWatch.spread.lowerBound), RetryStormWatch.spread.upperBound)
    }

    /// A tenant keeps the offset that it first got, so that nothing is published anew for it.
    private mutating func stagger(_ tenants: [TenantID]) {
        for tenant in tenants where offsets[tenant] == nil && offsets.count < 10_000 {
            let part = (Double(offsets.count) * RetryStormWatch.goldenStep).truncatingRemainder(dividingBy: 1)
            offsets[tenant] = Int64(1000 * spread * part)
        }
    }

    /// Retries as they came in the last two minutes, if in waves.
    struct Waves {
        var periodSeconds: Double
        /// Of all attempts.
        var share: Double
        /// Those of the last minute that a wave lies in; the lowest bit is `last`.
        var seconds: UInt64
        var last: Int64

        /// Most of the retries came with a wave, and not only as many as chance brings.
        func hold(_ retries: RetrySeconds) -> Bool {
            let own = retries.seconds(through: last)
            let all = own.nonzeroBitCount
            let inside = (own & seconds).nonzeroBitCount
            return all >= 2 && 10 * inside >= 6 * all
        }
    }

    func waves(through second: Int64) -> Waves? {
        let last = min(second, clock.newest)
        let counts = (0..<Self.judged).map { age -> Attempts in
            clock.slot(of: last - age, of: Self.seconds).map { ring[$0] } ?? Attempts()
        }
        // Nothing for two minutes leaves nothing to judge, though the ring has not moved.
        guard second - last < RetryStormWatch.judged else { return nil }
        let retries = counts.reduce(0) { $0 + $1.retries }
        let attempts = counts.reduce(0) { $0 + $1.all }
        guard retries >= RetryStormWatch.minRetries, retries >= RetryStormWatch.minShare * attempts else {
            return nil
        }
        let mean = retries / Float(counts.count)
        let deviations = counts.map { $0.retries - mean }
        let variance = deviations.reduce(0) { $0 + $1 * $1 } / Float(counts.count)
        guard variance >= RetryStormWatch.minDispersion * mean else { return nil }
        return Waves(
            periodSeconds: Double(Self.period(of: deviations)), share: Double(retries / attempts),
            seconds: Self.mask(deviations.prefix(64).map { $0 > variance.squareRoot() / 2 }), last: last)
    }

    /// Each lag counts with its neighbours, since waves are a second or two early or late. The best one of the shortest hill
    /// that is nearly as high as the highest.
    private static func period(of deviations: [Float]) -> Int {
        let likeness: [Float] = (0...31).map { lag in
            let pairs = deviations.count - lag
            var sum: Float = 0
            for place in 0..<pairs { sum += deviations[place] * deviations[place + lag] }
            return sum / Float(pairs)
        }
        let smooth: [(lag: Int, height: Float)] = (1...30).map { lag in
            (lag, likeness[lag - 1] + 2 * likeness[lag] + likeness[lag + 1])
        }
        // The first lags are the width of a wave itself: a hill has lower ground in front of it.
        let valley = smooth.firstIndex { $0.height < smooth[0].height / 2 } ?? 0
        let hills = smooth.indices.dropFirst(valley).filter { place in
            let next = place + 1 < smooth.count ? smooth[place + 1].height : -.infinity
            return place > 0 && smooth[place].height > smooth[place - 1].height && smooth[place].height >= next
        }
        let highest = hills.map { smooth[$0].height }.max() ?? 0
        return hills.first { smooth[$0].height >= 0.6 * highest }.map { smooth[$0].lag } ?? 1
    }

    /// The newest second is the lowest bit.
    private static func mask(_ seconds: [Bool]) -> UInt64 {
        var mask: UInt64 = 0
        for (place, isInside) in seconds.enumerated() where isInside { mask |= 1 << UInt64(place) }
        return mask
    }
}

/// The seconds of the last minute in which one tenant tried again.
struct RetrySeconds: Sendable {
    /// The lowest bit is the newest.
    private var bits: UInt64 = 0
    private var newest: Int64 = 0

    mutating func note(_ second: Int64) {
        let ahead = second - newest
        if ahead > 0 {
            bits = ahead < 64 ? bits << UInt64(ahead) : 0
            newest = second
            bits |= 1
        } else if ahead > -64 {
            bits |= 1 << UInt64(-ahead)
        }
    }

    /// The lowest bit is `last`.
    func seconds(through last: Int64) -> UInt64 {
        let ahead = last - newest
        if ahead >= 0 { return ahead < 64 ? bits << UInt64(ahead) : 0 }
        return -ahead < 64 ? bits >> UInt64(-ahead) : 0
    }
}
