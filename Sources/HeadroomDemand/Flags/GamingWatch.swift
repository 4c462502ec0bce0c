import HeadroomModel

/// Looks for signs that a tenant makes itself look as if it needed more than it does (Model §4).
///
/// Evidence is counted and fades with a half-life of ``TrustPolicy/flagSeconds``; a flag stands while the evidence does:
/// it takes half of what raised it to keep it. Each rule carries its own control, so that what honest tenants do by
/// chance raises nothing.
struct GamingWatch: Sendable {
    /// How the loop and the policy stand to it.
    struct Settings: Sendable {
        var halfLifeSeconds: Double
        /// Of the loop.
        var periodSeconds: Double
    }

    /// Work that was wanted per minute, lately and over the last hour: interactive, and the rest.
    struct Mix {
        var interactive: Float
        var rest: Float

        var sum: Float { interactive + rest }
        var share: Float { sum > 0 ? interactive / sum : 0 }
    }

    private var at: Timestamp

    /// Calls that were denied; that came as new although the same had just been denied; that came as new although the
    /// same had just been served: what chance does.
    private var denied: Float = 0
    private var resent: Float = 0
    private var repeated: Float = 0
    /// Served ones that there were to compare with.
    private var compared: Float = 0
    /// Served calls that are still to be remembered, so that there are four times as many as denied ones: chance must be
    /// known better than what is held against it, also where few are denied. More would say little more.
    private var controlsDue: Float = 0
    private static let controlsPerDenial: Float = 4
    /// From its arrival to its end, of the call that was denied last.
    private var deniedAfterSeconds: Float = 0

    /// Calls that went out of queues while there was room for all, and calls that ended in any way.
    private var dropped: Float = 0
    private var ended: Float = 0

    private var claimsKept: Float = 0
    private var claimsBroken: Float = 0

    /// New work by the part of the loop's period in which it arrived, and by the last 32 periods.
    private var phases: SIMD8<Float> {
        get { SIMD8(lowHalf: earlyPhases, highHalf: latePhases) }
        set { (earlyPhases, latePhases) = (newValue.lowHalf, newValue.highHalf) }
    }
    private var periods: SIMD32<UInt8> {
        get { SIMD32(lowHalf: earlyPeriods, highHalf: latePeriods) }
        set { (earlyPeriods, latePeriods) = (newValue.lowHalf, newValue.highHalf) }
    }
    // In halves: see ``Halved``.
    private var earlyPhases = SIMD4<Float>.zero
    private var latePhases = SIMD4<Float>.zero
    private var earlyPeriods = SIMD16<UInt8>.zero
    private var latePeriods = SIMD16<UInt8>.zero
    private var periodClock = RingClock(newest: 0)

    private(set) var flags: [GamingFlag] = []
    /// At the last tick there was room for all that it wanted.
    var isGranted = false

    init(at now: Timestamp) {
        at = now
    }

    // MARK: Evidence

    /// New work, and whether the same had just been denied or served.
    /// - Parameter instant: `nil` where only the time of the gateway's report is known: its rhythm is not the tenant's.
    mutating func noteArrival(wasDenied: Bool, wasServed: Bool, at instant: Timestamp?, _ settings: Settings) {
        if wasDenied { resent += 1 }
        if wasServed { repeated += 1 }
        if let instant { notePhase(of: instant, settings) }
    }

    /// Where in the loop's period new work arrives. `nil`: the period is so short that everything is in step.
    func phase(of instant: Timestamp, _ settings: Settings) -> LoopPhases.Arrival? {
        guard let (period, part) = Self.phase(of: instant, settings) else { return nil }
        // The period before tells how many calls it makes in one: a count of this one would make the first of them count most.
        let calls = periodClock.slot(of: period - 1, of: 32).map { periods[$0] } ?? 0
        return LoopPhases.Arrival(part: part, weight: 1 / Float(max(1, calls)))
    }

    mutating func noteDenied(afterSeconds seconds: Double) {
        denied += 1
        controlsDue = min(controlsDue + GamingWatch.controlsPerDenial, 2000)
        deniedAfterSeconds = Float(max(0, min(seconds, RecentContents.seconds)))
    }

    /// After how many seconds a served call would have been denied, if one is to be remembered as well.
    mutating func takeControl() -> Double? {
        guard controlsDue >= 1 else { return nil }
        controlsDue -= 1
        compared += 1
        return Double(deniedAfterSeconds)
    }

    /// An hour after the last denial there is nothing to tell any more.
    var looksForResends: Bool { denied >= 0.02 }

    mutating func noteEnd(ofCalls calls: Float = 1) { ended += calls }

    mutating func noteQueue(shrankBy calls: Int64) {
        if isGranted { dropped += Float(calls) }
    }

    mutating func note(_ claims: TaskBook.ClaimOutcome) {
        claimsKept += Float(claims.kept)
        claimsBroken += Float(claims.broken)
    }

    /// The work that it sends after a denial is mostly the same again: no new demand.
    var resendsDenied: Bool { isBeyondChance(calls: 4, deviations: 3, share: 0.3) }

    /// The part of denied calls that would come again if a denial were no reason to: of the served ones as many do.
    private var chance: Float { min(1, (repeated + 1) / (compared + 1)) }

    /// More denied calls come again than chance explains, by so many and by so many standard deviations of both counts;
    /// and of those that chance would not bring again at least `share` do. Sizes of prompts that repeat themselves, as
    /// templates do, make chance large and honest; what comes again on top of it still tells.
    private func isBeyondChance(calls: Float, deviations: Float, share: Float) -> Bool {
        // Where nearly everything is alike, nothing tells one piece of work from another.
        guard chance < 0.9 else { return false }
        let excess = resent - chance * denied
        let variance = chance * (1 - chance) * denied * (1 + denied / max(1, compared))
        return excess >= calls && excess * excess >= deviations * deviations * variance
            && excess >= share * (1 - chance) * denied
    }

    private static func phase(of instant: Timestamp, _ settings: Settings) -> (period: Int64, part: Int)? {
        let length = Int64(settings.periodSeconds * 1000)
        // Below half a second everything is in step.
        guard length >= 500, instant.milliseconds >= 0 else { return nil }
        return (instant.milliseconds / length, Int(instant.milliseconds % length * 8 / length))
    }

    private mutating func notePhase(of instant: Timestamp, _ settings: Settings) {
        guard let (period, part) = Self.phase(of: instant, settings) else { return }
        phases[part] += 1
        for new in periodClock.advance(to: period, of: 32) { periods[RingClock.slot(of: new, of: 32)] = 0 }
        guard let slot = periodClock.slot(of: period, of: 32) else { return }
        periods[slot] = periods[slot] &+ (periods[slot] < .max ? 1 : 0)
    }

    // MARK: Judgement

    /// Once a tick. `mix` is lately, `usualMix` over the last hour; `nil` while there is no hour to compare with.
    mutating func review(mix: Mix, usualMix: Mix?, _ settings: Settings, at now: Timestamp) {
        fade(settings, at: now)
        guard !flags.isEmpty || hasEvidence || usualMix != nil else { return }
        var standing: [GamingFlag] = []
        for kind in GamingFlag.Kind.allCases {
            let known = flags.first { $0.kind == kind }
            let strength = known == nil ? Float(1) : 0.5
            let evidence: String? =
                switch kind {
                case .vanishingDemand: vanishingDemand(strength)
                case .loopSynchronised: loopSynchronised(strength, settings)
                case .unfinishedTasks: unfinishedTasks(strength)
                case .resentDenials: resentDenials(strength)
                case .interactiveJump: usualMix.flatMap { interactiveJump(mix, usual: $0, strength) }
                }
            if let evidence {
                standing.append(GamingFlag(kind: kind, since: known?.since ?? now, evidence: evidence))
            }
        }
        flags = standing
    }

    private var hasEvidence: Bool {
        resent >= 1 || dropped >= 1 || claimsBroken >= 1 || phases.max() >= 1
    }

    private mutating func fade(_ settings: Settings, at now: Timestamp) {
        let seconds = now.seconds(since: at)
        // Often enough for any half-life, and seldom enough to cost nothing.
        guard seconds >= 10 else { return }
        at = now
        let kept = Float(decay(seconds, halfLife: settings.halfLifeSeconds))
        denied *= kept
        resent *= kept
        repeated *= kept
        compared *= kept
        dropped *= kept
        ended *= kept
        claimsKept *= kept
        claimsBroken *= kept
        phases *= kept
    }

    private func resentDenials(_ strength: Float) -> String? {
        guard isBeyondChance(calls: 3 * strength, deviations: 4 * strength, share: 0.4 * strength) else { return nil }
        return "\(whole(resent)) of \(whole(denied)) denied calls came again at once as new work; by chance "
            + "it would have been \(whole(chance * denied)), as often as its served calls come again"
    }

    private func vanishingDemand(_ strength: Float) -> String? {
        let gone = dropped - ended
        guard gone >= 30 * strength, gone >= 0.5 * strength * dropped else { return nil }
        return "\(whole(dropped)) calls left its queues while there was room for them, and only \(whole(ended)) calls "
            + "were made or denied; a queue that is meant is made or denied call by call"
    }

    private func unfinishedTasks(_ strength: Float) -> String? {
        guard claimsBroken >= 2.4 * strength, claimsBroken >= 4 * strength * claimsKept else { return nil }
        return "\(whole(claimsBroken)) claims of tasks that they are mid-way came to nothing; "
            + "\(whole(claimsKept)) tasks with claims completed, where honest agents complete most of what they report"
    }

    private func loopSynchronised(_ strength: Float, _ settings: Settings) -> String? {
        let sum = phases.sum()
        guard sum >= 100 * strength else { return nil }
        var most: Float = 0
        for bin in 0..<8 { most = max(most, phases[bin] + phases[(bin + 1) & 7]) }
        var spiky = 0
        for place in 0..<32 where periods[place] >= 3 { spiky += 1 }
        // Chance puts a quarter into two of eight parts, and a timer of another period does not hit every period.
        guard most >= (0.7 + 0.15 * strength) * sum, Float(spiky) >= 19 * strength else { return nil }
        return "\(whole(100 * most / sum)) % of its calls arrived within the same quarter of the loop's "
            + "\(settings.periodSeconds) s, where chance puts 25 %, in spikes in \(spiky) of the last 32 periods"
    }

    private func interactiveJump(_ mix: Mix, usual: Mix, _ strength: Float) -> String? {
        // As much work as ever, called otherwise: a tenant whose batch has ended, or whose users woke up, is none.
        guard mix.sum >= 6, mix.sum > 0.5 * usual.sum, mix.sum < 2 * usual.sum,
            mix.share >= usual.share + 0.3 * strength, mix.interactive >= (1 + 0.5 * strength) * usual.interactive,
            mix.rest <= (1 - 0.5 * strength) * usual.rest
        else { return nil }
        return "interactive calls went from \(whole(100 * usual.share)) % to \(whole(100 * mix.share)) % of its work, "
            + "which stayed at \(whole(mix.sum)) calls a minute (\(whole(usual.sum)) before)"
    }

    private func whole(_ value: Float) -> Int { Int(value.rounded()) }
}

extension GamingWatch {
    func write(to writer: inout ByteWriter) {
        writer.write(at)
        writer.write(SIMD4(denied, resent, repeated, controlsDue))
        writer.write(deniedAfterSeconds)
        writer.write(SIMD4(dropped, ended, claimsKept, claimsBroken))
        writer.write(compared)
        writer.write(phases.lowHalf)
        writer.write(phases.highHalf)
        for place in 0..<32 { writer.write(periods[place]) }
        writer.write(periodClock.newest)
        writer.write(isGranted)
        writer.write(flags) { writer, flag in
            writer.write(flag.kind.rawValue)
            writer.write(flag.since)
            writer.write(flag.evidence)
        }
    }

    init(from reader: inout ByteReader) throws(ByteCodingError) {
        self.init(at: try reader.readTimestamp())
        let calls = try reader.readAmounts()
        (denied, resent, repeated, controlsDue) = (calls.x, calls.y, calls.z, calls.w)
        deniedAfterSeconds = try reader.readFloatAmount()
        let claims = try reader.readAmounts()
        (dropped, ended, claimsKept, claimsBroken) = (claims.x, claims.y, claims.z, claims.w)
        compared = try reader.readFloatAmount()
        phases.lowHalf = try reader.readAmounts()
        phases.highHalf = try reader.readAmounts()
        for place in 0..<32 { periods[place] = try reader.read() }
        periodClock = RingClock(newest: try reader.read())
        isGranted = try reader.readBool()
        flags = try reader.readArray(leastBytes: 12) { reader in
            guard let kind = GamingFlag.Kind(rawValue: try reader.readString()) else {
                throw ByteCodingError.outOfRange
            }
            return GamingFlag(kind: kind, since: try reader.readTimestamp(), evidence: try reader.readString())
        }
    }
}
