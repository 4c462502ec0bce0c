import HeadroomModel

/// Which way a tenant's rate wants to go, and since when: the deadband closes with that time.
struct Course: Sendable {
    /// 1 up, -1 down, 0 nowhere yet.
    fileprivate(set) var direction = 0.0
    fileprivate(set) var since: Timestamp

    init(at now: Timestamp) {
        since = now
    }
}

/// Bounds the next step of each tenant's rate (Model §5.2). It never edits a result: it gives intervals, and the fill
/// runs inside them.
///
/// The rate c follows the mean m of what the undampened fill gives (the target). Deviations within the deadband do not
/// move it. The deadband shrinks while deviations keep their sign, so no error is permanent. It is wide again when the
/// sign changes, so a target that swings about the rate never moves it. Nor does a mean move it when the present target
/// lies on the other side of the rate. A rate that would turn back waits until the sign has stayed the same for an
/// observation window, however large the deviation is: many swings are over by then, and their work is lent meanwhile.
/// A rate may rise from c as far as the slew limit allows, and may fall to m at once. A rate that may rise cannot fall
/// in the same step, and the reverse. So with constant input no rate ever turns back.
struct Dampening: Sendable {
    private let observationSeconds: Double
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
        observationSeconds = policy.observationSeconds
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
    ///   - dominantCost: the part of capacity that one unit takes.
    ///   - lastMove: the sign of its last move, unless that was a loss of capacity; 0 without one.
    func interval(
        from current: Double, toward mean: Double, target: Double, dominantCost: Double, lastMove: Double,
        course: inout Course
    ) -> FillInterval {
        let deviation = mean - current
        guard abs(deviation) > max(current, mean) * Dampening.settled else {
            return FillInterval(
                least: current, leastConstraint: .level, most: current, mostConstraint: .level)
        }
        let direction: Double = deviation > 0 ? 1 : -1
        if direction != course.direction {
            course.direction = direction
            course.since = now
        }
        let turnsBack = direction * lastMove < 0 && now.seconds(since: course.since) < observationSeconds
        if current > 0, turnsBack || abs(deviation) <= deadband(since: course.since) * current {
            return FillInterval(
                least: current, leastConstraint: .deadband, most: current, mostConstraint: .deadband)
        }
        // The mean is of the past: nobody follows it while the present points the other way, only to turn back.
        guard (target - current) * direction > max(current, target) * Dampening.settled else {
            return FillInterval(
                least: current, leastConstraint: .observationWindow, most: current,
                mostConstraint: .observationWindow)
        }
        let follows: Constraint = mean == target ? .level : .observationWindow
        if deviation < 0 {
            return FillInterval(least: mean, leastConstraint: follows, most: current, mostConstraint: .level)
        }
        let most = max(current * factor, current + share / dominantCost)
        return FillInterval(
            least: current, leastConstraint: .level, most: min(mean, most),
            mostConstraint: most < mean ? .slew : follows)
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
