import HeadroomModel

/// Which way a tenant's rate wants to go, and since when.
struct Course: Sendable {
    /// Of the mean: 1 up, -1 down, 0 nowhere yet. The deadband closes with the time since it began.
    private(set) var direction = 0.0
    private(set) var since: Timestamp
    /// Since when the present target has pointed there too.
    private(set) var agreesSince: Timestamp
    /// The target when it last moved by more than ``stillness``, and when that was.
    private var stillTarget = 0.0
    private(set) var stillSince: Timestamp
    /// The greatest mean need of this period, and of the one before it; shares of nominal capacity.
    private var needOfPeriod = 0.0
    private var needBefore = 0.0
    private var periodSince: Timestamp

    /// A target that moves by less of itself stands still.
    private static let stillness = 0.02

    init(at now: Timestamp) {
        (since, agreesSince, stillSince, periodSince) = (now, now, now, now)
    }

    /// The greatest mean need of one to two periods.
    var greatestNeed: Double { max(needOfPeriod, needBefore) }

    fileprivate mutating func note(need: Double, period: Double, at now: Timestamp) {
        if now.seconds(since: periodSince) >= period {
            (needBefore, needOfPeriod, periodSince) = (needOfPeriod, 0, now)
        }
        needOfPeriod = max(needOfPeriod, need)
    }

    fileprivate mutating func note(target: Double, at now: Timestamp) {
        guard abs(target - stillTarget) > max(target, stillTarget) * Course.stillness else { return }
        (stillTarget, stillSince) = (target, now)
    }

    fileprivate mutating func follow(_ direction: Double, agrees: Bool, at now: Timestamp) {
        if direction != self.direction { (self.direction, since, agreesSince) = (direction, now, now) }
        if !agrees { agreesSince = now }
    }
}

/// Bounds the next step of each tenant's rate (Model §5.2). It never edits a result: it gives intervals, and the fill
/// runs inside them.
///
/// The rate c follows the mean m of what the undampened fill gives (the target). Deviations within the deadband do not
/// move it. The deadband shrinks while deviations keep their sign, so no error is permanent. It is wide again when the
/// sign changes, so a target that swings about the rate never moves it. Nor does a mean move it when the present target
/// lies on the other side of the rate. A rate that would turn back waits (``TurnWaits``), however large the deviation is:
/// many swings are over by then, and their work is lent meanwhile.
/// A rate may rise from c as far as the slew limit allows, and may fall to m at once. A rate that may rise cannot fall
/// in the same step, and the reverse. So with constant input no rate ever turns back.
struct Dampening: Sendable {
    private let deadband: Double
    private let deadbandSeconds: Double
    private let now: Timestamp
    /// Most that a rate may grow in this step: as a factor, and as a part of capacity.
    private let factor: Double
    private let share: Double

    /// Below this relative deviation a rate is where it should be.
    private static let settled = 1e-9

    /// - Parameters:
    ///   - elapsed: since the last step.
    ///   - growth: part of the usual slew; below 1 while the provider refuses fast growth.
    init(_ policy: DampeningPolicy, elapsed: Double, growth: Double, at now: Timestamp) {
        deadband = policy.deadband
        deadbandSeconds = policy.deadbandSeconds
        self.now = now
        let steps = elapsed * growth / policy.slewSeconds
        factor = Dampening.power(policy.slewFactor, steps)
        share = policy.slewShare * steps
    }

    /// Where a rate may go that is now at `current`; all in units of activity.
    /// - Parameters:
    ///   - mean: of the target over the observation window; `target` now.
    ///   - need: the mean of the part of the target that the tenant needs.
    ///   - dominantCost: the part of capacity that one unit takes.
    func interval(
        from current: Double, toward mean: Double, target: Double, need: Double, dominantCost: Double,
        after move: LastMove, _ waits: TurnWaits, course: inout Course
    ) -> FillInterval {
        course.note(target: target, at: now)
        let deviation = mean - current
        guard abs(deviation) > max(current, mean) * Dampening.settled else {
            return FillInterval(exactly: current, .level)
        }
        let direction: Double = deviation > 0 ? 1 : -1
        let agrees = (target - current) * direction > max(current, target) * Dampening.settled
        course.follow(direction, agrees: agrees, at: now)
        let isHeld = waits.holds(move, course, isRoom: need <= current * (1 + Dampening.settled), at: now)
        if current > 0, isHeld || abs(deviation) <= deadband(since: course.since) * current {
            return FillInterval(exactly: current, .deadband)
        }
        // The mean is of the past: nobody follows it while the present points the other way, only to turn back.
        guard agrees else { return FillInterval(exactly: current, .observationWindow) }
        let follows: Constraint = mean == target ? .level : .observationWindow
        if deviation < 0 {
            return FillInterval(least: mean, leastConstraint: follows, most: current, mostConstraint: .level)
        }
        let most = max(current * factor, current + share / dominantCost)
        return FillInterval(
            least: current, leastConstraint: .level, most: min(mean, most),
            mostConstraint: most < mean ? .slew : follows)
    }

    /// The mean need that a rate is not taken below while others want its room to grow, as a share of nominal capacity:
    /// `need`, or the greatest of late while a rate that rose may not fall.
    func keptNeed(_ need: Double, after move: LastMove, _ waits: TurnWaits, course: inout Course) -> Double {
        course.note(need: need, period: waits.needPeriod, at: now)
        return waits.keepsNeed(move, course, at: now) ? course.greatestNeed : need
    }

    private func deadband(since: Timestamp) -> Double {
        guard deadbandSeconds > 0 else { return 0 }
        return deadband * max(0, 1 - now.seconds(since: since) / deadbandSeconds)
    }

    /// `base` to the power of `exponent`, or a little less: between whole powers the harmonic mean, which lies below.
    /// So many small steps never grow by more than one that is as long as all of them.
    private static func power(_ base: Double, _ exponent: Double) -> Double {
        var (product, left) = (1.0, min(exponent, 64))
        while left >= 1 {
            product *= base
            left -= 1
        }
        return product / (1 - left * (1 - 1 / base))
    }
}
