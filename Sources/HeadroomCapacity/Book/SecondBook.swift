import HeadroomModel

/// One pool's traffic by the second in which the upstream took it, until each second can be judged.
///
/// A second is *complete* when nearly all of its work is usually reported at its age (``ReportingDelay``) and late
/// responses had their time to correct it. Newer seconds are *provisional*: judged on a copy of the estimator, with what
/// is usually missing supposed to be in flight. Judged late, a drop would be seen late; judged as reported, calls in flight
/// would look like capacity that is gone.
struct SecondBook: Sendable {
    /// A second is complete when this part of its work is usually reported, and provisional from half of it on: below
    /// that, scaling up makes noise.
    private static let complete = 0.98
    private static let provisional = 0.5
    /// It stays open for so long at least, so that late responses can correct what calls said.
    private static let correctionSeconds = 5
    static let recentSeconds: Int64 = 10
    /// Refusals feed on themselves from so many in two seconds on, and from this part of the attempts.
    private static let minSpiralRefusals = 3.0
    private static let spiralShare = 0.3
    /// A line that is later than that is history, and after a longer pause there is nothing to learn from before it.
    private static let historySeconds: Int64 = 60
    /// Seconds that are kept open; clocks that run ahead must not take more.
    private static let maxOpen = 600

    /// Attempts and refusals of a complete second.
    struct Counts: Equatable, Sendable {
        var second: Int64
        var attempts: Int
        var refusals: Int
    }

    /// That the pool limits.
    var resources: ResourceSet
    /// The provider counts refused attempts against the limit.
    var countsRefused: Bool
    var delay: ReportingDelay
    /// By second, after ``completeThrough``; at most a few entries.
    var open: [Int64: ObservedSecond] = [:]
    var completeThrough: Int64
    /// Of complete seconds, at most ``recentSeconds``.
    var counts: [Counts] = []
    var meanRequest = Work(requests: 1)
    var lastExhausted: ResourceSet = []

    init(resources: ResourceSet, countsRefused: Bool, at now: Timestamp) {
        self.resources = resources
        self.countsRefused = countsRefused
        delay = ReportingDelay(at: now)
        completeThrough = now.second - 1
    }

    // MARK: Write

    /// A line that comes after its second was complete enters the oldest second that is still open: telemetry that is
    /// late as a whole then still adds up.
    mutating func with(second: Int64, _ change: (inout ObservedSecond) -> Void) {
        guard second > completeThrough - Self.historySeconds else { return }
        change(&open[max(second, completeThrough + 1), default: ObservedSecond()])
    }

    /// The response to a failed call, in the second in which the upstream took it. Returns what the call's outcome was
    /// until now; `nil` when no such call is open.
    mutating func correct(_ request: UInt64, to outcome: Outcome, exhausted: ResourceSet) -> Outcome? {
        for second in open.keys.sorted(by: >) {
            let before = open[second]!.correct(
                request, to: outcome, exhausted: exhausted, countsRefused: countsRefused)
            if let before { return before }
        }
        return nil
    }

    // MARK: Read

    /// A second that can be judged. `attempts` is 0 where nothing was attempted.
    struct Page {
        var instant: Int64
        var second: ObservedSecond
        var meanRequest: Work
    }

    /// Closes the seconds that are complete by now, ascending.
    mutating func takeComplete(at now: Timestamp) -> [Page] {
        let through = now.second - Int64(max(Self.correctionSeconds, age(of: Self.complete, delay.completeness)))
        if completeThrough < through - Self.historySeconds {
            completeThrough = through - Self.historySeconds
            open = open.filter { $0.key > completeThrough }
        }
        var pages: [Page] = []
        while completeThrough < through {
            completeThrough += 1
            var second = open.removeValue(forKey: completeThrough) ?? ObservedSecond()
            let named = second.exhausted
            second.summarize(unnamed: named.isEmpty ? suspects : named)
            pages.append(Page(instant: completeThrough, second: second, meanRequest: meanRequest))
            guard second.attempts > 0 else { continue }
            learnMeanRequest(second.delivered)
            if !named.isEmpty { lastExhausted = named }
            counts.append(Counts(second: completeThrough, attempts: second.attempts, refusals: second.refusals))
        }
        counts.removeAll { $0.second <= now.second - Self.recentSeconds }
        if open.count > Self.maxOpen { open = open.filter { $0.key <= now.second } }
        return pages
    }

    /// The seconds behind those, as far as enough of them is reported, ascending.
    func provisional(at now: Timestamp) -> [Page] {
        let completeness = delay.completeness
        let through = now.second - Int64(max(1, age(of: Self.provisional, completeness)))
        guard completeThrough < through else { return [] }
        return (completeThrough + 1...through).map { instant in
            var second = open[instant] ?? ObservedSecond()
            let named = second.exhausted
            second.summarize(unnamed: named.isEmpty ? suspects : named)
            second.suppose(reported: reported(instant, completeness, at: now))
            return Page(instant: instant, second: second, meanRequest: meanRequest)
        }
    }

    /// Of the last ten seconds, open ones too.
    func recent(at now: Timestamp) -> (attempts: Int, refusals: Int) {
        let newest = open.filter { $0.key <= now.second }.values
        return (
            counts.reduce(0) { $0 + $1.attempts } + newest.reduce(0) { $0 + $1.attempts },
            counts.reduce(0) { $0 + $1.refusals } + newest.reduce(0) { $0 + $1.refusals }
        )
    }

    /// A provider that charges refused attempts and refuses many of them: without restraint refusals feed on themselves
    /// (ControlLaw, "BRAKE").
    func isSpiralling(at now: Timestamp) -> Bool {
        let completeness = delay.completeness
        var attempts = 0.0
        var refusals = 0.0
        for second in now.second - 2...now.second {
            guard let slot = open[second] else { continue }
            // Refusals are reported at once, the rest when it ends.
            attempts +=
                Double(slot.refusals) + Double(slot.attempts - slot.refusals) / reported(second, completeness, at: now)
            refusals += Double(slot.refusals)
        }
        return refusals >= Self.minSpiralRefusals && refusals > Self.spiralShare * attempts
    }

    /// The least age at which that much of a second is reported.
    private func age(of part: Double, _ completeness: [Double]) -> Int {
        completeness.firstIndex { $0 >= part } ?? ReportingDelay.longest
    }

    /// What of the second's work is usually reported at its age.
    private func reported(_ second: Int64, _ completeness: [Double], at now: Timestamp) -> Double {
        let part = completeness[Int(max(0, min(Int64(ReportingDelay.longest), now.second - second)))]
        return part >= Self.complete ? 1 : max(Self.provisional, part)
    }

    /// Which resource ran out, when a refusal does not say: what the last one named, else any of them.
    private var suspects: ResourceSet { lastExhausted.isEmpty ? resources : lastExhausted }

    /// Moves by a twentieth of the way for each request, so that it follows a change of shape within a minute.
    private mutating func learnMeanRequest(_ delivered: Work) {
        let requests = delivered[.requests]
        guard requests >= 1 else { return }
        let mean = delivered * (1 / requests)
        let isFirst = meanRequest[.tokens] == 0
        meanRequest = isFirst ? mean : meanRequest + (mean - meanRequest) * min(1, requests / 20)
    }
}
