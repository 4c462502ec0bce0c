import HeadroomModel

/// A token bucket in all limited resources together, that may go into debt by one call.
///
/// A call is admitted when the level is above 0 in every limited resource, and is then charged whole: over any time t
/// at a constant rate at most rate · t + burst and one call more is admitted, however large calls are, and a call
/// larger than the burst still goes.
public struct Bucket: Equatable, Sendable {
    /// An absent resource is not limited.
    public private(set) var rates: Rates
    /// Negative while in debt. Only the lanes of limited resources mean something.
    @Halved private var level: SIMD4<Double>
    @Halved private var burst: SIMD4<Double>
    private var refilledAt: Timestamp
    /// The overflow since it was last taken.
    @Halved private var spilled = SIMD4<Double>.zero
    /// This part of what flows in is not kept: it counts as overflow.
    private var passedOn = 0.0

    /// A full bucket that holds `burstSeconds` of its rates, and at least `request` where the rate is above 0.
    public init(_ rates: Rates, burstSeconds: Double, atLeast request: Work = Bucket.oneRequest, at now: Timestamp) {
        self.rates = rates
        let burst = Bucket.burst(of: rates, seconds: burstSeconds, atLeast: request)
        self.burst = burst
        level = burst
        refilledAt = now
    }

    public static let oneRequest = Work(requests: 1)

    /// Whether one more call may go.
    public mutating func admits(at now: Timestamp) -> Bool {
        refill(at: now)
        for lane in 0..<4 where rates.resources.rawValue & (1 << lane) != 0 && level[lane] <= 0 { return false }
        return true
    }

    /// Whether one more call may go that leaves `kept`.
    public mutating func admits(keeping kept: Work, at now: Timestamp) -> Bool {
        refill(at: now)
        return !any((level .<= kept.amounts) .& rates.resources.lanes)
    }

    /// Whether `work` may go without debt; what is larger than the burst, from a full bucket.
    public mutating func covers(_ work: Work, at now: Timestamp) -> Bool {
        refill(at: now)
        return rates.resources.members.allSatisfy { level[$0.rawValue] >= min(work[$0], burst[$0.rawValue]) }
    }

    /// Less than nothing gives back; what would flow over is lost. What time has brought comes first: a full bucket
    /// gains nothing from the time in which it was full.
    public mutating func charge(_ work: Work, at now: Timestamp) {
        refill(at: now)
        level -= work.amounts
        spill()
    }

    /// From now on `share` of what flows in counts as overflow at once; the bucket holds as much as before.
    public mutating func passOn(_ share: Double, at now: Timestamp) {
        refill(at: now)
        passedOn = share
    }

    /// Whether at least `share` of what it can hold is there.
    public mutating func isFilled(to share: Double, at now: Timestamp) -> Bool {
        refill(at: now)
        return !any((level .< burst * share) .& rates.resources.lanes)
    }

    /// Charges as much of `work` as there is: no debt comes of it.
    public mutating func drain(_ work: Work, at now: Timestamp) {
        refill(at: now)
        level = pointwiseMax(level - work.amounts, pointwiseMin(level, .zero))
    }

    /// Whether one more call may go, if overflow that nobody has taken counts.
    public mutating func admitsWithOverflow(at now: Timestamp) -> Bool {
        refill(at: now)
        return !any((level + spilled .<= 0) .& rates.resources.lanes)
    }

    /// Pays a debt with overflow that nobody has taken.
    public mutating func payDebt(at now: Timestamp) {
        refill(at: now)
        let paid = pointwiseMin(spilled, pointwiseMax(-level, .zero))
        level += paid
        spilled -= paid
    }

    /// Overflow that nobody has taken is in the bucket again, as far as it fits.
    public mutating func keepOverflow(at now: Timestamp) {
        refill(at: now)
        let kept = pointwiseMax(level, pointwiseMin(burst, level + spilled))
        // The sum may be rounded up: what is left is never less than nothing.
        spilled = pointwiseMax(spilled - (kept - level), .zero)
        level = kept
    }

    /// The overflow in limited resources since this was asked last.
    public mutating func takeOverflow(at now: Timestamp) -> Work {
        refill(at: now)
        defer { spilled = .zero }
        return Rates(perMinute: spilled, resources: rates.resources).work(overSeconds: 60)
    }

    /// Other rates from now on: a level keeps its proportion to the burst, so a change neither refills the bucket nor
    /// leaves a gap; a debt stays as large as it is. A resource that was not limited before starts full.
    public mutating func change(
        to rates: Rates, burstSeconds: Double, atLeast request: Work = Bucket.oneRequest, at now: Timestamp
    ) {
        refill(at: now)
        let burst = Bucket.burst(of: rates, seconds: burstSeconds, atLeast: request)
        for resource in rates.resources.members {
            let lane = resource.rawValue
            if !self.rates.resources.contains(resource) {
                level[lane] = burst[lane]
            } else if level[lane] > 0 {
                level[lane] *= burst[lane] / self.burst[lane]
            }
        }
        self.rates = rates
        self.burst = burst
    }

    /// Holds so many seconds from now on: what is saved up stays as it is, as far as it fits; the rest flows over. A larger
    /// bucket is not fuller than the small one was.
    public mutating func resize(
        burstSeconds: Double, atLeast request: Work = Bucket.oneRequest, at now: Timestamp
    ) {
        refill(at: now)
        burst = Bucket.burst(of: rates, seconds: burstSeconds, atLeast: request)
        spill()
    }

    /// No more than `most` of `resource` is left.
    public mutating func lower(_ resource: Resource, to most: Double, at now: Timestamp) {
        refill(at: now)
        level[resource.rawValue] = min(level[resource.rawValue], most)
    }

    /// Nothing is left, and `work` is owed beside what was, as far as that takes no longer than `seconds` to flow in.
    public mutating func owe(_ work: Work, atMostSeconds seconds: Double, at now: Timestamp) {
        refill(at: now)
        let owed = pointwiseMin(level, .zero) - work.amounts
        level = pointwiseMin(level, pointwiseMax(owed, -(rates.perMinute * (seconds / 60))))
    }

    /// When the next call may go that leaves `kept`, if nothing is charged until then; `nil` when no time brings it.
    public func admission(keeping kept: Work = .zero, after now: Timestamp) -> Timestamp? {
        let from = max(now, refilledAt)
        let perSecond = rates.perMinute / 60 * (1 - passedOn)
        let level = level + from.seconds(since: refilledAt) * perSecond - kept.amounts
        let isSpent = rates.resources.lanes .& (level .<= 0)
        guard any(isSpent) else { return from }
        guard !any(isSpent .& (perSecond .<= 0)) else { return nil }
        // A millisecond more: at the instant itself the level is 0, which is not above 0.
        let seconds = SIMD4.zero.replacing(with: -level / perSecond, where: isSpent).max() + 0.001
        return from.adding(seconds: seconds)
    }

    /// The spent resource that takes longest to come back; `nil` when a call may go.
    public func exhausted(at now: Timestamp) -> Resource? {
        let perSecond = rates.perMinute / 60 * (1 - passedOn)
        let level = level + max(0, now.seconds(since: refilledAt)) * perSecond
        var longest = -1.0
        var found: Resource?
        for resource in rates.resources.members where level[resource.rawValue] <= 0 {
            let rate = perSecond[resource.rawValue]
            let seconds = rate > 0 ? -level[resource.rawValue] / rate : .infinity
            if seconds > longest { (longest, found) = (seconds, resource) }
        }
        return found
    }

    /// The content when the bucket was last asked; 0 in resources that are not limited.
    public var remaining: Work {
        Rates(perMinute: level, resources: rates.resources).work(overSeconds: 60)
    }

    private mutating func refill(at now: Timestamp) {
        let elapsed = now.seconds(since: refilledAt)
        guard elapsed > 0 else { return }
        refilledAt = now
        let inflow = rates.perMinute * (elapsed / 60)
        level += inflow * (1 - passedOn)
        spilled += inflow * passedOn
        spill()
    }

    private mutating func spill() {
        let kept = level.replacing(with: burst, where: level .> burst)
        spilled += level - kept
        level = kept
    }

    private static func burst(of rates: Rates, seconds: Double, atLeast request: Work) -> SIMD4<Double> {
        let burst = rates.perMinute * (seconds / 60)
        let raised = burst.replacing(with: request.amounts, where: request.amounts .> burst)
        return raised.replacing(with: 0, where: rates.perMinute .<= 0)
    }
}
