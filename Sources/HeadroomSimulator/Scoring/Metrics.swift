import HeadroomModel

/// Everything a run is judged by, each defined here and nowhere else.
///
/// Words. *Work* is measured in seconds of the contracted (nominal) capacity: the larger of requests and counted
/// tokens over what the contract grants of each in a second. *Genuine* work is what somebody needs, counted once
/// however often it is sent. *Due* is what ``Reference`` serves a tenant: what it should have had. Minutes count from
/// the start of the run; the last one counts even when it is not a whole one.
package enum Metric: String, CaseIterable, Sendable {
    /// Entitlement shortfall: Σ over minutes and tenants of max(0, due − served) over Σ due; genuine work. Served more
    /// than due in one minute makes up for nothing in another. 0 is best; lumps make about 0.06 of it.
    case shortfall
    /// The same over the minutes in which less than 95 % of the contract was granted throughout; none: no value.
    case shortfallWhileDown
    /// The smallest part of the due that one tenant got over the whole run, among tenants that were due at least half a
    /// per cent of all.
    case leastServed
    /// Genuine work served over all that was due: above 1 when lumps fit better than the reference thought.
    case useful
    /// All work that the provider took, junk too, over what it could have taken in its steps: seconds of true capacity
    /// for which there was work.
    case utilisation
    /// Tenant-minutes inside spells of at least five minutes in a row in each of which a tenant was served less than
    /// 70 % of what was due to it. A minute in which nothing was due ends a spell.
    case starvedMinutes
    /// Part of the minutes with a priority inversion: of the genuine work that first arrived in that minute, and of one
    /// criticality, a higher tier's served part lies more than 0.1 below a lower tier's. Tiers with less than a
    /// hundredth of the minute's capacity do not count.
    case inversions
    /// Genuine work of the tier that was ever served, over what arrived.
    case satisfactionCritical, satisfactionPremium, satisfactionStandard, satisfactionFree
    /// How quiet tenants were served (``QuietService``), by tier; the worst of them, and the worst minute of a tier.
    case quietCritical, quietPremium, quietStandard, quietFree, worstQuietTenant, worstQuietMinute
    /// Attempts that were answered with 429, by the provider or by a limiter, over all attempts.
    case refusedShare
    /// Seconds in which what gateways could spend together was more than 1 % above the capacity that the strategy
    /// believed in (of the oracle and of rivals: above what was granted).
    case overcommittedSeconds
    /// How much above: Σ over those seconds of the excess, in seconds of that capacity.
    case overcommittedAmount
    /// Per tenant and hour: how often its limit turned back, that is moved against its last move. Moves below 1 % of
    /// the limit are none.
    case reversals
    /// Per tenant and hour: Σ |change of its limit| over its mean limit.
    case variation
    /// Mean of |estimate / granted − 1|, each a part of the contract, over all seconds.
    case estimateError
    /// From the first fall of what is granted until the estimate first lies within 25 % (10 %) of it, in seconds. The
    /// whole fall when it never does.
    case secondsToWithin25, secondsToWithin10
    /// Estimate over granted, 15 s after the first refusal that follows the first fall of what is granted: 1 is right.
    case estimateAfterRefusal
    /// Estimate over granted, 60 s after what is granted is first back where it was before its first fall: 1 is right.
    case estimateAfterRecovery
    /// From a fall, or a rise, of what is granted until the estimate lies within 10 % of it (``EstimateQuality``): the
    /// median over all of them, in seconds.
    case secondsAfterFall, secondsAfterRise
    /// Mean of |estimate / granted − 1| from 20 s after a change of what is granted on.
    case standingError
    /// Seconds in which the estimate lies below 0.7 of what is granted.
    case secondsFarBelow
    /// From a rise of what is granted to the end of the first step of ten seconds in which 90 % of what could be taken is
    /// taken: the whole way back, through the estimate, the decision, gateways and their calls; the median, in seconds.
    case secondsToDelivery
    /// From arrival to dispatch, of served genuine calls, in seconds; over the tenants of a tier.
    case waitMedianCritical, waitMedianPremium, waitMedianStandard, waitMedianFree
    case waitP99Critical, waitP99Premium, waitP99Standard, waitP99Free
    /// From the begin of an agent's task to its end, in seconds, over the tasks of a tier's tenants: one that failed or
    /// did not end within the run counts as if it had gone on to the end of the run.
    case taskMedianCritical, taskMedianPremium, taskMedianStandard, taskMedianFree
    case taskP95Critical, taskP95Premium, taskP95Standard, taskP95Free
    /// Tasks that ended well, of those that began.
    case tasksCompleted
    /// The gaming tenants' service, over their service in the same run without their game; genuine
    /// work. Above 1 it pays.
    case gamingGain
    /// From the return of a tenant that was silent until it is served at least 90 % of what is due to it in a step of
    /// ten seconds, in seconds; the longest over such tenants.
    case recoverySeconds
    /// The longest time for which a gateway had not applied a generation that was published.
    case driftSeconds

    /// Which way is better; `nil` where neither is.
    package var isBetterLow: Bool? {
        switch self {
        case .leastServed, .useful, .utilisation, .tasksCompleted, .satisfactionCritical, .satisfactionPremium,
            .satisfactionStandard,
            .satisfactionFree, .quietCritical, .quietPremium, .quietStandard, .quietFree, .worstQuietTenant,
            .worstQuietMinute:
            false
        case .gamingGain, .estimateAfterRefusal, .estimateAfterRecovery: nil
        default: true
        }
    }
}

/// One run's values. A metric that has no meaning in the run has none.
package struct RunMetrics: Equatable, Sendable {
    package private(set) var values: [Double?]

    package subscript(metric: Metric) -> Double? {
        get { values[RunMetrics.index[metric]!] }
        set { values[RunMetrics.index[metric]!] = newValue }
    }

    private static let index = Dictionary(
        uniqueKeysWithValues: Metric.allCases.enumerated().map { ($0.element, $0.offset) })

    /// `honest` is the same run without its gamers' game, where it has gamers.
    package init(_ run: RunRecord, workload: Workload, reference: Reference, honest: RunRecord? = nil) {
        values = Array(repeating: nil, count: Metric.allCases.count)
        let minutes = Minutes(run, workload: workload, reference: reference)
        judgeService(run, workload, reference, minutes)
        judgeTiers(run, workload)
        judgeControl(run, workload)
        judgeEstimate(run, reference)
        let quiet = QuietService(run, workload: workload, reference: reference)
        for (metric, tier) in zip([Metric.quietCritical, .quietPremium, .quietStandard, .quietFree], Roster.tiers) {
            self[metric] = quiet.servedByTier[tier]
        }
        self[.worstQuietTenant] = quiet.worstTenant
        self[.worstQuietMinute] = quiet.worstMinute
        self[.recoverySeconds] = RunMetrics.recovery(run, workload, reference)
        if let honest, !workload.gamers.isEmpty {
            let gained = workload.gamers.reduce(0) { $0 + run.total(servedTo: $1, nominal: workload.nominal) }
            let base = workload.gamers.reduce(0) { $0 + honest.total(servedTo: $1, nominal: workload.nominal) }
            if base > 0 { self[.gamingGain] = gained / base }
        }
    }

    private mutating func judgeService(
        _ run: RunRecord, _ workload: Workload, _ reference: Reference, _ minutes: Minutes
    ) {
        self[.shortfall] = minutes.shortfall { _ in true }
        self[.shortfallWhileDown] = minutes.shortfall { minute in
            let seconds = run.granted.indices.filter { $0 / 60 == minute }
            return !seconds.isEmpty && seconds.allSatisfy { run.granted[$0] < 0.95 }
        }
        let due = minutes.due.reduce(0, +)
        let served = minutes.served.reduce(0, +)
        if due > 0 { self[.useful] = served / due }
        self[.leastServed] = (0..<run.tenantCount).compactMap { tenant -> Double? in
            let own = stride(from: tenant, to: minutes.due.count, by: run.tenantCount)
            let dueToIt = own.reduce(0) { $0 + minutes.due[$1] }
            guard dueToIt > 0.005 * due else { return nil }
            return own.reduce(0) { $0 + minutes.served[$1] } / dueToIt
        }.min()
        let workable = reference.workableSeconds.reduce(0, +)
        if workable > 0 {
            let delivered = zip(run.delivered, reference.capacity).reduce(0) { $0 + $1.0.seconds(of: $1.1) }
            self[.utilisation] = delivered / workable
        }
        self[.starvedMinutes] = Double(minutes.starved)
    }

    private mutating func judgeTiers(_ run: RunRecord, _ workload: Workload) {
        let entries = workload.roster.entries
        let satisfaction: [Metric] = [
            .satisfactionCritical, .satisfactionPremium, .satisfactionStandard, .satisfactionFree,
        ]
        let medians: [Metric] = [.waitMedianCritical, .waitMedianPremium, .waitMedianStandard, .waitMedianFree]
        let tails: [Metric] = [.waitP99Critical, .waitP99Premium, .waitP99Standard, .waitP99Free]
        for (rank, tier) in Roster.tiers.enumerated() {
            var wanted = 0.0
            var got = 0.0
            var waits: [Double] = []
            for tenant in entries.indices where entries[tenant].tier == tier {
                for index in stride(from: tenant, to: run.wanted.count, by: run.tenantCount) {
                    wanted += run.wanted[index].seconds(of: workload.nominal)
                    got += run.got[index].seconds(of: workload.nominal)
                }
                waits += run.waits[tenant]
            }
            if wanted > 0 { self[satisfaction[rank]] = got / wanted }
            waits.sort()
            if !waits.isEmpty {
                self[medians[rank]] = waits[waits.count / 2]
                self[tails[rank]] = waits[min(waits.count - 1, waits.count * 99 / 100)]
            }
        }
        judgeTasks(run, workload)
        self[.inversions] = RunMetrics.inversions(run, workload)
    }

    private mutating func judgeTasks(_ run: RunRecord, _ workload: Workload) {
        guard !run.tasks.isEmpty else { return }
        self[.tasksCompleted] = Double(run.tasks.count { $0.seconds != nil }) / Double(run.tasks.count)
        let medians: [Metric] = [.taskMedianCritical, .taskMedianPremium, .taskMedianStandard, .taskMedianFree]
        let tails: [Metric] = [.taskP95Critical, .taskP95Premium, .taskP95Standard, .taskP95Free]
        for (rank, tier) in Roster.tiers.enumerated() {
            let times = run.tasks
                .filter { workload.roster.entries[$0.tenant].tier == tier }
                .map { $0.seconds ?? run.seconds - $0.begunAt }
                .sorted()
            guard !times.isEmpty else { continue }
            self[medians[rank]] = times[times.count / 2]
            self[tails[rank]] = times[min(times.count - 1, times.count * 95 / 100)]
        }
    }

    private static func inversions(_ run: RunRecord, _ workload: Workload) -> Double? {
        let entries = workload.roster.entries
        guard run.minuteCount > 0 else { return nil }
        let inverted = (0..<run.minuteCount).filter { minute in
            Criticality.allCases.contains { criticality in
                var best = Double.infinity  // The least served part of the tiers above.
                for tier in Roster.tiers {
                    var wanted = 0.0
                    var got = 0.0
                    for tenant in entries.indices
                    where entries[tenant].tier == tier && entries[tenant].criticality == criticality {
                        wanted += run.wanted[minute * run.tenantCount + tenant].seconds(of: workload.nominal)
                        got += run.got[minute * run.tenantCount + tenant].seconds(of: workload.nominal)
                    }
                    guard wanted >= 0.6 else { continue }
                    if best < got / wanted - 0.1 { return true }
                    best = min(best, got / wanted)
                }
                return false
            }
        }
        return Double(inverted.count) / Double(run.minuteCount)
    }

    private mutating func judgeControl(_ run: RunRecord, _ workload: Workload) {
        if run.attempts > 0 { self[.refusedShare] = Double(run.refusals) / Double(run.attempts) }
        if !run.committed.isEmpty {
            let excess = run.committed.filter { $0 > 1.01 }
            self[.overcommittedSeconds] = Double(excess.count)
            self[.overcommittedAmount] = excess.reduce(0) { $0 + $1 - 1 }
        }
        if !run.limits.isEmpty {
            let tenantHours = Double(run.tenantCount) * run.seconds / 3600
            let motion = RunMetrics.motion(run.limits.map(\.tokens), tenants: run.tenantCount)
            self[.reversals] = Double(motion.reversals) / tenantHours
            self[.variation] = motion.variation / tenantHours
        }
        if !run.estimated.isEmpty {
            let errors = zip(run.estimated, run.granted).map { abs($0 / max(1e-9, $1) - 1) }
            self[.estimateError] = errors.reduce(0, +) / Double(errors.count)
            let fall = run.granted.indices.dropFirst().first { run.granted[$0] < 0.99 * run.granted[$0 - 1] }
            if let fall {
                let low = run.granted[fall...].prefix { $0 <= run.granted[fall] * 1.001 }
                self[.secondsToWithin25] = Double(
                    errors[low.indices].firstIndex { $0 <= 0.25 }.map { $0 - fall } ?? low.count)
                self[.secondsToWithin10] = Double(
                    errors[low.indices].firstIndex { $0 <= 0.1 }.map { $0 - fall } ?? low.count)
                func ratio(at second: Int, within seconds: Range<Int>) -> Double? {
                    seconds.contains(second) ? run.estimated[second] / max(1e-9, run.granted[second]) : nil
                }
                if let refused = low.indices.first(where: { run.refusedEachSecond[$0] > 0 }) {
                    self[.estimateAfterRefusal] = ratio(at: refused + 15, within: low.indices)
                }
                if let back = run.granted[fall...].firstIndex(where: { $0 >= 0.999 * run.granted[fall - 1] }) {
                    self[.estimateAfterRecovery] = ratio(at: back + 60, within: run.granted.indices)
                }
            }
        }
        self[.driftSeconds] = run.driftSeconds.max()
    }

    private mutating func judgeEstimate(_ run: RunRecord, _ reference: Reference) {
        guard !run.estimated.isEmpty else { return }
        let quality = EstimateQuality(estimated: run.estimated, granted: run.granted)
        self[.secondsAfterFall] = quality.secondsAfterFall
        self[.secondsAfterRise] = quality.secondsAfterRise
        self[.standingError] = quality.standingError
        self[.secondsFarBelow] = Double(quality.secondsFarBelow)
        let delivered = zip(run.delivered, reference.capacity).map { $0.seconds(of: $1) }
        let back = quality.rises.map { rise -> Double in
            let step = run.step(atSecond: Double(rise))..<run.stepCount
            let first = step.first { delivered[$0] >= 0.9 * reference.workableSeconds[$0] } ?? run.stepCount
            return Double(first + 1) * RunRecord.stepSeconds - Double(rise)
        }
        self[.secondsToDelivery] = EstimateQuality.median(back)
    }

    /// Of limits over time, summed over tenants.
    package static func motion(_ limits: [[Double]], tenants: Int) -> (reversals: Int, variation: Double) {
        var reversals = 0
        var variation = 0.0
        for tenant in 0..<tenants {
            var last = limits[0][tenant]
            var direction = 0.0
            var travelled = 0.0
            var sum = 0.0
            for limit in limits.map({ $0[tenant] }) {
                sum += limit
                let move = limit - last
                guard move.magnitude > 0.01 * max(last, limit) else { continue }
                travelled += move.magnitude
                if direction * move < 0 { reversals += 1 }
                direction = move
                last = limit
            }
            let mean = sum / Double(limits.count)
            if mean > 0 { variation += travelled / mean }
        }
        return (reversals, variation)
    }

    private static func recovery(_ run: RunRecord, _ workload: Workload, _ reference: Reference) -> Double? {
        workload.returns.compactMap { back -> Double? in
            let first = run.step(atSecond: back.second)
            for step in first..<run.stepCount {
                let index = step * run.tenantCount + back.tenant
                let due = reference.shares[index].seconds(of: workload.nominal)
                let served = run.served[index].seconds(of: workload.nominal)
                if due > 0, served >= 0.9 * due { return Double(step - first + 1) * RunRecord.stepSeconds }
            }
            return nil
        }.max()
    }
}

extension RunRecord {
    fileprivate func total(servedTo tenant: Int, nominal: Rates) -> Double {
        stride(from: tenant, to: served.count, by: tenantCount).reduce(0) { $0 + served[$1].seconds(of: nominal) }
    }
}

/// Due and served by minute and tenant, in seconds of the contract.
private struct Minutes {
    var due: [Double]
    var served: [Double]
    private let tenantCount: Int

    init(_ run: RunRecord, workload: Workload, reference: Reference) {
        tenantCount = run.tenantCount
        var dueWork = Array(repeating: Work.zero, count: run.minuteCount * run.tenantCount)
        var servedWork = dueWork
        for step in 0..<run.stepCount {
            let minute = run.minuteIndex(atSecond: Double(step) * RunRecord.stepSeconds, tenant: 0)
            for tenant in 0..<run.tenantCount {
                dueWork[minute + tenant] += reference.shares[step * run.tenantCount + tenant]
                servedWork[minute + tenant] += run.served[step * run.tenantCount + tenant]
            }
        }
        due = dueWork.map { $0.seconds(of: workload.nominal) }
        served = servedWork.map { $0.seconds(of: workload.nominal) }
    }

    func shortfall(in isCounted: (Int) -> Bool) -> Double? {
        var missing = 0.0
        var total = 0.0
        for minute in 0..<(due.count / max(1, tenantCount)) where isCounted(minute) {
            for index in (minute * tenantCount)..<((minute + 1) * tenantCount) {
                missing += max(0, due[index] - served[index])
                total += due[index]
            }
        }
        return total > 0 ? missing / total : nil
    }

    var starved: Int {
        (0..<tenantCount).reduce(0) { sum, tenant in
            var counted = 0
            var spell = 0
            for index in stride(from: tenant, to: due.count, by: tenantCount) {
                let isUnderserved = due[index] > 0 && served[index] < 0.7 * due[index]
                spell = isUnderserved ? spell + 1 : 0
                if spell == 5 { counted += 5 } else if spell > 5 { counted += 1 }
            }
            return sum + counted
        }
    }
}
