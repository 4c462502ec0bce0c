import HeadroomModel

/// How long the rates of a pool wait in one step before they turn back (ControlLaw, rule 25).
///
/// A rate that rose and would fall waits for three observation windows; one that fell and would rise waits for one where
/// its tenant needs more, and for four where it would only get more room to grow. All this time the mean and the present
/// have to point the same way: a need that comes and goes turns nothing. One window is enough once the target has stood
/// still for so long, since then nothing is left to wait for; and after new rules, which people expect to act. A tenant
/// that is flagged falls without waiting.
///
/// A rate that a loss of capacity lowered returns at once with the contract's capacity. Below that, where estimates
/// swing, it waits for three windows since the last loss.
struct TurnWaits: Sendable {
    /// Observation windows before a fall, and after a loss of capacity before rates return.
    private static let fallWindows = 3.0
    /// Observation windows before a rise that only gives more room to grow.
    private static let roomWindows = 4.0
    /// A need is remembered for one to two periods of so many windows.
    private static let needWindows = 2.0

    /// The observation window in seconds.
    let window: Double
    /// People, contracts or the policy said something new, which acts as soon as it has been observed.
    private let hasNewRules: Bool
    /// Capacity was lost a moment ago, and has not come back.
    private let isLost: Bool

    /// - Parameters:
    ///   - window: ``DampeningPolicy/observationSeconds``.
    ///   - secondsSinceRules: since the rules changed; `nil` before the first change, as below.
    ///   - secondsSinceLoss: since capacity was lost.
    init(window: Double, secondsSinceRules: Double?, secondsSinceLoss: Double?, isBelowContract: Bool) {
        self.window = window
        hasNewRules = secondsSinceRules.map { $0 < window * TurnWaits.roomWindows } ?? false
        isLost = isBelowContract && secondsSinceLoss.map { $0 < window * TurnWaits.fallWindows } ?? false
    }

    /// In seconds; see ``Course/greatestNeed``.
    var needPeriod: Double { window * TurnWaits.needWindows }

    /// True while a rate that moved last as `move` says may not go where its course points.
    /// - Parameter isRoom: it has what it needs, and would rise only to grow.
    func holds(_ move: LastMove, _ course: Course, isRoom: Bool, at now: Timestamp) -> Bool {
        guard course.direction * move.direction < 0 else { return false }
        if move.isForced { return isLost && course.direction > 0 }
        if move.isFlagged, course.direction < 0 { return false }
        let isStill = now.seconds(since: course.stillSince) >= window
        if isStill || hasNewRules { return now.seconds(since: course.since) < window }
        let windows = course.direction < 0 ? TurnWaits.fallWindows : isRoom ? TurnWaits.roomWindows : 1
        return now.seconds(since: course.agreesSince) < window * windows
    }

    /// True while a rate that rose keeps room for the greatest need of late: until it may fall.
    func keepsNeed(_ move: LastMove, _ course: Course, at now: Timestamp) -> Bool {
        guard move.direction > 0, !move.isForced, !move.isFlagged, !hasNewRules else { return false }
        return course.direction >= 0 || holds(move, course, isRoom: false, at: now)
    }
}

/// How a tenant's rate moved last, and whether its claims are believed.
struct LastMove: Sendable {
    /// 1 up, -1 down; 0 before the first move.
    var direction: Double
    /// A loss of capacity moved it.
    var isForced: Bool
    /// A gaming flag stands against the tenant now.
    var isFlagged: Bool
}
